//! What stands before the message of a line, taken off piece by piece.

use memchr::memmem;
use model::Time;

use super::{Stamp, brackets, header, stamp, tags, words};

/// Pieces beyond this are taken for the message.
const MOST_PIECES: usize = 24;

/// What was learned from what stands around the message.
#[derive(Default)]
pub(super) struct Around<'t> {
    /// Ranks, the innermost of each kind.
    pub(super) ranks: Vec<(&'t str, u32)>,
    /// Whether a shipper said that this is a part of a line.
    pub(super) cut: bool,
    /// Bytes at the end that are none of the message.
    pub(super) behind: usize,
    /// Whether anything was met that only stands at the beginning of a line.
    pub(super) begun: bool,
    /// Whether a time in a bracket was met.
    pub(super) heads: bool,
    utc: Option<Time>,
    local: Option<Time>,
    day: Option<(u8, u8, f64)>,
    clock: Option<f64>,
    since: Option<f64>,
}

impl Around<'_> {
    /// Goes into a record, with what it says of itself.
    pub(super) fn enter(&mut self, time: Option<Stamp>, cut: bool) {
        if let Some(time) = time {
            self.time(time);
        }
        self.cut |= cut;
    }

    /// Notes a time; the innermost of each kind stays.
    pub(super) fn time(&mut self, time: Stamp) {
        self.begun = true;
        match time {
            Stamp::Utc(time) => self.utc = Some(time),
            Stamp::Local(time) => self.local = Some(time),
            Stamp::Day(month, day, clock) => self.day = Some((month, day, clock)),
            Stamp::Clock(clock) => self.clock = Some(clock),
            Stamp::Since(since) => self.since = Some(since),
        }
    }

    /// The time that says most.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let utc = self.utc.map(Stamp::Utc);
        let local = self.local.map(Stamp::Local);
        let day = self.day.map(|(month, day, clock)| Stamp::Day(month, day, clock));
        utc.or(local).or(day).or(self.clock.map(Stamp::Clock)).or(self.since.map(Stamp::Since))
    }
}

/// `text` without what is known to stand before messages, and without what unknown prefix stands before the first
/// bracketed date. Behind a date of the program's own a second one is text: of a request, of a peer, or of another program
/// that shares its terminal and broke into its line; there the message ends.
pub(super) fn peel<'x, 't>(text: &'x str, tags: &[(&str, &'t str)], around: &mut Around<'t>) -> &'x str {
    let text = peel_known(text, tags, around);
    if text.starts_with('{') {
        return text;
    }
    let mut dates = memmem::find_iter(text.as_bytes(), b"[20").take(MOST_PIECES);
    match dates.find(|at| text.get(*at..).is_some_and(dated)) {
        Some(at) if around.heads => {
            around.cut = true;
            around.behind = text.len() - at;
            text
        }
        // What a quotation holds is what a request or a peer says, no line of the program.
        Some(at) if !words::is_quoting(&text[..at]) => peel_known(&text[at..], tags, around),
        _ => text,
    }
}

/// `text` without what is known to stand before messages.
pub(super) fn peel_known<'x, 't>(text: &'x str, tags: &[(&str, &'t str)], around: &mut Around<'t>) -> &'x str {
    let mut rest = trim(text);
    for _ in 0..MOST_PIECES {
        match piece(rest, tags, around) {
            Some(inner) if inner.len() < rest.len() => rest = trim(inner),
            _ => break,
        }
    }
    rest
}

fn trim(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\0', '\u{feff}'])
}

/// `text` behind the one piece that it begins with; none when that is no known one.
fn piece<'x, 't>(text: &'x str, tags: &[(&str, &'t str)], around: &mut Around<'t>) -> Option<&'x str> {
    match text.as_bytes().first()? {
        b'{' => return None,
        b'>' => return text.strip_prefix('>').filter(|rest| rest.starts_with([' ', '>', '['])),
        b'<' => return header::syslog(text, around),
        b'[' => return brackets::square(text, tags, around),
        b'(' => return brackets::round(text, tags, around),
        b'|' | b'-' | b':' | b']' if around.begun => return separator(text),
        _ => {}
    }
    if let Some((rank, length)) = tags::at_start(text, tags) {
        tags::put(&mut around.ranks, rank);
        around.begun = true;
        return Some(text[length..].trim_start_matches([':', ',']));
    }
    // How long another program runs, whose lines are passed on behind something, tells nothing of this one's.
    let own = |time: &(Stamp, usize)| !(around.begun && matches!(time.0, Stamp::Since(_)));
    if let Some((time, length)) = stamp::at_start(text).filter(own) {
        around.time(time);
        return Some(header::behind_time(&text[length..], time, tags, around));
    }
    if let Some((time, rest)) = named_time(text) {
        around.time(time);
        return Some(rest);
    }
    let rest = words::level(text)
        .or_else(|| header::compose(text))
        .or_else(|| words::position(text))
        .or_else(|| words::logger(text).filter(|_| around.begun))
        .or_else(|| words::pointed(text, |rest| shows(rest, tags)))?;
    around.begun = true;
    Some(rest)
}

/// `time=2026-11-29T16:15:23.000Z `, quoted or not, as programs write it before their own names and values.
fn named_time(text: &str) -> Option<(Stamp, &str)> {
    let value = text.strip_prefix("time=").or_else(|| text.strip_prefix("ts="))?;
    let (time, rest) = if let Some(quoted) = value.strip_prefix('"') {
        let (inner, rest) = quoted.split_once('"')?;
        (stamp::whole(inner)?, rest)
    } else {
        let (time, length) = stamp::at_start(value)?;
        (time, &value[length..])
    };
    rest.strip_prefix(' ').or(rest.is_empty().then_some(rest)).map(|rest| (time, rest))
}

/// A sign that sets the prefixes apart.
fn separator(text: &str) -> Option<&str> {
    ["| ", "- ", ": ", "] "].iter().find_map(|sign| text.strip_prefix(sign))
}

/// Whether `text` begins with a time or a rank: what stands before it is then a prefix.
pub(super) fn shows(text: &str, tags: &[(&str, &str)]) -> bool {
    let text = trim(text);
    let open = text.strip_prefix('[').unwrap_or(text);
    stamp::at_start(open).is_some() || tags::at_start(open, tags).is_some()
}

/// Whether `text` begins with a date in brackets.
pub(super) fn dated(text: &str) -> bool {
    let inner = stamp::at_start(text.strip_prefix('[').unwrap_or_default());
    matches!(inner, Some((Stamp::Utc(_) | Stamp::Local(_), _)))
}
