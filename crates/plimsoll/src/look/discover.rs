//! Finding servers and routers on this host: processes that the tables recognise, and where they listen.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;
use engines::Whereabouts;
use engines::process::{
    Recognised, forget_defaults, from_arguments, from_config, from_environment, recognise, settings, variables,
};
use engines::table::{PortRule, Table};
use model::{Facts, Gap, Note};
use sense::http::{Base, Scheme};
use sense::{NetNs, Process, Target, processes};

use super::access::Keys;
use super::candidate::Candidate;
use super::{Eye, nodes, unit};

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) notes: Vec<Note>,
    /// Processes that could not be seen into.
    pub(super) denied: u64,
    /// Ranks here of servers whose API is on another node.
    pub(super) elsewhere: Vec<Gap>,
}

/// Ports of a process that lost its arguments; more are not tried.
const MOST_PORTS: usize = 8;
/// Bytes of a configuration file.
const CONFIG_CAP: usize = 1 << 20;

/// Searches this host.
pub(super) async fn this_host(eye: &Eye, keys: &Keys) -> Result<Found> {
    let seen = processes(&eye.place, &eye.sought.words, |argv| recognise(&eye.tables, argv).is_some()).await?;
    let mut notes = seen.notes;
    notes.extend(keys.notes());
    let unseen = seen.denied.saturating_sub(seen.found.iter().map(|process| process.denied.len()).sum());
    notes.extend(hidden(seen.hidden, unseen));
    let mut found: Vec<(Process, Recognised)> = Vec::new();
    for process in seen.found {
        if let Some(recognised) = recognise(&eye.tables, &process.argv) {
            found.push((process, recognised));
        }
    }
    let mut blind = 0_u64;
    let mut waiting: Vec<(u32, String)> = Vec::new();
    let parents: BTreeSet<u32> = found.iter().map(|(process, _)| process.ppid).collect();
    let mut candidates: Vec<(Key, Candidate)> = Vec::new();
    let mut elsewhere: Vec<Gap> = Vec::new();
    // The process itself before a wrapper around it, and the first of its forks.
    found.sort_by_key(|(process, recognised)| (recognised.wrappers, process.listening.is_empty(), process.pid));
    for (process, recognised) in found {
        blind += u64::from(!process.denied.is_empty());
        let Some(table) = eye.tables.get(&recognised.engine) else { continue };
        if let Some(why) = not_running(table, &process, &recognised) {
            waiting.push((process.pid, why));
            continue;
        }
        eye.atlas.learn_process(&eye.place, &process).await;
        let candidate = candidate(eye, keys, table, &process, &recognised).await;
        if let Some(gap) = nodes::elsewhere(table, &candidate) {
            elsewhere.push(gap);
            continue;
        }
        if candidate.face().is_none() {
            // One that can be seen into and holds no socket serves nothing: a fork, or one that is still starting.
            if !process.denied.contains(&"fd") {
                continue;
            }
            let text = format!(
                "pid {} is {}, but where it listens cannot be seen from here: give its address",
                process.pid, table.engine.title
            );
            notes.push(Note::new("port-unseen", text));
            continue;
        }
        let key = Key { namespace: process.netns.or(process.netns_mark), ports: ports_of(&candidate) };
        if !candidates.iter().any(|(known, _)| known.covers(&key)) {
            candidates.push((key, candidate));
        }
    }
    // A wrapper around something that was found itself has started it.
    waiting.retain(|(pid, _)| !parents.contains(pid));
    notes.extend(waiting.into_iter().map(|(_, why)| Note::new("not-started", why)));
    if blind > 0 {
        let text = format!(
            "{blind} processes belong to other users: their sockets and namespaces are not visible without their rights or root"
        );
        notes.push(Note::new("denied", text));
    }
    let denied = blind + unseen as u64;
    // Those that listen first: what only looks like a server must not keep real ones waiting.
    let listens = |candidate: &Candidate| {
        let own = candidate.process.as_ref();
        own.is_some_and(|own| {
            candidate.targets().any(|target| own.listening.iter().any(|at| at.port() == target.base.port))
        })
    };
    let mut candidates: Vec<Candidate> = candidates.into_iter().map(|(_, candidate)| candidate).collect();
    candidates.sort_by_key(|candidate| !listens(candidate));
    elsewhere.dedup_by(|one, other| one.evidence == other.evidence);
    Ok(Found { candidates, notes, denied, elsewhere })
}

