//! Something is in use although nothing runs and nothing waits.

use model::{Pool, Rank, RankId, Reading, Role, Server, Signal, State, Unit};

use super::Found;
use super::limits::idle_but_used as limits;
use super::series::{Series, seconds, told};
use super::window::{Window, find, full};
use model::number::{amount, count, percent, with_unit};

/// All of these are 0, or not told, on an idle server; the first two must be told.
const WORK: &[Signal] = &[
    Signal::REQ_RUNNING,
    Signal::REQ_WAITING,
    Signal::PD_BOOTSTRAP,
    Signal::PD_INFLIGHT,
    Signal::PD_PREALLOC,
    Signal::PD_TRANSFER,
    Signal::REQ_RETRACTED_QUEUE,
];

/// Detects tokens that nobody works with.
pub(super) fn but_used(window: &Window<'_>) -> Vec<Found> {
    window.newest().ranks.iter().filter_map(|rank| of_rank(window, rank)).collect()
}

fn of_rank(window: &Window<'_>, rank: &Rank) -> Option<Found> {
    if !idle(rank) {
        return None;
    }
    let pool = full(rank)?;
    let (used, capacity) = (pool.fresh(Signal::KV_USED)?, pool.fresh(Signal::KV_CAPACITY)?);
    let floor = floor(pool, used, capacity);
    if used <= floor {
        return None;
    }
    let spells = spells(window, rank.rank, pool);
    let newest = spells.last()?;
    // One look cannot tell: gauges stand from the last batch for a while, and while the first prompts of a burst are computed
    // some engines say that nothing runs. And while it moves, nobody can say where it will end.
    let small = limits::SHARE * capacity / 4.0;
    if newest.seconds < limits::SETTLE_SECONDS || newest.most - newest.least > small {
        return None;
    }
    // What is derived is the rest of what is used, and tells nothing of it.
    let evictable =
        pool.get(Signal::KV_EVICTABLE).filter(|reading| matches!(reading.state, State::Reported | State::Inferred));
    let unit = pool.get(Signal::KV_USED).map_or(Unit::Tokens, |used| used.unit);
    let sessions = rank.readings.get(&Signal::KV_SESSION_HELD).filter(|held| held.unit == unit);
    let (why, next) = match sessions.and_then(Reading::fresh) {
        Some(held) if used - held <= floor => by_sessions(),
        _ => reason(&spells, window.newest().role, evictable.is_some(), small),
    };
    let what = format!(
        "nothing runs and nothing waits{}, yet {} ({}) is in use: {why}",
        window.place(rank.rank),
        percent(used / capacity),
        with_unit(&amount(used, unit), unit)
    );
    let mut evidence: Vec<String> = window.of_pool(rank.rank, pool, Signal::KV_USED).iter().map(Series::told).collect();
    let own = |signal: &Signal| told(*signal, rank.readings.get(signal)?);
    evidence.extend(WORK[..2].iter().filter_map(own));
    evidence.extend(evictable.and_then(|reading| told(Signal::KV_EVICTABLE, reading)));
    evidence.extend(sessions.and_then(|reading| told(Signal::KV_SESSION_HELD, reading)));
    if spells.len() > 1 {
        let after: Vec<String> = spells.iter().map(|spell| count(spell.last)).collect();
        evidence.push(format!("used from one idle time to the next: {}", after.join(", ")));
    }
    let span = window.looks().first().zip(window.looks().last()).map(|(first, last)| last.0.since(first.0));
    Some(Found { next, ..Found::new(what, evidence, span) })
}

/// Nothing runs and nothing waits, as far as it is told.
fn idle(rank: &Rank) -> bool {
    let none = |signal: &Signal| rank.fresh(*signal).is_none_or(|value| value <= 0.0);
    WORK.iter().all(none) && WORK[..2].iter().all(|signal| rank.fresh(*signal).is_some())
}

/// What an idle server may hold: a small share, one reserved block (then the capacity is a whole number of them), and what
/// a decode server set aside.
fn floor(pool: &Pool, used: f64, capacity: f64) -> f64 {
    let small = limits::SHARE * capacity;
    let blocks = capacity / used;
    let most =
        if pool.get(Signal::KV_USED).is_some_and(|used| used.unit == Unit::Blocks) { 1.0 } else { limits::BLOCK };
    let block = used <= most && (blocks - blocks.round()).abs() < 1.0e-6;
    let vague = pool.get(Signal::KV_USED).and_then(|reading| reading.precision).unwrap_or(0.0);
    let set_aside = pool.fresh(Signal::KV_PREALLOCATED).map_or(0.0, |share| share * capacity);
    if block { used } else { small.max(vague) + set_aside }
}

