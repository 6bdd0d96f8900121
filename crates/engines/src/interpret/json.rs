//! The second pass over JSON answers.

use std::collections::BTreeMap;

use model::text::printable;
use model::{Account, Observation, PoolSet, RankId, RankValue, Readings, Role, SourceOutcome, Time, View, Worker};
use serde_json::Value;

use super::compute::{self, Around};
use super::spots::{self, Spots};
use super::{MOST_RANKS, MOST_WORKERS, add, counts, cut, gather, path, prune, ranks};
use crate::table::{Source, Wanted, WorkerList};

/// Parses a body; the error says what it looked like instead.
pub(crate) fn parse(body: &[u8]) -> Result<Value, String> {
    let trimmed = body.trim_ascii();
    if trimmed.is_empty() {
        return Err("with an empty body".to_owned());
    }
    if trimmed.first() == Some(&b'<') {
        return Err("with HTML (a proxy or a login page?)".to_owned());
    }
    serde_json::from_slice(trimmed).or_else(|error| {
        // Python writes NaN and Infinity as bare words: they cost their field, not the answer.
        let mended = without_bare_words(trimmed).and_then(|text| serde_json::from_slice(&text).ok());
        mended.ok_or_else(|| format!("with something that is not JSON: {error}"))
    })
}

/// Parses a body as [`parse`] does, and leaves out what is not wanted. Objects and lists stay what they are, and elements keep
/// their places. What is well-formed and yet no value (a number out of range, half a surrogate) costs the answer only where a
/// row reads it.
pub(super) fn parse_wanted(body: &[u8], wanted: &Wanted) -> Result<Value, String> {
    // What stands in strings that are passed over must be text as well.
    let pruned = std::str::from_utf8(body.trim_ascii()).ok().and_then(|text| prune::read(text, wanted).ok());
    // Whatever is wrong with it is said by those words.
    pruned.map_or_else(|| parse(body), Ok)
}

/// The text with `NaN`, `Infinity` and `-Infinity` outside strings made `null`; `None` when there are none.
fn without_bare_words(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut quoted, mut rest, mut found) = (false, text, false);
    while let Some(&byte) = rest.first() {
        let word = [&b"-Infinity"[..], b"Infinity", b"NaN"].into_iter().find(|word| !quoted && rest.starts_with(word));
        let taken = if let Some(word) = word {
            out.extend_from_slice(b"null");
            found = true;
            word.len()
        } else if quoted && byte == b'\\' {
            out.extend_from_slice(&rest[..rest.len().min(2)]);
            rest.len().min(2)
        } else {
            quoted ^= byte == b'"';
            out.push(byte);
            1
        };
        rest = &rest[taken..];
    }
    found.then_some(out)
}

/// Reads every row of `source` from `root`.
pub(super) fn read(
    trust: u16,
    source: &Source,
    observation: &Observation,
    root: &Value,
    account: &mut Account,
) -> SourceOutcome {
    if let Some(list) = &source.workers {
        read_workers(source, list, root, account);
    }
    let most = if source.worker.is_some() { MOST_WORKERS } else { MOST_RANKS };
    let elements = match &source.each {
        Some(each) => path::find(root, root, each, most + 1),
        None => vec![root],
    };
    if elements.len() > most {
        cut(account, source, most, "elements");
    }
    let spots = Spots::of(observation, root);
    let mut any = source.read.is_empty();
    if source.gather {
        // A sum of a part is no sum of all.
        if elements.len() > most {
            return SourceOutcome::Broken(format!(
                "GET {} lists more than {most} elements: nothing was added up",
                source.get
            ));
        }
        let elements = &elements[..];
        any |= gather::read(trust, source, observation, gather::Parts { root, elements, spots: &spots }, account);
        return answered(source, any);
    }
    for element in elements.into_iter().take(most) {
        let inner = match &source.inner {
            Some(inner) => path::find(root, element, inner, MOST_RANKS),
            None => vec![element],
        };
        for row in inner {
            any |= read_element(
                trust,
                source,
                observation,
                Nest { root, outer: element, element: row, spots: &spots },
                account,
            );
        }
    }
    // An answer whose rows all belong to elements that are not there (no workers yet) is an answer all the same.
    answered(source, any || source.workers.is_some() || source.worker.is_some())
}

