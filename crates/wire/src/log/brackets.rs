//! Prefixes in brackets: the logging set-up's own, and those of launchers and Kubernetes' tools.

use super::wrap::{self, Around};
use super::{stamp, tags, words};

/// A bracket with more inside is no prefix.
const MOST: usize = 256;

/// `[2026-11-29 16:15:23 DP0 TP3]`, `[gpu=0]`, `[INFO]`, `[x.py:12]`, `[rank0]:`, `[pod/name/container]`; of others,
/// those that a time or a rank follows.
pub(super) fn square<'x, 't>(text: &'x str, tags: &[(&str, &'t str)], around: &mut Around<'t>) -> Option<&'x str> {
    let (inner, rest) = inside(text, '[', ']')?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if let Some((time, length)) = stamp::at_start(inner) {
        around.time(time);
        around.heads = true;
        tags::within(&inner[length..], &[' ', ',', '|'], tags, &mut around.ranks);
        return Some(rest);
    }
    let known = words::is_level(inner.split([' ', ',']).next().unwrap_or_default())
        || tags::at_start(inner, tags).is_some()
        || words::is_position(inner)
        || words::is_launched(inner)
        || inner.starts_with("pod/")
        || around.begun && (words::is_dotted(inner) || inner.bytes().all(|byte| byte.is_ascii_digit()));
    if !known && !wrap::shows(rest, tags) {
        return None;
    }
    tags::within(inner, &[' ', ',', '|'], tags, &mut around.ranks);
    around.begun = true;
    Some(rest)
}

/// `(Actor pid=123, ip=10.0.0.1)`.
pub(super) fn round<'x, 't>(text: &'x str, tags: &[(&str, &'t str)], around: &mut Around<'t>) -> Option<&'x str> {
    let (inner, rest) = inside(text, '(', ')')?;
    if !inner.contains("pid=") {
        return None;
    }
    tags::within(inner, &[' ', ',', '_'], tags, &mut around.ranks);
    around.begun = true;
    Some(rest)
}

/// What stands in the bracket that `text` begins with, and what behind it.
fn inside(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().take_while(|(at, _)| *at < MOST) {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return Some((&text[1..at], &text[at + 1..]));
            }
        }
    }
    None
}
