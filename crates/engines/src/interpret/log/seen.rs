//! What was seen of a log.

use std::collections::{BTreeMap, BTreeSet};

use model::{Note, Time};

use super::worded::Number;
use crate::table::Table;

/// The note about lines whose times lie ahead.
pub(super) const AHEAD: &str = "log-clock";

/// What was seen of one log, newest first.
#[derive(Debug)]
pub(crate) struct Scanned {
    pub(super) name: String,
    /// The time up to which it tells of the server: that of the look where the server writes it now, else its newest line's.
    pub(super) as_of: Time,
    pub(super) lines: Vec<Seen>,
    pub(super) notes: Vec<Note>,
    /// The time back to which nothing was passed over.
    pub(super) complete_since: Option<Time>,
    /// When the run began of which the newest lines are, where a line tells.
    pub(super) began: Option<Time>,
}

/// What a line says of when it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dated {
    /// When.
    Said,
    /// How long before or after others of its log, and no more.
    Apart,
    /// Nothing.
    No,
}

/// A line that a row fits.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its row's place in the table.
    pub(super) row: usize,
    /// The row for whose note it is worth one: its own, or one that has nothing but its note.
    pub(super) remark: Option<usize>,
    /// When it was written, …
    pub(super) at: Time,
    /// … or until then, where it is only known to stand between two lines that say when.
    pub(super) upto: Time,
    /// What of that it says itself.
    pub(super) dated: Dated,
    /// The log and the line's number in it, where known; then the row's id.
    pub(super) source: String,
    pub(super) ranks: Vec<(String, u32)>,
    pub(super) pairs: Vec<Number>,
}

impl Seen {
    /// The number behind `key`.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.named(key).map(|number| number.value)
    }

    /// How far off that number may be, where its line tells.
    pub(super) fn off(&self, key: &str) -> Option<f64> {
        self.named(key)?.off
    }

    fn named(&self, key: &str) -> Option<&Number> {
        self.pairs.iter().find(|number| number.key == key)
    }

    /// What its tags say of its rank.
    pub(super) fn said(&self) -> BTreeMap<&str, u32> {
        self.ranks.iter().map(|(kind, number)| (kind.as_str(), *number)).collect()
    }

    /// Whether another line has the same numbers.
    pub(super) fn says_the_same(&self, other: &Seen) -> bool {
        self.pairs == other.pairs
    }
}

impl Scanned {
    /// How many lines were kept that are this engine's own.
    pub(crate) fn own(&self, table: &Table) -> usize {
        self.lines.iter().filter(|seen| !table.lines[seen.row].borrowed).count()
    }

    /// How many of the numbers that rows look for stand in their lines.
    pub(crate) fn numbers(&self, table: &Table) -> usize {
        let in_line = |seen: &Seen| {
            let names: BTreeSet<&str> = table.lines[seen.row].read.iter().map(|read| read.name.as_str()).collect();
            names.into_iter().filter(|name| seen.number(name).is_some()).count()
        };
        self.lines.iter().map(in_line).sum()
    }

    /// Whether lines were passed over because their times lie ahead.
    pub(crate) fn is_ahead(&self) -> bool {
        self.notes.iter().any(|note| note.id == AHEAD)
    }

    /// The newest and the oldest time that a line says.
    pub(crate) fn span(&self) -> Option<(Time, Time)> {
        let mut timed = self.lines.iter().filter(|seen| seen.dated == Dated::Said).map(|seen| seen.at);
        let newest = timed.next()?;
        Some((newest, timed.next_back().unwrap_or(newest)))
    }

    /// Whether every line from `time` on was looked at.
    pub(super) fn covers(&self, time: Time) -> bool {
        self.complete_since.is_some_and(|since| since <= time)
    }
}
