//! A scalar's value beside its source: which character stood on which line, through block scalars and folded quotes.

use saphyr_parser::{ScalarStyle, Span};

use crate::launch::Word;

/// `value`, which stood at `span` of `lines`, whose first one is line `first`.
pub(super) fn place(value: &str, style: ScalarStyle, span: &Span, lines: &[&str], first: u32) -> Word {
    let (start, end) = (span.start.line().saturating_sub(1), span.end.line().saturating_sub(1));
    let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(first);
    if start >= end || value.is_empty() {
        return Word::new(value, number(start));
    }
    let quoted = usize::from(matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted));
    let mut source = Source { lines, row: start, end, rest: "" };
    source.rest = lines.get(start).map_or("", |line| after(line, span.start.col() + quoted));
    let mut word = Word::new("", number(start));
    for letter in value.chars() {
        // Blanks may be folded, so that only the letters are followed.
        if !letter.is_whitespace() {
            source.find(letter, style);
        }
        word.push(letter, number(source.row));
    }
    word
}

fn after(line: &str, letters: usize) -> &str {
    line.char_indices().nth(letters).map_or("", |(at, _)| &line[at..])
}

struct Source<'a> {
    lines: &'a [&'a str],
    row: usize,
    end: usize,
    rest: &'a str,
}

impl Source<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    /// Moves behind the next place where `letter` is spelled.
    fn find(&mut self, letter: char, style: ScalarStyle) {
        loop {
            match self.next() {
                None if self.row >= self.end => return,
                None => {
                    self.row += 1;
                    self.rest = self.lines.get(self.row).copied().unwrap_or_default();
                }
                Some('\\') if style == ScalarStyle::DoubleQuoted => {
                    let escape = self.next();
                    let digits = match escape {
                        Some('x') => 2,
                        Some('u') => 4,
                        Some('U') => 8,
                        _ => 0,
                    };
                    self.rest = after(self.rest, digits);
                    // Line ends and blanks are not followed.
                    if escape.is_some_and(|escape| !"ntrvfNLP_ \t".contains(escape)) {
                        return;
                    }
                }
                Some(found) if found == letter => {
                    if letter == '\'' && style == ScalarStyle::SingleQuoted {
                        self.rest = self.rest.strip_prefix('\'').unwrap_or(self.rest);
                    }
                    return;
                }
                Some(_) => {}
            }
        }
    }
}
