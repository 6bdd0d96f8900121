//! The second pass over Prometheus pages.

mod absent;
mod fold;
mod names;
mod pids;
mod told;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::text::printable;
use model::{
    Account, Answer, Note, Observation, PoolSet, RankId, RankValue, Reading, Readings, Signal, SourceOutcome, State,
    Time, Unsaid, View,
};
use wire::exposition::{self, Limits, Sample};

use self::fold::{ByPlace, fold};
use self::names::found_name;
pub(crate) use self::names::{declares_own, holds_own, holds_series, looks_wrong};
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

/// One sample of a row, with what its labels say about where it belongs.
struct Seen {
    part: Part,
    place: Place,
    /// The row's factors that are labels of the sample.
    factors: Vec<(String, f64)>,
    pid: Option<u64>,
    /// All its labels, as one number.
    labels: u64,
    name: String,
    value: f64,
    /// The time that the sample carries, or that of the answer.
    at: Time,
    /// It carries its time.
    stamped: bool,
    /// The line of the page.
    line: u32,
}

/// Where a sample belongs: the worker (on a router's page) and the rank labels that it carries.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    worker: Option<String>,
    dp: Option<u32>,
    tp: Option<u32>,
    pp: Option<u32>,
}

/// Reads every row of `source` from `page`; with `only`, from the samples whose label of that name has that value.
pub(super) fn read<'p>(
    table: &Table,
    trust: u16,
    source: &Source,
    observation: &Observation,
    page: &'p [u8],
    only: Option<(&str, &str)>,
    account: &mut Account,
) -> SourceOutcome {
    let rows = parts(source, account);
    let mut seen = Vec::new();
    let mut bad_labels = 0_usize;
    // Rows of which the page has anything, whatever became of it.
    let mut named = BTreeSet::new();
    let wanted = |name: &str| rows.contains_key(found_name(table, name));
    // What was saved, or came to no stated end, may have been cut, within its last number, too.
    let open = |answer: &Answer| answer.first_line.is_some() || answer.open_ended;
    let may_be_cut = observation.outcome.as_ref().is_ok_and(open);
    let limits = if may_be_cut { Limits::default() } else { Limits::whole() };
    let mut declared = names::Declared::default();
    // The labels of one sample at a time, each read once.
    let mut all: Vec<(Cow<'p, str>, Cow<'p, str>)> = Vec::new();
    let each = |sample: Sample<'p>| {
        let Some(parts) = rows.get(found_name(table, &sample.name)) else { return };
        named.extend(parts.iter().filter(|part| part.part == Is::Own).map(|part| part.row));
        all.clear();
        all.extend(sample.labels);
        let said = |label: &str| all.iter().find(|(name, _)| name == label).map(|(_, value)| &**value);
        if source.parts.iter().any(|label| said(label).is_some_and(|part| !part.is_empty())) {
            return;
        }
        if only.is_some_and(|(label, worker)| said(label) != Some(worker)) {
            return;
        }
        let mut unread = false;
        let mut number = |kind: &str| {
            let text = source.rank.get(kind).and_then(|label| said(label))?;
            text.parse::<u32>().inspect_err(|_| unread |= !text.is_empty()).ok()
        };
        let place = Place {
            worker: source.worker.as_ref().and_then(|label| said(label)).map(printable),
            dp: number("dp"),
            tp: number("tp"),
            pp: number("pp"),
        };
        // Of which rank it is cannot be told: it must not stand for the only one.
        if unread {
            bad_labels += 1;
            return;
        }
        let mut labels = DefaultHasher::new();
        for label in &all {
            label.hash(&mut labels);
        }
        let labels = labels.finish();
        let stamp =
            sample.timestamp_ms.map(|stamp| Time(stamp as f64 / 1000.0)).filter(|stamp| *stamp < observation.at);
        let at = stamp.unwrap_or(observation.at);
        let of_label = |label: &String| said(label).and_then(|text| text.parse::<f64>().ok());
        let pid = said("pid").and_then(|pid| pid.parse().ok());
        for part in parts {
            let read = &source.read[part.row];
            if read.with.iter().any(|(name, values)| !values.fit(said(name).unwrap_or_default())) {
                continue;
            }
            let label = read.label.as_ref().filter(|_| part.part == Is::Own);
            let Some(value) = label.map_or(Some(sample.value), of_label) else { continue };
            let factors = read.named().filter_map(|name| Some((name.clone(), of_label(name)?))).collect();
            let name = match &read.label {
                Some(label) => format!("{} {label}", sample.name),
                None => sample.name.to_string(),
            };
            let (place, stamped, line) = (place.clone(), stamp.is_some(), sample.line);
            seen.push(Seen { part: *part, place, factors, pid, labels, name, value, at, stamped, line });
        }
    };
    let row = |name: &str| rows.get_key_value(name).map(|(name, _)| *name);
    let summary = exposition::scan_declared(page, &limits, wanted, each, |declaration| {
        declared.hear(found_name(table, &declaration.name), row);
    });
    note_summary(source, &summary, bad_labels, account);
    let met: BTreeSet<&str> = seen.iter().map(|sample| source.read[sample.part.row].name.as_str()).collect();
    if summary.truncated {
        // What is declared behind the last sample that was read is declared all the same.
        declared = names::Declared::default();
        for declaration in exposition::metadata(page, &limits) {
            declared.hear(found_name(table, &declaration.name), row);
        }
    }
    let cut = names::cut_name(table, page, &summary).and_then(row);
    let unsaid = declared.unsaid(cut, |name| !met.contains(name));
    let noted = |(name, how): (&str, _)| Unsaid { source: source.id.clone(), name: name.to_owned(), how };
    account.unsaid.extend(unsaid.into_iter().map(noted));
    if seen.is_empty() {
        return empty_page(table, source, page);
    }
    pids::tell_apart(source, &mut seen, account);
    let all_ranks = !cut_ranks(source, &mut seen, account);
    // Of a page that is saved, passed on or cut what is missing may only have been left out.
    let passed = observation.outcome.as_ref().is_ok_and(|answer| answer.passed.is_some());
    let whole = only.is_none() && !may_be_cut && !passed && summary.notes().is_empty() && bad_labels == 0;
    let zeros = if whole { absent::zeros(source, &named, &seen, account) } else { Vec::new() };
    let readings = fold(source, observation, seen, all_ranks, account);
    keep(trust, table, source, observation, readings, account);
    absent::add(trust, source, observation, zeros, account);
    SourceOutcome::Answered
}

