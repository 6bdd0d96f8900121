//! How close a server is to trouble. The limits are data (`verdicts.toml`), and every verdict names its evidence.

use model::number::{amount, percent, precision, with_unit};
use model::{Level, Pool, Rank, Role, Server, Signal, Time, Unit, Verdict, sum};

use crate::limits::{STRAINED, TIGHT};
use crate::pace::Paces;
use crate::watched::Watched;

/// Below this a queue is not for want of cache, whatever else it is for.
const HALF: f64 = 0.5;
/// The need, in every engine's table, that every data-parallel rank is visible.
const RANKS: &str = "ranks";
/// The note that a list was cut.
const CUT: &str = "cut";
/// The note of figures of which one is true, and nothing tells which.
pub const EITHER: &str = "either";
/// What is said of a store.
const FULL_IS_FINE: &str = "a store evicts to make room, and full is no trouble by itself";
/// What a single look cannot tell; stands at the end of each of its reasons.
pub const ONE_LOOK: &str = "one look, no window: retractions and progress are not judged";
/// The same, where a log told the retractions of the last minute.
pub const ONE_LOOK_AND_LOG: &str = "one look: progress is not judged; retractions by the log of the last minute";

/// What a window shows begins with this, at the end of a reason.
pub const WATCHED: &str = "watched for ";

/// Judges one server from one look: by its numbers, and no better than what it says of itself.
pub fn verdict(server: &Server) -> Verdict {
    judged(server, None, None)
}

/// Judges one server from looks at it, the newest last. Looks at one process that span long enough are a window, which tells
/// also whether it gets on and whether requests were thrown out; others are judged as the newest look alone. `usual`: what
/// it did before. None without any look.
pub fn verdict_over(looks: &[(Time, &Server)], usual: Option<&Paces>) -> Option<Verdict> {
    let (_, newest) = looks.last()?;
    Some(judged(newest, Watched::of(looks).as_ref(), usual))
}

fn judged(server: &Server, watched: Option<&Watched<'_>>, usual: Option<&Paces>) -> Verdict {
    let verdict = by_numbers(server, watched, usual);
    // The first of the worst.
    let worst = server.troubles.iter().rev().max_by_key(|trouble| trouble.level);
    match worst.filter(|_| server.unreachable.is_none()) {
        // How old its word is nothing says: where its numbers are of the past, so may that be.
        Some(trouble) if verdict.level == Level::Unknown => Verdict { reason: trouble.why.clone(), ..verdict },
        Some(trouble) if trouble.level > Level::Unknown => {
            Verdict { level: verdict.level.max(trouble.level), reason: format!("{}; {}", trouble.why, verdict.reason) }
        }
        _ => verdict,
    }
}

fn by_numbers(server: &Server, watched: Option<&Watched<'_>>, usual: Option<&Paces>) -> Verdict {
    if server.role == Role::Router {
        return Verdict { level: Level::Unknown, reason: router(server) };
    }
    if server.role == Role::Store {
        return store(server, watched.is_some());
    }
    let recent = sum(&server.ranks, Signal::REQ_RETRACTED_RECENT);
    let over = watched.and_then(|watched| by_window(watched, recent, usual));
    let window = match (watched, recent) {
        (Some(watched), _) => watched.told(recent),
        (None, Some(_)) => ONE_LOOK_AND_LOG.to_owned(),
        (None, None) => ONE_LOOK.to_owned(),
    };
    let fullest = server.ranks.iter().filter_map(|rank| rank.binding().map(|(pool, in_use)| (rank, pool, in_use)));
    let Some((rank, pool, in_use)) = fullest.max_by(|a, b| a.2.total_cmp(&b.2)) else {
        // How full it is nothing tells, and what the window shows is so all the same.
        return match over {
            Some((level, rule)) => {
                Verdict { level, reason: format!("{} {rule}; {}; {window}", level.name(), unknown(server)) }
            }
            None => Verdict { level: Level::Unknown, reason: unknown(server) },
        };
    };
    let waiting = sum(&server.ranks, Signal::REQ_WAITING).unwrap_or(0.0);
    let waits = waiting > 0.0;
    let limits = [(Level::Strained, &STRAINED), (Level::Tight, &TIGHT)];
    let thrown_out = recent.filter(|recent| *recent > 0.0).map(|recent| (Level::Strained, retractions(recent)));
    let by_limit = limits.into_iter().find_map(|(level, limit)| Some((level, limit.reached(in_use, waits)?)));
    let reached = match (over, by_limit) {
        (Some((level, rule)), _) if level > Level::Strained => Some((level, rule)),
        (_, Some((Level::Strained, rule))) => Some((Level::Strained, rule)),
        (over, tight) => over.or(thrown_out).or(tight),
    };
    // Calm is said of a server only when all of its ranks are known.
    let unknown = server.ranks.iter().filter(|rank| rank.binding().is_none()).count();
    let (unseen, cut) = (has_unseen_ranks(server), is_cut(server));
    let best = if unknown > 0 || unseen || cut { Level::Unknown } else { Level::Calm };
    let (level, rule) = reached.unwrap_or((best, String::new()));
    let off = pool.get(Signal::KV_IN_USE).map(precision).unwrap_or_default();
    let mut reason = format!("{}{off} in use{}", percent(in_use), place(server, rank, pool));
    if cut {
        reason = format!("not all that it says was read; {reason}");
    }
    if unseen {
        reason = format!("not every data-parallel rank is seen; {reason}");
    }
    if unknown > 0 {
        reason = format!("{unknown} of {} ranks do not say how full they are; {reason}", server.ranks.len());
    }
    if !rule.is_empty() {
        reason += &format!(" ({} {rule})", level.name());
    }
    if let Some(headroom) = pool.fresh(Signal::KV_HEADROOM) {
        let off = pool.get(Signal::KV_HEADROOM).map(precision).unwrap_or_default();
        let unit = pool.get(Signal::KV_HEADROOM).map_or(Unit::Tokens, |headroom| headroom.unit);
        reason += &format!(", headroom {}", with_unit(&format!("{}{off}", amount(headroom, unit)), unit));
    }
    if waits {
        let requests = if waiting > 1.0 { "requests wait" } else { "request waits" };
        reason += &format!(", {waiting:.0} {requests}");
        if level == Level::Calm {
            reason += &what_binds(server, in_use);
        }
    }
    let retracted = sum(&server.ranks, Signal::REQ_RETRACTED_TOTAL).unwrap_or(0.0);
    if retracted > 0.0 {
        reason += &format!(", {retracted:.0} retractions since start");
    }
    if server.is_told_by_router() {
        reason += ", by its router's word";
    }
    Verdict { level, reason: format!("{reason}; {window}") }
}

