//! `plimsoll.overview/1`: the fleet as the page shows it first, compact: of every number only value, state and precision.

use std::collections::BTreeSet;

use model::{Gap, Level, Pool, Rank, Reading, Server, Sign, Signal, State};
use serde::{Serialize, Serializer};

use super::history::{ONLY, rank_name};
use super::store::Shown;
use crate::look::watch::Health;

/// The document.
#[derive(Debug, Serialize)]
pub(crate) struct Overview<'a> {
    schema: &'static str,
    made_by: &'static str,
    taken_at: f64,
    level: Level,
    headline: &'a str,
    fleet: Figures<'a>,
    limits: Limits,
    servers: Vec<Card<'a>>,
    gaps: &'a [Gap],
    watch: &'a Watching,
}

/// The shares in use from which a server is called so.
#[derive(Debug, Serialize)]
struct Limits {
    tight: f64,
    strained: f64,
}

/// A frame of server-sent events: what changed.
#[derive(Debug, Serialize)]
pub(crate) struct Change<'a> {
    taken_at: f64,
    level: Level,
    headline: &'a str,
    fleet: Figures<'a>,
    servers: Vec<Card<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<Vec<&'a str>>,
    gone: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<&'a [Gap]>,
    watch: &'a Watching,
}

#[derive(Debug, Serialize)]
struct Figures<'a> {
    in_use_max: Short<'a>,
    in_use_weighted: Short<'a>,
}

/// plimsoll's own state.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Watching {
    /// Since when it watches.
    pub(crate) since: f64,
    /// Servers and routers.
    pub(crate) targets: usize,
    /// Those that are asked later than they were to be.
    pub(crate) late: usize,
    /// Looks since the beginning.
    pub(crate) looks: u64,
    /// Those that brought nothing.
    pub(crate) failed: u64,
    /// The history.
    pub(crate) history: Keeping,
    /// Remarks.
    pub(crate) notes: Vec<Told>,
}

/// How the history is kept.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Keeping {
    /// `kept`, `off` or `failing`.
    pub(crate) state: &'static str,
    /// Why not, where it is not.
    pub(crate) why: Option<String>,
    /// Where.
    pub(crate) dir: Option<String>,
    /// How much.
    pub(crate) bytes: u64,
    /// How much at most.
    pub(crate) limit_bytes: u64,
    /// From when on.
    pub(crate) from: Option<f64>,
}

/// A remark.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Told {
    /// A stable word.
    pub(crate) id: String,
    /// A sentence.
    pub(crate) text: String,
}

/// One server.
#[derive(Debug, Serialize)]
struct Card<'a> {
    url: &'a str,
    role: model::Role,
    engine: Option<&'a str>,
    version: Option<&'a str>,
    model: Option<&'a str>,
    host: &'a str,
    unit: Option<&'a str>,
    level: Level,
    reason: &'a str,
    signs: Vec<Brief<'a>>,
    gaps: usize,
    unreachable: Option<&'a str>,
    told_by_router: bool,
    age_s: Option<f64>,
    every_s: f64,
    took_s: Option<f64>,
    slow: Option<&'a str>,
    running: Option<Sum>,
    waiting: Option<Sum>,
    retracted_recent: Option<Sum>,
    pools: Vec<Bar<'a>>,
}

#[derive(Debug, Serialize)]
struct Brief<'a> {
    id: &'a str,
    what: &'a str,
    next: &'a str,
}

#[derive(Debug, Serialize)]
struct Bar<'a> {
    rank: String,
    pool: &'a str,
    tier: &'a str,
    binds: bool,
    unit: &'static str,
    capacity: Option<Short<'a>>,
    used: Option<Short<'a>>,
    evictable: Option<Short<'a>>,
    available: Option<Short<'a>>,
    headroom: Option<Short<'a>>,
    in_use: Option<Short<'a>>,
    occupied: Option<Short<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<Short<'a>>,
}

/// A reading in short: value, state, precision where it is known, the reason where there is no fresh value, and of a stale one
/// how old it is, seconds.
#[derive(Debug)]
struct Short<'a>(&'a Reading);

impl Serialize for Short<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let precision = self.0.precision.filter(|precision| *precision > 0.0);
        let reason = self.0.reason.as_deref().filter(|_| self.0.fresh().is_none());
        let age = self.0.age_s.filter(|_| self.0.state == State::Stale).map(|age| (age * 10.0).round() / 10.0);
        match (precision, reason, age) {
            (_, _, Some(age)) => (self.0.value, self.0.state, precision, reason, age).serialize(serializer),
            (_, Some(reason), None) => (self.0.value, self.0.state, precision, reason).serialize(serializer),
            (Some(precision), None, None) => (self.0.value, self.0.state, precision).serialize(serializer),
            (None, None, None) => (self.0.value, self.0.state).serialize(serializer),
        }
    }
}

/// A sum over ranks, or why there is none.
#[derive(Debug)]
struct Sum(Option<f64>, State);

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0, self.1).serialize(serializer)
    }
}

