//! A place in one line, and the smallest parts that can be read from there.

use std::borrow::Cow;

use super::lines::is_blank;

/// A place in a line. Every part begins and ends beside an ASCII byte, so cutting there never splits a character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

/// The inside of a quoted text, as it stands on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoted<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) fn new(line: &'a str) -> Cursor<'a> {
        Cursor { line, at: 0 }
    }

    /// Bytes that were read.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What was not read yet.
    #[inline]
    pub(super) fn rest(&self) -> &'a str {
        self.between(self.at, self.line.len())
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// Passes `byte` if it is next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Passes `byte` if it is next, blanks before it too. Blanks are rare there, so they are looked for last.
    #[inline]
    pub(super) fn eat_behind_blanks(&mut self, byte: u8) -> bool {
        if self.eat(byte) {
            return true;
        }
        self.skip_blanks();
        self.eat(byte)
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        self.pass(is_blank);
    }

    /// A bare name, of a metric or of a label; empty when none stands here.
    #[inline]
    pub(super) fn name(&mut self) -> &'a str {
        self.take(name_length(self.unread()))
    }

    /// The next `length` bytes, which must end beside an ASCII byte.
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> &'a str {
        let start = self.at;
        self.at += length;
        self.between(start, self.at)
    }

    /// Everything up to the next blank.
    #[inline]
    pub(super) fn token(&mut self) -> &'a str {
        let start = self.at;
        self.pass(|byte| !is_blank(byte));
        self.between(start, self.at)
    }

    /// A quoted text; the opening quote is next. `None` when it does not open or close.
    #[inline]
    pub(super) fn quoted(&mut self) -> Option<Quoted<'a>> {
        if !self.eat(b'"') {
            return None;
        }
        let (start, mut escaped) = (self.at, false);
        loop {
            let unread = self.unread().iter();
            self.at += unread.take_while(|byte| !matches!(byte, b'"' | b'\\')).count();
            if self.peek()? == b'"' {
                break;
            }
            escaped = true;
            self.at += 2;
        }
        let raw = self.between(start, self.at);
        self.at += 1;
        Some(Quoted { raw, escaped })
    }

    #[inline]
    fn unread(&self) -> &'a [u8] {
        self.line.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn pass(&mut self, belongs: impl Fn(u8) -> bool) {
        let unread = self.unread();
        self.at += unread.iter().position(|byte| !belongs(*byte)).unwrap_or(unread.len());
    }

    #[inline]
    fn between(&self, start: usize, end: usize) -> &'a str {
        self.line.get(start..end).unwrap_or_default()
    }
}

impl<'a> Quoted<'a> {
    /// The text that is meant: `\\`, `\"` and `\n` resolved, any other backslash kept. Allocates only for these.
    #[inline]
    pub(super) fn text(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

#[cold]
fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some(escaped @ ('\\' | '"')) => text.push(escaped),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

/// Bytes of the bare name at the beginning of `bytes`: ASCII letters, digits, `_` and `:`, no digit first.
#[inline]
pub(super) fn name_length(bytes: &[u8]) -> usize {
    if bytes.first().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    bytes.iter().position(|byte| !IN_NAME[usize::from(*byte)]).unwrap_or(bytes.len())
}

const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
        byte += 1;
    }
    table
};
