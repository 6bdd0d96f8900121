//! Facts that nothing told, where each of a few values would give other numbers: the one that alone can be is concluded,
//! and of several that can be all are said, none is shown.

use model::number::{amount, percent, with_unit};
use model::{Account, Fact, Facts, Log, Note, PoolSet, Reading, Signal, State};

use super::{Asked, Pages, once};
use crate::table::{Assume, Table};

/// Parts may exceed the whole by this share and one.
const SLACK: f64 = 0.001;

/// Understands a server as [`once`] does; then, where a fact of the table's `[[assume]]` rows is not known, with each of its
/// values. Answers are parsed but once.
pub(super) fn over_all(table: &Table, asked: &[Asked], logs: &[Log], flags: &Facts, pages: Option<&Pages>) -> Account {
    let mut flags = flags.clone();
    let mut plain = once(table, asked, logs, &flags, pages);
    for row in &table.assume {
        if plain.fact(&row.fact).is_some() {
            continue;
        }
        let with = |value: &String| {
            let fact = Fact { value: value.clone(), source: "assumed".to_owned(), weight: 0 };
            let mut flags = flags.clone();
            flags.insert(row.fact.clone(), fact);
            once(table, asked, logs, &flags, pages)
        };
        let told: Vec<(&String, Account)> = row.values.iter().map(|value| (value, with(value))).collect();
        let figures = |account: &Account| account.sets.iter().any(|set| share(set).is_some());
        if !told.iter().any(|(_, account)| figures(account)) {
            continue;
        }
        let (can, cannot): (Vec<_>, Vec<_>) = told.into_iter().partition(|(_, account)| account.sets.iter().all(sound));
        match (can.as_slice(), cannot.as_slice()) {
            ([(value, account)], [_, ..]) => {
                let source =
                    format!("with anything else more than the capacity would be taken ({})", words(row, value));
                let fact = Fact { value: (*value).clone(), source, weight: 0 };
                let mut account = account.clone();
                conclude(&mut account, &plain, &row.fact, value);
                account.facts.insert(row.fact.clone(), fact.clone());
                flags.insert(row.fact.clone(), fact);
                plain = account;
            }
            ([_, _, ..], _) if differ(&can) => {
                plain.notes.push(either(row, &can));
                common(row, &can, &mut plain);
            }
            // They all come to the same.
            ([(_, account), _, ..], _) => {
                let mut account = account.clone();
                account.facts.remove(&row.fact);
                plain = account;
            }
            _ => {}
        }
    }
    plain
}

/// What of its capacity a set says to be in use.
fn share(set: &PoolSet) -> Option<f64> {
    let value = |signal| set.readings.get(&signal).and_then(|reading| reading.value);
    value(Signal::KV_CAPACITY)
        .filter(|capacity| *capacity > 0.0)
        .zip(value(Signal::KV_USED))
        .map(|(all, used)| used / all)
}

/// Whether the values that can be give different figures.
fn differ(can: &[(&String, Account)]) -> bool {
    let capacity = |set: &PoolSet| set.readings.get(&Signal::KV_CAPACITY).and_then(|capacity| capacity.value);
    let figures = |account: &Account| account.sets.iter().map(|set| (share(set), capacity(set))).collect::<Vec<_>>();
    can.windows(2).any(|pair| figures(&pair[0].1) != figures(&pair[1].1))
}

/// Where all values that can be make the same share of different sizes, that share is known: nothing in use is 0 % of
/// whichever.
fn common(row: &Assume, can: &[(&String, Account)], plain: &mut Account) {
    for set in &mut plain.sets {
        let same = |known: &&PoolSet| {
            known.trust == set.trust && known.rank == set.rank && known.pool == set.pool && known.tier == set.tier
        };
        let shares: Vec<Option<f64>> =
            can.iter().map(|(_, account)| account.sets.iter().find(same).and_then(share)).collect();
        let Some(used) = set.readings.get(&Signal::KV_USED) else { continue };
        let nothing = used.value == Some(0.0);
        let Some(first) = shares.iter().flatten().next().copied() else { continue };
        // A size that is not known makes another share of everything but of nothing.
        if !shares.iter().all(|other| other.map_or(nothing, |other| other == first)) {
            continue;
        }
        let mut reading = Reading::inferred(first, Signal::KV_IN_USE.unit(), format!("any {}", row.fact), used.at);
        reading.source.clone_from(&used.source);
        set.readings.entry(Signal::KV_IN_USE).or_insert(reading);
    }
}

/// Whether the parts of a set are no more than its whole.
fn sound(set: &PoolSet) -> bool {
    let value = |signal| set.readings.get(&signal).and_then(|reading| reading.value);
    let parts = [Signal::KV_USED, Signal::KV_EVICTABLE, Signal::KV_AVAILABLE].into_iter().filter_map(value);
    value(Signal::KV_CAPACITY).is_none_or(|capacity| parts.sum::<f64>() <= capacity * (1.0 + SLACK) + 1.0)
}

/// Marks what is only there by the assumption as inferred.
fn conclude(account: &mut Account, plain: &Account, fact: &str, value: &str) {
    for set in &mut account.sets {
        let known = plain.sets.iter().find(|known| {
            known.trust == set.trust && known.rank == set.rank && known.pool == set.pool && known.tier == set.tier
        });
        for (signal, reading) in &mut set.readings {
            let same = known.and_then(|known| known.readings.get(signal)).is_some_and(|known| known == reading);
            if !same && reading.value.is_some() {
                reading.state = State::Inferred;
                reading.inputs.push(format!("{fact}={value}"));
            }
        }
    }
}

fn words<'a>(row: &'a Assume, value: &'a str) -> &'a str {
    row.words.get(value).map_or(value, String::as_str)
}

/// The figure for each value that can be.
fn either(row: &Assume, can: &[(&String, Account)]) -> Note {
    let figure = |(value, account): &(&String, Account)| {
        let set = account.sets.iter().find(|set| share(set).is_some())?;
        let capacity = set.readings.get(&Signal::KV_CAPACITY)?;
        let whole = with_unit(&amount(capacity.value?, capacity.unit), capacity.unit);
        Some(format!("{} of {whole} in use if {}", percent(share(set)?), words(row, value)))
    };
    let figures: Vec<String> = can.iter().filter_map(figure).collect();
    let open = if figures.len() == 1 { "nothing tells whether that is so" } else { "nothing tells which" };
    Note::new("either", format!("{}; {open}", figures.join(", or ")))
}
