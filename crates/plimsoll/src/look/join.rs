//! From what was asked to the snapshot: joined, judged, examined, ordered.

use std::collections::BTreeMap;

use fleet::Subject;
use model::{Account, Gap, SelfReport, Server, Signal, Snapshot, Time, View};

use super::candidate::Looked;
use super::{Eye, follow};

/// Makes the snapshot as of `now`; the servers' material comes back in the snapshot's order.
pub(super) fn snapshot(
    eye: &Eye,
    looked: Vec<Looked>,
    started: Time,
    now: Time,
    denied: u64,
) -> (Snapshot, Vec<Looked>) {
    // Each server with its material, so that no order can part them.
    let mut pairs: Vec<(Server, Looked)> = Vec::new();
    let views = seen_by(eye, &looked);
    for (mut one, seen_by) in looked.into_iter().zip(views) {
        let why = |signal: Signal, pool: &str, tier: &str| reason(eye, &one.account, signal, pool, tier);
        let subject = Subject {
            url: one.candidate.url(),
            host: one.candidate.face().map(|face| face.base.host.clone()).unwrap_or_default(),
            pid: one.candidate.place.pid,
            unit: one.candidate.place.unit.clone().map(model::text::visible),
            account: &one.account,
            seen_by,
            why: &why,
        };
        let joined = fleet::join(&subject, now);
        let mut server = joined.server;
        server.numa_nodes.clone_from(&one.candidate.hardware.numa_nodes);
        server.gpus.clone_from(&one.candidate.hardware.gpus);
        if let Some(table) = server.engine.as_deref().and_then(|name| eye.tables.get(name)) {
            one.findings = engines::examine(table, &one.account, &server, &one.candidate.place);
        } else if let Some(why) = server.unreachable.clone() {
            one.findings = vec![engines::unreached(&server, &why)];
        }
        server.gaps = one.findings.iter().filter_map(|finding| finding.gap(&server.url)).collect();
        server.verdict = judge::verdict(&server);
        name_workers(&mut server, &one.account);
        one.choices = joined.choices;
        pairs.push((server, one));
    }
    compare_replicas(eye, &mut pairs);
    judge::order(&mut pairs, |(server, _)| server);
    let (servers, looked): (Vec<Server>, Vec<Looked>) = pairs.into_iter().unzip();
    let counts = eye.place.counts();
    let gaps: Vec<Gap> = servers.iter().flat_map(|server| server.gaps.iter().cloned()).collect();
    let snapshot = Snapshot {
        schema: "plimsoll.status/1",
        made_by: crate::MADE_BY,
        taken_at: now,
        fleet: fleet::totals(&servers),
        gaps,
        own: SelfReport {
            took_s: sense::clock::now().since(started),
            slowest_target_s: looked.iter().map(|one| one.took).fold(0.0, f64::max),
            requests: counts.requests,
            failed: counts.failed,
            bytes: counts.bytes,
            denied,
        },
        servers,
    };
    (snapshot, looked)
}

/// Notes where replicas of one role differ.
fn compare_replicas(eye: &Eye, pairs: &mut [(Server, Looked)]) {
    let settings = |engine: &str| {
        let knobs = eye.tables.get(engine).map_or(&[][..], |table| &table.knobs);
        knobs.iter().filter(|knob| !knob.own).map(|knob| knob.fact.clone()).collect()
    };
    let replicas: Vec<fleet::Replica<'_>> = pairs
        .iter()
        .map(|(server, one)| fleet::Replica {
            url: &server.url,
            engine: server.engine.as_deref(),
            role: server.role,
            model: server.model.as_deref(),
            version: server.version.as_deref(),
            facts: &one.account.facts,
        })
        .collect();
    let notes = fleet::drift(&replicas, settings);
    for ((server, _), notes) in pairs.iter_mut().zip(notes) {
        server.notes.extend(notes);
    }
}

fn reason(eye: &Eye, account: &Account, signal: Signal, pool: &str, tier: &str) -> String {
    match account.engine.as_deref().and_then(|name| eye.tables.get(name)) {
        Some(table) => engines::why(table, account, signal, pool, tier),
        None => "no engine that is known here answered".to_owned(),
    }
}

/// What the routers of this look say about each server.
fn seen_by(eye: &Eye, looked: &[Looked]) -> Vec<Vec<(String, View)>> {
    let index = follow::index(eye, looked);
    let mut views = vec![Vec::new(); looked.len()];
    for router in looked {
        let places: BTreeMap<&str, usize> =
            router.named.iter().filter_map(|named| Some((named.shown.as_str(), index.of(named)?))).collect();
        for view in &router.account.views {
            if let Some(place) = places.get(view.worker.as_str()) {
                views[*place].push((router.candidate.url(), view.clone()));
            }
        }
    }
    views
}

/// Gives each view the role and health that the router lists for the worker, and lists workers of which it says no more.
fn name_workers(server: &mut Server, account: &Account) {
    for worker in &account.workers {
        let mut named = false;
        for view in server.router_view.iter_mut().filter(|view| view.worker == worker.url) {
            view.role = view.role.or(worker.role);
            view.healthy = view.healthy.or(worker.healthy);
            named = true;
        }
        if !named {
            server.router_view.push(model::RouterView {
                worker: worker.url.clone(),
                role: worker.role,
                healthy: worker.healthy,
                dp: None,
                readings: model::Readings::new(),
            });
        }
    }
}