/// What our rights hide of the processes themselves.
fn hidden(all_of_others: bool, unread: usize) -> Option<Note> {
    let what = match (all_of_others, unread) {
        (true, _) => "processes of other users are hidden on this host (hidepid)".to_owned(),
        (false, 0) => return None,
        (false, unread) => format!("the command lines of {unread} processes could not be read"),
    };
    let text =
        format!("{what}: servers among them are not found without their rights or root, unless given as targets");
    Some(Note::new("processes-unseen", text))
}

/// A wrapper (a shell that sleeps first, for instance) that can be seen into and holds no listening socket, nor does
/// anything below it: what it names does not run yet, or no more.
fn not_running(table: &Table, process: &Process, recognised: &Recognised) -> Option<String> {
    let seen = !process.denied.contains(&"fd");
    (recognised.wrappers > 0 && seen && process.listening.is_empty()).then(|| {
        format!("pid {} is to run {} ({}): not started yet", process.pid, table.engine.title, recognised.spelling)
    })
}

/// Two processes with one of these are one server: a wrapper and what it runs, or a fork.
struct Key {
    namespace: Option<u64>,
    ports: Vec<(String, u16)>,
}

impl Key {
    fn covers(&self, other: &Key) -> bool {
        let alike = self.namespace.is_none() || other.namespace.is_none() || self.namespace == other.namespace;
        alike && !other.ports.is_empty() && other.ports.iter().all(|port| self.ports.contains(port))
    }
}

fn ports_of(candidate: &Candidate) -> Vec<(String, u16)> {
    let targets = candidate.ports.values().chain(&candidate.unsorted);
    targets.map(|target| (target.base.host.clone(), target.base.port)).collect()
}

async fn candidate(eye: &Eye, keys: &Keys, table: &Table, process: &Process, recognised: &Recognised) -> Candidate {
    let mut notes = Vec::new();
    let source = format!("command line of pid {}", process.pid);
    let flags = match &recognised.arguments {
        Some(arguments) => {
            let mut flags = from_arguments(table, arguments, &source);
            add_config(eye, table, process, &mut flags, &mut notes).await;
            add_environment(eye, table, process, &mut flags).await;
            flags
        }
        None => Facts::new(),
    };
    let mut ports = BTreeMap::new();
    let mut unsorted = Vec::new();
    let argued = recognised.arguments.is_some();
    if argued {
        for rule in &table.engine.port {
            if let Some(target) = flagged(rule, &flags, process) {
                ports.insert(rule.serves.clone(), keys.for_own(target));
            }
        }
    }
    let says_none =
        |rule: &PortRule| rule.none.is_some() && flags.get(&rule.fact).map(|fact| &fact.value) == rule.none.as_ref();
    let mute = argued && ports.is_empty() && table.engine.port.iter().all(says_none);
    if argued && ports.is_empty() && !mute {
        notes.push(Note::new(
            "port-unread",
            format!("{source}: its port is none that can be read; its sockets were asked"),
        ));
    }
    if ports.is_empty() {
        // What its children hold, and what others of its user hold, are other programs' ports.
        let own = process.listening_itself.iter().take(MOST_PORTS);
        unsorted.extend(own.map(|address| keys.for_own(target(*address, Scheme::Http, process))));
    }
    let mut place = Whereabouts {
        unit: process.unit.as_ref().map(|unit| unit.name.clone()),
        unit_user: process.unit.as_ref().and_then(|unit| unit.user),
        container: process.container.clone(),
        pid: Some(process.pid),
        command: Some(recognised.spelling.clone()).filter(|spelling| !spelling.is_empty()),
        ..Whereabouts::default()
    };
    unit::add(eye, table, &mut place, &flags, &mut notes).await;
    let (engine, process) = (Some(table.engine.name.clone()), Some(Box::new(process.clone())));
    Candidate { engine, ports, unsorted, mute, flags, place, process, notes, ..Candidate::nothing() }
}

