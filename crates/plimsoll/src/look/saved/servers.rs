//! Which pieces are of one server.

use std::collections::BTreeSet;

use engines::table::Table;
use engines::{Whereabouts, saved};
use model::{Account, Facts, Log, Note, Time};

use super::pieces::{Matter, Piece, Written};
use super::sizes;
use super::times;
use crate::look::Eye;
use crate::look::candidate::{Candidate, Looked};

/// Facts by which two pieces are told to be of two servers.
const TELLING: [&str; 6] = ["port", "role", "model_path", "model", "version", "worker_id"];
/// Facts that weigh less are a default.
pub(super) const SAID: u8 = 1;

/// Puts pieces together that nothing tells apart, in whatever order they were given. A piece that could be of either of
/// two servers is of neither: numbers of two servers must never meet.
pub(super) fn join(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    // Two pieces are of one server when they may be, and no third one may be of the one's server and not of the other's.
    let parted = |at: usize| -> (String, BTreeSet<usize>) {
        let others = (0..pieces.len()).filter(|other| *other != at && pieces[*other].engine == pieces[at].engine);
        (pieces[at].engine.clone(), others.filter(|other| are_two(&pieces[at], &pieces[*other])).collect())
    };
    let keys: Vec<(String, BTreeSet<usize>)> = (0..pieces.len()).map(parted).collect();
    let mut servers: Vec<(usize, Vec<Piece>)> = Vec::new();
    for (at, piece) in pieces.into_iter().enumerate() {
        match servers.iter_mut().find(|(first, _)| keys[*first] == keys[at] && !keys[at].1.contains(first)) {
            Some((_, server)) => server.push(piece),
            None => servers.push((at, vec![piece])),
        }
    }
    servers.into_iter().map(|(_, server)| server).collect()
}

/// Whether two pieces of one engine are of two servers: they say different things of it, or are of one kind.
fn are_two(one: &Piece, other: &Piece) -> bool {
    let differ = |fact: &str| match (said(&one.facts, fact), said(&other.facts, fact)) {
        (Some(one), Some(other)) => one != other && !is_same_number(one, other),
        _ => false,
    };
    let unsure = |piece: &Piece| matches!(&piece.matter, Matter::Log(log) if log.unsure);
    let workers = one.worker.is_some() && other.worker.is_some();
    unsure(one)
        || unsure(other)
        || workers
        || sizes::are_two(one, other)
        || same_kind(one, other)
        || TELLING.into_iter().any(differ)
}

/// Whether two spellings are of one number, once in decimal and once in hex: what one place calls a worker.
fn is_same_number(one: &str, other: &str) -> bool {
    let (decimal, hex) = (|text: &str| text.parse::<u64>().ok(), |text: &str| u64::from_str_radix(text, 16).ok());
    let crossed = |one: &str, other: &str| decimal(one).is_some() && decimal(one) == hex(other);
    crossed(one, other) || crossed(other, one)
}

/// A fact that a piece says, and does not only not deny.
fn said<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    facts.get(name).filter(|fact| fact.weight >= SAID).map(|fact| fact.value.as_str())
}

fn same_kind(one: &Piece, other: &Piece) -> bool {
    match (&one.matter, &other.matter) {
        (Matter::Answer(one), Matter::Answer(other)) => one.get == other.get,
        (Matter::Log(first), Matter::Log(second)) => {
            !goes_on(&one.name, &other.name) || overlap(first.span, second.span)
        }
        (Matter::Start { .. }, Matter::Start { .. }) => true,
        _ => false,
    }
}

/// `decode.log` and `decode.log.1`: parts of one log, as they are rotated.
fn goes_on(one: &str, other: &str) -> bool {
    let stem = |name: &str| {
        let rest = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        if rest.len() < name.len() { rest.trim_end_matches(['.', '-']).to_owned() } else { name.to_owned() }
    };
    one != other && stem(one) == stem(other) && !stem(one).is_empty()
}

/// Whether two logs were written at the same time: then they are not parts of one.
fn overlap(one: Option<(Time, Time)>, other: Option<(Time, Time)>) -> bool {
    match (one, other) {
        (Some((newest, oldest)), Some((other_newest, other_oldest))) => {
            one == other || oldest < other_newest && other_oldest < newest
        }
        _ => true,
    }
}

