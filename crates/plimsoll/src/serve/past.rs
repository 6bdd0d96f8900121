//! What the API says of the past: `plimsoll.history/1` and `plimsoll.events/1`.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Point, Query, Reader, Sample};
use model::Signal;
use serde::Serialize;
use web::{EventsAsk, HistoryAsk, Refused};

use super::history::ONLY;
use super::overview::Told;

/// Window of events that are asked for without one, seconds.
const EVENTS_S: f64 = 86_400.0;
/// Window of a history that is asked for without one, seconds.
const HISTORY_S: f64 = 3600.0;
/// Points of all series of one answer, some 300 bytes each until it is sent; beyond it series come in fewer points.
const MOST_POINTS: usize = 100_000;
/// Least points that a series is given for it.
const LEAST_POINTS: usize = 4;
/// Events of one answer, the newest.
const MOST_EVENTS: usize = 5000;

#[derive(Serialize)]
struct Past<'a> {
    schema: &'static str,
    from: f64,
    to: f64,
    series: Vec<Series<'a>>,
    notes: Vec<Told>,
}

#[derive(Serialize)]
struct Series<'a> {
    server: &'a str,
    rank: &'a str,
    pool: &'a str,
    tier: &'a str,
    signal: &'a str,
    unit: &'a str,
    kind: &'static str,
    title: &'static str,
    looks: Looks,
    steps: Steps,
}

#[derive(Default, Serialize)]
struct Looks {
    at: Vec<f64>,
    value: Vec<Option<f64>>,
    state: String,
}

#[derive(Default, Serialize)]
struct Steps {
    at: Vec<f64>,
    step_s: Vec<f64>,
    min: Vec<Option<f64>>,
    max: Vec<Option<f64>>,
    last: Vec<Option<f64>>,
    mean: Vec<Option<f64>>,
    fresh: Vec<u64>,
    stale: Vec<u64>,
    not_reported: Vec<u64>,
    unreachable: Vec<u64>,
    impossible: Vec<u64>,
}

#[derive(Serialize)]
struct Happened<'a> {
    schema: &'static str,
    from: f64,
    to: f64,
    events: Vec<Event<'a>>,
    notes: Vec<Told>,
}

/// One event.
#[derive(Serialize)]
pub(crate) struct Event<'a> {
    at: f64,
    server: &'a str,
    kind: &'a str,
    text: &'a str,
    value: Option<f64>,
}

