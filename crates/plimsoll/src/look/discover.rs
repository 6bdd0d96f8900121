//! Finding servers and routers on this host: processes that the tables recognise, and where they listen.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;
use engines::Whereabouts;
use engines::process::{Recognised, from_arguments, from_config, recognise, settings};
use engines::table::{PortRule, Table};
use model::{Facts, Note};
use sense::{NetNs, Process, Target, processes};

use super::Eye;
use super::candidate::Candidate;

/// What was found.
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) notes: Vec<Note>,
    /// Processes that could not be seen into.
    pub(super) denied: u64,
}

/// Ports of a process that lost its arguments; more are not tried.
const MOST_PORTS: usize = 16;
/// Bytes of a configuration file.
const CONFIG_CAP: usize = 1 << 20;

/// Searches this host.
pub(super) async fn this_host(eye: &Eye) -> Result<Found> {
    let seen = processes(&eye.place, |argv| recognise(&eye.tables, argv).is_some()).await?;
    let mut notes = seen.notes;
    let mut found: Vec<(Process, Recognised)> = Vec::new();
    for process in seen.found {
        if let Some(recognised) = recognise(&eye.tables, &process.argv) {
            found.push((process, recognised));
        }
    }
    let mut blind = 0_u64;
    let mut candidates: Vec<(Key, Candidate)> = Vec::new();
    // The process itself before a wrapper around it, and the first of its forks.
    found.sort_by_key(|(process, recognised)| (recognised.wrappers, process.listening.is_empty(), process.pid));
    for (process, recognised) in found {
        blind += u64::from(!process.denied.is_empty());
        let Some(table) = eye.tables.get(&recognised.engine) else { continue };
        let candidate = candidate(eye, table, &process, &recognised).await;
        let key = Key { namespace: process.netns.or(process.netns_mark), ports: ports_of(&candidate) };
        if !candidates.iter().any(|(known, _)| known.covers(&key)) {
            candidates.push((key, candidate));
        }
    }
    if blind > 0 {
        let text = format!(
            "{blind} processes belong to other users: their sockets and namespaces are not visible without their rights or root"
        );
        notes.push(Note::new("denied", text));
    }
    Ok(Found { candidates: candidates.into_iter().map(|(_, candidate)| candidate).collect(), notes, denied: blind })
}

/// Two processes with one of these are one server: a wrapper and what it runs, or a fork.
struct Key {
    namespace: Option<u64>,
    ports: Vec<u16>,
}

impl Key {
    fn covers(&self, other: &Key) -> bool {
        let alike = self.namespace.is_none() || other.namespace.is_none() || self.namespace == other.namespace;
        alike && !other.ports.is_empty() && other.ports.iter().all(|port| self.ports.contains(port))
    }
}

fn ports_of(candidate: &Candidate) -> Vec<u16> {
    candidate.ports.values().chain(&candidate.unsorted).map(|target| target.base.port).collect()
}

async fn candidate(eye: &Eye, table: &Table, process: &Process, recognised: &Recognised) -> Candidate {
    let mut notes = Vec::new();
    let source = format!("command line of pid {}", process.pid);
    let flags = match &recognised.arguments {
        Some(arguments) => {
            let mut flags = from_arguments(table, arguments, &source);
            add_config(eye, table, process, &mut flags, &mut notes).await;
            flags
        }
        None => Facts::new(),
    };
    let mut ports = BTreeMap::new();
    let mut unsorted = Vec::new();
    if recognised.arguments.is_some() {
        for rule in &table.engine.port {
            if let Some(target) = flagged(rule, &flags, process) {
                ports.insert(rule.serves.clone(), target);
            }
        }
    } else {
        let listening = if process.listening.is_empty() { &process.maybe_listening } else { &process.listening };
        let addresses = listening.iter().take(MOST_PORTS).map(|address| target(*address, process));
        unsorted.extend(addresses);
    }
    Candidate {
        engine: Some(table.engine.name.clone()),
        ports,
        unsorted,
        flags,
        place: Whereabouts {
            unit: process.unit.as_ref().map(|unit| unit.name.clone()),
            container: process.container.clone(),
            pid: Some(process.pid),
            command: first_words(&process.argv),
        },
        notes,
        named_by: None,
    }
}

/// Program and module, no values: an argument may be a secret.
fn first_words(argv: &[String]) -> Option<String> {
    let words: Vec<&str> = argv
        .iter()
        .map(String::as_str)
        .take(4)
        .take_while(|word| !word.starts_with("--") && word.len() < 200)
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

async fn add_config(eye: &Eye, table: &Table, process: &Process, flags: &mut Facts, notes: &mut Vec<Note>) {
    let Some(file) = flags.get("config_file").map(|fact| fact.value.clone()) else { return };
    let read = sense::process::file_of(&eye.place, process.pid, Path::new(&file), CONFIG_CAP).await;
    let outcome = match &read {
        Ok(content) => settings(&content.text()),
        Err(blind) => Err(blind.text.clone()),
    };
    match outcome {
        Ok(settings) => from_config(table, flags, &settings, &file),
        Err(why) => notes
            .push(Note::new("config-unread", format!("--config {file}: {why}; flags in it are not known from here"))),
    }
}

/// Where the port that a rule names is, by the flags and by what really listens.
fn flagged(rule: &PortRule, flags: &Facts, process: &Process) -> Option<Target> {
    let said = flags.get(&rule.fact).and_then(|fact| fact.value.parse().ok());
    let port: u16 = said.or(rule.default)?;
    let listening = process.listening.iter().chain(&process.maybe_listening).find(|address| address.port() == port);
    let bound = rule.host.as_ref().and_then(|host| flags.get(host)).and_then(|fact| fact.value.parse::<IpAddr>().ok());
    let address =
        listening.copied().unwrap_or_else(|| SocketAddr::new(bound.unwrap_or(Ipv4Addr::LOCALHOST.into()), port));
    Some(target(address, process))
}

/// The target for an address on which the process listens: any address means loopback, inside its namespace.
fn target(address: SocketAddr, process: &Process) -> Target {
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
    let base =
        sense::http::Base { scheme: sense::http::Scheme::Http, host, port: address.port(), prefix: String::new() };
    let mut target = Target::new(base);
    if process.same_netns_as_us == Some(false) && ip.is_loopback() {
        target.namespace = Some(NetNs(process.pid));
    }
    target
}
