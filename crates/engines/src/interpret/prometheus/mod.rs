//! The second pass over Prometheus pages.

mod absent;
mod fold;
mod hear;
mod names;
mod pages;
#[cfg(test)]
mod pages_test;
mod pids;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{
    Account, Answer, Observation, PoolSet, RankId, RankValue, Reading, Readings, Signal, SourceOutcome, State, Time,
    View,
};
use wire::exposition::Limits;

use self::fold::{ByPlace, fold};
use self::hear::{Met, hear};
pub(crate) use self::names::{declares_own, holds_own, holds_series, looks_wrong};
pub(crate) use self::pages::Pages;
pub(super) use self::told::Told;
use super::{MOST_RANKS, add, counts, cut, ranks};
use crate::table::{Source, Table};

/// What a sample is to the table: the number of a row, or one that the row needs beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    row: usize,
    part: Is,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Is {
    /// The row's own number.
    Own,
    /// What it divides by.
    Over,
    /// One of those that it adds.
    Plus(usize),
}

/// One sample of a row with its number.
struct Seen<'h> {
    met: &'h Met,
    place: Place<'h>,
    value: f64,
    /// The time that the sample carries, or that of the answer.
    at: Time,
    /// It carries its time.
    stamped: bool,
}

/// Where a sample belongs: the worker (on a router's page) and the rank labels that it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'h> {
    worker: Option<&'h str>,
    dp: Option<u32>,
    tp: Option<u32>,
    pp: Option<u32>,
}

/// Reads every row of `source` from `page`, which may be one of `pages`; with `only`, from the samples whose label of that name
/// has that value.
#[allow(clippy::too_many_arguments)]
pub(super) fn read(
    table: &Table,
    trust: u16,
    source: &Source,
    observation: &Observation,
    page: &[u8],
    only: Option<(&str, &str)>,
    pages: Option<&Pages>,
    account: &mut Account,
) -> SourceOutcome {
    // What was saved, or came to no stated end, may have been cut, within its last number, too.
    let open = |answer: &Answer| answer.first_line.is_some() || answer.open_ended;
    let may_be_cut = observation.outcome.as_ref().is_ok_and(open);
    let limits = if may_be_cut { Limits::default() } else { Limits::whole() };
    let count: Vec<bool> = source.read.iter().map(|read| counts(read, account)).collect();
    let (heard, numbers) = if let Some(pages) = pages.filter(|_| only.is_none() && !may_be_cut) {
        pages.hear(table, trust, source, &count, page, &limits)
    } else {
        let (heard, numbers) = hear(table, source, &count, page, &limits, only);
        (Arc::new(heard), numbers)
    };
    account.notes.extend(heard.notes.iter().cloned());
    account.unsaid.extend(heard.unsaid.iter().cloned());
    if heard.met.is_empty() {
        return empty_page(table, source, page);
    }
    let seen = |met| Seen::of(met, &numbers, observation.at);
    let mut seen: Vec<Seen<'_>> = heard.met.iter().map(seen).collect();
    pids::tell_apart(source, &mut seen, account);
    let all_ranks = !cut_ranks(source, &mut seen, account);
    // Of a page that is saved, passed on or cut what is missing may only have been left out.
    let passed = observation.outcome.as_ref().is_ok_and(|answer| answer.passed.is_some());
    let whole = only.is_none() && !may_be_cut && !passed && heard.notes.is_empty();
    let zeros = if whole { absent::zeros(source, &heard.named, &seen, account) } else { Vec::new() };
    let readings = fold(source, observation, seen, all_ranks, account);
    keep(trust, table, source, observation, readings, account);
    absent::add(trust, source, observation, zeros, account);
    SourceOutcome::Answered
}

