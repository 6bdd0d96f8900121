//! `docs/engines.md`: engine × version × signal, as the program reads every capture.

use std::fmt::Write as _;
use std::path::Path;

use engines::Tables;
use engines::table::version::Version;
use engines::table::{EngineKind, ProcessRule, Table};
use model::{DEVICE, FULL, Pool, Rank, Reading, Role, Signal, State};
use serde::Deserialize;

use super::file::{Capture, Given, Origin, all};
use super::{reader, tables};

/// The signals that have a column; the first of them are a pool's.
const OF_POOL: [Signal; 6] = [
    Signal::KV_CAPACITY,
    Signal::KV_USED,
    Signal::KV_EVICTABLE,
    Signal::KV_AVAILABLE,
    Signal::KV_IN_USE,
    Signal::KV_OCCUPIED,
];
const OF_RANK: [Signal; 4] =
    [Signal::REQ_RUNNING, Signal::REQ_WAITING, Signal::REQ_RETRACTED_TOTAL, Signal::KV_EVICTED_TOTAL];

const HEAD: &str = "# Engines

Made from `engines/`: every capture there, read by its own engine's table as a look reads a live server. A row is one version in one situation.

**R** reported, **D** derived from what is reported, **I** inferred (from a flag, a log line, a formula), **–** not reported,
**!** said, but it cannot be. *seen*: a real program said it. *read*: it was not run; the answer was made from that
version's source, with made-up numbers.

";

/// The whole document.
pub(crate) fn text() -> String {
    let tables = tables::tables();
    let captures = all();
    let mut text = HEAD.to_owned();
    for folder in tables::folders() {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(table) = tables.get(name) else { continue };
        let mut own: Vec<&Capture> = captures.iter().filter(|capture| capture.engine == name).collect();
        own.sort_by_cached_key(|capture| (version(capture), capture.name.clone()));
        text += &engine(&tables, table, &own, &folder);
    }
    text
}

fn engine(tables: &Tables, table: &Table, captures: &[&Capture], folder: &Path) -> String {
    let engine = &table.engine;
    let mut text = format!("## {}\n\n", engine.title);
    let kind = match engine.kind {
        EngineKind::Engine => "An engine",
        EngineKind::Store => "A store of caches",
        EngineKind::Router => "A router",
    };
    let seen = captures.iter().filter(|capture| capture.file.origin == Origin::Captured).count();
    let known = match seen {
        0 => "only read in its source, not run",
        seen if seen == captures.len() => "seen",
        _ => "partly seen, partly read in its source",
    };
    writeln!(text, "{kind}; {known}. What misleads: [NOTES.md](../engines/{}/NOTES.md).", engine.name).expect("text");
    let processes: Vec<String> = engine.process.iter().map(process).collect();
    let images: Vec<String> = engine.image.iter().map(|image| format!("image `{image}`")).collect();
    let mut paths: Vec<String> = engine.answer.iter().map(|rule| format!("`{}`", rule.get)).collect();
    paths.dedup();
    let by: Vec<String> = processes.into_iter().chain(images).collect();
    if !by.is_empty() {
        writeln!(text, "Recognised as a process by {}.", by.join(", ")).expect("text");
    }
    if !paths.is_empty() {
        writeln!(text, "Recognised over HTTP by its answer to {}.", paths.join(", ")).expect("text");
    }
    text += &wordings(folder);
    text += "\n";
    if engine.kind == EngineKind::Router {
        text += "It has no cache: what it says of its workers is shown beside their own word.\n\n";
        return text;
    }
    let titles: Vec<&str> = OF_POOL.iter().chain(&OF_RANK).map(|signal| signal.row().title).collect();
    writeln!(text, "| version, situation | | pool | {} |", titles.join(" | ")).expect("text");
    writeln!(text, "|---|---|---|{}", "---|".repeat(titles.len())).expect("text");
    for capture in captures {
        let given = if capture.file.argv.is_empty() { Given::Answers } else { Given::Argv };
        let told = reader::read(tables, capture, given);
        let origin = if capture.file.origin == Origin::Captured { "seen" } else { "read" };
        let situation = capture.name.rsplit('/').next().unwrap_or_default().replacen('-', " ", 1).replace('-', " ");
        let Some(rank) = told.server.ranks.first() else { continue };
        if told.server.role == Role::Router {
            continue;
        }
        for (index, pool) in rank.pools.iter().enumerate() {
            let (situation, origin) = if index == 0 { (situation.as_str(), origin) } else { ("", "") };
            writeln!(text, "| {situation} | {origin} | {} | {} |", place(pool), cells(rank, pool, index == 0))
                .expect("text");
        }
    }
    text + "\n"
}

/// What a process of it is called.
fn process(rule: &ProcessRule) -> String {
    let verb = rule.verb.as_ref().map_or(String::new(), |verb| format!(" {verb}"));
    match (&rule.module, &rule.command, &rule.title) {
        (Some(module), _, _) => format!("`python -m {module}{verb}`"),
        (_, Some(command), _) => format!("`{command}{verb}`"),
        (_, _, title) => format!("title `{}`", title.as_deref().unwrap_or_default()),
    }
}

fn place(pool: &Pool) -> String {
    match (pool.pool.as_str(), pool.tier.as_str()) {
        (FULL, DEVICE) => String::new(),
        (pool, DEVICE) => pool.to_owned(),
        (FULL, tier) => tier.to_owned(),
        (pool, tier) => format!("{pool}, {tier}"),
    }
}

fn cells(rank: &Rank, pool: &Pool, with_rank: bool) -> String {
    let of_pool = OF_POOL.iter().map(|signal| letter(pool.get(*signal)));
    let of_rank = OF_RANK.iter().map(|signal| if with_rank { letter(rank.readings.get(signal)) } else { "" });
    of_pool.chain(of_rank).collect::<Vec<_>>().join(" | ")
}

fn letter(reading: Option<&Reading>) -> &'static str {
    match reading.map(|reading| reading.state) {
        Some(State::Reported) => "R",
        Some(State::Derived) => "D",
        Some(State::Inferred) => "I",
        Some(State::Impossible) => "!",
        Some(State::Stale) => "stale",
        Some(State::NotReported | State::Unreachable) | None => "–",
    }
}

/// The version that a capture's folder names; builds that are numbered sort by their number.
fn version(capture: &Capture) -> Option<Version> {
    let name = capture.name.rsplit('/').next().unwrap_or_default();
    Version::parse(name.split('-').next().unwrap_or_default().trim_start_matches('b'))
}

#[derive(Deserialize)]
struct Wordings {
    #[serde(default)]
    row: Vec<Wording>,
}

#[derive(Deserialize)]
struct Wording {
    since: Version,
    origin: String,
}

/// How many wordings of its log are known.
fn wordings(folder: &Path) -> String {
    let Ok(text) = std::fs::read_to_string(folder.join("lines.toml")) else { return String::new() };
    let rows = toml::from_str::<Wordings>(&text).expect("lines.toml").row;
    let Some(first) = rows.iter().map(|row| row.since.clone()).min() else { return String::new() };
    let seen = rows.iter().filter(|row| row.origin == "captured").count();
    let first = String::from(first);
    format!("Its log: {} wordings from version {first} on, {seen} of them seen.\n", rows.len())
}
