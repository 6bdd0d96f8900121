//! Numbers that words name: behind a text of the row, or before one.

use wire::log::{number_before, number_behind};

use crate::table::Line;

/// A number that a word names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worded<'a> {
    /// The text of the table.
    pub(super) text: &'a str,
    /// The number stands behind it, else before.
    pub(super) behind: bool,
    /// What the table calls the number.
    pub(super) key: &'a str,
    /// The number.
    pub(super) value: f64,
    /// As it is written.
    pub(super) written: &'a str,
}

/// The numbers of `message` that the texts of `row` name.
pub(super) fn worded<'a>(row: &'a Line, message: &'a str) -> impl Iterator<Item = Worded<'a>> {
    let behind = row.numbers.iter().filter_map(|(text, key)| {
        let (value, written) = number_behind(message, text)?;
        Some(Worded { text, behind: true, key, value, written })
    });
    let before = row.before.iter().filter_map(|(text, key)| {
        let (value, written) = number_before(message, text)?;
        Some(Worded { text, behind: false, key, value, written })
    });
    behind.chain(before)
}
