//! All candidates side by side, then the workers that routers name, then routers once more for workers that could not be
//! read.

use std::sync::Arc;

use model::{Note, Role, Signal};
use sense::{Client, Place, Target};
use tokio::task::JoinSet;

use super::access::Keys;
use super::candidate::{Candidate, Looked};
use super::{Eye, ask};

/// Servers of one look; routers that name more are cut off.
const MOST_SERVERS: usize = 2048;
/// Routers behind routers behind routers.
const DEPTH: usize = 3;

/// Asks all `candidates` and everything that they lead to.
pub(super) async fn everything(eye: &Arc<Eye>, candidates: Vec<Candidate>, keys: &Keys) -> Vec<Looked> {
    let mut looked: Vec<Looked> = Vec::new();
    let mut wave = candidates;
    for _ in 0..DEPTH {
        if wave.is_empty() {
            break;
        }
        let mut tasks = JoinSet::new();
        for (index, candidate) in wave.drain(..).enumerate() {
            let eye = Arc::clone(eye);
            tasks.spawn(async move { (index, ask::candidate(&eye, candidate).await) });
        }
        // A task that panicked is lost with its server; that it does not happen is the tests' business.
        let mut done: Vec<(usize, Looked)> = tasks.join_all().await;
        done.sort_by_key(|(index, _)| *index);
        let first_new = looked.len();
        looked.extend(done.into_iter().map(|(_, one)| one));
        wave = workers(&mut looked, first_new, keys);
    }
    introduce(&mut looked);
    relay(eye, &mut looked).await;
    looked
}

/// What routers know of their workers stands in where the workers themselves could not say it.
fn introduce(looked: &mut [Looked]) {
    for index in 0..looked.len() {
        let router = looked[index].candidate.clone();
        for worker in looked[index].account.workers.clone() {
            let same = looked.iter_mut().filter(|one| is_worker(&worker.url, &router, &one.candidate));
            for one in same {
                let source = format!("router {}", router.url());
                if let Some(role) = worker.role {
                    one.account.learn("role", role.name(), &source, 0);
                }
                if let Some(version) = &worker.version {
                    one.account.learn("version", version, &source, 0);
                }
            }
        }
    }
}

/// The workers that the newly asked routers name and that were not asked yet.
fn workers(looked: &mut [Looked], first_new: usize, keys: &Keys) -> Vec<Candidate> {
    let mut wave: Vec<Candidate> = Vec::new();
    for index in first_new..looked.len() {
        let router = &looked[index];
        let Some(from) = router.candidate.face().cloned() else { continue };
        let mut notes = Vec::new();
        for worker in &router.account.workers {
            let target = match reach(&worker.url, &from) {
                Ok(target) => keys.for_worker(target),
                Err(why) => {
                    notes.push(Note::new("worker-unread", why));
                    continue;
                }
            };
            let known = looked.iter().map(|one| &one.candidate).chain(&wave).any(|candidate| candidate.has(&target));
            if known {
                continue;
            }
            if looked.len() + wave.len() >= MOST_SERVERS {
                notes.push(Note::new("cut", format!("more than {MOST_SERVERS} servers; the rest was not asked")));
                break;
            }
            let mut candidate = Candidate::given(target);
            candidate.named_by = Some(router.candidate.url());
            wave.push(candidate);
        }
        looked[index].account.notes.extend(notes);
    }
    wave
}

/// How a worker is reached whose address a router at `from` tells: loopback addresses are the router's own.
fn reach(url: &str, from: &Target) -> Result<Target, String> {
    let mut target: Target = url.parse().map_err(|error: sense::http::TargetError| format!("worker {url}: {error}"))?;
    if target.base.is_loopback() {
        target.base.host.clone_from(&from.base.host);
        if from.base.is_loopback() {
            target.namespace.clone_from(&from.namespace);
        }
    }
    Ok(target)
}

/// The address of a worker as routers spell it, made comparable.
pub(super) fn is_worker(worker: &str, router: &Candidate, candidate: &Candidate) -> bool {
    router.face().and_then(|from| reach(worker, from).ok()).is_some_and(|target| candidate.has(&target))
}

/// Reads workers that could not be read themselves from their router's copy of their pages.
async fn relay(eye: &Arc<Eye>, looked: &mut [Looked]) {
    for index in 0..looked.len() {
        if looked[index].account.fact("role") != Some(Role::Router.name()) || looked[index].account.workers.is_empty() {
            continue;
        }
        let blind: Vec<(usize, String)> = looked
            .iter()
            .enumerate()
            .filter(|(_, one)| !tells_used(one))
            .filter_map(|(place, one)| {
                let worker = looked[index]
                    .account
                    .workers
                    .iter()
                    .find(|worker| is_worker(&worker.url, &looked[index].candidate, &one.candidate))?;
                Some((place, worker.url.clone()))
            })
            .collect();
        if blind.is_empty() {
            continue;
        }
        let Some((label, observation)) = ask::relay(eye, &looked[index]).await else { continue };
        for (place, worker) in blind {
            let known = looked[place].account.facts.clone();
            let relayed = |table| engines::interpret_relayed(table, &observation, &label, &worker, &known);
            let told = eye.tables.iter().map(relayed).find(|told| !told.sets.is_empty());
            let Some(told) = told else { continue };
            let account = &mut looked[place].account;
            account.engine = account.engine.take().or(told.engine);
            for (name, fact) in told.facts {
                account.learn(&name, fact.value, fact.source, fact.weight);
            }
            account.sets.extend(told.sets);
            account.values.extend(told.values);
            account.notes.push(Note::new(
                "told-by-router",
                format!("read from {}, because the server itself did not say it", observation.url),
            ));
        }
        looked[index].observations.push(observation);
    }
}

fn tells_used(one: &Looked) -> bool {
    let told = |set: &model::PoolSet| set.readings.get(&Signal::KV_USED).is_some_and(|used| used.value.is_some());
    one.account.sets.iter().any(told) || one.account.fact("role") == Some(Role::Router.name())
}

/// The client behind the look, for its counters.
pub(super) fn client(place: &Place) -> &Client {
    match place {
        Place::Host(host) => host.client(),
    }
}
