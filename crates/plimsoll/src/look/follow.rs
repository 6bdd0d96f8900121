//! All candidates side by side, then the workers that routers name, then routers once more for workers that could not be
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Account, Note, Role, Signal};
use sense::Target;
use tokio::task::JoinSet;

use super::access::Keys;
use super::candidate::{Candidate, Looked, Relay};
use super::identity::Spot;
use super::named::Named;
use super::{Eye, ask, guard, named};

/// Servers of one look; routers that name more are cut off.
const MOST_SERVERS: usize = 2048;
/// Routers behind routers behind routers.
pub(super) const DEPTH: usize = 3;

/// Asks all `candidates` and everything that they lead to.
pub(super) async fn everything(eye: &Arc<Eye>, candidates: Vec<Candidate>, keys: &Keys) -> Vec<Looked> {
    eye.guard.begin(eye.place.now());
    let mut looked: Vec<Looked> = Vec::new();
    let mut wave = candidates;
    for _ in 0..DEPTH {
        if wave.is_empty() {
            break;
        }
        let first_new = looked.len();
        looked.extend(side_by_side(eye, wave).await);
        for one in &looked[first_new..] {
            resolve(eye, one).await;
        }
        wave = workers(eye, &mut looked, first_new, keys);
    }
    for left in &wave {
        if let Some(router) = looked.iter_mut().find(|one| left.named_by == Some(one.candidate.url())) {
            let text = format!("{} was not asked: it stands behind more than {DEPTH} routers", left.url());
            router.account.notes.push(Note::new("cut", text));
        }
    }
    introduce(eye, &mut looked);
    ask_relays(eye, &mut looked).await;
    relay(eye, &mut looked);
    looked
}

/// Asks candidates, so many at once, and tells of them in their order.
async fn side_by_side(eye: &Arc<Eye>, wave: Vec<Candidate>) -> Vec<Looked> {
    let mut waiting = wave.into_iter().enumerate();
    let mut tasks = JoinSet::new();
    let mut done: Vec<(usize, Vec<Looked>)> = Vec::new();
    loop {
        while tasks.len() < guard::AT_ONCE
            && let Some((index, candidate)) = waiting.next()
        {
            let eye = Arc::clone(eye);
            tasks.spawn(async move { (index, ask::candidate(&eye, candidate).await) });
        }
        let Some(ended) = tasks.join_next().await else { break };
        // A task that panicked is lost with its server; that it does not happen is the tests' business.
        done.extend(ended);
    }
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().flat_map(|(_, found)| found).collect()
}

/// Which of the asked servers is where.
pub(super) struct Index(BTreeMap<Spot, usize>);

impl Index {
    /// The place, among the asked servers, of a worker that a router names.
    pub(super) fn of(&self, named: &Named) -> Option<usize> {
        named.spots.iter().find_map(|spot| self.0.get(spot)).copied()
    }
}

/// Indexes the asked servers by all their ports. One whose page somebody else serves is elsewhere.
pub(super) fn index(eye: &Eye, looked: &[Looked]) -> Index {
    let mut index = BTreeMap::new();
    for (place, one) in looked.iter().enumerate().filter(|(_, one)| one.candidate.part.is_none()) {
        for spot in one.candidate.spots(&eye.atlas) {
            index.entry(spot).or_insert(place);
        }
    }
    for (place, one) in looked.iter().enumerate().filter(|(_, one)| one.candidate.part.is_none()) {
        for socket in one.candidate.sockets(&eye.atlas) {
            index.entry(socket).or_insert(place);
        }
    }
    Index(index)
}

/// What routers know of their workers stands in where the workers themselves could not say it.
pub(super) fn introduce(eye: &Eye, looked: &mut [Looked]) {
    let index = index(eye, looked);
    for router in 0..looked.len() {
        let source = format!("router {}", looked[router].candidate.url());
        for worker in looked[router].account.workers.clone() {
            let place = looked[router].named.iter().find(|named| named.shown == worker.url);
            let Some(place) = place.and_then(|named| index.of(named)) else { continue };
            let account = &mut looked[place].account;
            if let Some(role) = worker.role {
                account.learn("role", role.name(), &source, 0);
            }
            if let Some(version) = &worker.version {
                account.learn("version", version, &source, 0);
            }
        }
    }
}

