//! Bodies of HTTP answers.

use model::Answer;
use serde_json::Value;
use wire::exposition::{Kind, looks_like};

use super::rule::{Removed, Rule};
use super::{json, page};

/// Longer names of types of content are none.
const LONGEST_TYPE: usize = 128;

/// An answer as it may be kept. Of one that is no success only its status is read, and only that is kept.
pub(super) fn answer(answer: Answer, removed: &mut Removed) -> Answer {
    if answer.status != 200 {
        if !answer.body.is_empty() {
            removed.note(Rule::Texts);
        }
        return Answer { body: Vec::new(), ..answer };
    }
    let body = body(&answer.body, removed);
    let is_type = |letter: char| letter.is_ascii_alphanumeric() || " /;=.+-_*,".contains(letter);
    let known = answer.content_type.len() <= LONGEST_TYPE && answer.content_type.chars().all(is_type);
    Answer { body, content_type: if known { answer.content_type } else { String::new() }, ..answer }
}

/// A body of any kind.
pub(super) fn body(bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    match looks_like(bytes) {
        Kind::Exposition => page::scrubbed(bytes, removed),
        Kind::Json => json::scrubbed(bytes, removed),
        Kind::Empty => bytes.to_vec(),
        // Of others it is only ever said what they look like.
        Kind::Html => instead(b"<html>", removed),
        Kind::Binary => instead(b"\0", removed),
        Kind::Text => text(bytes, removed),
    }
}

/// A text that is neither page nor JSON. A number or a word of JSON is JSON, though.
fn text(bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    if serde_json::from_slice::<Value>(bytes).is_ok() {
        return json::scrubbed(bytes, removed);
    }
    // What is said of it is where it ceases to read like JSON.
    let fault = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes.trim_ascii()).err().map(|error| error.to_string());
    let same = |other: &&[u8]| fault(other) == fault(bytes) && looks_like(other) == Kind::Text;
    let others: [&[u8]; 6] = [b"other", b"t", b"f", b"n", b"-", b"1 x"];
    let same = others.into_iter().find(same).unwrap_or(others[0]);
    instead(same, removed)
}

fn instead(bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    removed.note(Rule::Texts);
    bytes.to_vec()
}
