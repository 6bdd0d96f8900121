//! History on disk: looks at servers and events beside them, kept compactly, thinned with age, dropped before a bound of
//! bytes is passed, and whole after any crash but for what the last second brought. No clock, no threads: time is passed in,
//! and the caller gives it a thread of its own. `docs/history.md` describes the files.

mod bytes;
mod chunk;
mod column;
mod disk;
mod error;
mod events;
mod frame;
mod gather;
mod key;
mod ledger;
mod lines;
mod lock;
mod look;
mod open;
mod options;
mod read;
mod rows;
mod sample;
mod segment;
mod steps;
mod store;
mod thin;
mod tidy;
mod view;
mod wal;

/// The format's number; a ledger of a later one is not opened.
pub const FORMAT: u32 = 1;

pub use error::{Error, Note};
pub use events::Event;
pub use key::{Key, MOST_SERIES, MOST_TARGET_BYTES, MOST_TEXT_BYTES, Shape};
pub use ledger::Ledger;
pub use options::{Options, Thinning};
pub use read::{History, Point, Query, Reader, Series};
pub use sample::{Counts, Figures, Sample, Summary};
