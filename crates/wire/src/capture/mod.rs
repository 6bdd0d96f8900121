//! Captures: what a place was asked and what it answered, with times, as JSON lines in gzip; `docs/capture.md` has the form.
//!
//! This is the container: lines, looks, references and limits. What an answer holds is its reader's business ([`Answer`]
//! has its whole line). A capture is read in two passes, so that it costs memory for one look and not for all of them:
//! [`Index::read`] finds what is where, [`Index::answers`] brings the lines of one look.
//!
//! Version 1 ([`first`]) is the form of the embedded demo; [`Index`] reads it, too.

pub mod bytes;
mod fetch;
mod few;
pub mod first;
mod index;
mod kind;
mod limits;
mod line;
mod rounds;
mod unpack;
mod write;

use model::Time;

pub use fetch::Answer;
pub use few::few;
pub use index::{Index, Look};
pub use limits::Limits;
pub use line::Site;
pub use write::{TOO_LONG, Writer};

/// The newest version, which is the one that is written.
pub const VERSION: u32 = 2;

/// What a capture says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The program that made it.
    pub made_by: String,
    /// When it was begun.
    pub started_at: Time,
    /// Names, addresses and the like were replaced.
    pub anonymised: bool,
}

/// Why a file is no capture that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Its first line is none of a capture.
    #[error("no capture of plimsoll: {0}")]
    Other(&'static str),
    /// A newer program made it.
    #[error("a capture of version {0}; this program reads up to version {VERSION}: take a newer one")]
    Newer(u64),
    /// Its first line lacks something.
    #[error("no capture that can be read: its first line: {0}")]
    Head(String),
}
