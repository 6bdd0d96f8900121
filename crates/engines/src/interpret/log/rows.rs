//! Which row of a table a message fits.

use std::collections::BTreeMap;

use wire::log::{Anchors, Words};

use crate::table::{Line, Table};

/// Letters that may stand before a message's beginning and are none of the wrappers that are known.
const MOST_BEFORE: usize = 96;

/// The words that make a line relevant to a table.
pub(super) fn anchors(table: &Table) -> Anchors {
    Anchors::in_records(&starts(table))
}

/// What a table's lines spell their ranks with, and the kind that each means.
pub(super) fn tags(table: &Table) -> Vec<(&str, &str)> {
    table.log.tags.iter().map(|(tag, kind)| (tag.as_str(), kind.as_str())).collect()
}

fn starts(table: &Table) -> Vec<&str> {
    table.lines.iter().flat_map(|row| &row.starts).map(String::as_str).collect()
}

/// The beginnings of a table's messages, ready to be searched for.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    table: &'a Table,
    words: Words,
    /// The row of each beginning.
    of: Vec<usize>,
    /// The longest beginning's bytes.
    longest: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn of(table: &'a Table) -> Rows<'a> {
        let starts = starts(table);
        let of_row = |(index, row): (usize, &Line)| vec![index; row.starts.len()];
        Rows {
            table,
            words: Words::new(&starts),
            of: table.lines.iter().enumerate().flat_map(of_row).collect(),
            longest: starts.iter().map(|start| start.len()).max().unwrap_or(0),
        }
    }

    /// The row that a message fits, and the message from its beginning on; then the row whose note it is worth. What a
    /// request's text says is no message: nothing may stand before, or, for rows that go on a message, little and no
    /// quotation.
    pub(super) fn fitting<'m>(&self, message: &'m str) -> Option<(usize, &'m str, Option<usize>)> {
        // Where each row's beginning first stands, as far down as it may.
        let end = message.floor_char_boundary(MOST_BEFORE + self.longest);
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for (word, at) in self.words.places(&message[..end]) {
            let place = first.entry(self.of[word]).or_insert(at);
            *place = at.min(*place);
        }
        let fits = |row: usize, at: usize| {
            let plain = at <= MOST_BEFORE && !message[..at].contains(['"', '\'', '=', '{', '(']);
            let begins = at == 0 || plain && self.table.lines[row].inside;
            let says = |text: &String| message[at..].contains(text.as_str());
            begins && self.table.lines[row].with.iter().all(says) && !self.table.lines[row].without.iter().any(says)
        };
        let rows: Vec<(usize, usize)> = first.into_iter().filter(|(row, at)| fits(*row, *at)).collect();
        let (row, at) = *rows.first()?;
        let lines = &self.table.lines;
        let alone = |line: &Line| !line.note.is_empty() && line.read.is_empty() && line.count.is_none();
        let remark = if lines[row].note.is_empty() {
            rows.iter().map(|(row, _)| *row).find(|row| alone(&lines[*row]))
        } else {
            Some(row)
        };
        Some((row, &message[at..], remark))
    }
}