/// Whether it has ranks of which nothing is told.
fn has_unseen_ranks(server: &Server) -> bool {
    server.gaps.iter().any(|gap| gap.id == RANKS)
}

/// Whether not all that it says was read.
fn is_cut(server: &Server) -> bool {
    server.notes.iter().any(|note| note.id == CUT)
}

/// Whether more of it is there than is told: what nothing counted may have happened all the same.
pub(crate) fn is_partly_told(server: &Server) -> bool {
    has_unseen_ranks(server) || is_cut(server)
}

/// What the window alone tells, worst first.
fn by_window(watched: &Watched<'_>, recent: Option<f64>, usual: Option<&Paces>) -> Option<(Level, String)> {
    if let Some(rule) = watched.stuck() {
        return Some((Level::Stuck, rule));
    }
    if let Some(rule) = watched.thrashing(usual) {
        return Some((Level::Thrashing, rule));
    }
    let thrown_out = watched.thrown_out().map(|requests| thrown_out(requests, watched.seconds()));
    let by_log = || recent.filter(|recent| *recent > 0.0).map(retractions);
    Some((Level::Strained, thrown_out.or_else(by_log)?))
}

fn thrown_out(requests: f64, seconds: f64) -> String {
    let were = if requests > 1.0 { "requests were" } else { "request was" };
    format!("since {requests:.0} {were} thrown out in {seconds:.0} s")
}

fn retractions(recent: f64) -> String {
    let requests = if recent > 1.0 { "requests were" } else { "request was" };
    format!("since {recent:.0} {requests} retracted in the last minute")
}

/// Worst first: stuck … tight, then servers of which nothing is known, then calm ones, routers last; of one level the
/// fullest first. `of` gives each item's server.
pub fn order<T>(items: &mut [T], of: impl Fn(&T) -> &Server) {
    let rank = |server: &Server| match server.verdict.level {
        _ if server.role == Role::Router => 6,
        Level::Stuck => 0,
        Level::Thrashing => 1,
        Level::Strained => 2,
        Level::Tight => 3,
        Level::Unknown => 4,
        Level::Calm => 5,
    };
    let fullest =
        |server: &Server| server.ranks.iter().filter_map(Rank::binding).map(|(_, in_use)| in_use).fold(-1.0, f64::max);
    items.sort_by(|a, b| {
        let (a, b) = (of(a), of(b));
        rank(a).cmp(&rank(b)).then(fullest(b).total_cmp(&fullest(a))).then_with(|| a.url.cmp(&b.url))
    });
}

