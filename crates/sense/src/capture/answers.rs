//! The lines of one look as answers.

use model::{Answer, Blind, BlindKind, Observation, Time};
use serde::Deserialize;
use wire::capture::Answer as Line;

use super::told;
use crate::http::Target;
use crate::place::{Answered, Kept, Key, Told};

/// Reads the lines of a capture of this version, and how many of them hold no answer.
pub(super) fn answers(version: u32, lines: Vec<Line>) -> (Vec<Kept>, usize) {
    let count = lines.len();
    let mut kept = Vec::with_capacity(count);
    // Each line is let go as soon as it is read.
    for Line { ask, at, line } in lines {
        if version == 1 {
            kept.extend(first(&line));
        } else {
            kept.extend(told::read(&line).map(|answered| Kept { key: Key(ask), at, answered }));
        }
    }
    let unread = count - kept.len();
    (kept, unread)
}

/// A look over HTTP in version 1.
#[derive(Deserialize)]
struct Seen {
    at: Time,
    #[serde(default)]
    took_s: f64,
    target: String,
    get: String,
    status: Option<u16>,
    #[serde(default)]
    content_type: String,
    #[serde(default)]
    body: String,
    error: Option<String>,
}

fn first(line: &[u8]) -> Option<Kept> {
    let Seen { at, took_s: took, target, get, status, content_type, body, error } =
        serde_json::from_slice(line).ok()?;
    // As a target is spelled by who asks for it.
    let url = target.parse::<Target>().map_or_else(|_| format!("{target}{get}"), |target| target.base.url(&get));
    let outcome = match status {
        Some(status) => Ok(Answer { status, content_type, body: body.into_bytes(), ..Answer::default() }),
        None => Err(Blind::new(BlindKind::Gone, format!("GET {url}: {}", error.unwrap_or_default()))),
    };
    let key = Key(vec!["get".to_owned(), String::new(), url.clone()]);
    let answered: Answered = Ok(Told::Seen(Observation { get, url, at, took, outcome }));
    Some(Kept { key, at, answered })
}