fn answered(source: &Source, any: bool) -> SourceOutcome {
    if any {
        SourceOutcome::Answered
    } else if !source.format.is_page() {
        SourceOutcome::Empty(format!("{} is there, but with none of the fields that it should hold", source.get))
    } else {
        SourceOutcome::Empty(format!("GET {} answered, but with none of the fields that it should hold", source.get))
    }
}

fn read_workers(source: &Source, list: &WorkerList, root: &Value, account: &mut Account) {
    let found = path::find(root, root, &list.each, MOST_WORKERS + 1);
    if found.len() > MOST_WORKERS {
        cut(account, source, MOST_WORKERS, "workers");
    }
    for element in found.into_iter().take(MOST_WORKERS) {
        let field = |name: &String| path::first(root, element, name);
        let Some(url) = field(&list.url).and_then(Value::as_str) else { continue };
        let role = list.role.as_ref().and_then(field).and_then(Value::as_str).map(worker_role);
        let healthy = list.healthy.as_ref().and_then(field).and_then(Value::as_bool);
        let version = list.version.as_ref().and_then(field).and_then(Value::as_str).map(printable);
        let worker = Worker { url: printable(url), role, healthy, version };
        if !account.workers.contains(&worker) {
            account.workers.push(worker);
        }
    }
}

/// Routers call a server that does both `regular`.
fn worker_role(name: &str) -> Role {
    if name == "regular" { Role::Unified } else { Role::from_name(name) }
}

/// An element with what stands around it.
#[derive(Clone, Copy)]
struct Nest<'a> {
    root: &'a Value,
    outer: &'a Value,
    element: &'a Value,
    spots: &'a Spots,
}

fn read_element(trust: u16, source: &Source, observation: &Observation, nest: Nest<'_>, account: &mut Account) -> bool {
    let Nest { root, outer, element, spots } = nest;
    let at = taken_at(source, observation, root, outer);
    let mut said = BTreeMap::new();
    for (kind, from) in &source.rank {
        let Some(value) = path::first(root, element, from).filter(|value| !value.is_null()) else { continue };
        let whole = |number: &f64| number.fract() == 0.0 && (0.0..1.0e6).contains(number);
        let Some(number) = number(value).filter(whole) else {
            let text = format!("{}: {from} is {value}, which is no rank; its numbers were not read", observation.url);
            account.notes.push(model::Note::new("bad-labels", printable(&text)));
            return true;
        };
        said.insert(kind.as_str(), number as u32);
    }
    let rank = ranks::rank(&said, account);
    let void = source.void.as_ref().filter(|field| path::first(root, element, field).and_then(number) == Some(0.0));
    // What the writer leaves out has its usual value, once anything was published.
    let speaks =
        void.is_none() && source.void.as_ref().is_some_and(|field| path::first(root, element, field).is_some());
    let mut pools: BTreeMap<(String, String), Readings> = BTreeMap::new();
    let mut view = Readings::new();
    let mut values = Vec::new();
    for row in &source.read {
        if !counts(row, account) {
            continue;
        }
        let found = path::first(root, element, &row.name);
        let said = found.and_then(number);
        // Only what is not there has the usual value; what is no number has none.
        let usual = || row.omitted.filter(|_| speaks && found.is_none());
        let Some(number) = said.or_else(usual) else { continue };
        let reading = if let Some(field) = void {
            let why = format!("nothing was published yet: {field} is 0 in {}", source.get);
            model::Reading::not_reported(row.unit.unwrap_or(row.signal.unit()), why)
        } else {
            let line = spots.line(found.unwrap_or(element));
            let from = spots::named(observation, line, &row.name);
            let beside = |name: &str| path::first(root, element, name).and_then(self::number);
            let named = |name: &str| beside(name).or_else(|| super::fact_number(account, name));
            let around = Around::of(&named).beside(row, beside);
            let made = compute::reading(row, number, &around, from, at.time, |name| account.fact(name));
            let Some(made) = made else { continue };
            made.untimed(source.at.is_some() && !at.said)
        };
        if source.worker.is_some() {
            add(&mut view, row.signal, reading);
        } else if let Some(pool) = &row.pool {
            let tier = row.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
            add(pools.entry((pool.clone(), tier)).or_default(), row.signal, reading);
        } else {
            values.push(RankValue { trust, rank, signal: row.signal, reading });
        }
    }
    let any = !pools.is_empty() || !view.is_empty() || !values.is_empty();
    keep(trust, source, rank, at.time, pools, values, account);
    if let Some(from) = &source.worker
        && !view.is_empty()
        && let Some(worker) = path::first(root, outer, from).and_then(Value::as_str)
    {
        let dp = said.get("dp").copied();
        let timed = at.said;
        let (worker, by_fact) = (printable(worker), source.worker_fact.clone());
        let (own, source) = (source.live, source.id.clone());
        account.views.push(View { source, worker, by_fact, dp, timed, own, readings: view });
    }
    any
}

