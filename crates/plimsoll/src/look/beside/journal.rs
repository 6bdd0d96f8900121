//! A unit's journal.

use model::{Blind, Log, LogClock, Note, Stretch, Time};
use sense::process::Unit;
use sense::{Command, Process, Ran};

use super::follow;
use crate::look::Eye;

/// How long each of the two questions may take: nobody waits longer for a journal than for a server.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
/// Newest messages that are asked for.
pub(super) const NEWEST: u32 = 1000;
/// Seconds from its start in which a server says what it is, and most messages of that time, the first ones.
pub(super) const START_S: f64 = 900.0;
pub(super) const STARTING: usize = 3000;
/// The journal's unit of time, seconds.
pub(super) const TICK_S: f64 = 1e-6;

/// The journal of the unit that runs a server: its newest messages and, where those do not reach back to it, its start. Of
/// one that was read `before` only what came since is asked for.
pub(super) async fn of(eye: &Eye, home: &Process, unit: &Unit, before: Vec<Log>, notes: &mut Vec<Note>) -> Log {
    let began = eye.place.now();
    let since = home.started_at;
    let name = format!("journal of {}", unit.name);
    // When a process started is known by the clock, which is kept right by small steps.
    let same = |log: &Log| log.name == name && log.since.is_some_and(|before| before.since(since).abs() < 2.0);
    let known = before.into_iter().find(same);
    let mut outcome = None;
    if let Some(read) = known.and_then(|log| follow::Read::of(log.outcome.ok()?)) {
        let ran = ask(eye, unit, read.until(), None, None).await;
        outcome = ran.ok().and_then(|ran| read.on(since, began, &ran));
    }
    let outcome = match outcome {
        Some(stretches) => Ok(stretches),
        None => afresh(eye, unit, since, notes).await,
    };
    let at = eye.place.now();
    Log { name, at, took: at.since(began), since: Some(since), clock: LogClock::Unknown, written: None, outcome }
}

async fn ask(eye: &Eye, unit: &Unit, since: Time, until: Option<Time>, newest: Option<u32>) -> Result<Ran, Blind> {
    let command = Command::Journal { unit: unit.name.clone(), user: unit.user, since: Some(since), until, newest };
    eye.place.run(&command, PATIENCE).await
}

/// The newest messages and, where those do not reach back to it, the start.
async fn afresh(eye: &Eye, unit: &Unit, since: Time, notes: &mut Vec<Note>) -> Result<Vec<Stretch>, Blind> {
    let from = since.plus(-1.0);
    let (stretch, oldest) = newest(&ask(eye, unit, from, None, Some(NEWEST)).await?);
    let Some(oldest) = oldest else { return Ok(vec![stretch]) };
    Ok(match ask(eye, unit, from, Some(end_of_start(since, oldest)), None).await {
        Ok(ran) => start(&ran).into_iter().chain([stretch]).collect(),
        Err(blind) => {
            notes.push(unread_start(&unit.name, &blind));
            vec![stretch]
        }
    })
}

/// Until when the start of a server that began at `since` is asked for: no message twice, so before the oldest one of the
/// newest.
pub(super) fn end_of_start(since: Time, oldest: Time) -> Time {
    Time(since.plus(START_S).0.min(oldest.0 - TICK_S))
}

fn unread_start(unit: &str, blind: &Blind) -> Note {
    let text = format!("what {unit} said in its journal when it started could not be read: {}", blind.text);
    Note::new("journal-start", text)
}

/// The newest messages, which came newest first, as a stretch, oldest first, one record a line; and the time of its
/// oldest where there are older ones.
pub(super) fn newest(ran: &Ran) -> (Stretch, Option<Time>) {
    let mut records = records(ran);
    let all = !ran.cut && records.len() < NEWEST as usize;
    records.reverse();
    let oldest = records.first().and_then(|record| time_of(record)).filter(|_| !all);
    // A stretch that begins within its log is taken to begin within a line: the line feed saves the first.
    let first: &[u8] = if all { b"" } else { b"\n" };
    (Stretch { bytes: joined(first, &records), from_start: all, ..Stretch::default() }, oldest)
}

/// The first messages of a server, which came oldest first; none where the journal has none.
pub(super) fn start(ran: &Ran) -> Option<Stretch> {
    let mut records = records(ran);
    records.truncate(STARTING);
    (!records.is_empty()).then(|| Stretch { bytes: joined(b"", &records), from_start: true, ..Stretch::default() })
}

/// The records that were printed, without one that may have lost its end.
pub(super) fn records(ran: &Ran) -> Vec<&[u8]> {
    let mut records: Vec<&[u8]> = ran.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    if ran.cut {
        records.pop();
    }
    records
}

/// Records as the bytes of a stretch.
pub(super) fn joined(first: &[u8], records: &[&[u8]]) -> Vec<u8> {
    [first, &records.join(&b'\n'), b"\n"].concat()
}

/// When the journal took a record.
pub(super) fn time_of(record: &[u8]) -> Option<Time> {
    let record: serde_json::Value = serde_json::from_slice(record).ok()?;
    let micros: f64 = record["__REALTIME_TIMESTAMP"].as_str()?.parse().ok()?;
    Some(Time(micros * TICK_S))
}
