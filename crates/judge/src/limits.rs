//! The limits of `verdicts.toml`.

use model::number::percent;

/// From where on a level holds.
pub(crate) struct Limit {
    /// In use.
    pub(crate) in_use: f64,
    /// The same while requests wait.
    pub(crate) while_waiting: f64,
}

include!(concat!(env!("OUT_DIR"), "/verdicts.rs"));

/// The shares in use from which a server is tight, and strained, whatever else is.
pub fn full() -> (f64, f64) {
    (TIGHT.in_use, STRAINED.in_use)
}

impl Limit {
    /// The rule that is met, in words.
    pub(crate) fn reached(&self, in_use: f64, waits: bool) -> Option<String> {
        if in_use >= self.in_use {
            Some(format!("from {}", percent(self.in_use)))
        } else if waits && in_use >= self.while_waiting {
            Some(format!("from {} while requests wait", percent(self.while_waiting)))
        } else {
            None
        }
    }
}