impl<'h> Seen<'h> {
    /// A sample that was met, with its number among these; it was asked for `at`.
    fn of(met: &'h Met, numbers: &[f64], at: Time) -> Seen<'h> {
        let stamp = met.stamp.filter(|stamp| *stamp < at);
        let (place, value) = (met.place(), met.number(numbers));
        Seen { met, place, value, at: stamp.unwrap_or(at), stamped: stamp.is_some() }
    }
}

fn empty_page(table: &Table, source: &Source, page: &[u8]) -> SourceOutcome {
    let get = &source.get;
    let title = &table.engine.title;
    if page.trim_ascii().is_empty() {
        SourceOutcome::Empty(format!("GET {get} answered 200 with an empty page"))
    } else if holds_own(table, source, page) {
        SourceOutcome::Empty(format!("GET {get} answered with series of {title}, but none that tells the cache"))
    } else if declares_own(table, source, page) {
        SourceOutcome::Empty(format!("GET {get} declares series of {title}, and none has a sample so far"))
    } else {
        let text = format!("GET {get} answered with a page that has no series of {title}");
        if source.empty.is_some() { SourceOutcome::Off(text) } else { SourceOutcome::Empty(text) }
    }
}

/// Drops the samples of ranks beyond the cap; whether there were any.
fn cut_ranks(source: &Source, seen: &mut Vec<Seen<'_>>, account: &mut Account) -> bool {
    let places: BTreeSet<Place<'_>> = seen.iter().map(|sample| sample.place).collect();
    let Some(first) = places.iter().nth(MOST_RANKS) else { return false };
    cut(account, source, MOST_RANKS, "ranks");
    seen.retain(|sample| sample.place < *first);
    true
}

fn keep(
    trust: u16,
    table: &Table,
    source: &Source,
    observation: &Observation,
    by_place: ByPlace<'_>,
    account: &mut Account,
) {
    let mut pools: BTreeMap<(RankId, String, String), Readings> = BTreeMap::new();
    let of_this = account.values.iter().enumerate().filter(|(_, value)| value.trust == trust);
    let mut said: BTreeMap<(RankId, Signal), usize> =
        of_this.map(|(at, value)| ((value.rank, value.signal), at)).collect();
    for (place, rows) in by_place {
        let labels: BTreeMap<&str, u32> = [("dp", place.dp), ("tp", place.tp), ("pp", place.pp)]
            .into_iter()
            .filter_map(|(kind, n)| Some((kind, n?)))
            .collect();
        let rank = ranks::rank(&labels, account);
        let mut view = Readings::new();
        for (index, reading) in rows {
            let row = &source.read[index];
            if source.worker.is_some() {
                add(&mut view, row.signal, reading);
            } else if let Some(pool) = &row.pool {
                let tier = row.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
                add(pools.entry((rank, pool.clone(), tier)).or_default(), row.signal, reading);
            } else {
                // One source speaks of one number once: a row that cannot be is not replaced by one that means less.
                match said.get(&(rank, row.signal)).map(|at| &mut account.values[*at].reading) {
                    Some(known) if known.state == State::NotReported => *known = reading,
                    Some(_) => {}
                    None => {
                        said.insert((rank, row.signal), account.values.len());
                        account.values.push(RankValue { trust, rank, signal: row.signal, reading });
                    }
                }
            }
        }
        if let (false, Some(worker)) = (view.is_empty(), place.worker) {
            let (dp, by_fact) = (place.dp, source.worker_fact.clone());
            let (own, source) = (source.live, source.id.clone());
            account.views.push(View {
                source,
                worker: worker.to_owned(),
                by_fact,
                dp,
                timed: false,
                own,
                readings: view,
            });
        }
    }
    let moved = |readings: &Readings| readings.values().any(|reading| reading.value.is_some_and(|value| value != 0.0));
    let real: BTreeSet<(String, String)> = pools
        .iter()
        .filter(|(_, readings)| moved(readings))
        .map(|((_, pool, tier), _)| (pool.clone(), tier.clone()))
        .collect();
    let main = super::main_pool(table, &source.read);
    for ((rank, pool, tier), readings) in pools {
        // Series of pools that the model does not have are on the page all the same, all of them zero.
        let plain = (pool.as_str(), tier.as_str()) == main;
        if plain || real.contains(&(pool.clone(), tier.clone())) {
            let oldest = |at: Time, reading: &Reading| reading.at.filter(|other| *other < at).unwrap_or(at);
            let at = readings.values().fold(observation.at, oldest);
            let (live, idle) = (source.live, false);
            account.sets.push(PoolSet { source: source.id.clone(), trust, rank, pool, tier, at, live, idle, readings });
        }
    }
}
