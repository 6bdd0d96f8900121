//! The second pass over Prometheus pages.

use std::collections::{BTreeMap, BTreeSet};

use model::text::printable;
use model::{
    Account, Kind, Note, Observation, PoolSet, RankId, RankValue, Reading, Readings, SourceOutcome, Time, View,
};
use wire::exposition::{self, Limits};

use super::compute::{self, Around};
use super::{MOST_RANKS, add, counts, cut, ranks, spots};
use crate::table::condition::Holds;
use crate::table::{Fold, Read, Source, Table};

/// What a sample is to the table: the number of a row, or what the row divides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    row: usize,
    divides: bool,
}

/// One sample of a row, with what its labels say about where it belongs.
struct Seen {
    part: Part,
    place: Place,
    /// The row's factors that are labels of the sample.
    factors: Vec<(String, f64)>,
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

/// The first value of a label on any of the engine's series; `series.label` is one on that series.
pub(super) fn label(table: &Table, page: &[u8], label: &str) -> Option<String> {
    let (series, label) = label.split_once('.').map_or((None, label), |(series, label)| (Some(series), label));
    let mut found = None;
    exposition::scan(
        page,
        &Limits::whole(),
        |name| series.map_or_else(|| !found_name(table, name).is_empty(), |series| found_name(table, name) == series),
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
    let rows = parts(source, account);
    let mut seen = Vec::new();
    let mut bad_labels = 0_usize;
    let wanted = |name: &str| rows.contains_key(found_name(table, name));
    let summary = exposition::scan(page, &Limits::whole(), wanted, |sample| {
        let Some(parts) = rows.get(found_name(table, &sample.name)) else { return };
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
        let of_label = |label: &String| sample.labels.get(label).and_then(|text| text.parse::<f64>().ok());
        let pid = sample.labels.get("pid").and_then(|pid| pid.parse().ok());
        for part in parts {
            let read = &source.read[part.row];
            if read.with.iter().any(|(label, value)| sample.labels.get(label).as_deref() != Some(value)) {
                continue;
            }
            let Some(value) = read.label.as_ref().map_or(Some(sample.value), of_label) else { continue };
            let scaled = read.times.iter().chain(&read.floor).chain(&read.grain);
            let factors = scaled.filter_map(|name| Some((name.clone(), of_label(name)?))).collect();
            let name = match &read.label {
                Some(label) => format!("{} {label}", sample.name),
                None => sample.name.to_string(),
            };
            seen.push(Seen { part: *part, place: place.clone(), factors, pid, name, value, at, line: sample.line });
        }
    });
    note_summary(source, &summary, bad_labels, account);
    if seen.is_empty() {
        return empty_page(table, source, page);
    }
    tell_pids_apart(source, &mut seen, account);
    cut_ranks(source, &mut seen, account);
    let readings = fold(source, observation, seen, account);
    keep(trust, source, observation, readings, account);
    SourceOutcome::Answered
}

/// What each name on the page is to the rows that count for what is known of the server.
fn parts<'a>(source: &'a Source, account: &Account) -> BTreeMap<&'a str, Vec<Part>> {
    let mut parts: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
    for (row, read) in source.read.iter().enumerate().filter(|(_, read)| counts(read, account)) {
        parts.entry(&read.name).or_default().push(Part { row, divides: false });
        if let Some(over) = &read.over {
            parts.entry(over).or_default().push(Part { row, divides: true });
        }
    }
    parts
}

