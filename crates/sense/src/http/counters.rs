//! What the client did so far, for the report on ourselves.

use std::sync::atomic::{AtomicU64, Ordering};

/// A client's doings since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were tried; one that the list of paths forbids is not.
    pub requests: u64,
    /// Those that brought no answer.
    pub failed: u64,
    /// Bytes of bodies as they were sent, also of answers that were given up.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
}

impl Counters {
    pub(super) fn request(&self, failed: bool, bytes: u64) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}
