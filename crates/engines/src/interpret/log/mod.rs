//! Logs. Lines are looked at from the newest back, so that a log of any length costs what its end costs. The first pass
//! ([`scan`]) keeps what a row fits and learns the arguments that a starting server dumps; the second ([`keep`]) makes
//! sets of the newest line of each rank and pool, and counts events of the last minute.

mod clock;
mod interval;
mod recent;
mod rows;
mod scan;
mod seen;
mod telling;
mod worded;

use std::collections::BTreeMap;

use model::{Account, Note, PoolSet, RankId, RankValue, Reading, Readings, Signal, SourceOutcome, Time};

use super::compute::{self, Around};
use super::{add, counts, ranks};
use crate::table::condition::{Condition, Holds};
use crate::table::{Line, Read, Table};

pub(crate) use scan::scan;
use seen::Dated;
pub(crate) use seen::{Scanned, Seen};
pub use telling::{Need, Telling};
pub(super) use worded::Number;

/// Seconds between which a line was written, from which on they are said.
const CLEAR_S: f64 = 5.0;

/// The source's id in accounts and in `explain`.
pub(crate) const ID: &str = "log";

/// Makes sets and readings of what was seen.
pub(super) fn keep(table: &Table, trust: u16, scanned: &Scanned, account: &mut Account) -> SourceOutcome {
    let mut sets: BTreeMap<Home, PoolSet> = BTreeMap::new();
    let mut values: BTreeMap<(RankId, Signal), RankValue> = BTreeMap::new();
    let told = told(table, scanned, account);
    // Newest first: what is there already is newer.
    for seen in &told {
        let row = &table.lines[seen.row];
        let rank = ranks::rank(&seen.said(), account);
        let at = if row.lasting { scanned.as_of } else { seen.at };
        for (home, readings) in pools(row, seen, rank, at, account) {
            sets.entry(home).or_insert_with_key(|home| home.set(trust, at, readings));
        }
        for read in row.read.iter().filter(|read| read.pool.is_none() && counts(read, account)) {
            if let Some(reading) = reading(read, seen, at, account) {
                let signal = read.signal;
                values.entry((rank, signal)).or_insert(RankValue { trust, rank, signal, reading });
            }
        }
    }
    interval::add(table, scanned, &told, account, &mut sets);
    let main = super::main_pool(table, table.lines.iter().flat_map(|row| &row.read));
    sets.retain(|home, set| (home.pool.as_str(), home.tier.as_str()) == main || !is_nothing(&set.readings));
    let events = recent::count(table, trust, scanned, &told, account);
    let any = !sets.is_empty() || !values.is_empty() || !events.is_empty();
    account.sets.extend(sets.into_values());
    account.values.extend(values.into_values());
    account.values.extend(events);
    account.notes.extend(remarks(table, scanned));
    if any {
        SourceOutcome::Answered
    } else {
        SourceOutcome::Empty(format!("{} holds no line that tells anything, in what was read of it", scanned.name))
    }
}

/// The lines that hold for what is known of the server, and of which no other says otherwise.
fn told<'a>(table: &Table, scanned: &'a Scanned, account: &Account) -> Vec<&'a Seen> {
    let unclear = contradictory(table, scanned);
    let holds = |when: &Condition| when.holds(|name| account.fact(name)) == Holds::Yes;
    let counts = |seen: &&Seen| !unclear.contains(&seen.row) && table.lines[seen.row].when.as_ref().is_none_or(holds);
    scanned.lines.iter().filter(counts).collect()
}

/// Which set a reading goes to. What a starting server says once is a set of its own beside that of the moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Home {
    rank: RankId,
    pool: String,
    tier: String,
    lasting: bool,
}

impl Home {
    fn set(&self, trust: u16, at: Time, readings: Readings) -> PoolSet {
        PoolSet {
            source: ID.to_owned(),
            trust,
            rank: self.rank,
            pool: self.pool.clone(),
            tier: self.tier.clone(),
            at,
            live: false,
            idle: false,
            readings,
        }
    }
}