/// What each name on the page is to the rows that count for what is known of the server.
fn parts<'a>(source: &'a Source, account: &Account) -> BTreeMap<&'a str, Vec<Part>> {
    let mut parts: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
    for (row, read) in source.read.iter().enumerate().filter(|(_, read)| counts(read, account)) {
        parts.entry(&read.name).or_default().push(Part { row, part: Is::Own });
        if let Some(over) = &read.over {
            parts.entry(over).or_default().push(Part { row, part: Is::Over });
        }
        for (index, name) in read.plus.iter().enumerate() {
            parts.entry(name).or_default().push(Part { row, part: Is::Plus(index) });
        }
    }
    parts
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

fn note_summary(source: &Source, summary: &exposition::Summary, bad_labels: usize, account: &mut Account) {
    let said = summary.notes().into_iter().map(|note| Note::new(note.id, format!("GET {}: {}", source.get, note.text)));
    account.notes.extend(said);
    if bad_labels > 0 {
        let text = format!("GET {}: {bad_labels} samples carry a rank label that is not a number", source.get);
        account.notes.push(Note::new("bad-labels", text));
    }
}

/// Drops the samples of ranks beyond the cap; whether there were any.
fn cut_ranks(source: &Source, seen: &mut Vec<Seen>, account: &mut Account) -> bool {
    let places: BTreeSet<Place> = seen.iter().map(|sample| sample.place.clone()).collect();
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
    by_place: ByPlace,
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
            account.views.push(View { source, worker, by_fact, dp, timed: false, own, readings: view });
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
