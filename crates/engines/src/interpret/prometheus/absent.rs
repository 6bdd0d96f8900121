//! Counters that are put on the page with their first event: where one is not there, and it is known that it would be, it is 0.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, Observation, RankId, RankValue, Reading, Signal};

use super::super::{counts, ranks, spots};
use super::{Is, Place, Seen};
use crate::table::Source;
use crate::table::condition::Holds;

/// The rows of which nothing is on the page although their writer is, with the places that would have counted. `named`
/// are rows of which anything is there: one that says it for some ranks alone leaves the others open. `seen` are samples
/// whose ranks are told, and no more of them than are read.
pub(super) fn zeros<'h>(
    source: &Source,
    named: &BTreeSet<usize>,
    seen: &[Seen<'h>],
    account: &Account,
) -> Vec<(usize, BTreeSet<Place<'h>>)> {
    let ranks: BTreeSet<Option<&str>> =
        seen.iter().filter(|one| one.place.dp > Some(0)).map(|one| one.place.worker).collect();
    // Where others name ranks, a series that does not is of none that could be told.
    let whose = |one: &&Seen<'h>| one.place.dp.is_some() || !ranks.contains(&one.place.worker);
    let told = |signal| named.iter().any(|row| source.read[*row].signal == signal);
    let rows = source.read.iter().enumerate().filter_map(|(index, row)| Some((index, row, row.zero.as_ref()?)));
    let rows = rows.filter(|(_, row, _)| counts(row, account) && !told(row.signal));
    let zeros = rows.filter_map(|(index, _, zero)| {
        let zero = Some(zero).filter(|zero| zero.when.holds(|name| account.fact(name)) == Holds::Yes)?;
        let beside =
            |one: &&Seen<'h>| one.met.part.part == Is::Own && source.read[one.met.part.row].name == zero.beside;
        let places: BTreeSet<Place<'h>> = seen.iter().filter(beside).filter(whose).map(|one| one.place).collect();
        (!places.is_empty()).then_some((index, places))
    });
    zeros.collect()
}

/// Adds the zeros to what the ranks said.
pub(super) fn add(
    trust: u16,
    source: &Source,
    observation: &Observation,
    zeros: Vec<(usize, BTreeSet<Place<'_>>)>,
    account: &mut Account,
) {
    let of_this = account.values.iter().filter(|value| value.trust == trust);
    let mut said: BTreeSet<(RankId, Signal)> = of_this.map(|value| (value.rank, value.signal)).collect();
    for (index, places) in zeros {
        let row = &source.read[index];
        for place in places {
            let kinds = [("dp", place.dp), ("tp", place.tp), ("pp", place.pp)];
            let labels: BTreeMap<&str, u32> = kinds.into_iter().filter_map(|(kind, n)| Some((kind, n?))).collect();
            let rank = ranks::rank(&labels, account);
            if !said.insert((rank, row.signal)) {
                continue;
            }
            let unit = row.unit.unwrap_or(row.signal.unit());
            let input = format!("{} is not on {}, and comes with its first event", row.name, source.get);
            let mut reading = Reading::inferred(0.0, unit, input, Some(observation.at)).within(Some(0.0));
            reading.source = Some(spots::named(observation, None, &row.name));
            account.values.push(RankValue { trust, rank, signal: row.signal, reading });
        }
    }
}
