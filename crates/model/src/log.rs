//! Logs: what one look at a server's log brought, raw.

use crate::{Blind, Time};

/// One look at one log of one server.
#[derive(Debug, Clone)]
pub struct Log {
    /// What it is, for people and as the beginning of every source: a path, `journal of x.service`.
    pub name: String,
    /// When it was read.
    pub at: Time,
    /// Seconds that the look took.
    pub took: f64,
    /// When its server started: what is older is another server's. None where that is not known.
    pub since: Option<Time>,
    /// How its times without a zone are to be read.
    pub clock: LogClock,
    /// When something was last written to it, where that is known.
    pub written: Option<Time>,
    /// What was read of it, oldest first.
    pub outcome: Result<Vec<Stretch>, Blind>,
}

/// Some lines of a log that follow each other.
#[derive(Debug, Clone, Default)]
pub struct Stretch {
    /// Their bytes. The first line may lack its beginning unless `from_start`.
    pub bytes: Vec<u8>,
    /// The number of the first line in its file, from 1, where it is known.
    pub first_line: Option<u64>,
    /// Nothing of the log stands before it.
    pub from_start: bool,
    /// What it is, where it is another file than the log it is a part of: an older one that was rotated away.
    pub name: Option<String>,
}

/// How times without a zone are to be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogClock {
    /// The server's clock runs this many seconds ahead of UTC.
    Offset(f64),
    /// Nothing tells its zone: times compare with each other, and with no other clock.
    Unknown,
}
