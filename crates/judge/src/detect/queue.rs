//! Requests wait and nothing moves.

use model::{Rank, Role, Signal, Unit};

use super::Found;
use super::limits::queue_never_drains as limits;
use super::series::Series;
use super::window::{Window, full};
use model::number::{amount, percent, with_unit};

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
    let pool = full(rank);
    let used = pool.and_then(|pool| window.of_pool(rank.rank, pool, Signal::KV_USED));
    let slack = limits::MOVED * pool.and_then(|pool| pool.fresh(Signal::KV_CAPACITY)).unwrap_or(0.0);
    // Use grows with every token, also of a long prompt of which nothing is generated yet.
    if used.as_ref().is_some_and(|used| used.most() - used.least() > slack.max(1.0)) {
        return None;
    }
    let exact =
        used.as_ref().is_some_and(|used| long(used) && used.reading().precision.unwrap_or(0.0) <= slack.max(1.0));
    let mut evidence = vec![waiting.told()];
    evidence.extend(no_progress(window, rank, exact)?);
    evidence.extend(used.map(|used| used.told()));
    let room = pool.and_then(|pool| {
        let in_use = pool.fresh(Signal::KV_IN_USE)?;
        Some(match pool.fresh(Signal::KV_HEADROOM) {
            _ if in_use >= limits::FULL => format!(": the cache is full, {} in use", percent(in_use)),
            Some(room) => {
                format!(", although {} are free or can be freed", with_unit(&amount(room, unit(pool)), unit(pool)))
            }
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

fn long(series: &Series<'_>) -> bool {
    series.watched(limits::LOOKS, limits::SECONDS)
}

fn unit(pool: &model::Pool) -> Unit {
    pool.get(Signal::KV_HEADROOM).map_or(Unit::Tokens, |headroom| headroom.unit)
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

/// What says that nothing is done meanwhile. Where nothing runs and nothing is sent, that is plain. Of a batch that runs it
/// is said only where no token is counted and use, known to the token (`exact`), stands: engines may count a request's tokens
/// when it ends.
fn no_progress(window: &Window<'_>, rank: &Rank, exact: bool) -> Option<Vec<String>> {
    let watched = |signal| window.of_rank(rank.rank, signal).filter(long);
    let stands = |series: &Series<'_>| series.most() <= 0.0;
    // A prefill server generates nothing, or one token a request, at any time.
    let tokens = watched(Signal::GEN_TOKENS_TOTAL).filter(|_| window.newest().role != Role::Prefill);
    if tokens.as_ref().and_then(Series::rise).is_some_and(|rise| rise != 0.0) {
        return None;
    }
    let (running, inflight) = (watched(Signal::REQ_RUNNING), watched(Signal::PD_INFLIGHT));
    if inflight.as_ref().is_some_and(|inflight| !stands(inflight)) {
        return None;
    }
    let at_rest = match (&running, &inflight, &tokens) {
        (Some(running), _, _) if stands(running) => true,
        (Some(_), _, Some(_)) => exact,
        (Some(_), _, None) | (None, None, _) => false,
        (None, Some(_), _) => true,
    };
    let told = [running, inflight, tokens].into_iter().flatten();
    at_rest.then(|| told.map(|series| series.told()).collect())
}
