//! Words that know on which line each part of them stood.

use std::fmt;

/// One word of a command, as the started process gets it.
///
/// It may hold a secret: `Debug` shows its length only, and callers decide what of `text` they show.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The word without its quotes and escapes.
    pub text: String,
    /// The line of its first character, from 1; of its opening quote where it is empty.
    pub line: u32,
    /// From which byte of `text` on which line, ascending; a script in quotes goes over many.
    marks: Vec<(usize, u32)>,
}

impl Word {
    /// `text`, all of which stands on `line`.
    pub fn new(text: impl Into<String>, line: u32) -> Word {
        Word { text: text.into(), line, marks: vec![(0, line)] }
    }

    /// A whole text, whose first line is line 1.
    pub(super) fn whole(text: &str) -> Word {
        let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let marks = std::iter::once(0).chain(starts).zip(1..).collect();
        Word { text: text.to_owned(), line: 1, marks }
    }

    /// The line on which the byte at `offset` of `text` stood.
    pub fn line_at(&self, offset: usize) -> u32 {
        let behind = self.marks.partition_point(|(start, _)| *start <= offset);
        behind.checked_sub(1).map_or(self.line, |index| self.marks[index].1)
    }

    pub(super) fn push(&mut self, letter: char, line: u32) {
        self.mark(line);
        self.text.push(letter);
    }

    /// Adds `text`, all of it from `line`: the value of a variable stands where the variable stood.
    pub(super) fn push_str(&mut self, text: &str, line: u32) {
        if !text.is_empty() {
            self.mark(line);
            self.text.push_str(text);
        }
    }

    /// Adds the bytes `range` of `other`, with their lines.
    pub(super) fn extend(&mut self, other: &Word, range: std::ops::Range<usize>) {
        for (at, letter) in other.text[range.clone()].char_indices() {
            self.push(letter, other.line_at(range.start + at));
        }
    }

    fn mark(&mut self, line: u32) {
        if self.text.is_empty() {
            self.line = line;
            self.marks.clear();
        }
        if self.marks.last().is_none_or(|(_, last)| *last != line) {
            self.marks.push((self.text.len(), line));
        }
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:<{} bytes>", self.line, self.text.len())
    }
}
