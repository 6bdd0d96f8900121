//! Which set of numbers a pool shows. All four numbers come from one observation, so that they add up; the most precise
//! fresh set that knows *used* wins; only when no such set is fresh does the newest stale one stand in, as stale.

use model::{PoolSet, RankId, Reading, Signal, State};

use crate::{Moment, crosscheck, sound};

/// One set that could have been shown, and why it was or was not: the material of `explain`.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The set as the source said it.
    pub set: PoolSet,
    /// Tokens within which its *used* is right; `None` when it does not know *used*.
    pub precision: Option<f64>,
    /// Seconds between its time and the snapshot's.
    pub age_s: f64,
    /// Why it lost, or `None` for the winner.
    pub lost: Option<String>,
}

impl Contender {
    /// Its age, where any of its numbers has one: a saved file may not say when they were taken.
    pub fn known_age(&self) -> Option<f64> {
        let mut values = self.set.readings.values().filter(|reading| reading.value.is_some()).peekable();
        let timed = values.peek().is_none() || values.any(|reading| reading.at.is_some());
        timed.then_some(self.age_s)
    }
}

/// The sets of one pool of one rank, winner first.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Which rank.
    pub rank: RankId,
    /// Which pool.
    pub pool: String,
    /// Which tier.
    pub tier: String,
    /// Whether the winner is too old to be believed.
    pub stale: bool,
    /// Seconds up to which a set counted as fresh.
    pub fresh_s: f64,
    /// All sets; empty never.
    pub contenders: Vec<Contender>,
}

impl Choice {
    /// The set that is shown.
    pub fn winner(&self) -> Option<&PoolSet> {
        self.contenders.first().filter(|first| first.lost.is_none()).map(|first| &first.set)
    }
}

/// Ranks the `sets` of one pool as of `moment`; `capacity` is that of the pool for sets that do not say it.
pub(crate) fn choose(sets: Vec<PoolSet>, capacity: Option<&Reading>, moment: Moment) -> Option<Choice> {
    let first = sets.first()?;
    let (rank, pool, tier) = (first.rank, first.pool.clone(), first.tier.clone());
    let fresh_s = moment.fresh_s;
    let mut contenders: Vec<Contender> = sets
        .into_iter()
        .map(|set| {
            let age_s = moment.now.since(set.at).max(0.0);
            Contender { precision: used_precision(&set, capacity), age_s, lost: None, set }
        })
        .collect();
    contenders.sort_by(|a, b| key(a, fresh_s).partial_cmp(&key(b, fresh_s)).unwrap_or(std::cmp::Ordering::Equal));
    prefer_who_looks(&mut contenders, fresh_s);
    let stale = contenders[0].age_s > fresh_s;
    let best = contenders[0].clone();
    for other in &mut contenders[1..] {
        other.lost = Some(why_lost(&best, other, capacity, fresh_s));
    }
    Some(Choice { rank, pool, tier, stale, fresh_s, contenders })
}

/// Seconds by which a source that looks at the pool itself was asked later than another, to know better whatever it says.
const LATER_S: f64 = 3.0;

/// Gauges that are written at batches stand still when there are none: for up to half a minute after a load they show it,
/// and until the first batch, or in a stall, they show nothing. A source that looks at the pool itself knows better, when it
/// sees nothing running, nothing waiting and less in use; or work and tokens in use, where the gauge has none at all; or
/// when it was asked later.
fn prefer_who_looks(contenders: &mut [Contender], fresh_s: f64) {
    let used = |contender: &Contender| contender.set.readings.get(&Signal::KV_USED).and_then(|used| used.value);
    let Some(first) = contenders.first().filter(|first| !first.set.live && first.age_s <= fresh_s) else { return };
    let Some(gauge) = used(first) else { return };
    let asked = first.age_s;
    let knows_better = |contender: &Contender| {
        let slack = crosscheck::idle_slack(&contender.set);
        let idle = contender.set.idle;
        let differs = |used: f64| if idle { gauge - used > slack } else { gauge <= 0.0 && used > slack };
        contender.set.live
            && contender.age_s <= fresh_s
            && contender.precision.is_some()
            && (used(contender).is_some_and(differs) || asked - contender.age_s > LATER_S)
    };
    if let Some(index) = contenders.iter().position(knows_better) {
        contenders[..=index].rotate_right(1);
    }
}

/// Smaller is better: sets that know used and are sound, then those that say it and cannot be right, then the others; of
/// these fresh ones, precise ones, trusted ones, the newest; then those that do not say of when they are; of stale ones the newest.
fn key(contender: &Contender, fresh_s: f64) -> (u8, u8, f64, u16, f64) {
    let readings = &contender.set.readings;
    let says =
        |signal| readings.get(signal).is_some_and(|said| said.value.is_some() || said.state == State::Impossible);
    let class = match contender.precision {
        Some(_) => 0,
        None if says(&Signal::KV_USED) || says(&Signal::KV_IN_USE) => 1,
        None if readings.values().any(|said| said.value.is_some()) => 2,
        None => 3,
    };
    let stale = contender.age_s > fresh_s;
    let by = if stale { contender.age_s } else { contender.precision.unwrap_or(f64::MAX) };
    let age = if contender.known_age().is_none() { 1 } else { u8::from(stale) * 2 };
    (class, age, by, contender.set.trust, contender.age_s)
}

/// Tokens within which the set's *used* is right, said or computed from a ratio; `None` when it has no *used*, or one
/// that cannot be.
fn used_precision(set: &PoolSet, capacity: Option<&Reading>) -> Option<f64> {
    let get = |signal| set.readings.get(&signal).filter(|reading| reading.value.is_some());
    if sound::fault(&set.readings, capacity).is_some() {
        return None;
    }
    if let Some(used) = set.readings.get(&Signal::KV_USED) {
        return used.value.map(|_| used.precision.unwrap_or(0.0));
    }
    let ratio = get(Signal::KV_IN_USE)?;
    // Without any capacity the ratio still tells used, once one is found; a share of 10⁷ tokens stands for it here, so
    // that any set that counts tokens comes first.
    let known = get(Signal::KV_CAPACITY).or(capacity).and_then(|capacity| capacity.value);
    let capacity = known.unwrap_or(1.0e7);
    Some(ratio.precision.unwrap_or(0.0).max(1.0e-9) * capacity)
}

fn why_lost(best: &Contender, other: &Contender, capacity: Option<&Reading>, fresh_s: f64) -> String {
    if let Some(fault) = sound::fault(&other.set.readings, capacity) {
        return fault;
    }
    if best.precision.is_some() && other.precision.is_none() {
        return "does not say how much is used".to_owned();
    }
    let preferred = best.set.live && !other.set.live && other.set.trust < best.set.trust && other.age_s <= fresh_s;
    if preferred && other.age_s - best.age_s > LATER_S {
        return format!(
            "{:.0} s older than {}, which looks at the pool itself",
            other.age_s - best.age_s,
            best.set.source
        );
    }
    if preferred {
        let state = if best.set.idle { "idle" } else { "at work" };
        return format!(
            "the server is {state} by {}, and these gauges stand as the last batch left them",
            best.set.source
        );
    }
    match (best.precision, other.precision) {
        _ if other.known_age().is_none() && best.known_age().is_some() => "does not say of when it is".to_owned(),
        _ if other.age_s > fresh_s => format!("{:.0} s old", other.age_s),
        (Some(best), Some(other)) if other > best => format!("right within ±{other:.0} tokens only"),
        _ => format!("as good, but {} is trusted first", best.set.source),
    }
}
