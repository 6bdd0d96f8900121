//! What one server said over a window of looks: which looks may be compared, and how far a counter rose.

use std::collections::{BTreeMap, BTreeSet};

use model::{Rank, RankId, Reading, Server, Signal, State, Time};

use crate::detect::window::{Window, find};

/// Looks at the process that answers now, oldest first, each with something newer than the one before.
pub(crate) fn comparable<'a>(looks: &[(Time, &'a Server)]) -> Vec<(Time, &'a Server)> {
    let Some(window) = Window::of(looks) else { return Vec::new() };
    let mut kept: Vec<(Time, &Server)> = Vec::new();
    for (_, server) in window.looks().iter().rev() {
        // Nothing fresh in it: nobody answered then.
        let Some(at) = told_at(server) else {
            if kept.is_empty() {
                return Vec::new();
            }
            continue;
        };
        match kept.last() {
            Some((_, newer)) if !is_same(server, newer) => break,
            Some((time, _)) if at >= *time => {}
            _ => kept.push((at, server)),
        }
    }
    kept.reverse();
    kept
}

/// Whether two looks may be of one process, as far as it says what it is.
fn is_same(one: &Server, other: &Server) -> bool {
    fn same<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
        one.zip(other).is_none_or(|(one, other)| one == other)
    }
    one.engine == other.engine
        && one.role == other.role
        && same(one.version.as_ref(), other.version.as_ref())
        && same(one.model.as_ref(), other.model.as_ref())
}

/// When the newest of what is fresh in a look was said.
fn told_at(server: &Server) -> Option<Time> {
    let of_rank = |rank: &'_ Rank| {
        let pools = rank.pools.iter().flat_map(|pool| pool.readings.values());
        let times = pools.chain(rank.readings.values()).filter(|reading| reading.fresh().is_some());
        times.filter_map(|reading| reading.at).max_by(|one, other| one.0.total_cmp(&other.0))
    };
    server.ranks.iter().filter_map(of_rank).max_by(|one, other| one.0.total_cmp(&other.0))
}

/// Seconds from the first look to the last.
pub(crate) fn span(looks: &[(Time, &Server)]) -> f64 {
    looks.first().zip(looks.last()).map_or(0.0, |(first, last)| last.0.since(first.0))
}

/// How far a counter rose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rise {
    /// Over the ranks that tell it.
    pub(crate) by: f64,
    /// Seconds over which all of them were watched.
    pub(crate) seconds: f64,
    /// Every rank that should tell it does.
    pub(crate) whole: bool,
    /// It is counted when requests end.
    pub(crate) at_end: bool,
}

/// How far `signal` rose over the looks, of those ranks that told it for `least` seconds; none where none did. Ranks that are
/// copies of one count once.
pub(crate) fn rise(looks: &[(Time, &Server)], signal: Signal, least: f64) -> Option<Rise> {
    let ids: BTreeSet<RankId> =
        looks.iter().flat_map(|(_, server)| server.ranks.iter().map(|rank| rank.rank)).collect();
    let mut groups: BTreeMap<Option<u32>, Option<Course>> = BTreeMap::new();
    for id in ids {
        let course = Course::of(looks, id, signal).filter(|course| course.seconds >= least);
        let most = groups.entry(id.dp).or_default();
        if most.as_ref().is_none_or(|most| course.as_ref().is_some_and(|course| course.by > most.by)) {
            *most = course.or(*most);
        }
    }
    let of_all = groups.get(&None).is_some_and(Option::is_some);
    // Of what is said for all ranks together nothing need be said for each, and the other way round.
    let named = groups.len() > 1;
    let whole = of_all || groups.iter().filter(|(dp, _)| !named || dp.is_some()).all(|(_, told)| told.is_some());
    let told: Vec<Course> = groups.into_values().flatten().collect();
    let seconds = told.iter().map(|course| course.seconds).fold(f64::INFINITY, f64::min);
    (!told.is_empty()).then(|| Rise {
        by: told.iter().map(|course| course.by).sum(),
        seconds,
        whole,
        at_end: told.iter().any(|course| course.at_end),
    })
}

/// One counter of one rank.
#[derive(Clone, Copy)]
struct Course {
    by: f64,
    seconds: f64,
    at_end: bool,
}

impl Course {
    /// What one source said of it, up to the newest look; none where it fell.
    fn of<'a>(looks: &[(Time, &'a Server)], rank: RankId, signal: Signal) -> Option<Course> {
        let said = |(at, server): &(Time, &'a Server)| {
            let reading = find(server, rank)?.readings.get(&signal)?;
            counted(reading).map(|value| (reading.at.unwrap_or(*at), value, reading))
        };
        let (last, newest, reading) = said(looks.last()?)?;
        let mut first = (last, newest);
        for (at, value, earlier) in looks.iter().rev().filter_map(said) {
            // One that was not on the page yet had counted nothing, whatever its writer calls it there.
            let same = earlier.source == reading.source || earlier.state == State::Inferred;
            if same && at < first.0 {
                if value > first.1 {
                    return None;
                }
                first = (at, value);
            }
        }
        Some(Course { by: newest - first.1, seconds: last.since(first.0), at_end: reading.at_end })
    }
}

/// A counter as it was said, or one that is known to have counted nothing.
fn counted(reading: &Reading) -> Option<f64> {
    let zero = reading.state == State::Inferred && reading.value == Some(0.0);
    reading.fresh().filter(|_| reading.state == State::Reported || zero)
}
