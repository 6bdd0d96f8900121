//! What is to be said about a page beside its samples.

use std::fmt;

use model::Note;

/// Bad lines of which the number and the reason are kept.
const KEPT: usize = 5;

/// What a scan met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Lines of the page, blank ones and comments included.
    pub lines: u32,
    /// Families declared by `# HELP`, `# TYPE` or `# UNIT`; neighbouring declarations of one name count once.
    pub families: u32,
    /// Families of these that no sample followed; [`metadata`](super::metadata) tells their names.
    pub silent: u32,
    /// Sample lines: the wanted ones, and those passed over unread because their name was not wanted.
    pub samples: u32,
    /// Samples handed over.
    pub wanted: u32,
    /// Lines that could not be read. A bad line is only found out when its name is wanted, or cannot be made out.
    pub bad: u32,
    /// The first few of them.
    pub first_bad: Vec<BadLine>,
    /// The page has more samples than the cap, and those beyond it were not looked at.
    pub truncated: bool,
}

/// A line that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadLine {
    /// Its number on the page, from 1.
    pub line: u32,
    /// Why.
    pub reason: Reason,
}

/// Why a line could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Longer than the cap.
    TooLong,
    /// Not UTF-8.
    NotUtf8,
    /// No name, or one with a character that needs quotes.
    Name,
    /// Braces, quotes, commas or equals signs are not where they belong.
    Labels,
    /// More labels than the cap.
    TooManyLabels,
    /// Nothing behind the name.
    NoValue,
    /// The value is not a number.
    Value,
    /// What stands behind the value is not a timestamp.
    Timestamp,
    /// There is more behind the timestamp.
    Trailing,
    /// The last line of the page has no line end, which the format demands: its value may have been cut.
    Unterminated,
}

impl Summary {
    pub(super) fn bad_line(&mut self, line: u32, reason: Reason) {
        self.bad = self.bad.saturating_add(1);
        if self.first_bad.len() < KEPT {
            self.first_bad.push(BadLine { line, reason });
        }
    }

    /// The remarks for people: `lines-unread` and `page-truncated`, each at most once.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.bad > 0 {
            let named: Vec<String> = self.first_bad.iter().map(ToString::to_string).collect();
            let more = if self.bad as usize > named.len() { ", …" } else { "" };
            let text = format!("{} of {} lines could not be read: {}{more}", self.bad, self.lines, named.join(", "));
            notes.push(Note::new("lines-unread", text));
        }
        if self.truncated {
            let text = format!("stopped at line {}: the page has more samples than are read at once", self.lines);
            notes.push(Note::new("page-truncated", text));
        }
        notes
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {} ({})", self.line, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Reason::TooLong => "too long",
            Reason::NotUtf8 => "not UTF-8",
            Reason::Name => "no valid name",
            Reason::Labels => "labels are malformed",
            Reason::TooManyLabels => "too many labels",
            Reason::NoValue => "no value",
            Reason::Value => "the value is not a number",
            Reason::Timestamp => "the timestamp is not a number",
            Reason::Trailing => "more than a value and a timestamp",
            Reason::Unterminated => "no line end, so it may have been cut",
        })
    }
}
