//! The numbers of a message: pairs, and those that its row names: behind a text or before one, sizes, fractions.

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

/// A number of a message, by its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    /// Its name; of one in a list there is a second one, by `heading: name`.
    pub(crate) key: String,
    /// Its value.
    pub(crate) value: f64,
    /// How far off its rounding may put it, where the line itself tells that.
    pub(crate) off: Option<f64>,
}

impl Number {
    fn plain(key: impl Into<String>, value: f64) -> Number {
        Number { key: key.into(), value, off: None }
    }
}

/// A size or a fraction that a row names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured<'a> {
    /// What the table calls it.
    pub(super) key: &'a str,
    /// Both numbers.
    pub(super) sizes: log::Sizes<'a>,
}

impl<'a> Measured<'a> {
    /// In bytes where they are sizes, with how far off each may be, and as they are written.
    fn numbers(self, row: &'a Line) -> impl Iterator<Item = (Number, &'a str)> {
        let is_size = row.sizes.iter().any(|size| size == self.key);
        let number = move |size: log::Size<'_>| if is_size { size.bytes(row.binary) } else { size.count() };
        let first = number(self.sizes.first).map(|told| (told, self.key.to_owned(), self.sizes.first.text));
        let second = self.sizes.second.and_then(|size| Some((number(size)?, format!("{}/", self.key), size.text)));
        let all = first.into_iter().chain(second);
        all.map(|((value, off), key, text)| (Number { key, value, off: Some(off) }, text))
    }
}

/// Whether `name` calls a number of this key under this heading.
pub(super) fn calls(name: &str, under: &str, key: &str) -> bool {
    name == key || name.strip_suffix(key).and_then(|heading| heading.strip_suffix(": ")) == Some(under)
}

/// The sizes and fractions of `message` that `row` names.
pub(super) fn measured<'a>(row: &'a Line, message: &'a str) -> impl Iterator<Item = Measured<'a>> {
    // Most rows name none, and are not searched for any.
    let searched = if row.measured().next().is_some() { message } else { "" };
    log::sizes(searched).filter_map(|sizes| {
        let key = row.measured().find(|name| calls(name, sizes.under, sizes.key))?;
        Some(Measured { key, sizes })
    })
}

/// The numbers of a message by their names; those in a list also by `heading: name`, and those that `row` names besides. Of a
/// message that is `open` not the number that ends it.
pub(super) fn pairs(row: &Line, message: &str, open: bool) -> Vec<Number> {
    // One that ends the message may lack its last digits, whatever names it.
    let end = |text: &str| text.as_ptr() as usize + text.len();
    let whole = |written: &str| !open || end(written) != end(message);
    let measured = measured(row, message).flat_map(|measured| measured.numbers(row));
    let mut pairs: Vec<Number> = measured.filter(|(_, written)| whole(written)).map(|(number, _)| number).collect();
    // A size without its unit would be another number, so what is named as one is none of these.
    let is_size = |pair: &log::Pair<'_>| row.measured().any(|name| calls(name, pair.under, pair.key));
    for pair in log::pairs(message).filter(|pair| whole(pair.text) && !is_size(pair)) {
        if !pair.under.is_empty() {
            pairs.push(Number::plain(format!("{}: {}", pair.under, pair.key), pair.value));
        }
        pairs.push(Number::plain(pair.key, pair.value));
    }
    let worded = worded(row, message).filter(|worded| whole(worded.written));
    pairs.extend(worded.map(|worded| Number::plain(worded.key, worded.value)));
    pairs
}
