//! From what was asked to the snapshot: joined, judged, examined, ordered.

use std::collections::BTreeMap;

use engines::Tables;
use fleet::{Moment, Subject};
use judge::Paces;
use model::{Account, Finding, Fix, Gap, SelfReport, Server, Signal, Snapshot, Time, View};

use super::candidate::Looked;

/// What was seen before this look.
#[derive(Clone, Copy, Default)]
pub(super) struct Before<'a> {
    /// Looks at the same, oldest first.
    pub(super) earlier: &'a [Snapshot],
    /// What servers usually get done, by their address; nothing is known of it without a watch.
    pub(super) usual: Option<&'a BTreeMap<String, Paces>>,
    /// Servers of which nothing new was heard stay as they were joined. How that was done, and what was found, is not told.
    pub(super) again: bool,
}

/// Makes the snapshot as of `taken_at`; each server is judged by the time of its own site, and after what was seen of it
/// before. The servers' material comes back in the snapshot's order.
pub(super) fn snapshot(
    tables: &Tables,
    before: Before<'_>,
    looked: Vec<Looked>,
    views: Vec<Vec<(String, View)>>,
    nows: &[Time],
    taken_at: Time,
    mut own: SelfReport,
) -> (Snapshot, Vec<Looked>) {
    let history = History::of(before.earlier);
    // Each server with its material, so that no order can part them.
    let mut pairs: Vec<(Server, Looked)> = Vec::new();
    for (mut one, seen_by) in looked.into_iter().zip(views) {
        let now = nows.get(one.site).copied().unwrap_or(taken_at);
        let moment = if one.every_s > 0.0 { Moment::of_watch(now, one.every_s) } else { Moment::from(now) };
        // What others say of it, or what is read for it, may have changed.
        let own = before.again && seen_by.is_empty() && one.relay.is_none() && one.candidate.alone.is_none();
        if own && let Some(server) = again(&one, moment) {
            pairs.push((server, one));
            continue;
        }
        let why = |signal: Signal, pool: &str, tier: &str| match one.candidate.alone {
            Some(_) => "its router does not say it".to_owned(),
            None => reason(tables, &one.account, signal, pool, tier),
        };
        let subject = Subject {
            url: one.candidate.url(),
            host: one.candidate.host(),
            pid: one.candidate.place.pid,
            unit: one.candidate.place.unit.clone().map(model::text::visible),
            account: &one.account,
            seen_by,
            why: &why,
        };
        let joined = fleet::join(&subject, moment);
        let mut server = joined.server;
        server.numa_nodes.clone_from(&one.candidate.hardware.numa_nodes);
        server.gpus.clone_from(&one.candidate.hardware.gpus);
        if let Some(table) = server.engine.as_deref().and_then(|name| tables.get(name)) {
            one.findings = engines::examine(table, &one.account, &server, &one.candidate.place);
        } else if let Some(why) = server.unreachable.clone() {
            let finding = engines::unreached(&server, &why);
            one.findings = vec![if one.candidate.alone.is_some() { elsewhere(finding) } else { finding }];
        }
        server.gaps = one.findings.iter().filter_map(|finding| finding.gap(&server.url)).collect();
        let looks = history.looks(&server, now);
        let usual = before.usual.and_then(|usual| usual.get(&server.url));
        let verdict = judge::verdict_over(&looks, usual);
        one.signs = judge::signs(&looks);
        server.verdict = verdict.unwrap_or(server.verdict);
        name_workers(&mut server, &one.account);
        one.choices = joined.choices;
        if before.again {
            let stays = own && one.signs.is_empty();
            one.again = fleet::Again::of(&server, &one.account, moment).filter(|_| stays).map(Box::new);
        }
        pairs.push((server, one));
    }
    compare_replicas(tables, &mut pairs);
    judge::order(&mut pairs, |(server, _)| server);
    let (servers, looked): (Vec<Server>, Vec<Looked>) = pairs.into_iter().unzip();
    let gaps: Vec<Gap> = servers.iter().flat_map(|server| server.gaps.iter().cloned()).collect();
    own.slowest_target_s = looked.iter().map(|one| one.took).fold(0.0, f64::max);
    let snapshot = Snapshot {
        schema: "plimsoll.status/1",
        made_by: crate::MADE_BY,
        taken_at,
        hosts: Vec::new(),
        fleet: fleet::totals(&servers),
        gaps,
        own,
        servers,
    };
    (snapshot, looked)
}

/// The server as it was joined before, where nothing of it can have changed since but ages.
fn again(one: &Looked, moment: Moment) -> Option<Server> {
    let (place, hardware) = (&one.candidate.place, &one.candidate.hardware);
    let mut server = one.again.as_ref()?.server(moment)?;
    if server.url != one.candidate.url() || server.pid != place.pid || server.unit.is_some() != place.unit.is_some() {
        return None;
    }
    server.numa_nodes.clone_from(&hardware.numa_nodes);
    server.gpus.clone_from(&hardware.gpus);
    Some(server)
}

/// What cannot be asked where its router says that it is may have a page elsewhere.
fn elsewhere(finding: Finding) -> Finding {
    let place = "a page of its own over HTTP, if it has one: give its address".to_owned();
    Finding { fix: finding.fix.map(|fix| Fix { place, ..fix }), ..finding }
}

/// The looks at each server in earlier snapshots, by its address.
pub(super) struct History<'a>(BTreeMap<&'a str, Vec<(Time, &'a Server)>>);

impl<'a> History<'a> {
    /// Of these, oldest first.
    pub(super) fn of(earlier: &'a [Snapshot]) -> History<'a> {
        let mut looks: BTreeMap<&str, Vec<(Time, &Server)>> = BTreeMap::new();
        for look in earlier {
            for server in &look.servers {
                let known = looks.entry(server.url.as_str()).or_default();
                // Of several that one snapshot calls the same, the first.
                if known.last().is_none_or(|(at, _)| *at != look.taken_at) {
                    known.push((look.taken_at, server));
                }
            }
        }
        History(looks)
    }

    /// All looks at one server, the newest, at `now`, last.
    pub(super) fn looks<'b>(&self, server: &'b Server, now: Time) -> Vec<(Time, &'b Server)>
    where
        'a: 'b,
    {
        let mut looks: Vec<(Time, &Server)> = self.0.get(server.url.as_str()).cloned().unwrap_or_default();
        looks.push((now, server));
        looks
    }
}

/// Notes where replicas of one role differ.
fn compare_replicas(tables: &Tables, pairs: &mut [(Server, Looked)]) {
    let settings = |engine: &str| {
        let knobs = tables.get(engine).map_or(&[][..], |table| &table.knobs);
        knobs.iter().filter(|knob| !knob.own).map(|knob| knob.fact.as_str()).collect()
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

fn reason(tables: &Tables, account: &Account, signal: Signal, pool: &str, tier: &str) -> String {
    match account.engine.as_deref().and_then(|name| tables.get(name)) {
        Some(table) => engines::why(table, account, signal, pool, tier),
        None => "no engine that is known here answered".to_owned(),
    }
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
