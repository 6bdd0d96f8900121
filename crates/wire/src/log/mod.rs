//! An engine's log: the newest lines that hold one of a few words, freed of what terminals, shippers and the logging
//! set-up put around them, and the numbers in their messages.
//!
//! Which words matter, what they mean and how ranks are written is the caller's; this module knows formats alone.
//!
//! ```
//! use wire::log::{Anchors, line, newest_first, pairs};
//!
//! let log = b"[2026-11-29 16:15:22 TP0] Step done, used: 700\n[2026-11-29 16:15:23 TP0] Step done, used: 796\nother\n";
//! let anchors = Anchors::new(&["Step done"]);
//! let (_, newest) = newest_first(log, &anchors, true).next().unwrap();
//! let line = line(newest, &[("TP", "tp")]);
//! assert_eq!((&*line.message, &line.ranks[..]), ("Step done, used: 796", &[("tp", 0)][..]));
//! let used = pairs(&line.message).find(|pair| pair.key == "used").unwrap();
//! assert_eq!(used.value, 796.0);
//! ```

mod brackets;
mod colour;
mod header;
mod newest;
mod number;
mod pairs;
mod pasted;
mod record;
mod rewrite;
mod size;
mod stamp;
mod tags;
mod words;
mod wrap;
mod writer;

use std::borrow::Cow;

pub use newest::{Anchors, MOST_LINE, Newest, Words, newest_first, number_of_line};
pub use pairs::{Pair, number_before, number_behind, pairs};
pub use pasted::unwrap_pasted;
pub use rewrite::rewrite;
pub use size::{Size, Sizes, sizes};
pub use stamp::Stamp;
pub use writer::writer;

/// Records in records beyond this are not opened.
const MOST_LAYERS: usize = 6;

/// One line, with all that stands around its message taken off.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a, 't> {
    /// The message. It may hold line feeds when a record of a shipper did. Empty when the line is longer than
    /// [`MOST_LINE`].
    pub message: Cow<'a, str>,
    /// When it was written: a time with a zone of any layer, else the most complete one, the innermost of equals.
    pub stamp: Option<Stamp>,
    /// Ranks by the caller's kinds, as they were met; the innermost number of each kind.
    pub ranks: Vec<(&'t str, u32)>,
    /// Whether a bracket of the logging set-up itself says a time: where others do, a line without one goes on with the
    /// message before it.
    pub heads: bool,
    /// Whether a shipper said that this is but a part of a line, or the line is too long: what stood behind the last
    /// comma is left out, because a number there may have lost digits.
    pub cut: bool,
}

/// Takes off what stands around the message of one line. `tags` are the prefixes that ranks are written with, each with
/// the kind that it means: `("TP", "tp")` reads `TP3`, `("gpu=", "gpu")` reads `gpu=0`.
///
/// Understood, in any order and nested: colour codes, progress bars, records of containers, of the journal and of
/// shippers in JSON, syslog, prefixes of compose, of Kubernetes' tools, of launchers, of `grep`, quotes, levels, loggers,
/// source positions.
pub fn line<'a, 't>(raw: &'a [u8], tags: &[(&str, &'t str)]) -> Line<'a, 't> {
    let mut around = wrap::Around::default();
    if raw.len() > MOST_LINE {
        return Line { message: Cow::Borrowed(""), stamp: None, ranks: Vec::new(), heads: false, cut: true };
    }
    let mut text = match simdutf8::basic::from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(raw),
    };
    for _ in 0..MOST_LAYERS {
        text = tail(colour::plain(text));
        let rest = wrap::peel(&text, tags, &mut around).len();
        text = last(text, rest);
        let end = text.len() - std::mem::take(&mut around.behind);
        text = first(text, end);
        let Some(record) = record::read(&text) else { break };
        around.enter(record.time, record.cut);
        text = Cow::Owned(record.message);
    }
    if around.cut {
        let whole = text.rfind(',').unwrap_or(0);
        text = first(text, whole);
    }
    Line { message: text, stamp: around.stamp(), ranks: around.ranks, heads: around.heads, cut: around.cut }
}

/// Whether `text` begins as a log line of its own does: with a time, a level, a rank, a record or a shipper's prefix.
pub fn begins(text: &str, tags: &[(&str, &str)]) -> bool {
    let text = colour::plain(Cow::Borrowed(text));
    let mut around = wrap::Around::default();
    let rest = wrap::peel_known(&text, tags, &mut around);
    around.begun || record::read(rest).is_some()
}

/// What a terminal would still show: without line ends, and behind the last carriage return.
fn tail(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = text.trim_end_matches(['\r', '\n', '\0', ' ', '\t']).len();
    let text = first(text, end);
    if text.contains('\n') {
        return text;
    }
    let rest = text.rfind('\r').map_or(text.len(), |at| text.len() - at - 1);
    last(text, rest)
}

fn first(text: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..length]),
        Cow::Owned(mut text) => {
            text.truncate(length);
            Cow::Owned(text)
        }
    }
}

fn last(text: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[text.len() - length..]),
        Cow::Owned(mut text) => {
            text.drain(..text.len() - length);
            Cow::Owned(text)
        }
    }
}
