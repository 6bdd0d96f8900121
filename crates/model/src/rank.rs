//! Ranks of a server and the pools of a rank.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{Reading, Signal};

/// Readings by signal, in the order of the vocabulary; in JSON an object keyed by each signal's JSON name.
pub type Readings = BTreeMap<Signal, Reading>;

/// The pool of full attention: every server has it, and it is listed first.
pub const FULL: &str = "full";
/// The tier of accelerator memory.
pub const DEVICE: &str = "device";

/// Which rank of a parallel server. `None`: the server has several ranks of that kind and the source did not say which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RankId {
    /// Data parallel: ranks with a pool of their own, which add up.
    pub dp: Option<u32>,
    /// Tensor parallel: ranks that hold parts of the same tokens; their pools are copies.
    pub tp: Option<u32>,
    /// Pipeline parallel: copies likewise.
    pub pp: Option<u32>,
}

impl RankId {
    /// The only rank of a server without parallelism.
    pub const ZERO: RankId = RankId { dp: Some(0), tp: Some(0), pp: Some(0) };
}

/// One pool of one rank on one tier. All its numbers come from one observation, or say that they do not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pool {
    /// `full`, `swa`, `mamba`, …
    pub pool: String,
    /// `device`, `host` or `storage`.
    pub tier: String,
    /// Requests cannot run without room in it: every pool of the device, and of lower tiers those that are no cache.
    #[serde(skip)]
    pub binds: bool,
    /// capacity, used, evictable, available, headroom, in use, occupied.
    #[serde(flatten)]
    pub readings: Readings,
}

impl Pool {
    /// The reading of `signal`, which pools of a snapshot always have.
    pub fn get(&self, signal: Signal) -> Option<&Reading> {
        self.readings.get(&signal)
    }

    /// The pool's name, with its tier where that is not the device's.
    pub fn name(&self) -> String {
        if self.tier == DEVICE { self.pool.clone() } else { format!("{} {}", self.pool, self.tier) }
    }

    /// The fresh value of `signal`.
    pub fn fresh(&self, signal: Signal) -> Option<f64> {
        self.get(signal).and_then(Reading::fresh)
    }
}

/// One rank of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rank {
    /// Which one.
    pub rank: RankId,
    /// Its pools, `full` first.
    pub pools: Vec<Pool>,
    /// Its other readings: running, waiting, retracted, …
    #[serde(flatten)]
    pub readings: Readings,
}

impl Rank {
    /// The fresh value of `signal`.
    pub fn fresh(&self, signal: Signal) -> Option<f64> {
        self.readings.get(&signal).and_then(Reading::fresh)
    }

    /// The pool with the highest fresh in-use of those that bind: the one that binds first.
    pub fn binding(&self) -> Option<(&Pool, f64)> {
        let in_use = |pool| Pool::fresh(pool, Signal::KV_IN_USE).map(|ratio| (pool, ratio));
        self.pools.iter().filter(|pool| pool.binds).filter_map(in_use).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The sum of a signal over data-parallel ranks; of tensor and pipeline ranks, which are copies, the largest counts.
/// `None` when no rank tells it.
pub fn sum(ranks: &[Rank], signal: Signal) -> Option<f64> {
    let mut by_dp: BTreeMap<Option<u32>, f64> = BTreeMap::new();
    for rank in ranks {
        if let Some(value) = rank.fresh(signal) {
            let most = by_dp.entry(rank.rank.dp).or_insert(value);
            *most = most.max(value);
        }
    }
    (!by_dp.is_empty()).then(|| by_dp.values().sum())
}

/// The same where every data-parallel rank tells its part, and none where one does not: the others' sum would pass for all.
pub fn whole_sum(ranks: &[Rank], signal: Signal) -> Option<f64> {
    let all: BTreeSet<Option<u32>> = ranks.iter().map(|one| one.rank.dp).collect();
    let tell = ranks.iter().filter(|one| one.fresh(signal).is_some()).map(|one| one.rank.dp);
    (tell.collect::<BTreeSet<_>>() == all).then(|| sum(ranks, signal)).flatten()
}
