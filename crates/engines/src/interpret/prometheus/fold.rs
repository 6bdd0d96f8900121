//! Samples of one row and place to one reading.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, Kind, Observation, Reading, Time};

use super::super::compute::{self, Around};
use super::super::{fact_number, may_be, spots};
use super::{Is, Met, Part, Place, Seen};
use crate::table::condition::Holds;
use crate::table::{Fold, Read, Source};

pub(super) type ByPlace<'h> = BTreeMap<Place<'h>, BTreeMap<usize, Reading>>;

/// All samples of one part and place.
struct Said<'h> {
    /// The first of them.
    met: &'h Met,
    values: Vec<f64>,
    at: Time,
    /// They carry their time.
    stamped: bool,
    /// The numbers of those that were added up, by the sum of their labels.
    labels: BTreeMap<u64, f64>,
    /// What a series said that is there already with another number, or with other factors.
    twice: Option<f64>,
}

impl Said<'_> {
    /// The one number of all of them, by the row's rule; `Err` with what was said where they differ and may not.
    fn folded(&self, read: &Read) -> Result<f64, String> {
        let first = self.values[0];
        let differ = self.values.iter().any(|value| !is_same(*value, first));
        // A part that cannot be is the answer, and not hidden in a sum.
        if let Some(wrong) = self.values.iter().find(|value| !may_be(**value)) {
            return Ok(*wrong);
        }
        if let Some(twice) = self.twice {
            return Err(format!("said twice for one rank: {first}, {twice}"));
        }
        match read.fold {
            Fold::One if differ => {
                let said: Vec<String> = self.values.iter().take(4).map(ToString::to_string).collect();
                let more = if self.values.len() > said.len() { ", …" } else { "" };
                Err(format!("said {} times for one rank: {}{more}", self.values.len(), said.join(", ")))
            }
            Fold::One => Ok(first),
            Fold::Sum => Ok(self.values.iter().fold(0.0, |sum, value| sum + value)),
            Fold::Max => Ok(self.values.iter().copied().fold(first, f64::max)),
            Fold::Count => Ok(self.values.len() as f64),
        }
    }
}

fn is_same(one: f64, other: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan())
}

/// One reading a row and place. Of how many ranks there are is known only where the page was read with `all_ranks`.
pub(super) fn fold<'h>(
    source: &Source,
    observation: &Observation,
    seen: Vec<Seen<'h>>,
    all_ranks: bool,
    account: &Account,
) -> ByPlace<'h> {
    let mut values: BTreeMap<(Place<'h>, Part), Said<'h>> = BTreeMap::new();
    for Seen { met, place, value, at, stamped } in seen {
        let first = || Said { met, values: Vec::new(), at, stamped, labels: BTreeMap::new(), twice: None };
        let said = values.entry((place, met.part)).or_insert_with(first);
        if let Some(known) = said.labels.get(&met.labels) {
            // The very same series again: once, or nothing where it says something else.
            if !is_same(*known, value) {
                said.twice = Some(value);
            }
            continue;
        }
        said.labels.insert(met.labels, value);
        if source.read[met.part.row].fold == Fold::One && met.factors != said.met.factors {
            said.twice = Some(value);
        }
        said.values.push(value);
        said.stamped &= stamped;
        if at < said.at {
            said.at = at;
        }
    }
    let running: BTreeMap<Place<'_>, f64> = values
        .iter()
        .filter(|((_, part), _)| source.read[part.row].signal == model::Signal::REQ_RUNNING && part.part == Is::Own)
        .map(|((place, _), said)| (*place, said.values[0]))
        .collect();
    // Of the whole page: a series may be there for some of the ranks only.
    let mut dps: BTreeMap<Option<&str>, BTreeSet<u32>> = BTreeMap::new();
    for (place, _) in values.keys() {
        dps.entry(place.worker).or_default().extend(place.dp);
    }
    let mut readings = ByPlace::new();
    for ((place, part), said) in values.iter().filter(|((_, part), _)| part.part == Is::Own) {
        let row = &source.read[part.row];
        let runs = running.get(place);
        let frozen = row.frozen.as_ref().is_some_and(|frozen| frozen.holds(|name| account.fact(name)) == Holds::Yes);
        let beside = |is| {
            let said = values.get(&(*place, Part { part: is, ..*part }))?;
            said.folded(row).ok()
        };
        let plus = (0..row.plus.len()).map(|index| beside(Is::Plus(index))).collect();
        let idle = runs.map(|running| *running == 0.0);
        let ranks = all_ranks.then(|| dps.get(&place.worker).map_or(1, |dps| dps.len().max(1)));
        let around = Around { other: beside(Is::Over), plus, ranks, named: &|_| None, idle, off: None };
        let reading = if frozen && runs.is_none_or(|running| *running == 0.0) && said.values[0] != 0.0 {
            let why =
                format!("{} is not written while nothing runs: {} is of the last batch", said.met.name, said.values[0]);
            Some(Reading::not_reported(row.unit.unwrap_or(row.signal.unit()), why))
        } else {
            let from = spots::named(observation, Some(said.met.line), &said.met.name);
            one(source, row, &from, said, around, account)
        };
        // What is passed on is as old as it says, or nobody knows how old.
        let passed = observation.outcome.as_ref().ok().and_then(|answer| answer.passed.as_ref());
        let kept = passed.map_or("", |passed| passed.lag.as_str());
        let reading = reading.map(|reading| if said.stamped { reading } else { reading.lagging(kept) });
        if let Some(reading) = reading {
            readings.entry(*place).or_default().insert(part.row, reading);
        }
    }
    readings
}

/// The reading of one row and place from all its samples; none where what the row needs beside them is not known.
fn one(
    source: &Source,
    row: &Read,
    from: &str,
    said: &Said<'_>,
    around: Around<'_>,
    account: &Account,
) -> Option<Reading> {
    let value = match said.folded(row) {
        Ok(value) => value,
        Err(why) => return Some(Reading::impossible(row.unit.unwrap_or(row.signal.unit()), why, from, said.at)),
    };
    if row.nan_idle && value.is_nan() && around.idle != Some(false) {
        let why = format!("{} is no number while nothing runs", said.met.name);
        return Some(Reading::not_reported(row.unit.unwrap_or(row.signal.unit()), why));
    }
    let named = |name: &str| {
        let of_label = said.met.factors.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        of_label.or_else(|| fact_number(account, name))
    };
    let around = Around { named: &named, ..around };
    let mut reading = compute::reading(row, value, &around, from.to_owned(), said.at, |name| account.fact(name))?;
    if row.signal.row().kind == Kind::Gauge {
        reading = reading.lagging(&source.lag);
    }
    Some(reading)
}
