//! A lower tier that is only ever written to.

use model::{Rank, Reading, Signal, Unit};

use super::Found;
use super::limits::written_never_read as limits;
use super::series::told;
use super::window::{Window, full};
use model::number::{amount, with_unit};

/// Detects a tier from which nothing was read back.
pub(super) fn never_read(window: &Window<'_>) -> Vec<Found> {
    window.newest().ranks.iter().filter_map(|rank| of_rank(window, rank)).collect()
}

fn of_rank(window: &Window<'_>, rank: &Rank) -> Option<Found> {
    let reading = |signal: Signal| rank.readings.get(&signal).filter(|reading| reading.fresh().is_some());
    let written = reading(Signal::TIER_WRITTEN_TOTAL).filter(|written| is_much(written))?;
    if rank.fresh(Signal::TIER_READ_TOTAL)? > 0.0 {
        return None;
    }
    // What still lies on the device is read from there. Where evictions are not counted, more must have been written than
    // the device holds.
    let capacity = full(rank).and_then(|pool| pool.get(Signal::KV_CAPACITY)).filter(|all| all.unit == written.unit);
    let beside = match (reading(Signal::KV_EVICTED_TOTAL), capacity) {
        (Some(evicted), _) => is_much(evicted).then(|| told(Signal::KV_EVICTED_TOTAL, evicted)),
        (None, Some(all)) => (written.fresh()? > all.fresh()?).then(|| told(Signal::KV_CAPACITY, all)),
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
        "{} were written to a lower tier{} and nothing was ever read back",
        with_unit(&amount(written.fresh()?, written.unit), written.unit),
        window.place(rank.rank)
    );
    Some(Found::new(what, evidence, None))
}

/// Well above what a warm-up makes, by what is counted.
fn is_much(reading: &Reading) -> bool {
    let least = match reading.unit {
        Unit::Tokens => limits::TOKENS,
        Unit::Blocks => limits::BLOCKS,
        Unit::Bytes => limits::GIGABYTES * 1.0e9,
        _ => return false,
    };
    reading.fresh().is_some_and(|value| value >= least)
}
