//! Verdicts: how close a server is to trouble, always with the evidence.

use serde::Serialize;

/// How close to trouble, best first; `unknown` is not on the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// No fresh in-use figure.
    Unknown,
    /// None of the others.
    Calm,
    /// Fills up.
    Tight,
    /// Nearly full, or requests were thrown out.
    Strained,
    /// Throws out and recomputes more than it gets done.
    Thrashing,
    /// Full or queued, and nothing moves.
    Stuck,
}

impl Level {
    /// The word for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Level::Unknown => "unknown",
            Level::Calm => "calm",
            Level::Tight => "tight",
            Level::Strained => "strained",
            Level::Thrashing => "thrashing",
            Level::Stuck => "stuck",
        }
    }
}

/// What an engine says of itself that is trouble whatever the numbers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The server is at least as close to trouble as this; `unknown` is but why nothing is known.
    pub level: Level,
    /// What it is, one clause.
    pub why: String,
}

/// A level and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The level.
    pub level: Level,
    /// The evidence, one sentence.
    pub reason: String,
}