/// A time without work.
struct Spell {
    /// The least that was used.
    least: f64,
    /// The most that was used.
    most: f64,
    /// Used in its last look.
    last: f64,
    /// How long it was seen to last.
    seconds: f64,
    /// The least that was used in the work after it; none while there was none.
    work_after: Option<f64>,
}

/// The idle times of the window. Tokens that were generated between two idle looks were work as well.
fn spells(window: &Window<'_>, id: RankId, pool: &Pool) -> Vec<Spell> {
    let mut spells: Vec<Spell> = Vec::new();
    let mut began = None;
    let mut generated = None;
    for (at, server) in window.looks() {
        let Some((rank, used)) = seen(server, id, pool) else { continue };
        let tokens = rank.fresh(Signal::GEN_TOKENS_TOTAL);
        let worked = generated.zip(tokens).is_some_and(|(before, after)| after > before);
        generated = tokens.or(generated);
        if !idle(rank) {
            if let Some(spell) = spells.last_mut() {
                spell.work_after = Some(spell.work_after.map_or(used, |least| least.min(used)));
            }
            began = None;
            continue;
        }
        match (spells.last_mut(), began) {
            (Some(spell), Some(start)) if !worked => {
                (spell.least, spell.most, spell.last) = (spell.least.min(used), spell.most.max(used), used);
                spell.seconds = at.since(start);
            }
            _ => {
                began = Some(*at);
                spells.push(Spell { least: used, most: used, last: used, seconds: 0.0, work_after: None });
            }
        }
    }
    spells
}

/// The rank in a look, and what its pool used.
fn seen<'a>(server: &'a Server, id: RankId, pool: &Pool) -> Option<(&'a Rank, f64)> {
    let rank = find(server, id)?;
    let same = |other: &&Pool| other.pool == pool.pool && other.tier == pool.tier;
    Some((rank, rank.pools.iter().find(same)?.fresh(Signal::KV_USED)?))
}

/// Where the server says how much its open sessions hold, and that is all.
fn by_sessions() -> (String, Option<String>) {
    let next = "Nothing, while those sessions go on: it is given back when they are closed. Close those that nobody will use again; what stays once none is open is a leak.";
    ("open sessions hold it between their requests, by its own count".to_owned(), Some(next.to_owned()))
}

/// Why it is used, as far as it can be told, and what would tell more. `told_apart`: the engine says evictable by itself;
/// `small`: tokens that are no difference. What grew only once may have been pinned since.
fn reason(spells: &[Spell], role: Role, told_apart: bool, small: f64) -> (String, Option<String>) {
    let grows = spells.len() > 2 && spells.windows(2).all(|pair| pair[1].last - pair[0].last > small);
    let given_back = spells.iter().any(|spell| spell.work_after.is_some_and(|used| used < spell.last - small));
    if given_back {
        let next = "Nothing: this engine counts cached prefixes as used and gives them back when other work needs the room. Read in use on this server as occupied.";
        return ("cached prefixes, which were given back when work came".to_owned(), Some(next.to_owned()));
    }
    if grows && told_apart {
        let next = "Note version and flags, keep a `plimsoll capture`, look for the engine's own leak check in its log, and restart the server before the pool is full.";
        return ("it grows from idle to idle and is not evictable: a leak".to_owned(), Some(next.to_owned()));
    }
    if grows {
        let next = "Fill the pool with other prompts: cached prefixes give way and in use stays below the end; a leak does not, and requests begin to wait.";
        let why = "it grows from idle to idle: a leak, or cached prefixes that this engine counts as used";
        return (why.to_owned(), Some(next.to_owned()));
    }
    let could = match (role, told_apart) {
        (Role::Decode, true) => "tokens set aside for transfers, pinned sessions or a leak",
        (Role::Decode, false) => "tokens set aside for transfers, pinned sessions, cached prefixes or a leak",
        (Role::Prefill, _) => "caches that wait to be fetched, pinned sessions or a leak",
        (_, true) => "pinned (open sessions, transfers) or leaked, since cached prefixes are counted apart",
        (_, false) => "cached prefixes that this engine counts as used, pinned sessions or a leak",
    };
    let watched = spells.last().map_or(0.0, |spell| spell.seconds);
    (format!("{could}; which one cannot be told yet (the same for {})", seconds(watched)), None)
}
