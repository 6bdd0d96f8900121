//! Answers by their questions: what was prefetched, or what a capture holds.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use model::{Blind, BlindKind};

use super::ask::{Answered, Ask, Key, Told};
use super::{Content, Listing};

/// Answers, each found by its question.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<HashMap<Key, VecDeque<Answered>>>);

impl Shelf {
    /// Puts an answer there, behind earlier ones to the same question.
    pub(super) fn put(&self, key: Key, answered: Answered) {
        self.lock().entry(key).or_default().push_back(answered);
    }

    /// The answer to a question. Of several the oldest goes, and the last one stays.
    pub(super) fn find(&self, ask: &Ask) -> Option<Answered> {
        let mut held = self.lock();
        let answers = held.get_mut(&ask.key())?;
        let answered = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        answered.map(|answered| fit(ask, answered))
    }

    /// Whether there is one.
    pub(super) fn has(&self, ask: &Ask) -> bool {
        self.lock().get(&ask.key()).is_some_and(|answers| !answers.is_empty())
    }

    /// The same, once: what is taken must be asked anew the next time.
    pub(super) fn take(&self, ask: &Ask) -> Option<Answered> {
        let answered = self.lock().get_mut(&ask.key())?.pop_front();
        answered.map(|answered| fit(ask, answered))
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, VecDeque<Answered>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer within the question's limits.
fn fit(ask: &Ask, answered: Answered) -> Answered {
    Ok(match (ask, answered?) {
        (Ask::Read { cap, .. } | Ask::Under { cap, .. } | Ask::Lines { cap, .. }, Told::Content(mut content)) => {
            content.cut |= content.bytes.len() > *cap;
            content.bytes.truncate(*cap);
            Told::Content(content)
        }
        (Ask::List { cap, .. }, Told::Listing(Listing { mut names, cut })) => {
            let cut = cut || names.len() > *cap;
            names.truncate(*cap);
            Told::Listing(Listing { names, cut })
        }
        (_, told) => told,
    })
}

/// What is said of a question that nobody answered.
pub(super) fn unasked(ask: &Ask, why: &str) -> Blind {
    Blind::new(BlindKind::Gone, format!("{}: {why}", ask.as_ref().display()))
}

/// An empty file, as the kernel shows one.
pub(super) fn empty() -> Told {
    Told::Content(Content { bytes: Vec::new(), cut: false })
}
