//! Families of servers, their ranks and pools.

use std::collections::{BTreeMap, BTreeSet};

use model::{Level, Pool, Rank, Readings, Server, Signal, Snapshot, State};

use crate::Health;
use crate::fixed::Fixed;
use crate::label::{describe, label, rank, with};
use crate::pages::Families;

/// All levels; exactly one of them is 1.
const LEVELS: [Level; 6] = [Level::Unknown, Level::Calm, Level::Tight, Level::Strained, Level::Thrashing, Level::Stuck];

/// All states, as JSON spells them, in the order of [`place`].
const STATES: [&str; 7] = ["reported", "derived", "inferred", "stale", "not_reported", "unreachable", "impossible"];

fn place(state: State) -> usize {
    match state {
        State::Reported => 0,
        State::Derived => 1,
        State::Inferred => 2,
        State::Stale => 3,
        State::NotReported => 4,
        State::Unreachable => 5,
        State::Impossible => 6,
    }
}

/// Adds all servers, by address. Gives the number of servers, ranks and pools that were passed over.
pub(crate) fn add(families: &mut Families, snapshot: &Snapshot, own: &Health) -> usize {
    let asked: BTreeMap<&str, bool> = own.targets.iter().map(|target| (target.url.as_str(), target.up)).collect();
    let signs: BTreeSet<(&str, &str)> = own.signs.iter().map(|(url, sign)| (url.as_str(), *sign)).collect();
    let mut servers: Vec<&Server> = snapshot.servers.iter().collect();
    // Stable: of two with one address the worse, which stands first, counts.
    servers.sort_by(|one, other| one.url.cmp(&other.url));
    let mut passed_over = 0;
    let mut seen = BTreeSet::new();
    for server in servers {
        let labels = with("", "server", &server.url);
        if !seen.insert(labels.clone()) {
            passed_over += 1;
            continue;
        }
        if let Some(up) = up(server, asked.get(server.url.as_str()).copied()) {
            families.fixed(Fixed::Up, &labels, up);
        }
        about(families, server, &labels);
        for (_, sign) in signs.range((server.url.as_str(), "")..).take_while(|(url, _)| *url == server.url) {
            families.fixed(Fixed::Sign, &with(&labels, "sign", sign), 1.0);
        }
        passed_over += ranks(families, server, &labels);
    }
    passed_over
}

/// Whether the server answered; nothing where nobody asks it, and a router tells of it.
fn up(server: &Server, asked: Option<bool>) -> Option<f64> {
    let reached = server.unreachable.is_none();
    let up = match asked {
        Some(answered) => answered && reached,
        None if reached && server.is_told_by_router() => return None,
        None => reached,
    };
    Some(f64::from(u8::from(up)))
}

fn about(families: &mut Families, server: &Server, labels: &str) {
    let mut info = labels.to_owned();
    describe(&mut info, "host", Some(&server.host));
    label(&mut info, "role", server.role.name());
    describe(&mut info, "engine", server.engine.as_deref());
    describe(&mut info, "version", server.version.as_deref());
    describe(&mut info, "model", server.model.as_deref());
    describe(&mut info, "unit", server.unit.as_deref());
    families.fixed(Fixed::ServerInfo, &info, 1.0);
    families.fixed(Fixed::ToldByRouter, labels, f64::from(u8::from(server.is_told_by_router())));
    families.fixed(Fixed::Gaps, labels, server.gaps.len() as f64);
    for level in LEVELS {
        let at = f64::from(u8::from(level == server.verdict.level));
        families.fixed(Fixed::Verdict, &with(labels, "level", level.name()), at);
    }
    let mut states = [0_u32; STATES.len()];
    for readings in server.ranks.iter().flat_map(all_readings) {
        for reading in readings.values() {
            states[place(reading.state)] += 1;
        }
    }
    for (state, count) in STATES.into_iter().zip(states) {
        families.fixed(Fixed::Readings, &with(labels, "state", state), f64::from(count));
    }
    let fullest = server.ranks.iter().filter_map(Rank::binding).map(|(_, ratio)| ratio).max_by(f64::total_cmp);
    if let Some(ratio) = fullest {
        families.fixed(Fixed::ServerInUse, labels, ratio);
    }
    for (family, signal) in [(Fixed::ServerRunning, Signal::REQ_RUNNING), (Fixed::ServerWaiting, Signal::REQ_WAITING)] {
        if let Some(sum) = model::whole_sum(&server.ranks, signal) {
            families.fixed(family, labels, sum);
        }
    }
}

fn all_readings(rank: &Rank) -> impl Iterator<Item = &Readings> {
    std::iter::once(&rank.readings).chain(rank.pools.iter().map(|pool| &pool.readings))
}

fn ranks(families: &mut Families, server: &Server, labels: &str) -> usize {
    let mut passed_over = 0;
    let mut seen = BTreeSet::new();
    for one in &server.ranks {
        if !seen.insert(one.rank) {
            passed_over += 1;
            continue;
        }
        let labels = with(labels, "rank", &rank(one.rank));
        said(families, &one.readings, &labels);
        let mut pools = BTreeSet::new();
        for pool in &one.pools {
            let labels = with(&with(&labels, "pool", &pool.pool), "tier", &pool.tier);
            if !pools.insert(labels.clone()) {
                passed_over += 1;
                continue;
            }
            said(families, &pool.readings, &labels);
            of_pool(families, pool, &labels);
        }
    }
    passed_over
}

/// What may be believed now.
fn said(families: &mut Families, readings: &Readings, labels: &str) {
    for (signal, reading) in readings {
        if let Some(value) = reading.fresh() {
            families.signal(*signal, reading.unit, labels, value);
        }
    }
}

fn of_pool(families: &mut Families, pool: &Pool, labels: &str) {
    families.fixed(Fixed::KvBinds, labels, f64::from(u8::from(pool.binds)));
    let Some(in_use) = pool.get(Signal::KV_IN_USE) else { return };
    if let (Some(_), Some(age)) = (in_use.value, in_use.age_s) {
        families.fixed(Fixed::KvInUseAge, labels, age);
    }
    if let (Some(_), Some(off)) = (in_use.fresh(), in_use.precision.filter(|off| *off > 0.0)) {
        families.fixed(Fixed::KvInUsePrecision, labels, off);
    }
}