impl<'a> Overview<'a> {
    /// The overview of what is shown.
    pub(crate) fn of(shown: &'a Shown) -> Overview<'a> {
        Overview {
            schema: "plimsoll.overview/1",
            made_by: crate::MADE_BY,
            taken_at: shown.snapshot.taken_at.0,
            level: shown.level,
            headline: &shown.headline,
            fleet: figures(shown),
            limits: limits(),
            servers: cards(shown).map(|(card, _)| card).collect(),
            gaps: &shown.snapshot.gaps,
            watch: &shown.watch,
        }
    }
}

impl<'a> Change<'a> {
    /// What changed since `before`.
    pub(crate) fn of(shown: &'a Shown, before: &'a Shown) -> Change<'a> {
        let order = |shown: &'a Shown| shown.snapshot.servers.iter().map(|server| server.url.as_str());
        let moved = !order(shown).eq(order(before));
        let known = |shown: &'a Shown| order(shown).filter(|_| moved).collect::<BTreeSet<&str>>();
        let (there, were) = (known(shown), known(before));
        let gone = were.difference(&there).copied().collect();
        let news = cards(shown).filter(|(card, health)| {
            health.fresh || moved && !were.contains(card.url) || health.age_s.is_none_or(|age| age > health.every_s)
        });
        Change {
            taken_at: shown.snapshot.taken_at.0,
            level: shown.level,
            headline: &shown.headline,
            fleet: figures(shown),
            servers: news.map(|(card, _)| card).collect(),
            order: moved.then(|| order(shown).collect()),
            gone,
            gaps: (shown.snapshot.gaps != before.snapshot.gaps).then_some(&shown.snapshot.gaps),
            watch: &shown.watch,
        }
    }
}

fn limits() -> Limits {
    let (tight, strained) = judge::full();
    Limits { tight, strained }
}

fn figures(shown: &Shown) -> Figures<'_> {
    let fleet = &shown.snapshot.fleet;
    Figures { in_use_max: Short(&fleet.in_use_max), in_use_weighted: Short(&fleet.in_use_weighted) }
}

fn cards(shown: &Shown) -> impl Iterator<Item = (Card<'_>, &Health)> {
    let all = shown.snapshot.servers.iter().zip(&shown.signs).zip(&shown.health);
    all.map(|((server, signs), health)| (card(server, signs, health), health))
}

fn card<'a>(server: &'a Server, signs: &'a [Sign], health: &'a Health) -> Card<'a> {
    Card {
        url: &server.url,
        role: server.role,
        engine: server.engine.as_deref(),
        version: server.version.as_deref(),
        model: server.model.as_deref(),
        host: &server.host,
        unit: server.unit.as_deref(),
        level: server.verdict.level,
        reason: &server.verdict.reason,
        signs: signs.iter().map(|sign| Brief { id: sign.id, what: &sign.what, next: &sign.next }).collect(),
        gaps: server.gaps.len(),
        unreachable: server.unreachable.as_deref(),
        told_by_router: server.is_told_by_router(),
        age_s: health.age_s.map(|age| (age * 10.0).round() / 10.0),
        every_s: health.every_s,
        took_s: health.up.then_some(health.spent_s),
        slow: health.slow.as_deref(),
        running: total(server, Signal::REQ_RUNNING),
        waiting: total(server, Signal::REQ_WAITING),
        retracted_recent: total(server, Signal::REQ_RETRACTED_RECENT),
        pools: server
            .ranks
            .iter()
            .flat_map(|rank| rank.pools.iter().map(move |pool| bar(server, rank, pool)))
            .collect(),
    }
}

/// The sum over ranks; where one does not tell its part there is none, and the state in which that one says it.
fn total(server: &Server, signal: Signal) -> Option<Sum> {
    let readings = || server.ranks.iter().filter_map(|rank| rank.readings.get(&signal));
    let first = readings().next()?;
    Some(match (model::whole_sum(&server.ranks, signal), server.ranks.len()) {
        (Some(sum), 1) => Sum(Some(sum), first.state),
        (Some(sum), _) => Sum(Some(sum), State::Derived),
        (None, 1) => Sum(first.value, first.state),
        (None, _) => Sum(None, readings().find(|one| one.fresh().is_none()).map_or(first.state, |one| one.state)),
    })
}

fn bar<'a>(server: &Server, rank: &'a Rank, pool: &'a Pool) -> Bar<'a> {
    let get = |signal: Signal| pool.get(signal).map(Short);
    let unit =
        [Signal::KV_CAPACITY, Signal::KV_USED, Signal::KV_STORED].into_iter().find_map(|signal| pool.get(signal));
    Bar {
        rank: Some(rank_name(rank.rank)).filter(|name| server.ranks.len() > 1 || name != ONLY).unwrap_or_default(),
        pool: &pool.pool,
        tier: &pool.tier,
        binds: pool.binds,
        unit: unit.map_or(model::Unit::Tokens, |reading| reading.unit).name(),
        capacity: get(Signal::KV_CAPACITY),
        used: get(Signal::KV_USED),
        evictable: get(Signal::KV_EVICTABLE),
        available: get(Signal::KV_AVAILABLE),
        headroom: get(Signal::KV_HEADROOM),
        in_use: get(Signal::KV_IN_USE),
        occupied: get(Signal::KV_OCCUPIED),
        stored: get(Signal::KV_STORED).filter(|stored| stored.0.value.is_some()),
    }
}
