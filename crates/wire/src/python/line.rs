//! What kind of statement a logical line begins with.

use std::ops::Range;

use super::token::{Lexed, Line, Sort};

/// Longest test that is kept, in bytes.
const LONGEST: usize = 200;

/// The header of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Header {
    /// `class name(bases):`
    Class { name: String, bases: Range<usize> },
    /// `def name(parameters):`, without `self` and `cls`.
    Function { name: String, parameters: Vec<String> },
    /// `if`, `elif` or `else`: the tests of the chain so far, the last being the present one unless `otherwise`.
    Test { chain: Vec<String>, otherwise: bool },
    /// `case …` or `except …`, as written.
    Case(String),
    /// Any other block.
    Other,
}

/// The header that `line` is, and the tokens of what follows on the same line. `before`: tests of the chain that an
/// `elif` or `else` continues.
pub(super) fn header(lexed: &Lexed<'_>, line: &Line, before: Vec<String>) -> Option<(Header, Range<usize>)> {
    let mut first = line.tokens.start;
    let end = line.tokens.end;
    if lexed.is(first, "async") {
        first += 1;
    }
    let word = lexed.bytes(first);
    let known: [&[u8]; 15] = [
        b"class", b"def", b"if", b"elif", b"else", b"case", b"except", b"for", b"while", b"with", b"try", b"finally",
        b"match", b"async", b"type",
    ];
    if !known.contains(&word) {
        return None;
    }
    let colon = colon(lexed, first + 1..end)?;
    let test = || shown(lexed, first + 1..colon);
    let name = || lexed.text(first + 1);
    let header = match word {
        b"class" => Header::Class { name: name(), bases: first + 2..colon },
        b"def" => Header::Function { name: name(), parameters: parameters(lexed, first + 2) },
        b"if" => Header::Test { chain: vec![test()], otherwise: false },
        b"elif" => {
            let mut chain = before;
            chain.truncate(8);
            chain.push(test());
            Header::Test { chain, otherwise: false }
        }
        // `else` of a loop or a `try` has no chain.
        b"else" if !before.is_empty() => Header::Test { chain: before, otherwise: true },
        // `case` and `match` are names as well; an assignment to one is no header.
        b"case" | b"except" => Header::Case(shown(lexed, first..colon)),
        _ => Header::Other,
    };
    Some((header, colon + 1..end))
}

/// The colon that ends a header, outside of brackets.
fn colon(lexed: &Lexed<'_>, tokens: Range<usize>) -> Option<usize> {
    let mut at = tokens.start;
    while at < tokens.end {
        if lexed.is(at, ":") {
            return Some(at);
        }
        if lexed.is(at, "=") {
            return None;
        }
        at = lexed.after(at);
    }
    None
}

/// Names of parameters, given the token behind the function's name.
fn parameters(lexed: &Lexed<'_>, open: usize) -> Vec<String> {
    let Some(close) = lexed.tokens.get(open).map(|token| token.mate).filter(|mate| *mate > 0) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut at = open + 1;
    let mut fresh = true;
    while at < close {
        if lexed.is(at, ",") {
            fresh = true;
        } else if fresh && lexed.sort(at) == Some(Sort::Word) {
            found.push(lexed.text(at));
            fresh = false;
        }
        at = lexed.after(at);
    }
    if found.first().is_some_and(|first| first == "self" || first == "cls") {
        found.remove(0);
    }
    found
}

/// Source text of these tokens on one line, without comments, cut where it is long.
pub(super) fn shown(lexed: &Lexed<'_>, tokens: Range<usize>) -> String {
    let mut text = String::new();
    let mut last_end = None;
    for at in tokens {
        let Some(token) = lexed.tokens.get(at) else { break };
        if last_end.is_some_and(|end| token.start > end) {
            text.push(' ');
        }
        last_end = Some(token.end);
        text.push_str(&String::from_utf8_lossy(&lexed.source[token.start..token.end.min(token.start + LONGEST)]));
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push('…');
            break;
        }
    }
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// What a line assigns to: `x = …`, `x: T = …`, `self.x = …`.
pub(super) struct Assignment {
    /// `x`, or `x` of `self.x` and `cls.x`.
    pub(super) name: String,
    /// It is `self.x` or `cls.x`.
    pub(super) own: bool,
    /// It is `x += …`.
    pub(super) adds: bool,
    /// The tokens of the value.
    pub(super) value: Range<usize>,
}

/// The assignment that these tokens are.
pub(super) fn assignment(lexed: &Lexed<'_>, tokens: Range<usize>) -> Option<Assignment> {
    let mut at = tokens.start;
    let own = (lexed.is(at, "self") || lexed.is(at, "cls")) && lexed.is(at + 1, ".");
    if own {
        at += 2;
    }
    if lexed.sort(at) != Some(Sort::Word) {
        return None;
    }
    let name = lexed.text(at);
    at += 1;
    if lexed.is(at, ":") {
        while at < tokens.end && !lexed.is(at, "=") {
            at = lexed.after(at);
        }
    }
    let adds = lexed.is(at, "+=");
    (at < tokens.end && (adds || lexed.is(at, "="))).then(|| Assignment { name, own, adds, value: at + 1..tokens.end })
}
