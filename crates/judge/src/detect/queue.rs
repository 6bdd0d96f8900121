//! Requests wait and nothing moves.

use model::{Rank, Role, Signal};

use super::Found;
use super::limits::queue_never_drains as limits;
use super::series::Series;
use super::window::{Window, full};
use model::number::{count, percent};

/// Queues that have a name of their own, with what they wait for.
const QUEUES: &[(Signal, &str)] = &[
    (Signal::PD_BOOTSTRAP, "for the handshake with a decode server"),
    (Signal::PD_INFLIGHT, "for their cache to be sent"),
    (Signal::PD_PREALLOC, "for room on this decode server"),
    (Signal::PD_TRANSFER, "for their cache from a prefill server"),
    (Signal::REQ_RETRACTED_QUEUE, "to be resumed after a retraction"),
];

/// Detects a queue that stands while nothing else moves.
pub(super) fn never_drains(window: &Window<'_>) -> Vec<Found> {
    window.newest().ranks.iter().filter_map(|rank| of_rank(window, rank)).collect()
}

fn of_rank(window: &Window<'_>, rank: &Rank) -> Option<Found> {
    let (waiting, what_for) = standing(window, rank)?;
    let mut evidence = vec![waiting.told()];
    evidence.push(no_progress(window, rank)?);
    let pool = full(rank);
    let used = pool.and_then(|pool| window.of_pool(rank.rank, pool, Signal::KV_USED));
    if let Some(used) = &used {
        // A long prompt is computed without a token being generated: then use grows.
        let capacity = pool.and_then(|pool| pool.fresh(Signal::KV_CAPACITY)).unwrap_or(0.0);
        if used.most() - used.least() > (limits::MOVED * capacity).max(1.0) {
            return None;
        }
        evidence.push(used.told());
    }
    let room = pool.and_then(|pool| {
        let in_use = pool.fresh(Signal::KV_IN_USE)?;
        Some(match pool.fresh(Signal::KV_HEADROOM) {
            _ if in_use >= limits::FULL => format!(": the cache is full, {} in use", percent(in_use)),
            Some(room) => format!(", although {} {} are free or can be freed", count(room), unit(pool)),
            None => format!(", with {} of the cache in use", percent(in_use)),
        })
    });
    let requests = if waiting.last() > 1.0 { "requests wait" } else { "request waits" };
    let what = format!(
        "{:.0} {requests}{what_for}{} and nothing moves{}",
        waiting.last(),
        window.place(rank.rank),
        room.unwrap_or_default()
    );
    Some(Found::new(what, evidence, Some(waiting.span())))
}

fn unit(pool: &model::Pool) -> &'static str {
    pool.get(Signal::KV_HEADROOM).map_or("tokens", |headroom| headroom.unit.name())
}

/// The queue that stands: never empty, never shorter than before. One with a name of its own tells more than their sum.
fn standing<'a>(window: &Window<'a>, rank: &Rank) -> Option<(Series<'a>, String)> {
    let stands = |signal: Signal| {
        let queue = window.of_rank(rank.rank, signal)?;
        let long = queue.watched(limits::LOOKS, limits::SECONDS);
        (long && queue.least() > 0.0 && queue.never_falls()).then_some(queue)
    };
    let named = QUEUES.iter().find_map(|(signal, what)| Some((stands(*signal)?, format!(" {what}"))));
    named.or_else(|| Some((stands(Signal::REQ_WAITING)?, String::new())))
}

/// What says that nothing is done meanwhile: no token generated; where that is not counted, nothing runs or is sent.
fn no_progress(window: &Window<'_>, rank: &Rank) -> Option<String> {
    let watched = |signal| {
        let series = window.of_rank(rank.rank, signal)?;
        series.watched(limits::LOOKS, limits::SECONDS).then_some(series)
    };
    // A prefill server generates nothing, or one token a request, at any time.
    let tokens = watched(Signal::GEN_TOKENS_TOTAL).filter(|_| window.newest().role != Role::Prefill);
    if let Some(tokens) = tokens {
        return (tokens.rise() == Some(0.0)).then(|| tokens.told());
    }
    let stands = |series: &Series<'_>| series.most() <= 0.0;
    match (watched(Signal::REQ_RUNNING), watched(Signal::PD_INFLIGHT)) {
        (Some(running), _) if !stands(&running) => None,
        (_, Some(inflight)) if !stands(&inflight) => None,
        (Some(running), _) => Some(running.told()),
        (None, Some(inflight)) => Some(inflight.told()),
        (None, None) => None,
    }
}
