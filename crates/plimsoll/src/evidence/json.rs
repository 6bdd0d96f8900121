//! JSON, edited in its place: strings change where they must, and every other byte stays as it was written, numbers above all.

use std::borrow::Cow;

use memchr::memchr2;
use model::{BLOT, is_secret, looks_secret};

use super::rule::{Removed, Rule};
use super::secret;

/// Keys under which strings are prompts, what was made of them, or templates for them, wherever they stand.
pub(super) const TEXTS: [&str; 46] = [
    "answer",
    "answers",
    "body",
    "chat_template",
    "choices",
    "completion",
    "completions",
    "content",
    "contents",
    "conversation",
    "delta",
    "documents",
    "droppedTargets",
    "discoveredLabels",
    "functions",
    "generated_text",
    "input",
    "input_text",
    "inputs",
    "instruction",
    "instructions",
    "message",
    "messages",
    "output",
    "output_text",
    "outputs",
    "prompt",
    "prompts",
    "query",
    "question",
    "questions",
    "reasoning",
    "reasoning_content",
    "response",
    "responses",
    "stop",
    "suffix",
    "system",
    "system_prompt",
    "text",
    "texts",
    "tool_calls",
    "tools",
    "user_input",
    "default_system_prompt",
    "tool_choice",
];
/// Names that end so are names of texts too.
pub(super) const ENDINGS: [&str; 6] = ["prompt", "prompts", "_text", "_texts", "_str", "_message"];
/// Longer strings are texts, whatever they are called; bytes.
pub(super) const LONGEST: usize = 512;
/// What stands for a text.
pub(super) const TEXT: &str = "[text]";
/// Deeper levels are looked at as if they were this deep.
const DEPTH: usize = 512;

/// What a key says of the strings under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Values,
    Secrets,
    Texts,
}

/// An object or list that is open.
struct Level {
    /// The next string is a key.
    key: bool,
    object: bool,
    holds: Holds,
}

/// `text` without secrets and texts. What only begins like JSON keeps its brackets and numbers: nothing tells what its
/// strings are.
pub(super) fn scrubbed(text: &[u8], removed: &mut Removed) -> Vec<u8> {
    let whole = engines::reads_as_json(text);
    let mut out = Vec::with_capacity(text.len());
    let mut levels: Vec<Level> = Vec::new();
    let mut holds = Holds::Values;
    let mut name = String::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                let length = string(&text[at..]);
                let raw = &text[at..at + length];
                if let Some(level) = levels.last_mut().filter(|level| level.key) {
                    level.key = false;
                    let inner = level.holds;
                    name = decoded(raw).into_owned();
                    holds = told(&name, inner);
                    put(&mut out, raw, key(&name, whole, removed));
                } else {
                    put(&mut out, raw, value(&name, raw, if whole { holds } else { Holds::Texts }, removed));
                    // A list has no names of its own.
                    holds = levels.last().map_or(Holds::Values, |level| level.holds);
                }
                at += length;
                continue;
            }
            b'{' | b'[' => {
                let object = byte == b'{';
                if levels.len() < DEPTH {
                    levels.push(Level { key: object, object, holds });
                }
                out.push(byte);
            }
            b'}' | b']' => {
                levels.pop();
                holds = levels.last().map_or(Holds::Values, |level| level.holds);
                out.push(byte);
            }
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.key = level.object;
                    holds = level.holds;
                }
                out.push(byte);
            }
            // Numbers, true, false, null, NaN, Infinity.
            _ if byte.is_ascii_whitespace() || byte == b':' => out.push(byte),
            _ => {
                let length = text[at..].iter().take_while(|byte| is_word(**byte)).count();
                if is_literal(&text[at..at + length]) {
                    out.extend_from_slice(&text[at..at + length]);
                }
                at += length.max(1);
                continue;
            }
        }
        at += 1;
    }
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// Whether a bare word is a number or one of the few others that JSON, and Python in its place, have.
fn is_literal(word: &[u8]) -> bool {
    let number = word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    number || [&b"true"[..], b"false", b"null", b"NaN", b"Infinity", b"-Infinity"].contains(&word)
}

/// What the strings under `name` are, where those around it are `outer`.
fn told(name: &str, outer: Holds) -> Holds {
    if outer != Holds::Values {
        outer
    } else if is_text(name) {
        Holds::Texts
    } else if looks_secret(name) {
        Holds::Secrets
    } else {
        Holds::Values
    }
}

/// Whether strings under this name are texts, however it is spelled and whatever stands before it: `last_prompt`,
/// `userPrompt`, `output_text`.
pub(super) fn is_text(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |ending: &&str| {
        bytes.len().checked_sub(ending.len()).is_some_and(|at| bytes[at..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    ENDINGS.iter().any(ends) || TEXTS.iter().any(|text| text.eq_ignore_ascii_case(name))
}

/// What stands in place of a key; none where it stays.
fn key(name: &str, whole: bool, removed: &mut Removed) -> Option<String> {
    if name == TEXT {
        return None;
    }
    if name.len() > LONGEST || !whole {
        removed.note(Rule::Texts);
        return Some(TEXT.to_owned());
    }
    replaced(name, removed)
}

/// What stands in place of a string; none where it stays.
fn value(name: &str, raw: &[u8], holds: Holds, removed: &mut Removed) -> Option<String> {
    let text = decoded(raw);
    let said = !text.is_empty() && text != TEXT;
    if said && (holds == Holds::Texts || raw.len() > LONGEST + 2 && holds == Holds::Values) {
        removed.note(Rule::Texts);
        return Some(TEXT.to_owned());
    }
    if holds == Holds::Secrets && (is_secret(name, &text) || !looks_secret(name) && is_secret("key", &text)) {
        removed.note(Rule::Secrets);
        return Some(BLOT.to_owned());
    }
    replaced(&text, removed)
}

fn replaced(text: &str, removed: &mut Removed) -> Option<String> {
    let clean = if may_hide(text) { secret::scrubbed(text, removed) } else { return None };
    (clean != text).then_some(clean)
}

/// Whether a look at the whole text is worth its while: every secret has one of these before it, or is a token.
pub(super) fn may_hide(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'@' | b'=' | b':' | b' ' | b'"' | b'\'' | b'-' | b'_'))
        || text.len() >= SHORTEST_TOKEN
}

/// Shorter words are no tokens.
const SHORTEST_TOKEN: usize = 12;

fn put(out: &mut Vec<u8>, raw: &[u8], kept: Option<String>) {
    match kept {
        Some(kept) => out.extend_from_slice(serde_json::Value::from(kept).to_string().as_bytes()),
        None => out.extend_from_slice(raw),
    }
}

/// Bytes of the string that `text` begins with, quotes and all; to the end where it has none.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The string's text; one that is broken as far as it can be read.
fn decoded(raw: &[u8]) -> Cow<'_, str> {
    let inside = raw.strip_prefix(b"\"").unwrap_or(raw);
    let inside = inside.strip_suffix(b"\"").unwrap_or(inside);
    if !inside.contains(&b'\\') {
        return String::from_utf8_lossy(inside);
    }
    serde_json::from_slice(raw).map_or_else(|_| String::from_utf8_lossy(inside), Cow::Owned)
}
