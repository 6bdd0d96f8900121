//! One sample line.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::{Cursor, name_length};
use super::lines::Line;
use super::value::{Dialect, number, timestamp};
use super::{Labels, Limits, Reason};

/// One sample, borrowed from its page.
#[derive(Debug, Clone)]
pub struct Sample<'a> {
    /// The name as it stands on the line, so with `_bucket`, `_sum`, `_total`; owned only if a quoted name holds an
    /// escape.
    pub name: Cow<'a, str>,
    /// Its labels, read on demand.
    pub labels: Labels<'a>,
    /// The number, which may be NaN or infinite.
    pub value: f64,
    /// When the value was taken, in milliseconds since 1970, where the line says it.
    pub timestamp_ms: Option<i64>,
    /// The line's number on the page, from 1.
    pub line: u32,
}

/// Reads one line that is neither blank nor a comment, and not indented. `name` is the length of the bare name at its
/// beginning, which the caller had to find anyway.
pub(super) fn read<'a>(line: Line<'a>, name: usize, limits: &Limits, dialect: Dialect) -> Result<Sample<'a>, Reason> {
    let mut cursor = Cursor::new(simdutf8::basic::from_utf8(line.bytes).map_err(|_| Reason::NotUtf8)?);
    let bare = cursor.take(name);
    if !matches!(cursor.peek(), None | Some(b' ' | b'\t' | b'{')) {
        return Err(Reason::Name);
    }
    cursor.skip_blanks();
    let (labels, quoted) =
        if cursor.eat(b'{') { Labels::read(&mut cursor, limits.max_labels)? } else { (Labels::default(), None) };
    let name = match quoted {
        Some(_) if name > 0 => return Err(Reason::Labels),
        Some(quoted) => quoted.text(),
        None if name > 0 => Cow::Borrowed(bare),
        None => return Err(Reason::Name),
    };
    cursor.skip_blanks();
    let value = match cursor.token() {
        "" => return Err(Reason::NoValue),
        token => number(token).ok_or(Reason::Value)?,
    };
    cursor.skip_blanks();
    let timestamp_ms = match cursor.peek() {
        // The rest is an exemplar, which belongs to another story than the value.
        None | Some(b'#') => None,
        Some(_) => Some(timestamp(cursor.token(), dialect).ok_or(Reason::Timestamp)?),
    };
    cursor.skip_blanks();
    if !matches!(cursor.peek(), None | Some(b'#')) {
        return Err(Reason::Trailing);
    }
    Ok(Sample { name, labels, value, timestamp_ms, line: line.number })
}

/// Where in a line its number stands, of a sample as writers of pages write it: with a bare name, one blank before the number and
/// nothing behind it. None of any other line.
pub(super) fn number_at(line: Line<'_>, limits: &Limits) -> Option<Range<usize>> {
    let name = name_length(line.bytes);
    let mut cursor = Cursor::new(simdutf8::basic::from_utf8(line.bytes).ok()?);
    if cursor.take(name).is_empty() {
        return None;
    }
    if cursor.eat(b'{') {
        let (_, quoted) = Labels::read(&mut cursor, limits.max_labels).ok()?;
        if quoted.is_some() {
            return None;
        }
    }
    if !cursor.eat(b' ') {
        return None;
    }
    let start = cursor.at();
    let token = cursor.token();
    // Labels may stand there, too: `name {a="b"}1`.
    (number(token).is_some() && cursor.rest().is_empty()).then(|| start..start + token.len())
}
