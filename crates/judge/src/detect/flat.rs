//! A gauge that stands while its server works.

use model::{Rank, Reading, Signal};

use super::Found;
use super::limits::flat_zero_while_busy as limits;
use super::series::Series;
use super::window::{Window, full};
use model::number::count;

/// Detects a used that is 0, or always the same, on a busy server.
pub(super) fn while_busy(window: &Window<'_>) -> Vec<Found> {
    window.newest().ranks.iter().filter_map(|rank| of_rank(window, rank)).collect()
}

fn of_rank(window: &Window<'_>, rank: &Rank) -> Option<Found> {
    let pool = full(rank)?;
    let series = |signal| window.of_pool(rank.rank, pool, signal);
    let used = series(Signal::KV_USED).or_else(|| series(Signal::KV_IN_USE))?;
    let running = window.of_rank(rank.rank, Signal::REQ_RUNNING)?;
    let long = [&used, &running].iter().all(|series| series.watched(limits::LOOKS, limits::SECONDS));
    if !long || running.least() < 1.0 || used.least() < used.most() {
        return None;
    }
    let tokens = window.of_rank(rank.rank, Signal::GEN_TOKENS_TOTAL);
    let (word, what) = if used.last() == 0.0 {
        zero(&used, &running, tokens.as_ref()).then_some(("0", "says that nothing is used"))?
    } else {
        frozen(&used, &running, tokens.as_ref(), pool.fresh(Signal::KV_IN_USE)).then_some(("frozen", "stands still"))?
    };
    let mut evidence = vec![used.told(), running.told()];
    evidence.extend(tokens.map(|tokens| tokens.told()));
    let what = format!(
        "the gauge of the cache{} {what} while {} requests run: it is {word} and not to be trusted",
        window.place(rank.rank),
        count(running.last()),
    );
    Some(Found::new(what, evidence, Some(used.span())))
}

/// Nothing used at all: that cannot be while requests run, unless so few tokens are rounded away. The running gauge itself
/// may stand from before: tokens must have been generated, or one answer must say both.
fn zero(used: &Series<'_>, running: &Series<'_>, tokens: Option<&Series<'_>>) -> bool {
    let at_work = match tokens.and_then(Series::rise) {
        Some(rise) => rise > 0.0,
        None => answer(used.reading()).is_some() && answer(used.reading()) == answer(running.reading()),
    };
    at_work && used.reading().precision.unwrap_or(0.0) < limits::LEAST_TOKENS * running.least()
}

/// The same number throughout although requests came and went and tokens were generated. A pool that is full stands at its
/// end for good reason, and room that is set aside for a request at once stands while that request runs.
fn frozen(used: &Series<'_>, running: &Series<'_>, tokens: Option<&Series<'_>>, in_use: Option<f64>) -> bool {
    let vague = used.reading().precision.unwrap_or(0.0);
    let generated = tokens.and_then(Series::rise).unwrap_or(0.0);
    used.watched(limits::FROZEN_LOOKS, limits::SECONDS)
        && running.most() > running.least()
        && generated >= limits::FROZEN_TOKENS.max(4.0 * vague)
        && in_use.is_some_and(|in_use| in_use < limits::FROZEN_BELOW)
}

/// Which answer said a reading: its source without the name in it.
fn answer(reading: &Reading) -> Option<&str> {
    reading.source.as_deref().and_then(|source| source.split(' ').next())
}