/// Reads the pieces of one server as what it said, at `now`.
pub(super) fn understood(eye: &Eye, pieces: Vec<Piece>, now: Time) -> Looked {
    let mut names: Vec<String> = Vec::new();
    let mut candidate = Candidate::nothing();
    candidate.place.saved = true;
    let (mut observations, mut logs, mut untimed) = (Vec::new(), Vec::new(), Vec::new());
    let mut said = Account::default();
    let old = times::newest_of(&pieces).filter(|newest| now.since(*newest) > fleet::FRESH_S);
    for piece in pieces {
        candidate.engine.get_or_insert(piece.engine);
        let of = piece.worker.as_ref().map_or(String::new(), |worker| format!(" ({worker})"));
        let mut name = piece.name.clone() + &of;
        if !matches!(piece.matter, Matter::Start { .. }) {
            for (name, fact) in &piece.facts {
                said.learn(name, fact.value.clone(), fact.source.clone(), fact.weight);
            }
        }
        match piece.matter {
            Matter::Answer(answer) => {
                match (answer.at, old) {
                    // Something else of this server is known to be old: what does not say its time is no newer.
                    (None, Some(_)) => {
                        let text =
                            format!("no time stands in {}: it is taken to be as old as what is beside it", piece.name);
                        candidate.notes.push(Note::new("untimed", text));
                    }
                    (None, None) => untimed.push(answer.get.clone()),
                    (Some(_), _) => {}
                }
                observations.push(answer.observed(&piece.name, old.unwrap_or(now)));
                candidate.notes.extend(answer.notes);
            }
            Matter::Log(log) => logs.push(log),
            Matter::Start { place, notes } => {
                name = place.file.clone().unwrap_or(name);
                candidate.place = Whereabouts { saved: true, ..*place };
                candidate.flags = piece.facts;
                candidate.notes.extend(notes);
            }
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    candidate.title = Some(names.join(" + "));
    let timeless = logs.iter().any(|log| log.span.is_none());
    let apart = logs.iter().any(|log| log.apart);
    let log: Vec<Log> = one_log(logs).into_iter().collect();
    let table = candidate.engine.as_deref().and_then(|name| eye.tables.get(name));
    let mut account = Account::default();
    if let Some(table) = table {
        account = engines::interpret(table, &observations, &log, &candidate.flags);
        let untimed: Vec<&str> = untimed.iter().map(String::as_str).collect();
        saved::forget_times(table, &mut account, &untimed, timeless);
        if apart {
            saved::forget_zone(table, &mut account, now);
        }
        candidate.notes.extend(changed(table, &candidate.flags, &said.facts));
    }
    account.notes.extend(candidate.notes.iter().cloned());
    let workers = crate::look::named::settle(&mut account);
    Looked { named: workers, ..Looked::of(candidate, account) }
}

/// The parts of a log, oldest first, as one log that is called as its newest part.
fn one_log(mut parts: Vec<Written>) -> Option<Log> {
    let newest = |part: &Written| part.span.map_or(f64::MIN, |(newest, _)| newest.0);
    parts.sort_by(|one, other| newest(one).total_cmp(&newest(other)));
    let mut last = parts.pop()?.log;
    let mut stretches = Vec::new();
    for Written { log, .. } in parts {
        let name = log.name;
        let own = log.outcome.into_iter().flatten();
        stretches.extend(own.map(|stretch| model::Stretch { name: Some(name.clone()), ..stretch }));
    }
    if let Ok(own) = last.outcome {
        stretches.extend(own);
        last.outcome = Ok(stretches);
    }
    Some(last)
}

/// Where the command that starts a server and what the server said of itself differ: one of them is of another time.
fn changed(table: &Table, flags: &Facts, own: &Facts) -> Vec<Note> {
    let knobs = table.knobs.iter().filter_map(|knob| {
        let flag = flags.get(&knob.fact).filter(|flag| flag.weight >= SAID || knob.switch)?;
        let said = own.get(&knob.fact).filter(|said| said.weight > SAID && said.value != flag.value)?;
        let text = format!(
            "{} = {}, but {} = {}: one of them is of another time, or of another server",
            flag.source, flag.value, said.source, said.value
        );
        Some(Note::new("start-differs", text))
    });
    knobs.collect()
}
