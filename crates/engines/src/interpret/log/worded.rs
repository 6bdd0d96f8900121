//! The numbers of a message: pairs, and those that words of its row name, behind a text or before one.

use wire::log::{self, number_before, number_behind};

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

/// The numbers of a message by their names, and those that words of its row name; those in a list also by `heading: name`. Of one that is `open` not the number
/// that ends it.
pub(super) fn pairs(row: &Line, message: &str, open: bool) -> Vec<(String, f64)> {
    let mut found: Vec<log::Pair<'_>> = log::pairs(message).collect();
    if open && message.ends_with(|letter: char| letter.is_ascii_digit()) {
        found.pop();
    }
    let mut pairs = Vec::new();
    for pair in found {
        if !pair.under.is_empty() {
            pairs.push((format!("{}: {}", pair.under, pair.key), pair.value));
        }
        pairs.push((pair.key.to_owned(), pair.value));
    }
    // One that ends the message may lack its last digits, whatever names it.
    let end = |text: &str| text.as_ptr() as usize + text.len();
    let is_last = |written: &str| end(written) == end(message);
    let worded = worded(row, message).filter(|worded| !(open && is_last(worded.written)));
    pairs.extend(worded.map(|worded| (worded.key.to_owned(), worded.value)));
    pairs
}