/// The workers that the newly asked routers name and that were not asked yet, by the names that are resolved.
pub(super) fn workers(eye: &Eye, looked: &mut [Looked], first_new: usize, keys: &Keys) -> Vec<Candidate> {
    let reached: Vec<Vec<Result<Target, String>>> = looked[first_new..].iter().map(|one| reached(eye, one)).collect();
    let mut wave: Vec<Candidate> = Vec::new();
    let mut known: BTreeSet<Spot> = looked.iter().flat_map(|one| one.candidate.spots(&eye.atlas)).collect();
    let sockets: BTreeSet<Spot> = looked.iter().flat_map(|one| one.candidate.sockets(&eye.atlas)).collect();
    for (index, reached) in (first_new..looked.len()).zip(reached) {
        let router = looked[index].candidate.url();
        let mut notes = Vec::new();
        let mut full = false;
        for (named, target) in looked[index].named.iter_mut().zip(reached) {
            let is_known = |target: &Target| eye.atlas.spots(target).iter().any(|spot| known.contains(spot));
            // Where it is tells whether it was found otherwise, also when it is not asked there.
            if let Ok(target) = &target {
                named.found(eye, target);
            }
            let admitted = target.and_then(|target| named::admitted(eye, keys, named, target, &is_known, &mut notes));
            let target = match admitted {
                Ok(target) => target,
                Err(why) => {
                    // One that was found by its process is asked elsewhere.
                    if !named.spots.iter().any(|spot| sockets.contains(spot)) {
                        notes.push(Note::new("worker-unread", why.clone()));
                    }
                    named.unread = Some(why);
                    continue;
                }
            };
            named.found(eye, &target);
            // What a router only has an opinion on is not asked.
            if is_known(&target) || !named.listed || full {
                continue;
            }
            if first_new + wave.len() >= MOST_SERVERS {
                notes.push(Note::new("cut", format!("more than {MOST_SERVERS} servers; the rest was not asked")));
                full = true;
                continue;
            }
            known.extend(named.spots.iter().cloned());
            let mut candidate = Candidate::given(target);
            candidate.named_by = Some(router.clone());
            candidate.via.clone_from(&eye.via);
            wave.push(candidate);
        }
        looked[index].account.notes.extend(notes);
    }
    wave
}

/// Resolves the names of a router's workers.
pub(super) async fn resolve(eye: &Eye, one: &Looked) {
    let reached = reached(eye, one);
    if !reached.is_empty() {
        eye.atlas.learn_names(&eye.place, reached.iter().flatten()).await;
    }
}

/// Where the workers of one router are, as seen from here.
fn reached(eye: &Eye, router: &Looked) -> Vec<Result<Target, String>> {
    match router.candidate.face() {
        Some(from) => router.named.iter().map(|named| named.reach(eye, from)).collect(),
        None => Vec::new(),
    }
}

/// The workers of a router that could not be read themselves, and as what it knows them.
pub(super) fn blind(eye: &Eye, looked: &[Looked], router: usize) -> Vec<(usize, String)> {
    let one = &looked[router];
    if one.account.fact("role") != Some(Role::Router.name()) || one.account.workers.is_empty() {
        return Vec::new();
    }
    let index = index(eye, looked);
    let listed = one.named.iter().filter(|named| named.listed);
    let places = listed.filter_map(|named| Some((index.of(named)?, named.raw.clone())));
    places.filter(|(place, _)| !tells_used(own(&looked[*place]))).collect()
}

/// Asks routers for their copies of the pages of workers that could not be read themselves.
async fn ask_relays(eye: &Eye, looked: &mut [Looked]) {
    for router in 0..looked.len() {
        if !blind(eye, looked, router).is_empty() {
            looked[router].relayed = ask::relay(eye, &looked[router]).await;
        }
    }
}

/// Reads such workers from those copies. In a watch a copy stands until the router gives the next, and is read once for each
/// look at a worker.
pub(super) fn relay(eye: &Eye, looked: &mut [Looked]) {
    for router in 0..looked.len() {
        let Some((label, mut observation)) = looked[router].relayed.take() else { continue };
        let blind = blind(eye, looked, router);
        let body = observation.outcome.as_ref().map_or(&[][..], |answer| &answer.body);
        let new = |place: usize| looked[place].relay.as_ref().is_none_or(|relay| relay.at != observation.at);
        let blind: Vec<(usize, String)> = blind.into_iter().filter(|(place, _)| new(*place)).collect();
        // As of any page: several engines have series of the same names.
        let engines = if blind.is_empty() { BTreeMap::new() } else { engines::saved::relayed(&eye.tables, body) };
        for (place, worker) in blind {
            let account = own(&looked[place]);
            let known = || account.engine.as_deref().and_then(|engine| eye.tables.get(engine));
            let Some(table) = engines.get(&worker).copied().or_else(known) else { continue };
            let told = engines::interpret_relayed(table, &observation, &label, &worker, &account.facts);
            if told.sets.is_empty() {
                continue;
            }
            let (before, mut account) = (account.clone(), account.clone());
            account.engine = account.engine.take().or(told.engine);
            for (name, fact) in told.facts {
                account.learn(&name, fact.value, fact.source, fact.weight);
            }
            account.sets.extend(told.sets);
            account.values.extend(told.values);
            account.notes.push(Note::new(
                model::TOLD_BY_ROUTER,
                format!("read from {}, because the server itself did not say it", observation.url),
            ));
            looked[place].account = account;
            looked[place].relay = Some(Box::new(Relay { at: observation.at, own: before }));
        }
        if looked[router].every_s > 0.0 {
            looked[router].relayed = Some((label, observation));
        } else {
            ask::forget(&mut observation);
            looked[router].observations.push(observation);
        }
    }
}

/// What a server said itself.
fn own(one: &Looked) -> &Account {
    one.relay.as_ref().map_or(&one.account, |relay| &relay.own)
}

fn tells_used(account: &Account) -> bool {
    let told = |set: &model::PoolSet| set.readings.get(&Signal::KV_USED).is_some_and(|used| used.value.is_some());
    account.sets.iter().any(told) || account.fact("role") == Some(Role::Router.name())
}
