//! Ranks of a server from its account: which exist, and which reading belongs to which.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, DEVICE, FULL, Pool, Rank, RankId, Reading, Readings, Role, Scope, Signal};

use crate::Moment;
use crate::choose::{Choice, choose};
use crate::complete;

/// Builds the ranks; `why` says for a signal, pool and tier why nothing reports it.
pub(crate) fn build(
    account: &Account,
    moment: Moment,
    why: &dyn Fn(Signal, &str, &str) -> String,
) -> (Vec<Rank>, Vec<Choice>) {
    let ids = ids(account);
    let homes = Homes::of(&ids);
    let mut sets: BTreeMap<RankId, Vec<&model::PoolSet>> = BTreeMap::new();
    for set in &account.sets {
        if let Some(id) = homes.find(set.rank) {
            sets.entry(id).or_default().push(set);
        }
    }
    let store = account.fact("role").map(Role::from_name) == Some(Role::Store);
    let (mut values, homeless) = by_home(account, &homes);
    let mut ranks = Vec::new();
    let mut choices = Vec::new();
    for id in &ids {
        // What is told of other ranks is not missing where they are told of, but here.
        let why: &dyn Fn(Signal, &str, &str) -> String = &|signal, pool, tier| {
            let elsewhere = told_elsewhere(account, *id, signal, pool, tier);
            elsewhere.unwrap_or_else(|| why(signal, pool, tier))
        };
        let mut by_pool: BTreeMap<(u8, String, String), Vec<model::PoolSet>> = BTreeMap::new();
        for set in sets.remove(id).unwrap_or_default() {
            let first = u8::from(set.pool != FULL || set.tier != DEVICE);
            by_pool.entry((first, set.pool.clone(), set.tier.clone())).or_default().push(set.clone());
        }
        let mut pools = Vec::new();
        for ((_, pool, tier), sets) in by_pool {
            let elsewhere = capacity(account, *id, &pool, &tier);
            let Some(choice) = choose(sets, elsewhere.as_ref(), moment) else { continue };
            let binds = account.binding.contains(&(pool, tier));
            let made = complete::pools(&choice, elsewhere, store, moment, why).into_iter();
            pools.extend(made.map(|pool| Pool { binds: pool.binds || binds, ..pool }));
            choices.push(choice);
        }
        let own = values.remove(id).unwrap_or_default();
        ranks.push(Rank { rank: *id, pools, readings: readings(&own, &homeless, moment, why) });
    }
    (one_of_copies(ranks), choices)
}

/// That a source tells `signal` of other data-parallel ranks, and not of this one.
fn told_elsewhere(account: &Account, id: RankId, signal: Signal, pool: &str, tier: &str) -> Option<String> {
    let sets = account.sets.iter().filter(|set| set.pool == pool && set.tier == tier);
    let of_pools = sets.filter_map(|set| Some((set.rank, set.readings.get(&signal)?)));
    let values = account.values.iter().filter(|value| value.signal == signal && pool.is_empty());
    let mut told = of_pools.chain(values.map(|value| (value.rank, &value.reading)));
    let (_, other) = told.find(|(rank, reading)| {
        let apart = rank.dp.is_some() && id.dp.is_some() && rank.dp != id.dp;
        apart && reading.value.is_some() && reading.source.is_some()
    })?;
    Some(format!("{} is told of other ranks, and not of this one", other.source.as_deref()?))
}

/// Of tensor and pipeline ranks, which hold parts of the same tokens, the fullest stands for all: its pool is the
/// smallest.
fn one_of_copies(ranks: Vec<Rank>) -> Vec<Rank> {
    let in_use = |rank: &Rank| rank.binding().map_or(-1.0, |(_, in_use)| in_use);
    let mut kept: Vec<Rank> = Vec::new();
    for rank in ranks {
        match kept.iter_mut().find(|known| known.rank.dp == rank.rank.dp) {
            Some(known) if in_use(known) < in_use(&rank) => *known = rank,
            Some(_) => {}
            None => kept.push(rank),
        }
    }
    kept
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

/// The ranks, found by what sources say of them.
struct Homes {
    all: BTreeSet<RankId>,
    by_dp: BTreeMap<Option<u32>, Vec<RankId>>,
}

impl Homes {
    fn of(ids: &[RankId]) -> Homes {
        let mut by_dp: BTreeMap<Option<u32>, Vec<RankId>> = BTreeMap::new();
        for id in ids {
            by_dp.entry(id.dp).or_default().push(*id);
        }
        Homes { all: ids.iter().copied().collect(), by_dp }
    }

    /// The rank that numbers of `rank` belong to: itself, or the only one of its dp.
    fn find(&self, rank: RankId) -> Option<RankId> {
        if self.all.contains(&rank) {
            return Some(rank);
        }
        match self.by_dp.get(&rank.dp).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            Some([first, ..]) if rank.tp.is_none() || rank.pp.is_none() => Some(*first),
            None if rank.dp.is_none() && self.all.len() == 1 => self.all.first().copied(),
            _ => None,
        }
    }
}