/// Which pool of which rank, where there are several.
fn place(server: &Server, rank: &Rank, pool: &Pool) -> String {
    let mut text = String::new();
    if rank.pools.iter().filter(|pool| pool.binds).count() > 1 {
        text += &format!(" in the {} pool, which binds first", pool.name());
    }
    if server.ranks.len() > 1 {
        let dp = rank.rank.dp.map_or_else(|| "–".to_owned(), |dp| dp.to_string());
        let known = server.ranks.iter().filter(|rank| rank.binding().is_some()).count();
        text += &format!(" on rank dp {dp}, the fullest of {known}");
    }
    text
}

fn unknown(server: &Server) -> String {
    if let Some(why) = &server.unreachable {
        return why.clone();
    }
    if let Some(either) = server.notes.iter().find(|note| note.id == EITHER) {
        return either.text.clone();
    }
    let first = server.ranks.first().and_then(|rank| rank.pools.first());
    if server.role != Role::Store
        && let Some(share) = first.and_then(|pool| pool.fresh(Signal::KV_OCCUPIED))
    {
        let why = first.and_then(|pool| pool.get(Signal::KV_IN_USE)).and_then(|reading| reading.reason.as_deref());
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        return format!("{} is occupied, and how much of that is in use is not told{why}", percent(share));
    }
    match first.and_then(|pool| pool.get(Signal::KV_IN_USE)) {
        Some(reading) if reading.state == model::State::Stale => {
            let age = reading.age_s.unwrap_or_default();
            format!("the newest figure is {age:.0} s old")
        }
        Some(reading) => reading.reason.clone().unwrap_or_else(|| "nothing says how much is in use".to_owned()),
        None => "nothing says how much is in use".to_owned(),
    }
}

fn router(server: &Server) -> String {
    match &server.unreachable {
        Some(why) => why.clone(),
        None => "a router has no cache of its own".to_owned(),
    }
}

/// A store has no requests that could wait or be thrown out: that it is full is what it is for. One at its end that found no
/// room for something does not evict what it should.
fn store(server: &Server, watched: bool) -> Verdict {
    let pools = server.ranks.iter().flat_map(|rank| &rank.pools);
    let share = |pool| Pool::fresh(pool, Signal::KV_OCCUPIED).map(|share| (pool, share));
    match pools.filter_map(share).max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((pool, share)) => {
            let what = format!("{} of the {} tier occupied", percent(share), pool.tier);
            let failed = sum(&server.ranks, Signal::KV_ALLOC_FAILED_TOTAL).filter(|failed| *failed > 0.0);
            let evicted = sum(&server.ranks, Signal::KV_EVICTED_TOTAL);
            let (level, rest) = match failed {
                // A warm store is always full, and one that evicts makes room again.
                Some(failed) if share >= STRAINED.in_use && evicted == Some(0.0) => (
                    Level::Tight,
                    format!("{} found no room since start, and nothing was ever evicted", allocations(failed)),
                ),
                Some(failed) => (Level::Calm, format!("{FULL_IS_FINE}, {} failed since start", allocations(failed))),
                None => (Level::Calm, FULL_IS_FINE.to_owned()),
            };
            let sign = if level == Level::Calm { ":" } else { "," };
            // It has no requests that a window could tell of.
            let window = if watched { String::new() } else { format!("; {ONE_LOOK}") };
            Verdict { level, reason: format!("{what}{sign} {rest}{window}") }
        }
        None => Verdict { level: Level::Unknown, reason: unknown(server) },
    }
}

fn allocations(count: f64) -> String {
    format!("{count:.0} {}", if count > 1.0 { "allocations" } else { "allocation" })
}

/// What holds requests back when it is not the cache.
fn what_binds(server: &Server, in_use: f64) -> String {
    let sum = |signal| sum(&server.ranks, signal).unwrap_or(0.0);
    // Who was thrown out waits for want of cache, however much of it is free by now.
    let thrown_out = sum(Signal::REQ_RETRACTED_QUEUE);
    let not_cache = match thrown_out {
        some if some > 0.0 => format!(", {some:.0} thrown out for want of cache earlier"),
        _ if in_use < HALF => ", not for want of cache".to_owned(),
        _ => String::new(),
    };
    let (running, most) = (sum(Signal::REQ_RUNNING), sum(Signal::REQ_MAX_RUNNING));
    if most > 0.0 && running >= most {
        return format!("{not_cache}: the request cap of {most:.0} is reached");
    }
    let queues = [Signal::PD_BOOTSTRAP, Signal::PD_INFLIGHT, Signal::PD_PREALLOC, Signal::PD_TRANSFER];
    let standing: Vec<String> = queues
        .into_iter()
        .filter(|signal| sum(*signal) > 0.0)
        .map(|signal| format!("{:.0} {}", sum(signal), signal.row().title))
        .collect();
    match (standing.is_empty(), thrown_out > 0.0) {
        (true, true) => not_cache,
        (true, false) => String::new(),
        (false, _) => format!("{not_cache}: {}", standing.join(", ")),
    }
}
