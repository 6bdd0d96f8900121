//! From observations to an account, by the engine's table. Two passes: facts first (version, role, flags), because
//! rows depend on them; then numbers.

mod assume;
mod compute;
mod events;
mod facts;
mod gather;
mod json;
pub(crate) mod log;
mod path;
mod prometheus;
mod prune;
#[cfg(test)]
mod prune_test;
mod ranks;
mod slab;
mod spots;
mod trees;
mod value;

use std::sync::Arc;

use model::{Account, Level, Log, Note, Observation, SourceOutcome, SourceStatus, Trouble};

use crate::Tables;
use crate::table::condition::Holds;
use crate::table::{EngineKind, Format, Read, Source, Table, TroubleLevel};

pub(crate) use facts::dump as dumped;
pub(crate) use json::{answered_at, parse as parse_json};
pub use log::{Need, Telling};
pub(crate) use path::{find as json_find, first as json_first, text as json_text};
pub(crate) use prometheus::{Pages, holds_series, looks_wrong};
pub use slab::is_being_written;
pub use trees::Trees;

/// Workers read from one answer; more are cut off with a note.
pub(crate) const MOST_WORKERS: usize = 4096;
/// Ranks read from one answer, likewise.
pub(crate) const MOST_RANKS: usize = 1024;

/// Understands everything that one server answered and wrote. `flags` are facts of its command line, if it is known.
pub fn interpret(table: &Table, observations: &[Observation], logs: &[Log], flags: &model::Facts) -> Account {
    assume::over_all(table, &asked(table, observations, &Trees::default()), logs, flags, None)
}

/// The same, where some observations are those of the look before, and `trees` what was taken apart then.
pub fn interpret_known(table: &Table, observations: &[Observation], flags: &model::Facts, trees: &Trees) -> Account {
    assume::over_all(table, &asked(table, observations, trees), &[], flags, None)
}

/// The same of all that was asked: `trees` are what was taken apart then, and become what is now; and
/// the others are mostly as they were, but for their numbers. The table is one of `tables`.
pub fn interpret_again(
    tables: &Tables,
    table: &Table,
    observations: &[Observation],
    logs: &[Log],
    flags: &model::Facts,
    trees: &mut Trees,
) -> Account {
    let asked = asked(table, observations, trees);
    *trees = Trees::of(table, &asked);
    assume::over_all(table, &asked, logs, flags, Some(tables.pages()))
}

/// An observation with the source of the table that it answers, the source's place among them, and what it holds.
struct Asked<'a> {
    trust: u16,
    source: &'a Source,
    observation: &'a Observation,
    body: Body<'a>,
}

/// Each source with the observation that answers it, parsed; without those in whose place others speak.
fn asked<'a>(table: &'a Table, observations: &'a [Observation], trees: &Trees) -> Vec<Asked<'a>> {
    let answer = |source: &Source| {
        let mut same = observations.iter().filter(|observation| observation.get == source.get);
        // One path may have been asked on several ports: the one that serves it counts.
        same.clone().find(|observation| answered(observation)).or_else(|| same.next())
    };
    let superseded = |source: &Source| {
        let other = |id: &String| table.sources.iter().find(|other| other.id == *id).and_then(answer);
        source.unless.iter().filter_map(other).any(answered)
    };
    let sources = table.sources.iter().enumerate().filter(|(_, source)| !superseded(source));
    let parsed = |(index, source): (usize, &'a Source)| {
        let observation = answer(source)?;
        let known = trees.find(table, index, observation).map(Body::Json);
        let body = known.unwrap_or_else(|| Body::of(table, index, observation));
        Some(Asked { trust: index as u16, source, observation, body })
    };
    sources.filter_map(parsed).collect()
}

