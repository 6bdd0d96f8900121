//! Values of names: text that the file says, with holes where it does not.

use std::ops::Range;

use super::line::shown;
use super::token::{Lexed, Sort, field_end};

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text that is written.
    Text(String),
    /// An expression whose value is not.
    Hole(String),
}

/// What a name stands for, if the file says so.
pub(super) type Look<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Brackets and terms that are followed.
const DEEPEST: u32 = 8;
/// Longest value, bytes.
const LONGEST: usize = 512;

/// The value of these tokens; empty when there are none.
pub(super) fn value(lexed: &Lexed<'_>, tokens: Range<usize>, look: Look<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    sum(lexed, tokens, look, DEEPEST, &mut parts);
    parts
}

/// The value written out, holes as `{…}`.
pub(super) fn written(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Hole(expression) => {
                text.push('{');
                text.extend(expression.chars().filter(|letter| !"{}".contains(*letter)));
                text.push('}');
            }
        }
        if text.len() > LONGEST {
            break;
        }
    }
    text
}

/// Terms joined by `+`.
fn sum(lexed: &Lexed<'_>, tokens: Range<usize>, look: Look<'_>, depth: u32, parts: &mut Vec<Part>) {
    let mut start = tokens.start;
    let mut at = start;
    while start < tokens.end && parts.len() < 64 {
        while at < tokens.end && !lexed.is(at, "+") {
            at = lexed.after(at);
        }
        term(lexed, start..at.min(tokens.end), look, depth, parts);
        at += 1;
        start = at;
    }
}

fn term(lexed: &Lexed<'_>, tokens: Range<usize>, look: Look<'_>, depth: u32, parts: &mut Vec<Part>) {
    let hole = |parts: &mut Vec<Part>| parts.push(Part::Hole(shown(lexed, tokens.clone())));
    let start = tokens.start;
    if start >= tokens.end {
        return;
    }
    if lexed.is(start, "(") && lexed.after(start) == tokens.end && depth > 0 {
        return sum(lexed, start + 1..tokens.end - 1, look, depth - 1, parts);
    }
    if lexed.sort(start) == Some(Sort::Word) {
        let name: String = tokens.clone().map(|at| lexed.text(at)).take(8).collect();
        match look(&name).filter(|_| tokens.len() < 8) {
            Some(text) => parts.push(Part::Text(text)),
            None => hole(parts),
        }
        return;
    }
    if lexed.sort(start) != Some(Sort::Text) {
        return hole(parts);
    }
    let mut at = start;
    let mut found = Vec::new();
    while at < tokens.end && lexed.sort(at) == Some(Sort::Text) {
        literal(lexed.bytes(at), look, &mut found);
        at += 1;
    }
    if at == tokens.end {
        parts.extend(found);
    } else if lexed.is(at, "%") {
        found.iter_mut().for_each(open);
        parts.extend(found.into_iter().flat_map(split));
    } else if lexed.is(at, ".") && lexed.is(at + 1, "format") {
        parts.extend(found.into_iter().flat_map(split));
    } else {
        hole(parts);
    }
}

/// Makes `%s`, `%(name)d` and the like a field in braces.
fn open(part: &mut Part) {
    let Part::Text(text) = part else { return };
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(behind) = behind.strip_prefix('%') {
            out.push('%');
            rest = behind;
            continue;
        }
        let end = behind.find(|letter: char| "sdifrxge".contains(letter) && !behind.starts_with('('));
        let end = end.or_else(|| behind.find(')').map(|at| at + 1));
        out.push_str("{}");
        rest = end.and_then(|end| behind.get(end + 1..)).unwrap_or_default();
    }
    *text = out + rest;
}

/// Text with fields in braces to text and holes.
fn split(part: Part) -> Vec<Part> {
    let Part::Text(text) = part else { return vec![part] };
    let mut parts = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once('{') {
        parts.push(Part::Text(before.to_owned()));
        let (field, behind) = behind.split_once('}').unwrap_or((behind, ""));
        parts.push(Part::Hole(field.to_owned()));
        rest = behind;
    }
    parts.push(Part::Text(rest.to_owned()));
    parts
}

/// The parts of one string literal.
fn literal(token: &[u8], look: Look<'_>, parts: &mut Vec<Part>) {
    let prefix = token.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let has = |wanted: &[u8]| token[..prefix].iter().any(|byte| wanted.contains(byte));
    let (raw, formatted, bytes) = (has(b"rR"), has(b"fFtT"), has(b"bB"));
    let quoted = &token[prefix..];
    let Some(&mark) = quoted.first() else { return };
    let width = if quoted.len() >= 6 && quoted.starts_with(&[mark; 3]) { 3 } else { 1 };
    let body = quoted.get(width..quoted.len().saturating_sub(width)).unwrap_or_default();
    let body = &body[..body.len().min(LONGEST * 4)];
    if bytes {
        return parts.push(Part::Hole("bytes".to_owned()));
    }
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        match byte {
            b'\\' if !raw => at += escape(&body[at..], &mut text),
            b'{' if formatted && body.get(at + 1) == Some(&b'{') => {
                text.push(b'{');
                at += 2;
            }
            b'}' if formatted && body.get(at + 1) == Some(&b'}') => {
                text.push(b'}');
                at += 2;
            }
            b'{' if formatted => {
                let Some(end) = field_end(body, at, true) else {
                    text.push(byte);
                    at += 1;
                    continue;
                };
                parts.push(Part::Text(String::from_utf8_lossy(&std::mem::take(&mut text)).into_owned()));
                parts.push(field(&body[at + 1..end - 1], look));
                at = end;
            }
            _ => {
                text.push(byte);
                at += 1;
            }
        }
    }
    parts.push(Part::Text(String::from_utf8_lossy(&text).into_owned()));
}

/// The field of a formatted string, without its braces.
fn field(inside: &[u8], look: Look<'_>) -> Part {
    let inside = String::from_utf8_lossy(inside);
    let expression = inside.split(['!', ':', '=']).next().unwrap_or_default().trim();
    let plain = expression.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    match look(expression).filter(|_| plain) {
        Some(text) => Part::Text(text),
        None => Part::Hole(expression.to_owned()),
    }
}

/// One escape at the front of `body`; gives its length.
fn escape(body: &[u8], text: &mut Vec<u8>) -> usize {
    let digits = |length: usize| {
        let digits = std::str::from_utf8(body.get(2..2 + length)?).ok()?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    let (letter, length) = match body.get(1) {
        Some(b'x') => (digits(2), 4),
        Some(b'u') => (digits(4), 6),
        Some(b'U') => (digits(8), 10),
        _ => (None, 2),
    };
    if let Some(letter) = letter {
        text.extend(letter.encode_utf8(&mut [0; 4]).bytes());
        return length;
    }
    match body.get(1) {
        // A line that goes on.
        Some(b'\n') => {}
        Some(b'\r') => return if body.get(2) == Some(&b'\n') { 3 } else { 2 },
        Some(b'n') => text.push(b'\n'),
        Some(b't') => text.push(b'\t'),
        Some(b'r') => text.push(b'\r'),
        Some(quoted @ (b'\\' | b'\'' | b'"')) => text.push(*quoted),
        Some(other) => text.extend([b'\\', *other]),
        None => text.push(b'\\'),
    }
    2
}
