//! Keeping what a look asked and what came back, so that it can be written into a capture.

use std::sync::{Arc, Mutex, PoisonError};

use model::Time;

use super::ask::{Answered, Key, Told};
use super::{SiftedFolder, Taken};
use crate::aside::aside;
use crate::installed::scan;

/// Keeps answers; clones share what is kept.
///
/// A look that is recorded begins with empty [`crate::Stamps`]: of a file that they know nothing is read, and so nothing
/// would be kept of it.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Arc<Mutex<Vec<Kept>>>);

/// A question and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The question.
    pub key: Key,
    /// When it was answered, by the observed side's clock.
    pub at: Time,
    /// The answer.
    pub answered: Answered,
}

impl Recorder {
    /// Keeps answers, and gives them back. Sources are scanned here, so that neither what is kept nor what comes back holds
    /// a copy of them.
    pub(super) async fn keep(&self, keys: Vec<Key>, told: Vec<Answered>, at: Time) -> Vec<Answered> {
        let told = if told.iter().any(holds_source) { without_source(told).await } else { told };
        let kept = keys.into_iter().zip(&told).map(|(key, answered)| Kept { key, at, answered: answered.clone() });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(kept);
        told
    }

    /// Takes what was kept so far.
    pub fn take(&self) -> Vec<Kept> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Names of files whose text is another program's.
const SOURCE: &[u8] = b".py";

fn is_source(file: &super::SiftedFile) -> bool {
    matches!(file.taken, Taken::With(_)) && file.name.as_encoded_bytes().ends_with(SOURCE)
}

fn holds_source(answered: &Answered) -> bool {
    matches!(answered, Ok(Told::Sifted(folder)) if folder.files.iter().any(is_source))
}

/// Scanned files in place of sources. On a thread of its own: a large package takes some tens of milliseconds.
async fn without_source(told: Vec<Answered>) -> Vec<Answered> {
    let count = told.len();
    let scanned = aside(move || told.into_iter().map(|answered| answered.map(scanned)).collect()).await;
    scanned.unwrap_or_else(|error| {
        let text = format!("sources could not be scanned: {error}");
        vec![Err(model::Blind::new(model::BlindKind::Denied, text)); count]
    })
}

fn scanned(told: Told) -> Told {
    let Told::Sifted(SiftedFolder { mut files, id, folders, cut, passed }) = told else { return told };
    for file in files.iter_mut().filter(|file| is_source(file)) {
        if let Taken::With(bytes) = &file.taken {
            file.taken = Taken::Scanned(scan(bytes));
        }
    }
    Told::Sifted(SiftedFolder { id, folders, files, cut, passed })
}
