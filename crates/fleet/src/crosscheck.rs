//! Sources held against each other: a disagreement beyond what the pool can have moved is a note.

use model::{Note, PoolSet, Rank, RouterView, Signal, State, Unit};

use crate::choose::Choice;
use crate::ranks::vagueness;
use crate::sound;

/// On a busy server two looks a moment apart differ: gauges are written every few batches, and a batch that ends frees
/// its tokens at once. Beyond this share of the capacity it is a disagreement all the same, …
const BUSY_SHARE: f64 = 0.10;
/// … and for each second between the looks this much more, …
const SHARE_PER_SECOND: f64 = 0.05;
/// … up to this.
const MOST_SHARE: f64 = 0.25;
/// On an idle server nothing moves; what is left are tokens of a warm-up or probe that one source has not let go of yet.
const IDLE_SHARE: f64 = 0.001;

/// Notes about the sets of one pool that disagree.
pub(crate) fn sets(choice: &Choice, rank: &Rank) -> Vec<Note> {
    let mut notes = Vec::new();
    for contender in choice.contenders.iter().filter(|contender| contender.age_s <= choice.fresh_s) {
        if let Some(fault) = impossible(&contender.set) {
            let text = format!("pool {}: {} says what cannot be: {fault}", choice.pool, contender.set.source);
            notes.push(Note::new("impossible", text));
        }
    }
    let Some(best) = choice.winner() else { return notes };
    let Some(used) = value(best, Signal::KV_USED) else { return notes };
    let alike = |other: &PoolSet| unit(best) == unit(other);
    let idle = rank.fresh(Signal::REQ_RUNNING) == Some(0.0) && rank.fresh(Signal::REQ_WAITING) == Some(0.0);
    for other in choice.contenders[1..].iter().filter(|other| other.age_s <= choice.fresh_s) {
        if !alike(&other.set) {
            continue;
        }
        let vague = |set: &PoolSet| set.readings.get(&Signal::KV_CAPACITY).map_or(0.0, vagueness);
        if let (Some(ours), Some(theirs)) = (value(best, Signal::KV_CAPACITY), value(&other.set, Signal::KV_CAPACITY))
            && theirs > 0.0
            && (ours - theirs).abs() > 0.5 + vague(best) + vague(&other.set)
        {
            let text = format!(
                "capacity of pool {}: {} says {ours}, {} says {theirs}",
                choice.pool, best.source, other.set.source
            );
            notes.push(Note::new("capacity-disagrees", text));
        }
        let Some(said) = value(&other.set, Signal::KV_USED) else { continue };
        let capacity = value(best, Signal::KV_CAPACITY)
            .or_else(|| value(&other.set, Signal::KV_CAPACITY))
            .unwrap_or(used.max(said));
        let precision = other.precision.unwrap_or(0.0) + choice.contenders[0].precision.unwrap_or(0.0);
        let allowed =
            precision + if idle { idle_slack(best) } else { busy_share(best.at.since(other.set.at)) * capacity };
        if (used - said).abs() > allowed {
            let busy = if idle { "on an idle server" } else { "more than a busy pool moves between two looks" };
            let text = format!(
                "used of pool {}: {} says {used}, {} says {said}, {busy}",
                choice.pool, best.source, other.set.source
            );
            notes.push(Note::new("sets-disagree", text));
        }
    }
    notes
}

/// Tokens by which two sets of an idle pool may differ.
pub(crate) fn idle_slack(set: &PoolSet) -> f64 {
    value(set, Signal::KV_CAPACITY).map_or(1.0, |capacity| (IDLE_SHARE * capacity).max(1.0))
}

/// The share of its capacity by which a busy pool may differ between two looks `seconds` apart.
fn busy_share(seconds: f64) -> f64 {
    (BUSY_SHARE + SHARE_PER_SECOND * seconds.abs()).min(MOST_SHARE)
}

/// Notes about a router's view of this server that is far from the server's own word.
pub(crate) fn router(router: &str, view: &RouterView, rank: &Rank) -> Option<Note> {
    let said = view.readings.get(&Signal::KV_IN_USE)?;
    let (theirs, ours) = (said.value?, rank.binding()?.1);
    // A view without a time may be as old as the router's last look at its workers.
    if (theirs - ours).abs() <= said.age_s.map_or(MOST_SHARE, busy_share) {
        return None;
    }
    let age = said.age_s.map_or_else(String::new, |age| format!(", {age:.1} s old"));
    let text = format!(
        "the router at {router} sees {:.1} % in use here{age}; the server itself says {:.1} %",
        theirs * 100.0,
        ours * 100.0
    );
    Some(Note::new("router-view-differs", text))
}

/// What a set says that cannot be: a number by itself, or numbers together. A pool of which nothing was published yet
/// says nothing wrong.
fn impossible(set: &PoolSet) -> Option<String> {
    let alone = set.readings.iter().find(|(_, reading)| reading.state == State::Impossible);
    if let Some((signal, reading)) = alone {
        return Some(format!("{} {}", signal.row().title, reading.reason.as_deref().unwrap_or_default()));
    }
    sound::above_the_whole(&set.readings).filter(|_| value(set, Signal::KV_CAPACITY) != Some(0.0))
}

/// What a set counts; ratios fit all.
fn unit(set: &PoolSet) -> Option<Unit> {
    set.readings.values().map(|reading| reading.unit).find(|unit| *unit != Unit::Ratio)
}

fn value(set: &PoolSet, signal: Signal) -> Option<f64> {
    set.readings.get(&signal).and_then(|reading| reading.value)
}
