//! Observations: what one look at one source brought, raw, with its time.

use crate::Time;

/// One look at one source of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What was looked at: the path of a GET, as the engine's table spells it.
    pub get: String,
    /// The whole address, without credentials, for people.
    pub url: String,
    /// When the answer was complete (or given up).
    pub at: Time,
    /// Seconds that the look took.
    pub took: f64,
    /// What came back.
    pub outcome: Result<Answer, Blind>,
}

/// An HTTP answer that was read to its end, or to its cap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// `Content-Type`, lower case, as sent; empty when absent.
    pub content_type: String,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// Of a saved answer: the line of its file, from 1, on which the body begins. None for what came over HTTP.
    pub first_line: Option<u32>,
    /// Nothing said where the body ends but that nothing more came: it may have been cut, also within a number.
    pub open_ended: bool,
    /// Who passed it on, where that was not the server itself.
    pub passed: Option<Passed>,
}

/// Somebody who serves what servers say in their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// Who, within a sentence.
    pub by: String,
    /// How much older than the answer its numbers may be, in words; empty where that is not known.
    pub lag: String,
}

/// Why a look brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blind {
    /// The kind, for decisions.
    pub kind: BlindKind,
    /// What was tried and what came back, for people; never holds a secret.
    pub text: String,
}

/// The kinds of not seeing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlindKind {
    /// The name did not resolve.
    Name,
    /// Nothing listens there.
    Refused,
    /// No way there: unreachable network or host, or a namespace that we may not enter.
    NoRoute,
    /// The deadline passed.
    Deadline,
    /// The peer closed or reset in the middle.
    Cut,
    /// The answer is larger than the cap, before or after decompression.
    TooLarge,
    /// TLS: certificate, pin, version.
    Tls,
    /// The answer is not in the protocol that was spoken, or in none of it that we accept (a redirect, which is never
    /// followed).
    NotHttp,
    /// Our own rights do not allow it.
    Denied,
    /// The thing is not there (a file, a process that died while we looked).
    Gone,
}

impl Blind {
    /// A blind spot of this kind.
    pub fn new(kind: BlindKind, text: impl Into<String>) -> Blind {
        Blind { kind, text: crate::text::visible(text) }
    }
}

impl std::fmt::Display for Blind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Blind {}
