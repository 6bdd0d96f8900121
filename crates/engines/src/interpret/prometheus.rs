//! The second pass over Prometheus pages.

use std::collections::{BTreeMap, BTreeSet};

use model::text::printable;
use model::{
    Account, Kind, Note, Observation, PoolSet, RankId, RankValue, Reading, Readings, SourceOutcome, Time, View,
};
use wire::exposition::{self, Limits};

use super::{MOST_RANKS, counts, cut, ranks, spots, value};
use crate::table::condition::Holds;
use crate::table::{Fold, Read, Source, Table};

/// One sample of a row, with what its labels say about where it belongs.
struct Seen {
    row: usize,
    place: Place,
    pid: Option<u64>,
    name: String,
    value: f64,
    /// The time that the sample carries, or that of the answer.
    at: Time,
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

/// Why a body is not Prometheus text, if it is not.
pub(crate) fn looks_wrong(body: &[u8]) -> Option<&'static str> {
    match exposition::looks_like(body) {
        exposition::Kind::Exposition => None,
        exposition::Kind::Html => Some("with HTML (a proxy or a login page?)"),
        exposition::Kind::Json => Some("with JSON, not with Prometheus text"),
        exposition::Kind::Empty => Some("with an empty body"),
        exposition::Kind::Binary => Some("with bytes that are no text"),
        exposition::Kind::Text => Some("with text that is no Prometheus text"),
    }
}

/// Whether the page holds a series with one of the engine's prefixes (and, if any are given, one of these names).
pub(crate) fn holds_series(table: &Table, page: &[u8], names: &[String]) -> bool {
    let mut found = false;
    let wanted = |name: &str| {
        !found_name(table, name).is_empty()
            && (names.is_empty() || names.iter().any(|wanted| wanted == found_name(table, name)))
    };
    exposition::scan(page, &Limits::whole(), wanted, |_| found = true);
    found
}

/// The first value of a label on any of the engine's series.
pub(super) fn label(table: &Table, page: &[u8], label: &str) -> Option<String> {
    let mut found = None;
    exposition::scan(
        page,
        &Limits::whole(),
        |name| !found_name(table, name).is_empty(),
        |sample| {
            if found.is_none() {
                found = sample.labels.get(label).map(std::borrow::Cow::into_owned);
            }
        },
    );
    found
}

/// The name with the engine's prefix taken off, or nothing.
fn found_name<'a>(table: &Table, name: &'a str) -> &'a str {
    table.engine.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str())).unwrap_or_default()
}

/// Reads every row of `source` from `page`; with `only`, from the samples whose label of that name has that value.
pub(super) fn read(
    table: &Table,
    trust: u16,
    source: &Source,
    observation: &Observation,
    page: &[u8],
    only: Option<(&str, &str)>,
    account: &mut Account,
) -> SourceOutcome {
    let rows: BTreeMap<&str, usize> = source
        .read
        .iter()
        .enumerate()
        .filter(|(_, row)| counts(row, account))
        .map(|(index, row)| (row.name.as_str(), index))
        .collect();
    let mut seen = Vec::new();
    let mut bad_labels = 0_usize;
    let wanted = |name: &str| rows.contains_key(found_name(table, name));
    let summary = exposition::scan(page, &Limits::whole(), wanted, |sample| {
        let Some(row) = rows.get(found_name(table, &sample.name)) else { return };
        if source.parts.iter().any(|label| sample.labels.get(label).is_some_and(|part| !part.is_empty())) {
            return;
        }
        if let Some((label, worker)) = only
            && sample.labels.get(label).as_deref() != Some(worker)
        {
            return;
        }
        let mut number = |kind: &str| {
            let text = source.rank.get(kind).and_then(|label| sample.labels.get(label))?;
            text.parse::<u32>().inspect_err(|_| bad_labels += usize::from(!text.is_empty())).ok()
        };
        let place = Place {
            worker: source.worker.as_ref().and_then(|label| sample.labels.get(label)).map(|worker| printable(&worker)),
            dp: number("dp"),
            tp: number("tp"),
            pp: number("pp"),
        };
        let stamp =
            sample.timestamp_ms.map(|stamp| Time(stamp as f64 / 1000.0)).filter(|stamp| *stamp < observation.at);
        let at = stamp.unwrap_or(observation.at);
        let pid = sample.labels.get("pid").and_then(|pid| pid.parse().ok());
        let (name, value, line) = (sample.name.into_owned(), sample.value, sample.line);
        seen.push(Seen { row: *row, place, pid, name, value, at, line });
    });
    note_summary(source, &summary, bad_labels, account);
    if seen.is_empty() {
        return SourceOutcome::Empty(empty_page(table, source, page));
    }
    tell_pids_apart(source, &mut seen, account);
    cut_ranks(source, &mut seen, account);
    let readings = fold(source, observation, seen, account);
    keep(trust, source, observation, readings, account);
    SourceOutcome::Answered
}

