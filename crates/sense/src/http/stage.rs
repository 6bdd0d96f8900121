//! How far a request got, so that a deadline can say where it struck.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use model::BlindKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Name,
    Connect,
    Tls,
    Answer,
    Body,
}

/// Shared by the request and its deadline.
#[derive(Debug, Default)]
pub(super) struct Stage {
    step: AtomicU8,
    body: AtomicU64,
}

impl Stage {
    pub(super) fn at(&self, step: Step) {
        self.step.store(step as u8, Ordering::Relaxed);
    }

    /// Counts bytes of the body.
    pub(super) fn add(&self, bytes: usize) {
        self.body.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn body(&self) -> u64 {
        self.body.load(Ordering::Relaxed)
    }

    /// What kind of failure it is that time was over: without an address nothing else is worth a question.
    pub(super) fn kind(&self) -> BlindKind {
        if self.step.load(Ordering::Relaxed) == Step::Name as u8 { BlindKind::Name } else { BlindKind::Deadline }
    }

    /// What was still missing.
    pub(super) fn missing(&self) -> String {
        const NAME: u8 = Step::Name as u8;
        const CONNECT: u8 = Step::Connect as u8;
        const TLS: u8 = Step::Tls as u8;
        const ANSWER: u8 = Step::Answer as u8;
        match self.step.load(Ordering::Relaxed) {
            NAME => "the name was not resolved".to_string(),
            CONNECT => "no connection stood".to_string(),
            TLS => "the TLS handshake was not done".to_string(),
            ANSWER => "connected, but no answer came".to_string(),
            _ => format!("the body did not end ({} bytes so far)", self.body()),
        }
    }
}
