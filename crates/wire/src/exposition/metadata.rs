//! `# HELP`, `# TYPE` and `# UNIT`: what a page declares about its families.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::lines::{Line, Lines};
use super::{Limits, Reason};

/// Which of the declarations a line makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// `# HELP`: a sentence.
    Help,
    /// `# TYPE`: `counter`, `gauge`, `histogram`, `summary`, `untyped`, and the words of `OpenMetrics`.
    Type,
    /// `# UNIT`: a unit's name.
    Unit,
}

/// One declaration, borrowed from its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// Which declaration.
    pub word: Word,
    /// The family's name; samples may have a suffix behind it.
    pub name: Cow<'a, str>,
    /// The rest of the line as it stands, escapes included.
    pub text: &'a str,
    /// The line's number on the page, from 1.
    pub line: u32,
}

/// What `page` declares, line by line. A family that is declared and has no sample is one that the server knows and has
/// nothing to say about yet. Lines longer than the cap and lines that cannot be read are left out.
pub fn metadata<'a>(page: &'a [u8], limits: &Limits) -> impl Iterator<Item = Metadata<'a>> {
    let max_line = limits.max_line;
    let lines = Lines::new(page).filter(move |line| line.bytes.len() <= max_line);
    lines.filter_map(|line| read(line).ok().flatten())
}

/// The declaration that a line makes; `None` for a sample, a blank line, `# EOF` or a remark.
pub(super) fn read(line: Line<'_>) -> Result<Option<Metadata<'_>>, Reason> {
    let comment = super::lines::without_indent(line.bytes);
    if comment.first() != Some(&b'#') {
        return Ok(None);
    }
    let mut cursor = Cursor::new(simdutf8::basic::from_utf8(comment).map_err(|_| Reason::NotUtf8)?);
    cursor.eat(b'#');
    cursor.skip_blanks();
    let word = match cursor.token() {
        "HELP" => Word::Help,
        "TYPE" => Word::Type,
        "UNIT" => Word::Unit,
        _ => return Ok(None),
    };
    cursor.skip_blanks();
    let name = match cursor.peek() {
        Some(b'"') => cursor.quoted().ok_or(Reason::Name)?.text(),
        Some(_) => Cow::Borrowed(cursor.token()),
        None => return Err(Reason::Name),
    };
    cursor.skip_blanks();
    Ok(Some(Metadata { word, name, text: cursor.rest().trim_end(), line: line.number }))
}
