//! An engine that is made up: what tables may make of its answers is seen apart from any real one's.

#![allow(dead_code)] // each test uses its part

use engines::Tables;
use engines::table::files::Folder;
use model::{Account, Answer, Facts, Log, Observation, Reading, Signal, Time};

/// When everything was answered.
pub(crate) const AT: Time = Time(1_795_968_923.0);

const ENGINE: &str = r#"
name = "made"
title = "Made"
kind = "engine"
role = "unified"
prefixes = ["made:"]
port = [{ serves = "api", fact = "port", default = 9999 }]
answer = [
  { get = "/metrics", order = 99 },
  { get = "/v1/models", order = 98, is = { "data[*].owned_by" = "made" } },
]
"#;

/// The tables with these sources of the made-up engine.
pub(crate) fn tables(sources: &str) -> Tables {
    tables_with(sources, "")
}

fn folder(sources: &str, doctor: &str) -> Folder {
    let files = [Some(ENGINE.to_owned()), None, Some(sources.to_owned()), Some(doctor.to_owned())];
    Folder { name: "made".to_owned(), path: "made".to_owned(), files }
}

/// The tables with one that has these `sources.toml` and `doctor.toml`.
pub(crate) fn tables_with(sources: &str, doctor: &str) -> Tables {
    let (tables, faults) = Tables::builtin().with(&[folder(sources, doctor)]);
    assert!(faults.is_empty(), "{faults:#?}");
    tables
}

/// What is wrong with them.
pub(crate) fn faults(sources: &str, doctor: &str) -> Vec<String> {
    Tables::builtin().with(&[folder(sources, doctor)]).1.iter().map(ToString::to_string).collect()
}

/// A 200.
pub(crate) fn answer(get: &str, body: &str) -> Observation {
    let answer = Answer { status: 200, body: body.as_bytes().to_vec(), ..Answer::default() };
    Observation { get: get.to_owned(), url: format!("http://m{get}"), at: AT, took: 0.0, outcome: Ok(answer) }
}

/// What the made-up engine told.
pub(crate) fn told(tables: &Tables, observations: &[Observation], logs: &[Log]) -> Account {
    engines::interpret(tables.get("made").expect("a table"), observations, logs, &Facts::new())
}

/// The same of one page, read by these rows.
pub(crate) fn page(rows: &str, body: &str) -> Account {
    let sources = format!(
        "[[source]]\nid = \"metrics\"\nget = \"/metrics\"\nformat = \"prometheus\"\nempty = \"off\"\n\
         rank = {{ dp = \"engine\" }}\nfacts = {{ \"config.block_size\" = \"block_size\" }}\nread = [{rows}]\n"
    );
    told(&tables(&sources), &[answer("/metrics", body)], &[])
}

/// The first reading of a signal.
pub(crate) fn of(account: &Account, signal: Signal) -> Option<Reading> {
    let in_pools = account.sets.iter().find_map(|set| set.readings.get(&signal)).cloned();
    in_pools.or_else(|| account.values.iter().find(|value| value.signal == signal).map(|value| value.reading.clone()))
}

/// Its value.
pub(crate) fn value(account: &Account, signal: Signal) -> Option<f64> {
    of(account, signal).and_then(|reading| reading.value)
}

/// The number of each data-parallel rank's pool, in their order.
pub(crate) fn by_rank(account: &Account, signal: Signal) -> Vec<(Option<u32>, Option<f64>)> {
    let told = |set: &model::PoolSet| Some((set.rank.dp, set.readings.get(&signal)?.value));
    account.sets.iter().filter_map(told).collect()
}