type Values<'a> = Vec<&'a model::RankValue>;

/// The values of each rank, and those that belong to none.
fn by_home<'a>(account: &'a Account, homes: &Homes) -> (BTreeMap<RankId, Values<'a>>, Values<'a>) {
    let mut values: BTreeMap<RankId, Values> = BTreeMap::new();
    let mut homeless = Vec::new();
    for value in &account.values {
        match homes.find(value.rank) {
            Some(id) => values.entry(id).or_default().push(value),
            None => homeless.push(value),
        }
    }
    (values, homeless)
}

/// The capacity of a pool for sets that do not say it: of the same rank it is derived; of another rank, whose
/// pool an engine makes alike, it is inferred.
fn capacity(account: &Account, id: RankId, pool: &str, tier: &str) -> Option<Reading> {
    let of = |set: &&model::PoolSet| set.pool == pool && set.tier == tier;
    let get = |set: &model::PoolSet| {
        set.readings.get(&Signal::KV_CAPACITY).filter(|reading| reading.value.is_some_and(|value| value > 0.0)).cloned()
    };
    let name = |set: &model::PoolSet| format!("capacity of {}", set.source);
    // The closest known; of equals the first.
    let same = account
        .sets
        .iter()
        .filter(of)
        .filter(|set| set.rank == id || set.rank.dp == id.dp)
        .filter_map(|set| Some((get(set)?, name(set))))
        .min_by(|(a, _), (b, _)| vagueness(a).total_cmp(&vagueness(b)));
    if let Some((reading, input)) = same {
        let value = reading.value?;
        return Some(Reading::derived(value, reading.unit, &[&reading], &[&input]).within(reading.precision));
    }
    let (reading, input) = account.sets.iter().filter(of).find_map(|set| Some((get(set)?, name(set))))?;
    let mut inferred = Reading::inferred(reading.value?, reading.unit, format!("{input}, of another rank"), reading.at);
    inferred.source = reading.source;
    Some(inferred.within(reading.precision))
}

/// Tokens within which a capacity is right.
pub(crate) fn vagueness(capacity: &Reading) -> f64 {
    capacity.precision.unwrap_or(0.0)
}

/// The rank's own readings; the most trusted source of each that has a fresh value wins, then one with a stale
/// one, then one that explains why not.
fn readings(
    own: &Values<'_>,
    homeless: &Values<'_>,
    moment: Moment,
    why: &dyn Fn(Signal, &str, &str) -> String,
) -> Readings {
    let mut readings = Readings::new();
    let mut trusts: BTreeMap<Signal, (bool, bool, u16)> = BTreeMap::new();
    for value in own {
        let mut reading = value.reading.clone();
        complete::settle(&mut reading, moment);
        let key = (reading.value.is_none(), reading.fresh().is_none(), value.trust);
        if trusts.get(&value.signal).is_none_or(|known| key < *known) {
            trusts.insert(value.signal, key);
            readings.insert(value.signal, reading);
        }
    }
    for value in homeless {
        if let Some(said) = value.reading.value {
            let why = format!("said for all ranks together: {said}");
            let reading =
                || Reading { source: value.reading.source.clone(), ..Reading::not_reported(value.reading.unit, why) };
            readings.entry(value.signal).or_insert_with(reading);
        } else if value.reading.state == model::State::NotReported {
            readings.entry(value.signal).or_insert_with(|| value.reading.clone());
        }
    }
    for signal in Signal::all().filter(|signal| signal.row().scope == Scope::Rank && signal.row().always) {
        readings.entry(signal).or_insert_with(|| Reading::not_reported(signal.unit(), why(signal, "", "")));
    }
    readings
}