fn empty_page(table: &Table, source: &Source, page: &[u8]) -> String {
    let get = &source.get;
    if page.trim_ascii().is_empty() {
        format!("GET {get} answered 200 with an empty page")
    } else if holds_series(table, page, &[]) {
        format!("GET {get} answered with series of {}, but none that tells the cache", table.engine.title)
    } else {
        format!("GET {get} answered with a page that has no series of {}", table.engine.title)
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

/// Samples of one rank that differ only in their process id: equal ones are copies of one process's number, unequal ones
/// are ranks that nothing but the process id tells apart.
fn tell_pids_apart(source: &Source, seen: &mut Vec<Seen>, account: &mut Account) {
    let mut groups: BTreeMap<(usize, Place), Vec<(u64, f64)>> = BTreeMap::new();
    for sample in seen.iter() {
        if let Some(pid) = sample.pid {
            groups.entry((sample.row, sample.place.clone())).or_default().push((pid, sample.value));
        }
    }
    let several = |group: &&Vec<(u64, f64)>| group.iter().map(|(pid, _)| pid).collect::<BTreeSet<_>>().len() > 1;
    let differ = groups.values().filter(several).any(|group| group.iter().any(|(_, value)| *value != group[0].1));
    let copied = groups.values().filter(several).count();
    if copied == 0 {
        return;
    }
    if !differ {
        let mut kept = BTreeSet::new();
        seen.retain(|sample| sample.pid.is_none() || kept.insert((sample.row, sample.place.clone())));
        let text = format!(
            "GET {}: {copied} series stand once per process with equal values; copies were dropped",
            source.get
        );
        account.notes.push(Note::new("pid-copies", text));
        return;
    }
    let pids: BTreeSet<u64> = seen.iter().filter_map(|sample| sample.pid).collect();
    for sample in seen.iter_mut() {
        if let (Some(pid), None) = (sample.pid, sample.place.dp) {
            sample.place.dp = pids.iter().position(|known| *known == pid).map(|index| index as u32);
        }
    }
    let text = format!(
        "GET {}: {} ranks are told apart by their process id alone; their order is that of the ids",
        source.get,
        pids.len()
    );
    account.notes.push(Note::new("ranks-by-pid", text));
}

/// Drops the samples of ranks beyond the cap.
fn cut_ranks(source: &Source, seen: &mut Vec<Seen>, account: &mut Account) {
    let places: BTreeSet<Place> = seen.iter().map(|sample| sample.place.clone()).collect();
    if let Some(first) = places.iter().nth(MOST_RANKS) {
        cut(account, source, MOST_RANKS, "ranks");
        seen.retain(|sample| sample.place < *first);
    }
}

type ByPlace = BTreeMap<Place, BTreeMap<usize, Reading>>;

/// All samples of one row and place.
struct Said {
    name: String,
    values: Vec<f64>,
    at: Time,
    /// The first one's line of the page.
    line: u32,
}

/// One reading a row and place.
fn fold(source: &Source, observation: &Observation, seen: Vec<Seen>, account: &Account) -> ByPlace {
    let mut values: BTreeMap<(Place, usize), Said> = BTreeMap::new();
    for sample in seen {
        let entry = values.entry((sample.place, sample.row));
        let said =
            entry.or_insert_with(|| Said { name: sample.name, values: Vec::new(), at: sample.at, line: sample.line });
        said.values.push(sample.value);
        if sample.at < said.at {
            said.at = sample.at;
        }
    }
    let running: BTreeMap<Place, f64> = values
        .iter()
        .filter(|((_, index), _)| source.read[*index].signal == model::Signal::REQ_RUNNING)
        .map(|((place, _), said)| (place.clone(), said.values[0]))
        .collect();
    let mut readings = ByPlace::new();
    for ((place, index), Said { name, values, at, line }) in values {
        let row = &source.read[index];
        let nothing_runs = running.get(&place).is_none_or(|running| *running == 0.0);
        let frozen = row.frozen.as_ref().is_some_and(|frozen| frozen.holds(|name| account.fact(name)) == Holds::Yes);
        let reading = if frozen && nothing_runs && values[0] != 0.0 {
            let why = format!("{name} is not written while nothing runs: {} is of the last batch", values[0]);
            Reading::not_reported(row.unit.unwrap_or(row.signal.unit()), why)
        } else {
            one(source, row, &spots::named(observation, Some(line), &name), &values, at, account)
        };
        readings.entry(place).or_default().insert(index, reading);
    }
    readings
}

/// The reading of one row and place from all its samples.
fn one(source: &Source, row: &Read, from: &str, values: &[f64], at: Time, account: &Account) -> Reading {
    let first = values[0];
    let differ = values.iter().any(|value| *value != first && !(value.is_nan() && first.is_nan()));
    if differ && row.fold == Fold::One {
        let said: Vec<String> = values.iter().take(4).map(ToString::to_string).collect();
        let more = if values.len() > said.len() { ", …" } else { "" };
        let why = format!("said {} times for one rank: {}{more}", values.len(), said.join(", "));
        return Reading::impossible(row.signal.unit(), why, from, at);
    }
    let value = if row.fold == Fold::Sum { values.iter().sum() } else { first };
    let mut reading = value::reading(row, value, from.to_owned(), at, |name| account.fact(name));
    if reading.value.is_some() && row.signal.row().kind == Kind::Gauge && !source.lag.is_empty() {
        reading.reason.get_or_insert_with(|| source.lag.clone());
    }
    reading
}

fn keep(trust: u16, source: &Source, observation: &Observation, by_place: ByPlace, account: &mut Account) {
    let mut pools: BTreeMap<(RankId, String, String), Readings> = BTreeMap::new();
    for (place, rows) in by_place {
        let said: BTreeMap<&str, u32> = [("dp", place.dp), ("tp", place.tp), ("pp", place.pp)]
            .into_iter()
            .filter_map(|(kind, n)| Some((kind, n?)))
            .collect();
        let rank = ranks::rank(&said, account);
        let mut view = Readings::new();
        for (index, reading) in rows {
            let row = &source.read[index];
            if source.worker.is_some() {
                view.entry(row.signal).or_insert(reading);
            } else if let Some(pool) = &row.pool {
                let tier = row.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
                pools.entry((rank, pool.clone(), tier)).or_default().entry(row.signal).or_insert(reading);
            } else {
                account.values.push(RankValue { trust, rank, signal: row.signal, reading });
            }
        }
        if let (false, Some(worker)) = (view.is_empty(), place.worker) {
            account.views.push(View { source: source.id.clone(), worker, dp: place.dp, timed: false, readings: view });
        }
    }
    let moved = |readings: &Readings| readings.values().any(|reading| reading.value != Some(0.0));
    let real: BTreeSet<(String, String)> = pools
        .iter()
        .filter(|(_, readings)| moved(readings))
        .map(|((_, pool, tier), _)| (pool.clone(), tier.clone()))
        .collect();
    for ((rank, pool, tier), readings) in pools {
        // Series of pools that the model does not have are on the page all the same, all of them zero.
        let plain = pool == model::FULL && tier == model::DEVICE;
        if plain || real.contains(&(pool.clone(), tier.clone())) {
            let oldest = |at: Time, reading: &Reading| reading.at.filter(|other| *other < at).unwrap_or(at);
            let at = readings.values().fold(observation.at, oldest);
            let (live, idle) = (source.live, false);
            account.sets.push(PoolSet { source: source.id.clone(), trust, rank, pool, tier, at, live, idle, readings });
        }
    }
}