fn empty_page(table: &Table, source: &Source, page: &[u8]) -> SourceOutcome {
    let get = &source.get;
    let title = &table.engine.title;
    if page.trim_ascii().is_empty() {
        SourceOutcome::Empty(format!("GET {get} answered 200 with an empty page"))
    } else if holds_series(table, page, &[]) {
        SourceOutcome::Empty(format!("GET {get} answered with series of {title}, but none that tells the cache"))
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

/// Samples of one rank that differ only in their process id: equal ones are copies of one process's number, unequal ones
/// are ranks that nothing but the process id tells apart.
fn tell_pids_apart(source: &Source, seen: &mut Vec<Seen>, account: &mut Account) {
    let mut groups: BTreeMap<(Part, Place), Vec<(u64, f64)>> = BTreeMap::new();
    for sample in seen.iter() {
        if let Some(pid) = sample.pid {
            groups.entry((sample.part, sample.place.clone())).or_default().push((pid, sample.value));
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
        seen.retain(|sample| sample.pid.is_none() || kept.insert((sample.part, sample.place.clone())));
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

/// All samples of one part and place.
struct Said {
    name: String,
    values: Vec<f64>,
    factors: Vec<(String, f64)>,
    at: Time,
    /// The first one's line of the page.
    line: u32,
}

impl Said {
    /// The one number of all of them, by the row's rule; `Err` with what was said where they differ and may not.
    fn folded(&self, read: &Read) -> Result<f64, String> {
        let first = self.values[0];
        let differ = self.values.iter().any(|value| *value != first && !(value.is_nan() && first.is_nan()));
        match read.fold {
            Fold::One if differ => {
                let said: Vec<String> = self.values.iter().take(4).map(ToString::to_string).collect();
                let more = if self.values.len() > said.len() { ", …" } else { "" };
                Err(format!("said {} times for one rank: {}{more}", self.values.len(), said.join(", ")))
            }
            Fold::One => Ok(first),
            Fold::Sum => Ok(self.values.iter().sum()),
            Fold::Max => Ok(self.values.iter().copied().fold(first, f64::max)),
            Fold::Last => Ok(self.values.last().copied().unwrap_or(first)),
            Fold::Count => Ok(self.values.len() as f64),
        }
    }
}

/// One reading a row and place.
fn fold(source: &Source, observation: &Observation, seen: Vec<Seen>, account: &Account) -> ByPlace {
    let mut values: BTreeMap<(Place, Part), Said> = BTreeMap::new();
    for Seen { part, place, factors, name, value, at, line, .. } in seen {
        let said =
            values.entry((place, part)).or_insert_with(|| Said { name, values: Vec::new(), factors, at, line });
        said.values.push(value);
        if at < said.at {
            said.at = at;
        }
    }
    let running: BTreeMap<Place, f64> = values
        .iter()
        .filter(|((_, part), _)| source.read[part.row].signal == model::Signal::REQ_RUNNING && !part.divides)
        .map(|((place, _), said)| (place.clone(), said.values[0]))
        .collect();
    let mut readings = ByPlace::new();
    for ((place, part), said) in values.iter().filter(|((_, part), _)| !part.divides) {
        let row = &source.read[part.row];
        let runs = running.get(place);
        let frozen = row.frozen.as_ref().is_some_and(|frozen| frozen.holds(|name| account.fact(name)) == Holds::Yes);
        let other = values.get(&(place.clone(), Part { divides: true, ..*part }));
        let reading = if frozen && runs.is_none_or(|running| *running == 0.0) && said.values[0] != 0.0 {
            let why =
                format!("{} is not written while nothing runs: {} is of the last batch", said.name, said.values[0]);
            Some(Reading::not_reported(row.unit.unwrap_or(row.signal.unit()), why))
        } else {
            let from = spots::named(observation, Some(said.line), &said.name);
            one(source, row, &from, said, other, runs.map(|running| *running == 0.0), account)
        };
        if let Some(reading) = reading {
            readings.entry(place.clone()).or_default().insert(part.row, reading);
        }
    }
    readings
}

/// The reading of one row and place from all its samples; none where what the row needs beside them is not known.
fn one(
    source: &Source,
    row: &Read,
    from: &str,
    said: &Said,
    other: Option<&Said>,
    idle: Option<bool>,
    account: &Account,
) -> Option<Reading> {
    let value = match said.folded(row) {
        Ok(value) => value,
        Err(why) => return Some(Reading::impossible(row.unit.unwrap_or(row.signal.unit()), why, from, said.at)),
    };
    let named = |name: &str| {
        let of_label = said.factors.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        of_label.or_else(|| super::fact_number(account, name))
    };
    let other = other.and_then(|other| other.folded(row).ok());
    let around = Around { other, named: &named, idle };
    let mut reading = compute::reading(row, value, &around, from.to_owned(), said.at, |name| account.fact(name))?;
    if reading.value.is_some() && row.signal.row().kind == Kind::Gauge && !source.lag.is_empty() {
        reading.reason.get_or_insert_with(|| source.lag.clone());
    }
    Some(reading)
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
                add(&mut view, row.signal, reading);
            } else if let Some(pool) = &row.pool {
                let tier = row.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
                add(pools.entry((rank, pool.clone(), tier)).or_default(), row.signal, reading);
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
