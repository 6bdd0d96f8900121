//! When a router's view stands in for its worker's own word. Only what the worker itself told the router, with the time at
//! which it said it; never what the router counted or guessed. It stands below every word of the worker's own, ages as
//! that does, and is marked.

use model::{
    Account, DEVICE, FULL, PoolSet, RankId, RankValue, Role, Scope, Signal, SourceOutcome, SourceStatus, Time, View,
    Worker,
};

use crate::Moment;

/// Trust of what a router says: below everything that the server says itself.
pub(crate) const HEARSAY: u16 = u16::MAX;

/// Whether a view may stand in: the worker's own count of what is used, passed on with the time of it.
pub fn may_stand(view: &View) -> bool {
    let used = view.readings.get(&Signal::KV_USED);
    view.timed && !view.own && view.by_fact.is_none() && used.is_some_and(|used| used.value.is_some())
}

/// What is known of a worker that only its router at `router` tells of; `why` says why it was not asked itself.
pub fn told_alone(router: &str, worker: &Worker, why: &str, at: Time) -> Account {
    let mut account = Account::default();
    let source = format!("router {router}");
    account.learn("role", worker.role.unwrap_or(Role::Unknown).name(), &source, 0);
    if let Some(version) = &worker.version {
        account.learn("version", version, &source, 0);
    }
    account.sources.push(SourceStatus {
        id: String::new(),
        get: worker.url.clone(),
        http: true,
        at,
        took: 0.0,
        outcome: SourceOutcome::Unreachable(why.to_owned()),
        passed_by: None,
    });
    account
}

/// The account with what routers say of the server as further sets, for a server that does not itself say now how much is
/// used. The newest of all stale ones is shown, whoever said it.
pub(crate) fn heard(account: &Account, seen_by: &[(String, View)], moment: Moment) -> Option<Account> {
    let fresh = |set: &PoolSet| {
        let used = set.readings.get(&Signal::KV_USED).or_else(|| set.readings.get(&Signal::KV_IN_USE));
        used.is_some_and(|used| used.value.is_some()) && moment.now.since(set.at) <= moment.fresh_s
    };
    if account.sets.iter().any(fresh) {
        return None;
    }
    let mut account = account.clone();
    for (router, view) in seen_by.iter().filter(|(_, view)| may_stand(view)) {
        let rank = RankId { dp: view.dp.or(Some(0)), ..RankId::ZERO };
        let of = |scope| view.readings.iter().filter(move |(signal, _)| signal.row().scope == scope);
        account.sets.push(PoolSet {
            source: format!("{router} {}", view.source),
            trust: HEARSAY,
            rank,
            pool: FULL.to_owned(),
            tier: DEVICE.to_owned(),
            at: view.readings.values().find_map(|reading| reading.at).unwrap_or(moment.now),
            live: false,
            idle: false,
            readings: of(Scope::Pool).map(|(signal, reading)| (*signal, reading.clone())).collect(),
        });
        account.values.extend(of(Scope::Rank).map(|(signal, reading)| RankValue {
            trust: HEARSAY,
            rank,
            signal: *signal,
            reading: reading.clone(),
        }));
    }
    (account.sets.iter().any(|set| set.trust == HEARSAY)).then_some(account)
}
