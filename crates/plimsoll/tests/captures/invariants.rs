//! What must hold of every snapshot, whatever was captured.

use std::collections::BTreeSet;

use engines::table::condition::{Condition, Holds};
use model::{Pool, Reading, Role, Scope, Signal, State, Unit};

use super::check::near;
use super::reader::Told;

/// Fields that say 0 whatever happens, by the facts about the engines (each engine's `NOTES.md`), not by its table:
/// path, field, and when.
const DEAD: &[(&str, &str, &str)] = &[
    ("/metrics", "pending_prealloc_token_usage", ""),
    ("/metrics", "num_paused_reqs", ""),
    ("/metrics", "num_retracted_reqs", ""),
    ("/metrics", "utilization", ""),
    ("/metrics", "engine_startup_time", ""),
    ("/metrics", "swa_token_usage", "version<0.5.5"),
    ("/metrics", "gen_throughput", "role=prefill"),
    ("/metrics", "num_running_reqs", "role=prefill, version<0.5.19"),
    ("/metrics", "cache_hit_rate", "role=decode"),
    ("/metrics", "cache_hit_rate", "version<0.5.23"),
    ("/v1/loads", "num_running_reqs", "role=prefill"),
    ("/v1/loads", "gen_throughput", "role=prefill"),
    ("/v1/loads", "gen_throughput", "metrics=off"),
    ("/v1/loads", "cache_hit_rate", "metrics=off"),
    ("/v1/loads", "utilization", ""),
];

/// Everything in which `told` breaks a rule.
pub(crate) fn broken(told: &Told) -> Vec<String> {
    let mut broken = Vec::new();
    let server = &told.server;
    if server.role == Role::Router && !server.ranks.is_empty() {
        broken.push("a router has a rank".to_owned());
    }
    if server.role != Role::Router && server.ranks.is_empty() {
        broken.push("a server has no rank".to_owned());
    }
    if server.verdict.reason.is_empty() {
        broken.push("a verdict without evidence".to_owned());
    }
    for rank in &server.ranks {
        let place = format!("{:?}", rank.rank);
        for signal in missing(Scope::Rank, |signal| rank.readings.contains_key(&signal)) {
            broken.push(format!("{place}: {} has no reading", signal.row().id));
        }
        for (signal, reading) in &rank.readings {
            broken.extend(one(told, *signal, reading).map(|how| format!("{place} {}: {how}", signal.row().id)));
        }
        for pool in &rank.pools {
            let place = format!("{place}, pool {} on {}", pool.pool, pool.tier);
            for signal in missing(Scope::Pool, |signal| pool.readings.contains_key(&signal)) {
                broken.push(format!("{place}: {} has no reading", signal.row().id));
            }
            for (signal, reading) in &pool.readings {
                broken.extend(one(told, *signal, reading).map(|how| format!("{place} {}: {how}", signal.row().id)));
            }
            broken.extend(together(pool).into_iter().map(|how| format!("{place}: {how}")));
        }
    }
    for view in &server.router_view {
        for (signal, reading) in &view.readings {
            let how = if reading.value.is_some() && reading.age_s.is_none() && reading.reason.is_none() {
                Some("neither an age nor a reason for having none".to_owned())
            } else {
                value(*signal, reading)
            };
            broken.extend(how.map(|how| format!("view of {}: {}: {how}", view.worker, signal.row().id)));
        }
    }
    broken
}

fn missing(scope: Scope, has: impl Fn(Signal) -> bool) -> Vec<Signal> {
    Signal::all().filter(|signal| signal.row().scope == scope && signal.row().always && !has(*signal)).collect()
}

/// Rules of one reading of a server.
fn one(told: &Told, signal: Signal, reading: &Reading) -> Option<String> {
    if let Some(how) = value(signal, reading) {
        return Some(how);
    }
    if let Some(how) = untrue(told, reading) {
        return Some(how);
    }
    let dead = dead(told, reading);
    match reading.state {
        State::Reported if reading.source.is_none() => Some("a value without a source".to_owned()),
        State::Reported | State::Stale if reading.age_s.is_none() => Some("a value without an age".to_owned()),
        State::Stale if reading.source.is_none() && reading.inputs.is_empty() => {
            Some("stale, and from nowhere".to_owned())
        }
        State::Derived | State::Inferred if reading.inputs.is_empty() => Some("made from nothing".to_owned()),
        State::Derived if reading.age_s.is_none() => Some("a derived value without an age".to_owned()),
        State::Reported if dead.is_some() => dead,
        _ => None,
    }
}

