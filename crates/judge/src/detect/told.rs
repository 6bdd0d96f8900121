//! What was found before and is evidence here: impossible readings, notes of cross-checks, gaps.

use model::{Note, Readings, Server, State, Time};

use super::Found;
use super::limits::{impossible_values as limits, router_against_engine as router};
use super::series::source;
use super::window::Window;

/// The note of a set of numbers that cannot be, and was not shown.
const IMPOSSIBLE: &str = "impossible";
/// The note of a router that sees another use than the server itself.
const ROUTER: &str = "router-view-differs";
/// The gap of ranks that no page tells of.
const RANKS: &str = "ranks";

/// Whether a sign needs this note of an earlier look: that it stood there, too.
pub fn is_compared(note: &Note) -> bool {
    note.id == ROUTER
}

/// Detects readings that cannot be.
pub(super) fn impossible(window: &Window<'_>) -> Vec<Found> {
    let server = window.newest();
    let mut evidence = Vec::new();
    for rank in &server.ranks {
        let place = window.place(rank.rank);
        said(&rank.readings, &place, &mut evidence);
        for pool in &rank.pools {
            said(&pool.readings, &format!(" of the {} pool on the {}{place}", pool.pool, pool.tier), &mut evidence);
        }
    }
    for view in &server.router_view {
        said(&view.readings, &format!(" of the worker {}", view.worker), &mut evidence);
    }
    // A set that was not shown; one that is shown says it itself.
    if evidence.is_empty() {
        evidence.extend(notes(server, IMPOSSIBLE));
    }
    if evidence.is_empty() {
        return Vec::new();
    }
    // What was said stands as evidence, once.
    let what = match evidence.len() {
        1 => "it says a number that cannot be".to_owned(),
        many => format!("it says {many} numbers that cannot be"),
    };
    let shown = limits::SHOWN as usize;
    let more = evidence.len().saturating_sub(shown);
    evidence.truncate(shown);
    if more > 0 {
        evidence.push(format!("and {more} more"));
    }
    vec![Found::new(what, evidence, None)]
}

fn said(readings: &Readings, place: &str, evidence: &mut Vec<String>) {
    let said_now = |reading: &model::Reading| {
        reading.state == State::Impossible && reading.age_s.is_none_or(|age| age <= limits::FRESH)
    };
    for (signal, reading) in readings.iter().filter(|(_, reading)| said_now(reading)) {
        let reason = reading.reason.as_deref().unwrap_or_default();
        evidence.push(format!("{}{place}: {reason}{}", signal.row().title, source(reading)));
    }
}

/// Detects a router that sees something else, look after look: once, both may have been right a moment apart.
pub(super) fn router_differs(window: &Window<'_>) -> Vec<Found> {
    let looks = window.looks();
    let differs = |(_, server): &&(Time, &Server)| notes(server, ROUTER).next().is_some();
    let lasting: Vec<Time> = looks.iter().rev().take_while(differs).map(|(at, _)| *at).collect();
    let (Some(newest), Some(oldest)) = (lasting.first(), lasting.last()) else { return Vec::new() };
    let seconds = newest.since(*oldest);
    if (lasting.len() as f64) < router::LOOKS || seconds < router::SECONDS {
        return Vec::new();
    }
    let what = "a router sends requests here by another picture of this cache than the server's own".to_owned();
    vec![Found::new(what, notes(window.newest(), ROUTER).collect(), Some(seconds))]
}

fn notes<'a>(server: &'a Server, id: &'a str) -> impl Iterator<Item = String> + 'a {
    server.notes.iter().filter(move |note| note.id == id).map(|note| note.text.clone())
}

/// Detects ranks that are not seen.
pub(super) fn fewer_ranks(window: &Window<'_>) -> Vec<Found> {
    let gaps = window.newest().gaps.iter().filter(|gap| gap.id == RANKS);
    let found = gaps.map(|gap| {
        let flag =
            gap.fix.flag.as_ref().map(|flag| format!("Add {flag} ({}); until then: {}.", gap.fix.place, gap.meanwhile));
        let what = "not every rank is seen: a fuller one than those shown may be among the others".to_owned();
        Found { next: flag, ..Found::new(what, vec![format!("{}; {}", gap.what, gap.evidence)], None) }
    });
    found.collect()
}
