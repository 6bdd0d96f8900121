//! Why a signal has no value: which rows could have told it, and what became of their sources.

use model::{Account, Signal, Silence, SourceOutcome, Unsaid};

use crate::table::condition::{Condition, Holds};
use crate::table::version::Version;
use crate::table::{Read, Table};

/// Why nothing reports `signal` (of `pool` on `tier`, for signals of a pool; else both empty), one sentence.
pub fn why(table: &Table, account: &Account, signal: Signal, pool: &str, tier: &str) -> String {
    let (mut reasons, later) = of_sources(table, account, signal, pool, tier);
    if reasons.is_empty() && signal == Signal::KV_IN_USE {
        // It follows from used, wherever that is told.
        reasons = of_sources(table, account, Signal::KV_USED, pool, tier).0;
    }
    let told = |row: &&crate::table::Line| row.read.iter().any(|read| read.signal == signal);
    let logs = account.sources.iter().filter(|status| status.id == crate::interpret::log::ID);
    if reasons.is_empty() && table.lines.iter().any(|row| told(&row)) {
        reasons.extend(logs.map(|status| match &status.outcome {
            SourceOutcome::Answered | SourceOutcome::Empty(_) => {
                format!("{} has no line that says it, in what was read of it", status.get)
            }
            other => format!("the log would say it, but {}", other.text()),
        }));
    }
    reasons.dedup();
    match (reasons.is_empty(), later) {
        (false, _) => reasons.join("; "),
        (true, Some(since)) => format!("{} says it from {} on", table.engine.title, String::from(since.clone())),
        (true, None) if account.sources.is_empty() => {
            format!("nothing that {} says was asked or given", table.engine.title)
        }
        (true, None) => format!("{} says it nowhere that was asked", table.engine.title),
    }
}

/// What became of each source that has a row for the signal, where that tells why it is missing; and the version from which
/// on one would say it, where the server's is below.
fn of_sources<'a>(
    table: &'a Table,
    account: &Account,
    signal: Signal,
    pool: &str,
    tier: &str,
) -> (Vec<String>, Option<&'a Version>) {
    let mut reasons: Vec<String> = Vec::new();
    let mut later: Option<&Version> = None;
    for source in &table.sources {
        let rows = || {
            source.read.iter().filter(|row| {
                row.signal == signal
                    && row.pool.as_deref().unwrap_or("") == pool
                    && (pool.is_empty() || row.tier.as_deref().unwrap_or(model::DEVICE) == tier)
            })
        };
        if let Some(since) = rows().filter_map(|row| row.since.as_ref()).find(|since| is_below(account, since)) {
            later = Some(since);
        }
        // Of several names that of a row that is known to count.
        let Some(row) = rows().filter(|row| offered(row, account)).min_by_key(|row| open(row, account)) else {
            continue;
        };
        if source.saved_only && account.source(&source.id).is_none() {
            let get = &source.get;
            reasons.push(format!(
                "GET {get} would say it, and is not asked: asking takes its numbers away from others; save an answer and give the file"
            ));
        }
        let Some(status) = account.source(&source.id) else { continue };
        let unsaid = rows().filter(|row| offered(row, account)).find_map(|row| unsaid(account, &source.id, row));
        if let Some(unsaid) = unsaid {
            reasons.push(said_nothing(unsaid, &source.get));
            continue;
        }
        reasons.push(match (&status.outcome, &status.passed_by) {
            (SourceOutcome::Answered, Some(by)) => {
                format!("{} is not on the page of {by}, which may leave it out", row.name)
            }
            (SourceOutcome::Answered, None) if account.fact(&source.id) == Some("off") => {
                format!("{} answers without the series of {}: they are switched off", source.get, table.engine.title)
            }
            (SourceOutcome::Answered, None) if row.lazy => {
                format!("{} appears on {} with the first one; none so far", row.name, source.get)
            }
            (SourceOutcome::Answered, None) if open(row, account) => {
                let when = row.when.as_ref().map(Condition::words).unwrap_or_default();
                format!("{} of {} tells it {when}, and whether that is so is not known", row.name, source.get)
            }
            (SourceOutcome::Answered, None) => match row.named().next() {
                Some(factor) => {
                    format!("{} is not in the answer of {}, or {factor} is not known", row.name, source.get)
                }
                None => format!("{} is not in the answer of {}", row.name, source.get),
            },
            (other, _) => format!("{} would say it, but {}", source.get, other.text()),
        });
    }
    (reasons, later)
}

/// That the series of a row stands in the answer of a source, and no number of it.
pub(crate) fn unsaid<'a>(account: &'a Account, source: &str, row: &Read) -> Option<&'a Unsaid> {
    account.unsaid.iter().find(|unsaid| unsaid.source == source && unsaid.name == row.name)
}

/// Why it has none, in words.
pub(crate) fn said_nothing(unsaid: &Unsaid, get: &str) -> String {
    let name = &unsaid.name;
    match unsaid.how {
        Silence::Declared => format!("{name} is declared on {get}, and has no sample so far"),
        Silence::Cut => {
            format!("the line of {name} is the last one of {get} and has no end: its number may have been cut")
        }
    }
}

/// Whether a row holds for the server's version and facts, as far as they are known.
pub(crate) fn offered(row: &Read, account: &Account) -> bool {
    let version = account.fact("version").and_then(Version::parse);
    let within = version.is_none_or(|version| {
        row.since.as_ref().is_none_or(|since| version >= *since)
            && row.until.as_ref().is_none_or(|until| version < *until)
    });
    within && row.when.as_ref().is_none_or(|when| when.holds(|name| account.fact(name)) != Holds::No)
}

/// Whether it is not known whether the row's condition holds.
fn open(row: &Read, account: &Account) -> bool {
    row.when.as_ref().is_some_and(|when| when.holds(|name| account.fact(name)) == Holds::Unknown)
}

fn is_below(account: &Account, since: &Version) -> bool {
    account.fact("version").and_then(Version::parse).is_some_and(|version| version < *since)
}
