//! One server of the snapshot from its account and from what routers say about it.

use model::{
    Account, DEVICE, FULL, Level, Note, Pool, Rank, RankId, Reading, Role, RouterView, Scope, Server, Signal,
    SourceOutcome, State, TOLD_BY_ROUTER, Verdict, View,
};

use crate::Moment;
use crate::choose::Choice;
use crate::hearsay::{HEARSAY, heard};
use crate::{complete, crosscheck, ranks};

/// A server to be joined.
pub struct Subject<'a> {
    /// Its address, without credentials.
    pub url: String,
    /// Host part of the address.
    pub host: String,
    /// Its process, where visible.
    pub pid: Option<u32>,
    /// Its systemd unit, where visible.
    pub unit: Option<String>,
    /// What it said.
    pub account: &'a Account,
    /// What routers say about it: the router's address and the view.
    pub seen_by: Vec<(String, View)>,
    /// Why nothing reports a signal (of a pool on a tier).
    pub why: &'a dyn Fn(Signal, &str, &str) -> String,
}

/// A joined server and how its pools were chosen.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The server; verdict and gaps are still to be judged.
    pub server: Server,
    /// For `explain`.
    pub choices: Vec<Choice>,
}

/// Joins one server as of `moment`; a bare time is that of a single look.
pub fn join(subject: &Subject<'_>, moment: impl Into<Moment>) -> Joined {
    let moment = moment.into();
    let account = subject.account;
    let role = account.fact("role").map_or(Role::Unknown, Role::from_name);
    let unreachable = unreachable(account);
    let mut notes = account.notes.clone();
    let mut choices = Vec::new();
    let mut ranks = Vec::new();
    if role != Role::Router {
        let with_router = heard(account, &subject.seen_by, moment);
        (ranks, choices) = ranks::build(with_router.as_ref().unwrap_or(account), moment, subject.why);
        let from_router = |choice: &&Choice| choice.winner().is_some_and(|set| set.trust == HEARSAY);
        let by_router = choices.iter().find(from_router);
        if let Some(choice) = by_router {
            let router = choice.winner().map(|set| set.source.as_str()).unwrap_or_default();
            notes.push(Note::new(
                TOLD_BY_ROUTER,
                format!("these numbers are the router's ({router}), not the server's own"),
            ));
        }
        if ranks.is_empty() {
            ranks.push(empty_rank());
        }
        for rank in &mut ranks {
            ensure_full(rank, role, unreachable.as_deref(), subject.why);
        }
        for choice in &choices {
            if let Some(rank) = ranks.iter().find(|rank| rank.rank == choice.rank) {
                notes.extend(crosscheck::sets(choice, rank));
            }
        }
        // Nothing of its own is there to hold a router's word against.
        let opinions = if by_router.is_some() { Vec::new() } else { opinions(&subject.seen_by, moment) };
        for (router, view) in opinions {
            if let Some(rank) = ranks.iter().find(|rank| view.dp.is_none_or(|dp| rank.rank.dp == Some(dp))) {
                notes.extend(crosscheck::router(&router, &view, rank));
            }
        }
    }
    if let (None, Some(why)) = (&unreachable, account.silent()) {
        let text = format!("it does not answer over HTTP ({why}): its numbers are what it leaves on its host");
        notes.push(Note::new("not-over-http", text));
    }
    notes.dedup();
    let server = Server {
        url: subject.url.clone(),
        host: subject.host.clone(),
        engine: account.engine.clone(),
        version: account.fact("version").map(str::to_owned),
        role,
        model: account.fact("model").or_else(|| account.fact("model_path")).map(str::to_owned),
        unit: subject.unit.clone(),
        pid: subject.pid,
        numa_nodes: None,
        gpus: Vec::new(),
        unreachable,
        ranks,
        router_view: merged(&account.views, moment),
        verdict: Verdict { level: Level::Unknown, reason: String::new() },
        notes,
        gaps: Vec::new(),
        troubles: account.troubles.clone(),
    };
    Joined { server, choices }
}

/// Why nothing of the server could be reached, when that is so: no page answered, and nothing else tells anything.
fn unreachable(account: &Account) -> Option<String> {
    let told = account.sources.iter().any(|status| !status.http && status.outcome == SourceOutcome::Answered);
    account.silent().filter(|_| !told).map(str::to_owned)
}

fn settled(view: &View, moment: Moment) -> RouterView {
    let mut readings = view.readings.clone();
    for reading in readings.values_mut() {
        if view.timed || view.own {
            complete::settle(reading, moment);
        } else {
            // The page is new, but the router may have heard the number any time since its last look at the worker.
            reading.at = None;
            reading.reason.get_or_insert_with(|| "the router does not say when it heard this".to_owned());
            if reading.value.is_some() {
                reading.state = State::Stale;
            }
        }
    }
    RouterView { worker: view.worker.clone(), role: None, healthy: None, dp: view.dp, readings }
}

/// One view a worker and rank. Sources of one router lag behind each other; the one listed first in its table, which
/// knows its age, gives what it has, and the others only fill in.
fn merged(views: &[View], moment: Moment) -> Vec<RouterView> {
    let mut merged: Vec<RouterView> = Vec::new();
    for view in views {
        let view = settled(view, moment);
        match merged.iter_mut().find(|known| known.worker == view.worker && known.dp == view.dp) {
            Some(known) => view.readings.into_iter().for_each(|(signal, reading)| {
                known.readings.entry(signal).or_insert(reading);
            }),
            None => merged.push(view),
        }
    }
    merged
}

/// One view a router, however many of its pages tell one.
fn opinions(seen_by: &[(String, View)], moment: Moment) -> Vec<(String, RouterView)> {
    let mut routers: Vec<&String> = seen_by.iter().map(|(router, _)| router).collect();
    routers.sort();
    routers.dedup();
    let mut opinions = Vec::new();
    for router in routers {
        let views: Vec<View> =
            seen_by.iter().filter(|(known, _)| known == router).map(|(_, view)| view.clone()).collect();
        opinions.extend(merged(&views, moment).into_iter().map(|view| (router.clone(), view)));
    }
    opinions
}

fn empty_rank() -> Rank {
    Rank { rank: RankId::ZERO, pools: Vec::new(), readings: model::Readings::new() }
}

/// Every rank has the full pool and all readings that are always shown, whatever could be had. A store has what it says,
/// on the tiers that it says.
fn ensure_full(rank: &mut Rank, role: Role, unreachable: Option<&str>, why: &dyn Fn(Signal, &str, &str) -> String) {
    let missing = |signal: Signal, pool: &str, tier: &str| match unreachable {
        Some(text) => Reading::unreachable(signal.unit(), text),
        None => Reading::not_reported(signal.unit(), why(signal, pool, tier)),
    };
    let whole = match role {
        Role::Store => !rank.pools.is_empty(),
        _ => rank.pools.iter().any(|pool| pool.pool == FULL && pool.tier == DEVICE),
    };
    if !whole {
        let readings = Signal::all()
            .filter(|signal| signal.row().scope == Scope::Pool)
            .map(|signal| (signal, missing(signal, FULL, DEVICE)))
            .collect();
        rank.pools.insert(0, Pool { pool: FULL.to_owned(), tier: DEVICE.to_owned(), binds: true, readings });
    }
    for signal in Signal::all().filter(|signal| signal.row().scope == Scope::Rank && signal.row().always) {
        rank.readings.entry(signal).or_insert_with(|| missing(signal, "", ""));
    }
}
