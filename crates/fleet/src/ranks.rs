//! Ranks of a server from its account: which exist, and which reading belongs to which.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, DEVICE, FULL, Rank, RankId, Reading, Readings, Scope, Signal, Time};

use crate::choose::{Choice, choose};
use crate::complete;

/// Builds the ranks; `why` says for a signal, pool and tier why nothing reports it.
pub(crate) fn build(
    account: &Account,
    now: Time,
    why: &dyn Fn(Signal, &str, &str) -> String,
) -> (Vec<Rank>, Vec<Choice>) {
    let ids = ids(account);
    let mut ranks = Vec::new();
    let mut choices = Vec::new();
    for id in &ids {
        let mut by_pool: BTreeMap<(u8, String, String), Vec<model::PoolSet>> = BTreeMap::new();
        for set in account.sets.iter().filter(|set| home(set.rank, &ids) == Some(*id)) {
            let first = u8::from(set.pool != FULL || set.tier != DEVICE);
            by_pool.entry((first, set.pool.clone(), set.tier.clone())).or_default().push(set.clone());
        }
        let mut pools = Vec::new();
        for ((_, pool, tier), sets) in by_pool {
            let Some(choice) = choose(sets, now) else { continue };
            let elsewhere = capacity(account, *id, &pool, &tier, &choice.contenders[0].set.source);
            pools.push(complete::pool(&choice, elsewhere, now, why));
            choices.push(choice);
        }
        ranks.push(Rank { rank: *id, pools, readings: readings(account, *id, &ids, now, why) });
    }
    (ranks, choices)
}

/// The ranks that say how much is used. A rank that only repeats constants is a copy of one that does (engines write
/// constants from every tensor-parallel process), unless nobody says more.
fn ids(account: &Account) -> Vec<RankId> {
    let says_more = |set: &&model::PoolSet| {
        [Signal::KV_USED, Signal::KV_IN_USE, Signal::KV_AVAILABLE]
            .iter()
            .any(|signal| set.readings.contains_key(signal))
    };
    let telling: BTreeSet<RankId> = account.sets.iter().filter(says_more).map(|set| set.rank).collect();
    let all: BTreeSet<RankId> = if telling.is_empty() {
        let dps: BTreeSet<Option<u32>> = account
            .sets
            .iter()
            .map(|set| set.rank.dp)
            .chain(account.values.iter().map(|value| value.rank.dp))
            .collect();
        dps.into_iter().map(|dp| RankId { dp, ..RankId::ZERO }).collect()
    } else {
        telling
    };
    // A source without rank labels (dp unknown) names no further rank when others are named.
    let named: Vec<RankId> = all.iter().copied().filter(|id| id.dp.is_some()).collect();
    // Sources that do not know tensor and pipeline ranks speak of the first: the same rank, if one of that dp is there.
    if named.is_empty() { all.into_iter().collect() } else { merge_unknown(&named) }
}

fn merge_unknown(ids: &[RankId]) -> Vec<RankId> {
    let fuller = |id: &RankId| {
        let lacks = id.tp.is_none() || id.pp.is_none();
        lacks && ids.iter().any(|other| other != id && other.dp == id.dp && other.tp.is_some() && other.pp.is_some())
    };
    ids.iter().copied().filter(|id| !fuller(id)).collect()
}

/// The rank of `ids` that numbers of `rank` belong to: itself, or the only one of its dp.
fn home(rank: RankId, ids: &[RankId]) -> Option<RankId> {
    if ids.contains(&rank) {
        return Some(rank);
    }
    let mut same = ids.iter().filter(|id| id.dp == rank.dp);
    match (same.next(), same.next()) {
        (Some(only), None) => Some(*only),
        (Some(first), Some(_)) if rank.tp.is_none() || rank.pp.is_none() => Some(*first),
        (None, _) if rank.dp.is_none() && ids.len() == 1 => Some(ids[0]),
        _ => None,
    }
}

/// The capacity of a pool from another set than the chosen one: of the same rank it is derived; of another rank, whose
/// pool an engine makes alike, it is inferred.
fn capacity(account: &Account, id: RankId, pool: &str, tier: &str, chosen: &str) -> Option<Reading> {
    let of = |set: &&model::PoolSet| set.pool == pool && set.tier == tier && set.source != chosen;
    let get = |set: &model::PoolSet| {
        set.readings.get(&Signal::KV_CAPACITY).filter(|reading| reading.value.is_some_and(|value| value > 0.0)).cloned()
    };
    let name = |set: &model::PoolSet| format!("capacity of {}", set.source);
    let same = account
        .sets
        .iter()
        .filter(of)
        .filter(|set| set.rank == id || set.rank.dp == id.dp)
        .find_map(|set| Some((get(set)?, name(set))));
    if let Some((reading, input)) = same {
        let value = reading.value?;
        return Some(Reading::derived(value, reading.unit, &[&reading], &[&input]).within(reading.precision));
    }
    let (reading, input) = account.sets.iter().filter(of).find_map(|set| Some((get(set)?, name(set))))?;
    let mut inferred = Reading::inferred(reading.value?, reading.unit, format!("{input}, of another rank"), reading.at);
    inferred.source = reading.source;
    Some(inferred.within(reading.precision))
}

/// The rank's own readings; the most trusted source of each that has a value wins, then one that explains why not.
fn readings(
    account: &Account,
    id: RankId,
    ids: &[RankId],
    now: Time,
    why: &dyn Fn(Signal, &str, &str) -> String,
) -> Readings {
    let mut readings = Readings::new();
    let mut trusts: BTreeMap<Signal, (bool, u16)> = BTreeMap::new();
    for value in account.values.iter().filter(|value| home(value.rank, ids) == Some(id)) {
        let mut reading = value.reading.clone();
        complete::settle(&mut reading, now);
        let key = (reading.value.is_none(), value.trust);
        if trusts.get(&value.signal).is_none_or(|known| key < *known) {
            trusts.insert(value.signal, key);
            readings.insert(value.signal, reading);
        }
    }
    for signal in Signal::all().filter(|signal| signal.row().scope == Scope::Rank && signal.row().always) {
        readings.entry(signal).or_insert_with(|| Reading::not_reported(signal.unit(), why(signal, "", "")));
    }
    readings
}
