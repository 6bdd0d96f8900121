//! Logs: the lines that the tables know, as much of them as is read, and empty lines for all others.

use std::cell::RefCell;

use engines::Telling;
use sense::Ends;

use super::json::{LONGEST, TEXT, is_text};
use super::rule::{Removed, Rule};
use super::secret;

/// Both ends of a log. `size` and `tail_from` stay as they were, so that a file of which nothing was left out between the
/// ends is still known to be one: then all that is kept is in the head, where the tail goes on.
pub(super) fn ends(telling: &Telling, ends: Ends, removed: &mut Removed) -> Ends {
    let joined = ends.tail_from == ends.head.len() as u64;
    if joined {
        let head = stretch(telling, &[ends.head, ends.tail].concat(), true, removed);
        return Ends { tail_from: head.len() as u64, head, tail: Vec::new(), ..ends };
    }
    let head = stretch(telling, &ends.head, true, removed);
    let tail = stretch(telling, &ends.tail, false, removed);
    Ends { head, tail, ..ends }
}

/// One stretch; `whole` says that it begins where a line does.
pub(super) fn stretch(telling: &Telling, bytes: &[u8], whole: bool, removed: &mut Removed) -> Vec<u8> {
    let counted = RefCell::new(Removed::default());
    let (kept, left) = telling.keep(bytes, whole, &|text, dump| message(text, dump, &mut counted.borrow_mut()));
    removed.add(Rule::LogLines, left);
    removed.take(counted.into_inner());
    kept
}

/// A message, or a part of one, as it may be kept.
pub(super) fn message(text: &str, dump: bool, removed: &mut Removed) -> String {
    let short = if dump { without_texts(text, removed) } else { text.to_owned() };
    secret::scrubbed(&short, removed)
}

/// A dump of arguments without templates, prompts and other long texts among its values.
fn without_texts(text: &str, removed: &mut Removed) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut kept, mut at) = (0, 0);
    while let Some(start) = text[at..].find(['\'', '"']).map(|found| at + found) {
        let Some(length) = literal(&text[start..]) else {
            // A string that was cut off is not read, and may have lost what tells that it is secret.
            removed.note(Rule::Texts);
            return out + &text[kept..start];
        };
        at = start + length;
        let inside = length.saturating_sub(2);
        if inside > 0 && (inside > LONGEST || is_text(name_before(&text[..start]))) {
            let quote = &text[start..=start];
            out.push_str(&text[kept..start]);
            out.push_str(&format!("{quote}{TEXT}{quote}"));
            removed.note(Rule::Texts);
            kept = at;
        }
    }
    out + &text[kept..]
}

/// The name of the field whose value comes next: `name=`, `'name': `.
pub(super) fn name_before(text: &str) -> &str {
    let text = text.trim_end();
    let Some(text) = text.strip_suffix(['=', ':']) else { return "" };
    let text = text.trim_end_matches([' ', '\'', '"']);
    let from = text.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    text.get(from..).unwrap_or_default()
}

/// Bytes of the string literal that `text` begins with; none where it has no end.
fn literal(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(bytes[0], b'\\', rest)) {
        at += found + 1;
        if bytes[at - 1] == bytes[0] {
            return Some(at);
        }
        // The letter that is escaped may have several bytes.
        at += text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    None
}