/// Rules of a value and its state.
fn value(signal: Signal, reading: &Reading) -> Option<String> {
    let none = matches!(reading.state, State::NotReported | State::Unreachable | State::Impossible);
    match reading.value {
        Some(value) if none => Some(format!("{:?}, but with the value {value}", reading.state)),
        None if !none => Some(format!("{:?}, but without a value", reading.state)),
        None if reading.reason.as_deref().is_none_or(str::is_empty) => Some("no value and no reason".to_owned()),
        Some(value) if !value.is_finite() || value < 0.0 => Some(format!("the value {value}")),
        Some(value) if signal.unit() == Unit::Ratio && value > 1.0 => Some(format!("a share of {value}")),
        _ => None,
    }
}

/// A reason that denies what an answer holds.
fn untrue(told: &Told, reading: &Reading) -> Option<String> {
    let reason = reading.reason.as_deref()?;
    let sets = told.account.sets.iter().flat_map(|set| set.readings.values());
    let said =
        sets.chain(told.account.values.iter().map(|value| &value.reading)).filter_map(|said| said.source.as_deref());
    let denied = |source: &&str| {
        let (url, name) = source.split_once(' ').unwrap_or_default();
        let name = name.rsplit(':').next().unwrap_or_default();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let claim = format!("{name} is not in the answer of /{path}");
        reason.split("; ").any(|part| part == claim)
    };
    said.filter(|source| denied(source)).map(|source| format!("denied although it was said: {source}; {reason}")).next()
}

/// A zero of a field that never says anything else.
fn dead(told: &Told, reading: &Reading) -> Option<String> {
    let (at, field) = reading.source.as_deref()?.split_once(' ')?;
    let hit = DEAD.iter().find(|(path, name, when)| {
        at.ends_with(path) && field.ends_with(name) && (when.is_empty() || holds(told, when))
    })?;
    (reading.value == Some(0.0)).then(|| format!("the dead zero of {} {} {}", hit.0, hit.1, hit.2))
}

fn holds(told: &Told, when: &str) -> bool {
    let condition = Condition::try_from(when.to_owned()).unwrap_or_else(|error| panic!("{error}"));
    condition.holds(|name| told.account.fact(name)) == Holds::Yes
}

/// Rules of the numbers of one pool.
fn together(pool: &Pool) -> Vec<String> {
    let mut broken = Vec::new();
    let get = |signal| pool.get(signal).and_then(|reading| reading.value);
    let parts = [Signal::KV_USED, Signal::KV_EVICTABLE, Signal::KV_AVAILABLE];
    let sum: f64 = parts.into_iter().filter_map(get).sum();
    if let Some(capacity) = get(Signal::KV_CAPACITY) {
        if sum > capacity * 1.001 + 1.0 {
            broken.push(format!("parts of {sum} in a capacity of {capacity}"));
        }
        if let (Some(used), Some(headroom)) = (get(Signal::KV_USED), get(Signal::KV_HEADROOM))
            && !near(capacity - used, headroom)
        {
            broken.push(format!("headroom {headroom} of {capacity} with {used} used"));
        }
    }
    if let (Some(in_use), Some(occupied)) = (get(Signal::KV_IN_USE), get(Signal::KV_OCCUPIED))
        && in_use > occupied + 1.0e-9
    {
        broken.push(format!("in use {in_use}, above occupied {occupied}"));
    }
    let said: BTreeSet<&str> = pool
        .readings
        .values()
        .filter(|reading| reading.state == State::Reported)
        .filter_map(|reading| reading.source.as_deref()?.split(' ').next())
        .collect();
    if said.len() > 1 {
        broken.push(format!("its numbers come from several answers: {said:?}"));
    }
    broken
}
