//! Full, asked for room, and nothing is reclaimed.

use model::{DEVICE, Pool, Rank, Signal};

use super::Found;
use super::limits::full_no_evictions as limits;
use super::window::Window;
use model::number::percent;

/// Detects an eviction that does not happen.
pub(super) fn no_evictions(window: &Window<'_>) -> Vec<Found> {
    let ranks = window.newest().ranks.iter();
    ranks
        .flat_map(|rank| rank.pools.iter().filter_map(|pool| of_pool(window, rank, pool)).collect::<Vec<_>>())
        .collect()
}

fn of_pool(window: &Window<'_>, rank: &Rank, pool: &Pool) -> Option<Found> {
    let occupied = window.of_pool(rank.rank, pool, Signal::KV_OCCUPIED)?;
    let evicted = window.of_rank(rank.rank, Signal::KV_EVICTED_TOTAL)?;
    let long = [&occupied, &evicted].iter().all(|series| series.watched(limits::LOOKS, limits::SECONDS));
    if !long || occupied.least() < limits::OCCUPIED || evicted.rise() != Some(0.0) {
        return None;
    }
    let mut evidence = vec![occupied.told(), evicted.told()];
    evidence.extend(pressure(window, rank, pool)?);
    let place = if pool.tier == DEVICE { format!("{} pool", pool.pool) } else { format!("{} tier", pool.tier) };
    let since_start = if evicted.last() == 0.0 { ", and has not since it started" } else { "" };
    let what = format!(
        "the {place}{} is full ({} occupied) and evicts nothing although it is asked for room{since_start}",
        window.place(rank.rank),
        percent(occupied.last())
    );
    Some(Found::new(what, evidence, Some(occupied.span().min(evicted.span()))))
}

/// What says that room is wanted. A queue alone says it only of the device, and only where it is not the number of requests
/// that binds and something could be reclaimed: what is locked cannot be evicted.
fn pressure(window: &Window<'_>, rank: &Rank, pool: &Pool) -> Option<Vec<String>> {
    let failed = window.of_rank(rank.rank, Signal::KV_ALLOC_FAILED_TOTAL);
    if let Some(failed) = failed.filter(|failed| failed.rise().is_some_and(|rise| rise > 0.0)) {
        return Some(vec![failed.told()]);
    }
    let waiting = window.of_rank(rank.rank, Signal::REQ_WAITING)?;
    let grows = waiting.watched(limits::LOOKS, limits::SECONDS)
        && waiting.least() > 0.0
        && waiting.rise().is_some_and(|rise| rise > 0.0);
    let more_may_run = rank.fresh(Signal::REQ_RUNNING)? < rank.fresh(Signal::REQ_MAX_RUNNING)?;
    let evictable = window.of_pool(rank.rank, pool, Signal::KV_EVICTABLE)?;
    let reclaimable = evictable.least() >= limits::EVICTABLE * pool.fresh(Signal::KV_CAPACITY)?;
    (pool.tier == DEVICE && grows && more_may_run && reclaimable).then(|| vec![waiting.told(), evictable.told()])
}
