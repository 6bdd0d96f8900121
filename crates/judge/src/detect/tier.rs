//! A lower tier that is only ever written to.

use model::{Rank, Signal};

use super::Found;
use super::limits::written_never_read as limits;
use super::series::told;
use super::window::{Window, full};
use model::number::count;

/// Detects a tier from which nothing was read back.
pub(super) fn never_read(window: &Window<'_>) -> Vec<Found> {
    window.newest().ranks.iter().filter_map(|rank| of_rank(window, rank)).collect()
}

fn of_rank(window: &Window<'_>, rank: &Rank) -> Option<Found> {
    let reading = |signal: Signal| rank.readings.get(&signal);
    let written = rank.fresh(Signal::TIER_WRITTEN_TOTAL).filter(|written| *written >= limits::WRITTEN)?;
    if rank.fresh(Signal::TIER_READ_TOTAL)? > 0.0 {
        return None;
    }
    // What still lies on the device is read from there. Where evictions are not counted, more must have been written than
    // the device holds.
    let evicted = reading(Signal::KV_EVICTED_TOTAL).filter(|evicted| evicted.fresh().is_some());
    let capacity = full(rank).and_then(|pool| pool.get(Signal::KV_CAPACITY)).filter(|all| all.fresh().is_some());
    let beside = match (evicted, capacity) {
        (Some(evicted), _) => (evicted.fresh()? >= limits::WRITTEN).then(|| told(Signal::KV_EVICTED_TOTAL, evicted)),
        (None, Some(capacity)) => (written > capacity.fresh()?).then(|| told(Signal::KV_CAPACITY, capacity)),
        (None, None) => None,
    }?;
    let mut evidence = Vec::new();
    for signal in [Signal::TIER_WRITTEN_TOTAL, Signal::TIER_READ_TOTAL] {
        evidence.extend(reading(signal).and_then(|reading| told(signal, reading)));
    }
    evidence.extend(beside);
    let hits = reading(Signal::CACHE_HITS_TOTAL).and_then(|hits| told(Signal::CACHE_HITS_TOTAL, hits));
    evidence.extend(hits);
    let what = format!(
        "{} tokens were written to a lower tier{} and none was ever read back",
        count(written),
        window.place(rank.rank)
    );
    Some(Found::new(what, evidence, None))
}
