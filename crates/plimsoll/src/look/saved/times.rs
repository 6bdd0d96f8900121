//! What counts as now: the newest time in the files.

use model::{Note, Time};

use super::pieces::{Matter, Piece};
use crate::look::clock_of;

/// Seconds by which a log and an answer may be apart before that is worth a remark.
const APART_S: f64 = 60.0;

/// What counts as now.
pub(super) struct Now {
    /// The time.
    pub(super) time: Time,
    /// How it was found.
    pub(super) notes: Vec<Note>,
}

/// The newest time that any piece says; without any, when the newest file was `written`, or now. Times without a zone count
/// where there are no others. Logs are read as of then; one whose times do not compare with it, as of its own newest.
pub(super) fn settle(pieces: &mut [Piece], written: Option<Time>) -> Now {
    let (zoned, zoneless) = (newest(pieces, true), newest(pieces, false));
    let said = zoned.or(zoneless);
    let time = said.or(written).unwrap_or_else(sense::clock::now);
    for piece in pieces.iter_mut() {
        if let Matter::Log(own) = &mut piece.matter {
            own.apart = zoned.is_some() && own.span.is_some() && !own.zoned;
            own.log.at = own.span.filter(|_| own.apart).map_or(time, |(newest, _)| newest);
        }
    }
    let mut notes = Vec::new();
    if said.is_some() {
        let text = format!("read from files: now is {}, the newest time in them", clock_of(time));
        notes.push(Note::new("saved", text));
    }
    let untimed = names(pieces, |matter| match matter {
        Matter::Answer(answer) => answer.at.is_none(),
        Matter::Log(own) => own.span.is_none(),
        Matter::Start { .. } => false,
    });
    if !untimed.is_empty() {
        let text = format!("no time stands in {}: how old its numbers are is not known", untimed.join(", "));
        notes.push(Note::new("untimed", text));
    }
    let apart = names(pieces, |matter| matches!(matter, Matter::Log(own) if own.apart));
    if !apart.is_empty() {
        let text = format!("the times in {} have no zone: how old its numbers are is not known", apart.join(", "));
        notes.push(Note::new("untimed", text));
    }
    if said.is_none() && untimed.is_empty() {
        notes.push(Note::new("saved", "read from files that say how servers are started: nothing was asked"));
    }
    notes.extend(distance(pieces));
    Now { time, notes }
}

/// The newest time that says its zone, or that does not.
fn newest(pieces: &[Piece], zoned: bool) -> Option<Time> {
    let said = pieces.iter().filter_map(|piece| match &piece.matter {
        Matter::Answer(answer) => answer.at.filter(|_| zoned),
        Matter::Log(own) => own.span.filter(|_| own.zoned == zoned).map(|(newest, _)| newest),
        Matter::Start { .. } => None,
    });
    latest(said)
}

/// The newest time that one of these pieces says and that compares with others.
pub(super) fn newest_of(pieces: &[Piece]) -> Option<Time> {
    latest(pieces.iter().filter_map(|piece| match &piece.matter {
        Matter::Answer(answer) => answer.at,
        Matter::Log(own) => own.span.filter(|_| !own.apart).map(|(newest, _)| newest),
        Matter::Start { .. } => None,
    }))
}

fn latest(times: impl Iterator<Item = Time>) -> Option<Time> {
    times.max_by(|one, other| one.0.total_cmp(&other.0))
}

/// The files of the pieces of which `is` is true.
fn names(pieces: &[Piece], is: impl Fn(&Matter) -> bool) -> Vec<&str> {
    let mut names: Vec<&str> =
        pieces.iter().filter(|piece| is(&piece.matter)).map(|piece| piece.name.as_str()).collect();
    names.dedup();
    names
}

/// By how much the newest log and the newest answer are apart, where that is worth a remark.
fn distance(pieces: &[Piece]) -> Option<Note> {
    let answers = pieces.iter().filter_map(|piece| match &piece.matter {
        Matter::Answer(answer) => answer.at,
        _ => None,
    });
    let logs = pieces.iter().filter_map(|piece| match &piece.matter {
        Matter::Log(own) => own.span.map(|(newest, _)| (newest, own.zoned)),
        _ => None,
    });
    let (logged, zoned) = logs.max_by(|(one, _), (other, _)| one.0.total_cmp(&other.0))?;
    let apart = logged.since(latest(answers)?);
    let order = if apart > 0.0 { "after" } else { "before" };
    let condition = if zoned { "" } else { ", if its times without a zone are UTC" };
    let text = format!("the log ends {:.0} s {order} the answer was given{condition}", apart.abs());
    (apart.abs() > APART_S).then(|| Note::new("times-apart", text))
}

/// The time that a `Date` of an HTTP header says.
pub(super) fn of_header(date: &str) -> Option<Time> {
    let time = jiff::fmt::rfc2822::parse(date).ok()?;
    Some(Time(time.timestamp().as_second() as f64))
}
