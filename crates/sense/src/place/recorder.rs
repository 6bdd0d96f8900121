//! Keeping what a look asked and what came back, so that it can be written into a capture.

use std::sync::{Arc, Mutex, PoisonError};

use model::Time;

use super::ask::{Answered, Key};

/// Keeps answers; clones share what is kept.
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
    /// Keeps one.
    pub(super) fn note(&self, key: Key, answered: &Answered, at: Time) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Kept { key, at, answered: answered.clone() });
    }

    /// Takes what was kept so far.
    pub fn take(&self) -> Vec<Kept> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
