//! A page as numbered lines.

/// One line of a page, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Counted from 1; stays at the last number there is, should a page have more than 2³² lines.
    pub(super) number: u32,
    /// Without `\n` or `\r\n`.
    pub(super) bytes: &'a [u8],
    /// Whether a line end followed. Only the last line can lack it.
    pub(super) ended: bool,
}

/// Splits a page into lines. A byte order mark, which editors leave in saved pages, is not part of the first.
#[derive(Debug, Clone)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
}

impl<'a> Lines<'a> {
    pub(super) fn new(page: &'a [u8]) -> Lines<'a> {
        Lines { rest: page.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(page), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        self.number = self.number.saturating_add(1);
        let (bytes, ended) = match memchr::memchr(b'\n', self.rest) {
            Some(end) => {
                let (line, rest) = self.rest.split_at(end);
                self.rest = &rest[1..];
                (line, true)
            }
            None => (std::mem::take(&mut self.rest), false),
        };
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Some(Line { number: self.number, bytes, ended })
    }
}

/// Space or tab: what may stand between the parts of a line.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Without blanks at its beginning.
#[inline]
pub(super) fn without_indent(mut line: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = line
        && is_blank(*first)
    {
        line = rest;
    }
    line
}