impl<'a> Event<'a> {
    /// As the API says it.
    pub(crate) fn of(event: &'a ledger::Event) -> Event<'a> {
        let value = event.value.filter(|value| value.is_finite());
        Event { at: seconds(event.time), server: &event.target, kind: &event.kind, text: &event.text, value }
    }
}

/// The series that are asked for, at `now` (seconds since 1970).
pub(crate) fn history(reader: &Reader, ask: &HistoryAsk, now: f64) -> Result<Vec<u8>, Refused> {
    let (from, to) = window(ask.from, ask.to, ask.window_s.unwrap_or(HISTORY_S), now)?;
    let signals: Vec<&str> =
        if ask.signals.is_empty() { vec!["in_use"] } else { ask.signals.iter().map(String::as_str).collect() };
    if let Some(unknown) = signals.iter().find(|name| Signal::from_name(name).is_none()) {
        return Err(Refused::Bad(format!("no signal is called {unknown:?}: docs/metrics.md lists them")));
    }
    let signals: Vec<&str> =
        signals.iter().filter_map(|name| Signal::from_name(name)).map(|signal| signal.row().json).collect();
    let fits = |asked: &Option<String>, own: &str| asked.as_deref().is_none_or(|asked| asked == own);
    let rank_fits = |own: &str| fits(&ask.rank, own) || own == ONLY && ask.rank.as_deref() == Some("");
    let wanted = |key: &ledger::Key| match key.parts() {
        [rank, pool, tier, signal, _] => {
            signals.contains(&signal.as_str()) && rank_fits(rank) && fits(&ask.pool, pool) && fits(&ask.tier, tier)
        }
        _ => false,
    };
    let (known, mut notes) = reader.series();
    if let Some(server) = ask.server.as_deref().filter(|server| !known.contains_key(*server)) {
        return Err(Refused::Unknown(format!("nothing was kept of {server:?} so far")));
    }
    let of_server = |target: &str| ask.server.as_deref().is_none_or(|asked| asked == target);
    let count: usize = known
        .iter()
        .filter(|(target, _)| of_server(target))
        .map(|(_, keys)| keys.iter().filter(|key| wanted(key)).count())
        .sum();
    if count > MOST_POINTS / LEAST_POINTS {
        let text = format!("that is {count} series at once: ask for one server, or for fewer signals");
        return Err(Refused::Bad(text));
    }
    let asked = ask.points.unwrap_or(300);
    let most = asked.min((MOST_POINTS / count.max(1)).max(LEAST_POINTS));
    let query = Query { target: ask.server.as_deref(), wanted: &wanted, from: millis(from), to: millis(to), most };
    let found = reader.history(&query);
    notes.extend(found.notes);
    let mut told: Vec<Told> = notes
        .iter()
        .map(|note| Told { id: "damaged".to_owned(), text: format!("{}: {}", note.file, note.text) })
        .collect();
    if most < asked {
        let text = format!("{count} series at once: {most} points of each; ask for one server to see more");
        told.push(Told { id: "cut".to_owned(), text });
    }
    let mut ranks: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for series in &found.series {
        ranks.entry(&series.target).or_default().extend(series.key.parts().first().map(String::as_str));
    }
    let only = |target: &str| ranks.get(target).is_some_and(|ranks| ranks.len() == 1 && ranks.contains(ONLY));
    let series = found.series.iter().filter_map(|series| {
        let [rank, pool, tier, signal, unit] = series.key.parts() else { return None };
        let row = Signal::from_name(signal)?.row();
        let (looks, steps) = columns(&series.points);
        Some(Series {
            server: &series.target,
            rank: if only(&series.target) { "" } else { rank },
            pool,
            tier,
            signal,
            unit,
            kind: if row.kind == model::Kind::Counter { "counter" } else { "gauge" },
            title: row.title,
            looks,
            steps,
        })
    });
    let past = Past { schema: "plimsoll.history/1", from, to, series: series.collect(), notes: told };
    serde_json::to_vec(&past).map_err(|error| Refused::Broken(error.to_string()))
}

fn columns(points: &[Point]) -> (Looks, Steps) {
    let (mut looks, mut steps) = (Looks::default(), Steps::default());
    for point in points {
        match *point {
            Point::Look { time, sample } => {
                let (letter, value) = match sample {
                    Sample::Value(value) => ('r', Some(value)),
                    Sample::Stale(value) => ('s', Some(value)),
                    Sample::NotReported => ('-', None),
                    Sample::Unreachable => ('u', None),
                    Sample::Impossible(_) => ('i', None),
                    Sample::Absent => ('a', None),
                };
                looks.at.push(seconds(time));
                looks.value.push(value.filter(|value| value.is_finite()));
                looks.state.push(letter);
            }
            Point::Step { time, step_ms, summary } => {
                let (counts, figures) = (summary.counts, summary.figures);
                let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
                steps.at.push(seconds(time));
                steps.step_s.push(step_ms as f64 / 1000.0);
                steps.min.push(finite(figures.map(|figures| figures.min)));
                steps.max.push(finite(figures.map(|figures| figures.max)));
                steps.last.push(finite(figures.map(|figures| figures.last)));
                steps.mean.push(finite(figures.map(|figures| figures.mean)));
                steps.fresh.push(counts.values);
                steps.stale.push(counts.stale);
                steps.not_reported.push(counts.not_reported);
                steps.unreachable.push(counts.unreachable);
                steps.impossible.push(counts.impossible + counts.nan);
            }
        }
    }
    (looks, steps)
}

/// The events that are asked for, at `now` (seconds since 1970).
pub(crate) fn events(reader: &Reader, ask: &EventsAsk, now: f64) -> Result<Vec<u8>, Refused> {
    let (from, to) = window(ask.from, ask.to, ask.window_s.unwrap_or(EVENTS_S), now)?;
    let (all, damaged) = reader.events(millis(from), millis(to));
    let mut notes: Vec<Told> = damaged
        .iter()
        .map(|note| Told { id: "damaged".to_owned(), text: format!("{}: {}", note.file, note.text) })
        .collect();
    let wanted = |event: &&ledger::Event| {
        let server = ask.server.as_deref().is_none_or(|asked| event.target == asked || event.target.is_empty());
        server && (ask.kinds.is_empty() || ask.kinds.contains(&event.kind))
    };
    let mut events: Vec<Event> = all.iter().filter(wanted).map(Event::of).collect();
    if events.len() > MOST_EVENTS {
        let text = format!("{} events: the newest {MOST_EVENTS} of them", events.len());
        notes.push(Told { id: "cut".to_owned(), text });
        events.drain(..events.len() - MOST_EVENTS);
    }
    let told = Happened { schema: "plimsoll.events/1", from, to, events, notes };
    serde_json::to_vec(&told).map_err(|error| Refused::Broken(error.to_string()))
}

fn window(from: Option<f64>, to: Option<f64>, window_s: f64, now: f64) -> Result<(f64, f64), Refused> {
    let to = to.unwrap_or(now);
    let from = from.unwrap_or(to - window_s);
    if from > to {
        return Err(Refused::Bad(format!("from ({from}) is later than to ({to})")));
    }
    Ok((from, to))
}

fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0) as i64
}

fn seconds(millis: i64) -> f64 {
    millis as f64 / 1000.0
}
