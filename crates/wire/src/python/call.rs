//! Calls and their arguments.

use std::ops::Range;

use super::token::{Lexed, Sort};

/// Most arguments of one call that are looked at.
const MOST: usize = 64;

/// The arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Values by position.
    pub(super) plain: Vec<Range<usize>>,
    /// Values by name.
    named: Vec<(String, Range<usize>)>,
    /// How many there are, `*` and `**` included.
    pub(super) count: usize,
}

impl Arguments {
    /// The argument called `name`, or the one at `place`.
    pub(super) fn get(&self, name: &str, place: usize) -> Option<Range<usize>> {
        self.named(name).or_else(|| self.plain.get(place).cloned())
    }

    /// The argument called `name`.
    pub(super) fn named(&self, name: &str) -> Option<Range<usize>> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// The arguments between the bracket at `open` and its mate; `None` when it is never closed.
pub(super) fn arguments(lexed: &Lexed<'_>, open: usize) -> Option<Arguments> {
    let close = lexed.tokens.get(open).map(|token| token.mate).filter(|mate| *mate > 0)?;
    let mut out = Arguments::default();
    let mut start = open + 1;
    let mut at = start;
    while start < close && out.count < MOST {
        while at < close && !lexed.is(at, ",") {
            at = lexed.after(at);
        }
        let value = start..at.min(close);
        if !value.is_empty() {
            out.count += 1;
            if lexed.sort(start) == Some(Sort::Word) && lexed.is(start + 1, "=") {
                out.named.push((lexed.text(start), start + 2..value.end));
            } else if !lexed.is(start, "*") {
                out.plain.push(value);
            }
        }
        at += 1;
        start = at;
    }
    Some(out)
}

/// A name with dots that ends right before the token `end`: its first token.
pub(super) fn chain_start(lexed: &Lexed<'_>, end: usize, floor: usize) -> usize {
    let mut start = end.saturating_sub(1);
    while start >= floor + 2 && lexed.is(start - 1, ".") && lexed.sort(start - 2) == Some(Sort::Word) {
        start -= 2;
    }
    start
}

/// The literal strings in lists and tuples of a value, such as labels; what calls give is not in it.
pub(super) fn literals(lexed: &Lexed<'_>, value: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = value.start;
    while at < value.end && found.len() < most {
        let subscript = at > value.start && (lexed.sort(at - 1) == Some(Sort::Word) || lexed.is(at - 1, ")"));
        if (lexed.is(at, "(") || lexed.is(at, "[")) && subscript {
            at = lexed.after(at);
            continue;
        }
        if lexed.sort(at) == Some(Sort::Text) {
            found.push(at..at + 1);
        }
        at += 1;
    }
    found
}