/// What everything together says, with nothing assumed.
fn once(table: &Table, asked: &[Asked], logs: &[Log], flags: &model::Facts, pages: Option<&Pages>) -> Account {
    let mut account = Account { engine: Some(table.engine.name.clone()), facts: flags.clone(), ..Account::default() };
    for Asked { source, body, .. } in asked {
        facts::learn(table, source, body, &mut account);
    }
    let scanned: Vec<_> = logs.iter().map(|log| scan(table, log, &mut account)).collect();
    if account.fact("role").is_none() {
        account.learn("role", table.engine.role.clone(), format!("{} without a role flag", table.engine.title), 0);
    }
    for Asked { trust, source, observation, body } in asked {
        let outcome = match body {
            Body::Json(root) => {
                if source.format == Format::Events {
                    events::note(source, root, &mut account);
                }
                json::read(*trust, source, observation, root, &mut account)
            }
            Body::Page(page, _) => {
                prometheus::read(table, *trust, source, observation, page, None, pages, &mut account)
            }
            Body::Nothing(outcome) => outcome.clone(),
        };
        // Two shapes of one path are two sources: the one that fits speaks for both.
        let spoken =
            account.sources.iter().any(|other| other.get == source.get && other.outcome == SourceOutcome::Answered);
        if spoken && outcome != SourceOutcome::Answered {
            continue;
        }
        account.sources.retain(|other| other.get != source.get || outcome != SourceOutcome::Answered);
        let passed = observation.outcome.as_ref().ok().and_then(|answer| answer.passed.as_ref());
        account.sources.push(SourceStatus {
            id: source.id.clone(),
            get: source.get.clone(),
            http: source.format.is_page(),
            at: observation.at,
            took: observation.took,
            outcome,
            passed_by: passed.map(|passed| passed.by.clone()),
        });
    }
    for (log, scanned) in logs.iter().zip(scanned) {
        let outcome = match scanned {
            Ok(scanned) => log::keep(table, table.sources.len() as u16, &scanned, &mut account),
            Err(why) => SourceOutcome::Unreachable(why),
        };
        account.sources.push(SourceStatus {
            id: log::ID.to_owned(),
            get: model::text::visible(log.name.clone()),
            http: false,
            at: log.at,
            took: log.took,
            outcome,
            passed_by: None,
        });
    }
    infer(table, &mut account);
    account.binding.extend(table.bind.iter().map(|row| (row.pool.clone(), row.tier.clone())));
    troubles(table, &mut account);
    account
}

fn scan(table: &Table, log: &Log, account: &mut Account) -> Result<log::Scanned, String> {
    match &log.outcome {
        Ok(stretches) => Ok(log::scan(table, log, stretches, account)),
        Err(blind) => Err(blind.text.clone()),
    }
}

/// Adds what facts imply to sets of the pool that say how much is used, and not this.
fn infer(table: &Table, account: &mut Account) {
    for row in &table.infer {
        if row.when.holds(|name| account.fact(name)) != Holds::Yes {
            continue;
        }
        let source = account.facts.get(&row.from).map(|fact| fact.source.clone()).unwrap_or_default();
        let of_pool = |set: &&mut model::PoolSet| set.pool == row.pool && set.tier == model::DEVICE;
        for set in account.sets.iter_mut().filter(of_pool) {
            let tells = [model::Signal::KV_USED, model::Signal::KV_IN_USE];
            if tells.iter().any(|signal| set.readings.contains_key(signal)) {
                let unit = row.signal.unit();
                let reading = model::Reading::inferred(row.value, unit, source.clone(), Some(set.at)).within(Some(0.0));
                set.readings.entry(row.signal).or_insert(reading);
            }
        }
    }
}

/// Notes what is trouble by itself, with the word that tells it.
fn troubles(table: &Table, account: &mut Account) {
    for row in &table.troubles {
        if row.when.holds(|name| account.fact(name)) != Holds::Yes {
            continue;
        }
        let level = match row.level {
            TroubleLevel::Unknown => Level::Unknown,
            TroubleLevel::Tight => Level::Tight,
            TroubleLevel::Strained => Level::Strained,
            TroubleLevel::Stuck => Level::Stuck,
        };
        let by = account.facts.get(row.when.fact()).map_or("", |fact| fact.source.as_str());
        // Why nothing is known is the verdict's whole reason anyway.
        if level > Level::Unknown {
            account.notes.push(Note::new("engine-says", format!("{}, by {by}", row.why)));
        }
        account.troubles.push(Trouble { level, why: row.why.clone() });
    }
}

/// Whether an answer is read as JSON, also with the bare words that Python writes for numbers that are none.
pub fn reads_as_json(body: &[u8]) -> bool {
    parse_json(body).is_ok()
}

/// Trust of what a router passes on: below everything that the worker says itself.
const RELAYED: u16 = 1000;

/// Understands a worker from the page on which its router passes on the workers' own pages: samples with `label` equal
/// to `worker` are read by the worker's own table, given what is `known` of it.
pub fn interpret_relayed(
    table: &Table,
    observation: &Observation,
    label: &str,
    worker: &str,
    known: &model::Facts,
) -> Account {
    let mut account = Account { engine: Some(table.engine.name.clone()), facts: known.clone(), ..Account::default() };
    account.learn("role", table.engine.role.clone(), format!("{} without a role flag", table.engine.title), 0);
    let page = table.sources.iter().find(|source| source.format == Format::Prometheus && source.worker.is_none());
    if let (Some(source), Ok(answer)) = (page, &observation.outcome)
        && answer.status == 200
        && looks_wrong(&answer.body).is_none()
    {
        let only = Some((label, worker));
        prometheus::read(table, RELAYED, source, observation, &answer.body, only, None, &mut account);
    }
    account
}

