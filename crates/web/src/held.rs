//! Answers that are made for one visitor each, and live until that one has taken them: all together they have a bound.

use std::sync::Arc;

use axum::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counted in these, since a semaphore's counts are 32 bits wide.
const BLOCK: usize = 1 << 10;

/// Room for such answers.
pub(crate) struct Held(Arc<Semaphore>);

impl Held {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.div_ceil(BLOCK).min(Semaphore::MAX_PERMITS))))
    }

    /// The same bytes, which give their room back when they are dropped; `None`: there is no room.
    pub(crate) fn hold(&self, bytes: Bytes) -> Option<Bytes> {
        let blocks = u32::try_from(bytes.len().div_ceil(BLOCK)).ok()?;
        let room = Arc::clone(&self.0).try_acquire_many_owned(blocks).ok()?;
        Some(Bytes::from_owner(Counted { bytes, _room: room }))
    }
}

struct Counted {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
