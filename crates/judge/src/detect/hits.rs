//! A hit rate that rises because work is thrown out.

use model::{Rank, Signal, Time};

use super::Found;
use super::limits::hit_rate_with_preemptions as limits;
use super::series::Series;
use super::window::Window;
use model::number::{count, percent};

/// Detects hits that are the server's own recomputing.
pub(super) fn with_preemptions(window: &Window<'_>) -> Vec<Found> {
    window.newest().ranks.iter().filter_map(|rank| of_rank(window, rank)).collect()
}

fn of_rank(window: &Window<'_>, rank: &Rank) -> Option<Found> {
    let series = |signal| window.of_rank(rank.rank, signal).filter(|all| all.watched(limits::LOOKS, 0.0));
    let (hits, queries) = (series(Signal::CACHE_HITS_TOTAL)?, series(Signal::CACHE_QUERIES_TOTAL)?);
    let thrown_out = series(Signal::REQ_RETRACTED_TOTAL)?;
    let middle = middle(&queries)?;
    let (before, after) = (rate(&hits, &queries, middle, false)?, rate(&hits, &queries, middle, true)?);
    let then = thrown_out.at(middle)? - thrown_out.first();
    let now = thrown_out.last() - thrown_out.at(middle)?;
    if after - before < limits::RISE || now < limits::THROWN_OUT || now <= then {
        return None;
    }
    let what = format!(
        "the hit rate{} rose from {} to {} while {} requests were thrown out: they hit what they had computed themselves",
        window.place(rank.rank),
        percent(before),
        percent(after),
        count(now)
    );
    let evidence = vec![hits.told(), queries.told(), thrown_out.told()];
    Some(Found::new(what, evidence, Some(queries.span())))
}

/// The look that parts the window in two.
fn middle(series: &Series<'_>) -> Option<Time> {
    let times: Vec<Time> = series.times().collect();
    times.get(times.len() / 2).copied()
}

/// The share of hits before the middle, or after it; none where too little was asked for to tell.
fn rate(hits: &Series<'_>, queries: &Series<'_>, middle: Time, after: bool) -> Option<f64> {
    let part = |series: &Series<'_>| {
        let there = series.at(middle)?;
        Some(if after { series.last() - there } else { there - series.first() })
    };
    let (hit, asked) = (part(hits)?, part(queries)?);
    (asked >= limits::QUERIED).then(|| hit / asked)
}