async fn add_config(eye: &Eye, table: &Table, process: &Process, flags: &mut Facts, notes: &mut Vec<Note>) {
    let Some(file) = flags.get("config_file").map(|fact| fact.value.clone()) else { return };
    let read = sense::process::file_of(&eye.place, process.pid, Path::new(&file), CONFIG_CAP).await;
    let outcome = match &read {
        Ok(content) if content.cut => Err(format!("it is longer than {} MiB", CONFIG_CAP >> 20)),
        Ok(content) => settings(&content.text()),
        Err(blind) => Err(blind.text.clone()),
    };
    match outcome {
        Ok(settings) => from_config(table, flags, &settings, &file),
        Err(why) => {
            forget_defaults(flags);
            let text = format!("--config {file}: {why}; flags in it are not known from here");
            notes.push(Note::new("config-unread", text));
        }
    }
}

/// What the process's environment says of its flags; of all else in it nothing is kept.
async fn add_environment(eye: &Eye, table: &Table, process: &Process, flags: &mut Facts) {
    let wanted: Vec<&str> = variables(table).collect();
    if wanted.is_empty() {
        return;
    }
    let source = format!("environment of pid {}", process.pid);
    let read = sense::process::variables_of(&eye.place, process.pid, &wanted).await;
    match read {
        Ok(set) => from_environment(table, flags, Some(&set), &source),
        Err(_) => from_environment(table, flags, None, &source),
    }
}

/// Where the port that a rule names is, by the flags and by what really listens.
fn flagged(rule: &PortRule, flags: &Facts, process: &Process) -> Option<Target> {
    // A port that is said and cannot be read is not the default one: another server may be there.
    let port: u16 = match flags.get(&rule.fact) {
        Some(fact) => fact.value.parse().ok().filter(|port| *port > 0)?,
        None => rule.default?,
    };
    let listening = process.listening.iter().chain(&process.maybe_listening).find(|address| address.port() == port);
    let bound = rule.host.as_ref().and_then(|host| flags.get(host)).and_then(|fact| fact.value.parse::<IpAddr>().ok());
    let address =
        listening.copied().unwrap_or_else(|| SocketAddr::new(bound.unwrap_or(Ipv4Addr::LOCALHOST.into()), port));
    let tls = rule.tls.as_ref().is_some_and(|fact| flags.contains_key(fact));
    Some(target(address, if tls { Scheme::Https } else { Scheme::Http }, process))
}

/// The target for an address on which the process listens: any address means loopback, inside its namespace.
pub(super) fn target(address: SocketAddr, scheme: Scheme, process: &Process) -> Target {
    let ip = match address.ip() {
        ip if ip.is_unspecified()
            && ip.is_ipv6()
            && process.listening.iter().all(|other| other.is_ipv6() || other.port() != address.port()) =>
        {
            // A socket on :: takes IPv4 as well, unless told otherwise; loopback of its own family is always right.
            "::1".parse().unwrap_or(ip)
        }
        ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        ip => ip,
    };
    let host = ip.to_string();
    let base = Base { scheme, host, port: address.port(), prefix: String::new() };
    let mut target = Target::new(base);
    if process.same_netns_as_us == Some(false) && ip.is_loopback() {
        target.namespace = Some(NetNs(process.pid));
    }
    target
}