/// What an observation holds, once its status and shape are judged.
enum Body<'a> {
    Json(Arc<serde_json::Value>),
    Page(&'a [u8], prometheus::Told),
    Nothing(SourceOutcome),
}

impl<'a> Body<'a> {
    /// What the source at `index` of the table's made of its answer.
    fn of(table: &Table, index: usize, observation: &'a Observation) -> Body<'a> {
        let source = &table.sources[index];
        let get = &source.get;
        let answer = match &observation.outcome {
            Ok(answer) => answer,
            Err(blind) => return Body::Nothing(SourceOutcome::Unreachable(blind.text.clone())),
        };
        let status = answer.status;
        Body::Nothing(match status {
            200 => match Body::read(table, index, &answer.body) {
                Ok(body) => match &body {
                    Body::Json(root) if source.format == Format::Events => match events::silence(source, root) {
                        Some(why) => SourceOutcome::Empty(why),
                        None => return body,
                    },
                    _ => return body,
                },
                Err(why) if !source.format.is_page() => SourceOutcome::Broken(format!("{}: {why}", observation.url)),
                Err(why) => SourceOutcome::Broken(format!("GET {get} answered 200, but {why}")),
            },
            401 | 403 => SourceOutcome::Denied(format!("GET {get} answered {status}: it wants credentials")),
            status if source.off.contains(&status) => SourceOutcome::Off(format!("GET {get} answered {status}")),
            404 => SourceOutcome::Broken(format!("GET {get} answered 404")),
            _ => SourceOutcome::Broken(format!("GET {get} answered {status}")),
        })
    }

    fn tree(root: serde_json::Value) -> Body<'a> {
        Body::Json(Arc::new(root))
    }

    fn read(table: &Table, index: usize, bytes: &'a [u8]) -> Result<Body<'a>, String> {
        let source = &table.sources[index];
        match (source.format, table.wanted(index)) {
            (Format::Json, Some(wanted)) => json::parse_wanted(bytes, wanted).map(Body::tree),
            (Format::Json | Format::Leaf | Format::Events, _) => parse_json(bytes).map(Body::tree),
            (Format::Slab, _) => slab::root(source, bytes).map(Body::tree),
            (Format::Prometheus, _) => match looks_wrong(bytes) {
                None => Ok(Body::Page(bytes, prometheus::Told::of(table, source, bytes))),
                Some(why) => Err(why.to_owned()),
            },
        }
    }
}

fn answered(observation: &Observation) -> bool {
    observation.outcome.as_ref().is_ok_and(|answer| answer.status == 200)
}

/// Whether row `read` counts for what is known of the server. Its versions do not matter here: a series that is on the
/// page says what it says, whatever a local build calls itself. They explain absence, and what another setting would show.
fn counts(read: &Read, account: &Account) -> bool {
    read.when.as_ref().is_none_or(|when| when.holds(|name| account.fact(name)) == Holds::Yes)
}

/// The pool that is always there, and its tier: of a store the first that `rows` tell of.
fn main_pool<'a>(table: &Table, rows: impl IntoIterator<Item = &'a Read>) -> (&'a str, &'a str) {
    let of_row = |row: &'a Read| Some((row.pool.as_deref()?, row.tier.as_deref().unwrap_or(model::DEVICE)));
    let first = rows.into_iter().find_map(of_row).filter(|_| table.engine.kind == EngineKind::Store);
    first.unwrap_or((model::FULL, model::DEVICE))
}

/// Adds a reading, unless an earlier row gave one: what a row only says it cannot tell, a later one may.
fn add(readings: &mut model::Readings, signal: model::Signal, reading: model::Reading) {
    let empty = |known: &model::Reading| known.state == model::State::NotReported && reading.value.is_some();
    if readings.get(&signal).is_none_or(empty) {
        readings.insert(signal, reading);
    }
}

/// Whether a number can be a part of an amount.
fn may_be(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

/// The number that a fact is, if it is one.
fn fact_number(account: &Account, name: &str) -> Option<f64> {
    account.fact(name).and_then(|fact| fact.parse().ok())
}

/// Notes that a list was cut.
fn cut(account: &mut Account, source: &Source, most: usize, what: &str) {
    let text = format!("GET {}: more than {most} {what}; the rest was not read", source.get);
    account.notes.push(Note::new("cut", text));
}