pub(super) fn keep(
    trust: u16,
    source: &Source,
    rank: RankId,
    at: Time,
    pools: BTreeMap<(String, String), Readings>,
    values: Vec<RankValue>,
    account: &mut Account,
) {
    let zero = |signal| values.iter().any(|value| value.signal == signal && value.reading.value == Some(0.0));
    let idle = zero(model::Signal::REQ_RUNNING) && zero(model::Signal::REQ_WAITING);
    for ((pool, tier), mut readings) in pools {
        if let Some(known) = account
            .sets
            .iter_mut()
            .find(|set| set.trust == trust && set.rank == rank && set.pool == pool && set.tier == tier)
        {
            // Two elements for one rank that differ: neither is believed.
            contradict(&mut known.readings, &mut readings);
            continue;
        }
        let live = source.live;
        account.sets.push(PoolSet { source: source.id.clone(), trust, rank, pool, tier, at, live, idle, readings });
    }
    account.values.extend(values);
}

/// Marks what one source says twice for one rank, with two values, as impossible.
fn contradict(known: &mut Readings, other: &mut Readings) {
    for (signal, reading) in known {
        let twice = other.remove(signal).and_then(|again| Some((reading.value?, again.value?)));
        if let (Some((first, second)), Some(at)) = (twice.filter(|(first, second)| first != second), reading.at) {
            let why = format!("said twice for one rank: {first}, {second}");
            *reading = model::Reading::impossible(reading.unit, why, reading.source.clone().unwrap_or_default(), at);
        }
    }
}

/// A time and whether the source said it.
pub(super) struct Taken {
    pub(super) time: Time,
    pub(super) said: bool,
}

/// When the element's numbers were taken. An age is computed on the clock of the one who said it, where the answer
/// holds both times, because that clock may differ from ours.
pub(super) fn taken_at(source: &Source, observation: &Observation, root: &Value, element: &Value) -> Taken {
    let time = |from: &Option<String>| from.as_ref().and_then(|from| path::first(root, element, from)).and_then(time);
    let age = match (time(&source.at), time(&source.now)) {
        (Some(at), Some(now)) => now.since(at),
        (Some(at), None) => observation.at.since(at),
        (None, _) => return Taken { time: observation.at, said: false },
    };
    // A time in the future is no time; clocks that differ by a moment are forgiven.
    if age < -AHEAD_S {
        return Taken { time: observation.at, said: false };
    }
    Taken { time: observation.at.plus(-age.max(0.0)), said: true }
}

/// The newest time in an answer: its own, or that of an element.
pub(crate) fn answered_at(source: &Source, root: &Value) -> Option<Time> {
    let elements = source.each.as_ref().map_or_else(|| vec![root], |each| path::find(root, root, each, MOST_RANKS));
    let paths = [&source.now, &source.at].into_iter().flatten();
    let times = paths.flat_map(|path| elements.iter().filter_map(|element| path::first(root, element, path)));
    times.filter_map(time).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Seconds by which a peer's clock may be ahead of ours before its times are disbelieved.
const AHEAD_S: f64 = 5.0;
/// 1973 and 5138 in seconds: numbers between are seconds, a thousand times as large ones milliseconds, others no times.
const SECONDS: std::ops::Range<f64> = 1.0e8..1.0e11;

/// Seconds or milliseconds since 1970, or RFC 3339.
fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Number(number) => {
            let number = number.as_f64()?;
            let seconds = if SECONDS.contains(&number) { number } else { number / 1000.0 };
            SECONDS.contains(&seconds).then_some(Time(seconds))
        }
        Value::String(text) => {
            let stamp: jiff::Timestamp = text.parse().ok()?;
            Some(Time(stamp.as_millisecond() as f64 / 1000.0))
        }
        _ => None,
    }
}

/// A number, also one that a careless writer put into quotes.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
