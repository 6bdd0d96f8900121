//! Sizes with their unit behind a blank, and two numbers with a slash between them: `168.00 MB`, `1.20 GB / 3.00 GB`,
//! `38.40/64.00 GiB`, `250/334`.

use super::number;
use super::pairs::{is_of_number, key, signs};

/// Units of bytes, by the powers of which they are; those with an `i` are of 1024 everywhere.
const UNITS: [(&str, i32, bool); 12] = [
    ("B", 0, true),
    ("KB", 1, false),
    ("kB", 1, false),
    ("MB", 2, false),
    ("GB", 3, false),
    ("TB", 4, false),
    ("PB", 5, false),
    ("KiB", 1, true),
    ("MiB", 2, true),
    ("GiB", 3, true),
    ("TiB", 4, true),
    ("PiB", 5, true),
];

/// A name with one size or with two numbers of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes<'a> {
    /// What heads the list that it stands in, as of a [`Pair`](super::Pair).
    pub under: &'a str,
    /// The name, as of a [`Pair`](super::Pair).
    pub key: &'a str,
    /// The first number.
    pub first: Size<'a>,
    /// What stands behind the slash; none where there is none, or a word (`infinite`).
    pub second: Option<Size<'a>>,
}

/// A number, and what it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size<'a> {
    /// The number.
    pub value: f64,
    /// As it is written, without its unit.
    pub text: &'a str,
    /// Its unit, of bytes; none of a plain number. Of `38.40/64.00 GiB` each has it.
    pub unit: Option<&'a str>,
}

impl Size<'_> {
    /// In bytes, and half of the last digit in bytes: that far off it may be. `binary` says that `MB` is 1024 times 1024 bytes.
    /// None without a unit.
    pub fn bytes(self, binary: bool) -> Option<(f64, f64)> {
        let (_, power, always) = UNITS.iter().find(|(unit, ..)| Some(*unit) == self.unit)?;
        let scale = if binary || *always { 1024_f64 } else { 1000.0 }.powi(*power);
        // Bytes are whole.
        let off = if *power == 0 { self.rounded() } else { self.rounded().or(Some(0.5)) };
        Some((self.value * scale, off.unwrap_or(0.0) * scale))
    }

    /// As a count, and half of its last decimal. None with a unit.
    pub fn count(self) -> Option<(f64, f64)> {
        self.unit.is_none().then(|| (self.value, self.rounded().unwrap_or(0.0)))
    }

    /// Half of the last decimal, where there is one.
    fn rounded(self) -> Option<f64> {
        let decimals = self.text.split_once('.')?.1.len();
        Some(0.5 / 10_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX)))
    }
}

/// All sizes with a unit and all fractions of a message, in its order. A plain number alone is none.
pub fn sizes(message: &str) -> impl Iterator<Item = Sizes<'_>> {
    signs(message).filter(|sign| !is_of_number(message, sign.at)).filter_map(|sign| {
        let (first, second) = read(message[sign.at + 1..].trim_start_matches(' '))?;
        let key = key(message, sign.at);
        (!key.is_empty()).then_some(Sizes { under: sign.under, key, first, second })
    })
}

fn read(text: &str) -> Option<(Size<'_>, Option<Size<'_>>)> {
    let (first, rest) = one(text)?;
    let Some(behind) = number::behind_slash(rest) else {
        return (first.unit.is_some() && number::stops(rest, false)).then_some((first, None));
    };
    if behind.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        // A word in the place of the second number; `MB/s` is a rate.
        return first.unit.filter(|_| rest.starts_with(' ')).map(|_| (first, None));
    }
    let (second, rest) = one(behind)?;
    let of_one_kind = first.unit.is_none() || second.unit.is_some();
    let ends = number::stops(rest, second.unit.is_none()) && number::behind_slash(rest).is_none();
    let first = Size { unit: first.unit.or(second.unit), ..first };
    (of_one_kind && ends).then_some((first, Some(second)))
}

/// The number with its unit, if it has one, that `text` begins with, and what follows.
fn one(text: &str) -> Option<(Size<'_>, &str)> {
    let (value, length) = number::plain(text)?;
    let (figures, rest) = text.split_at(length);
    let word = rest.trim_start_matches(' ');
    let (word, behind) = word.split_at(word.bytes().take_while(u8::is_ascii_alphabetic).count());
    let unit =
        UNITS.iter().any(|(unit, ..)| *unit == word) && !behind.starts_with(|letter: char| letter.is_alphanumeric());
    let size = Size { value, text: figures, unit: unit.then_some(word) };
    Some((size, if unit { behind } else { rest }))
}
