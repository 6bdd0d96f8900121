//! A line with another message, and all that tells its time, its rank and its writer as it was.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::Value;

use super::{MOST_LAYERS, MOST_LINE, colour, first, last, record, tail, wrap};

/// `raw` with its message given by `with`: without colours, and of records only what tells the message, its time and whether
/// it is whole (and `_PID`). A prefix of no known kind that stands before a date goes. None where the line is too long to
/// be read.
///
/// Corners of lines that are wrapped several times may come out otherwise: whoever relies on it compares what
/// [`super::line`] says of both.
pub fn rewrite(raw: &[u8], tags: &[(&str, &str)], with: &mut dyn FnMut(&str) -> String) -> Option<String> {
    if raw.len() > MOST_LINE {
        return None;
    }
    let text = String::from_utf8_lossy(raw);
    Some(layer(&text, tags, MOST_LAYERS, false, with))
}

fn layer(text: &str, tags: &[(&str, &str)], left: usize, cut: bool, with: &mut dyn FnMut(&str) -> String) -> String {
    let mut around = wrap::Around::default();
    around.cut = cut;
    let text = tail(colour::plain(Cow::Borrowed(text)));
    let rest = wrap::peel(&text, tags, &mut around).len();
    let prefix = prefix(&text, text.len() - rest, tags);
    let text = last(text, rest);
    let end = text.len() - std::mem::take(&mut around.behind);
    let text = first(text, end);
    let read = if left > 0 { record::read(&text) } else { None };
    if let Some(read) = read
        && let Ok(mut value) = serde_json::from_str::<Value>(&text)
    {
        let inner = layer(&read.message, tags, left - 1, around.cut || read.cut, with);
        let end = if read.message.ends_with('\n') { "\n" } else { "" };
        record::keep(&mut value, &format!("{inner}{end}"), read.cut);
        return format!("{prefix}{value}");
    }
    if around.cut {
        // What is cut loses what stands behind its last comma whenever it is read: once is enough.
        let whole = text.rfind(',').unwrap_or(0);
        let message = with(&text[..whole]);
        return joined(&prefix, &message, ",");
    }
    joined(&prefix, &with(&text), "")
}

/// What [`super::line`] takes off the end of a line.
const BLANKS: [char; 5] = ['\r', '\n', '\0', ' ', '\t'];

fn joined(prefix: &str, message: &str, end: &str) -> String {
    if message.is_empty() { prefix.trim_end_matches(BLANKS).to_owned() } else { format!("{prefix}{message}{end}") }
}

/// The first `length` bytes of `text`, without what is of no known kind before a date in brackets.
fn prefix(text: &str, length: usize, tags: &[(&str, &str)]) -> String {
    let known = text.len() - wrap::peel_known(text, tags, &mut wrap::Around::default()).len();
    let Some(unknown) = text.get(known..length).filter(|unknown| !unknown.is_empty()) else {
        return text[..length].to_owned();
    };
    let date = memmem::find_iter(unknown.as_bytes(), b"[20").find(|at| unknown.get(*at..).is_some_and(wrap::dated));
    let unknown = &unknown[date.unwrap_or(0)..];
    format!("{}{unknown}", &text[..known])
}