/// The numbers of each pool that a line tells.
fn pools(row: &Line, seen: &Seen, rank: RankId, at: Time, account: &Account) -> BTreeMap<Home, Readings> {
    let mut pools: BTreeMap<Home, Readings> = BTreeMap::new();
    for read in row.read.iter().filter(|read| counts(read, account)) {
        let Some(pool) = &read.pool else { continue };
        let Some(reading) = reading(read, seen, at, account) else { continue };
        let tier = read.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
        let home = Home { rank, pool: pool.clone(), tier, lasting: row.lasting };
        add(pools.entry(home).or_default(), read.signal, reading);
    }
    if row.rest {
        pools.values_mut().for_each(rest);
    }
    pools
}

/// Whether a pool holds nothing and can hold nothing: it is not there, and its line says so in zeros.
fn is_nothing(readings: &Readings) -> bool {
    readings.contains_key(&Signal::KV_CAPACITY) && readings.values().all(|reading| reading.value == Some(0.0))
}

/// Adds used: what of the capacity is neither available nor evictable.
fn rest(readings: &mut Readings) {
    let known = |signal| readings.get(&signal).filter(|reading: &&Reading| reading.value.is_some());
    let Some(capacity) = known(Signal::KV_CAPACITY) else { return };
    let parts = match (known(Signal::KV_HEADROOM), known(Signal::KV_AVAILABLE), known(Signal::KV_EVICTABLE)) {
        (Some(headroom), _, _) => vec![headroom],
        (None, Some(available), Some(evictable)) => vec![available, evictable],
        _ => return,
    };
    let free: f64 = parts.iter().filter_map(|part| part.value).sum();
    let used = capacity.value.unwrap_or_default() - free;
    // Parts above the whole are judged with the set, not hidden behind a number below zero.
    if used >= 0.0 {
        let inputs: Vec<&Reading> = std::iter::once(capacity).chain(parts.iter().copied()).collect();
        let names: &[&str] =
            if parts.len() == 1 { &["capacity", "headroom"] } else { &["capacity", "available", "evictable"] };
        let used = Reading::derived(used, capacity.unit, &inputs, names).within(Some(0.0));
        readings.insert(Signal::KV_USED, used);
    }
}

/// Rows of which only one line should be there, and several say different things.
fn contradictory(table: &Table, scanned: &Scanned) -> Vec<usize> {
    let differs = |row: usize| {
        let mut lines = scanned.lines.iter().filter(|seen| seen.row == row);
        let first = lines.next();
        lines.any(|seen| first.is_some_and(|first| !first.says_the_same(seen)))
    };
    (0..table.lines.len()).filter(|row| table.lines[*row].sole && differs(*row)).collect()
}

fn reading(read: &Read, seen: &Seen, at: Time, account: &Account) -> Option<Reading> {
    let value = seen.number(&read.name)?;
    let source = format!("{} {}", seen.source, read.name);
    let named = |name: &str| seen.number(name).or_else(|| super::fact_number(account, name));
    let around = Around { off: seen.off(&read.name), ..Around::of(&named).beside(read, named) };
    Some(
        compute::reading(read, value, &around, source, at, |name| account.fact(name))?
            .untimed(seen.dated != Dated::Said),
    )
}

/// Notes of lines that are worth one, the newest of each kind.
fn remarks(table: &Table, scanned: &Scanned) -> Vec<Note> {
    let mut notes = scanned.notes.clone();
    for (index, row) in table.lines.iter().enumerate().filter(|(_, row)| !row.note.is_empty()) {
        let mut lines = scanned.lines.iter().filter(|seen| seen.remark == Some(index));
        let Some(newest) = lines.next() else { continue };
        let more = lines.count();
        let times = if more == 0 { String::new() } else { format!(", and {more} more before it") };
        let ago = scanned.as_of.since(newest.at).max(0.0);
        let ago = match newest.dated {
            Dated::Said if newest.upto.since(newest.at) > CLEAR_S => format!("at most {ago:.0} s ago"),
            Dated::Said => format!("{ago:.0} s ago"),
            Dated::Apart => format!("{ago:.0} s before the end of the log"),
            Dated::No => "at a time that it does not say".to_owned(),
        };
        notes.push(Note::new("log-says", format!("{}: {}, {ago}{times}", row.note, newest.source)));
    }
    notes
}
