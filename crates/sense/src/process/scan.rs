//! The look at all processes, in few batches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use model::{Blind, BlindKind, Note, Time};

use super::descriptors::opened;
use super::family::Family;
use super::sockets::{Listener, listeners};
use super::{Process, Processes, cgroup, split_argv, stat};
use crate::place::{CMDLINE, CommandLine, Content, PROCESSES, Place};
use crate::text::inode;

/// Largest small file of `/proc` (`stat`, `status`, `cgroup`) that is read, bytes.
const SMALL: usize = 64 << 10;
/// Largest socket table that is read, bytes. Listeners come first in it, some 150 bytes each.
const TABLE: usize = 1 << 20;
/// Most file descriptors of one process that are looked at.
const FDS: usize = 65_536;
/// Most descendants of one process that are looked at.
const FAMILY: usize = 1024;

/// Looks at every process of `place` and tells of those whose arguments `keep` wants; it wants none whose command line
/// holds none of `words`, if there are any. Fails only when `/proc` itself cannot be listed.
pub async fn processes(place: &Place, words: &[String], keep: impl Fn(&[String]) -> bool) -> Result<Processes, Blind> {
    let all = place.commands(words).await?;
    let mut out = Processes {
        seen: all.seen,
        vanished: all.vanished,
        denied: all.denied,
        hidden: all.hidden,
        ..Processes::default()
    };
    if all.cut {
        out.notes.push(Note::new("processes-cut", format!("more than {PROCESSES} processes: the rest was not seen")));
    }
    out.notes.extend(all.hung.iter().map(|why| Note::new("process-hangs", why)));
    let wanted = wanted(all.found, keep, &mut out);
    if wanted.is_empty() {
        return Ok(out);
    }
    let drafts = drafts(place, wanted, &mut out).await;
    let sockets = sockets(place, &drafts, &mut out).await;
    let tables = tables(place, &drafts).await;
    let ours = listeners_at(place, "self").await;
    for mut process in drafts {
        let table = tables.get(&namespace(&process)).map_or(&[][..], Vec::as_slice);
        process.netns_mark = table.iter().map(|listener| listener.inode).min();
        if process.same_netns_as_us.is_none() {
            process.same_netns_as_us = ours.as_ref().and_then(|ours| same_namespace(table, ours));
        }
        let inodes: BTreeSet<u64> =
            process.family.iter().filter_map(|pid| sockets.get(pid)?.as_ref()).flatten().copied().collect();
        process.listening = addresses(table, |listener| inodes.contains(&listener.inode));
        if let Some(Some(own)) = sockets.get(&process.pid) {
            process.listening_itself = addresses(table, |listener| own.contains(&listener.inode));
        }
        if sockets.get(&process.pid).is_some_and(Option::is_none) {
            process.denied.push("fd");
            let own = addresses(table, |listener| listener.uid == process.uid);
            process.maybe_listening = if own.is_empty() { addresses(table, |_| true) } else { own };
        }
        out.denied += process.denied.len();
        out.found.push(process);
    }
    Ok(out)
}

/// The processes whose arguments `keep` wants.
fn wanted(found: Vec<CommandLine>, keep: impl Fn(&[String]) -> bool, out: &mut Processes) -> Vec<(u32, Vec<String>)> {
    let mut wanted = Vec::new();
    for CommandLine { pid, bytes, cut } in found {
        let argv = split_argv(&bytes);
        if argv.is_empty() || !keep(&argv) {
            continue;
        }
        if cut {
            let text =
                format!("the command line of process {pid} is longer than {CMDLINE} bytes: its end was not seen");
            out.notes.push(Note::new("cmdline-cut", text));
        }
        wanted.push((pid, argv));
    }
    wanted
}

/// Everything about the wanted processes but their sockets.
async fn drafts(place: &Place, wanted: Vec<(u32, Vec<String>)>, out: &mut Processes) -> Vec<Process> {
    let mut known = BTreeMap::new();
    let mut family = Family::default();
    for kin in place.kin().await.unwrap_or_default() {
        family.add(kin.pid, kin.ppid);
        known.insert(kin.pid, kin);
    }
    let booted = place.read("/proc/stat", TABLE).await.ok().and_then(|content| stat::boot_time(&content.text()));
    let ours = place.link("/proc/self/ns/net").await.ok().and_then(|link| inode(&link, "net"));
    let kept: Vec<u32> = wanted.iter().map(|(pid, _)| *pid).collect();
    let states = place.read_each(paths(&kept, "status"), SMALL).await;
    let cgroups = place.read_each(paths(&kept, "cgroup"), SMALL).await;
    let mut links = [Vec::new(), Vec::new(), Vec::new()];
    for (links, name) in links.iter_mut().zip(["exe", "cwd", "ns/net"]) {
        *links = place.link_each(paths(&kept, name)).await;
    }
    let [exes, cwds, spaces] = links;
    let parts = states.into_iter().zip(cgroups).zip(exes.into_iter().zip(cwds).zip(spaces));
    let mut drafts = Vec::new();
    for ((pid, argv), ((status, cgroup), ((exe, cwd), space))) in wanted.into_iter().zip(parts) {
        let kin = known.get(&pid);
        let uid = status.ok().and_then(|content: Content| stat::uid_of(&content.text()));
        let (Some(kin), Some(uid)) = (kin, uid) else {
            out.vanished += 1;
            continue;
        };
        let mut denied = Vec::new();
        let exe = seen(exe, "exe", &mut denied);
        let cwd = seen(cwd, "cwd", &mut denied);
        let netns = seen(space, "ns/net", &mut denied).and_then(|link| inode(&link, "net"));
        let cgroup = seen(cgroup, "cgroup", &mut denied).map(|content| content.text()).unwrap_or_default();
        let family = family.of(pid, FAMILY);
        if family.len() == FAMILY {
            let text =
                format!("process {pid} has {FAMILY} descendants or more: sockets of the rest were not looked at");
            out.notes.push(Note::new("descendants-cut", text));
        }
        let process = Process {
            pid,
            ppid: kin.ppid,
            family,
            argv,
            exe,
            cwd,
            started_at: Time(booted.unwrap_or(0.0) + kin.started),
            since_boot: kin.started,
            uid,
            unit: cgroup::unit_of(&cgroup),
            container: cgroup::container_of(&cgroup),
            netns,
            netns_mark: None,
            same_netns_as_us: netns.zip(ours).map(|(its, ours)| its == ours),
            listening: Vec::new(),
            listening_itself: Vec::new(),
            maybe_listening: Vec::new(),
            denied,
        };
        drafts.push(process);
    }
    drafts
}

/// The inodes of the sockets that each process of each family holds; `None` where we may not look.
async fn sockets(place: &Place, drafts: &[Process], out: &mut Processes) -> BTreeMap<u32, Option<BTreeSet<u64>>> {
    let pids: BTreeSet<u32> = drafts.iter().flat_map(|process| process.family.iter().copied()).collect();
    let pids: Vec<u32> = pids.into_iter().collect();
    let opened = opened(place, &pids, FDS).await;
    for pid in opened.cut {
        let text = format!("process {pid} has more than {FDS} open files: the rest was not looked at");
        out.notes.push(Note::new("fds-cut", text));
    }
    let mut found: BTreeMap<u32, Option<BTreeSet<u64>>> =
        pids.iter().map(|pid| (*pid, Some(BTreeSet::new()))).collect();
    for open in &opened.open {
        if let (Some(inode), Some(Some(inodes))) = (inode(&open.link, "socket"), found.get_mut(&open.pid)) {
            inodes.insert(inode);
        }
    }
    found.extend(opened.denied.into_iter().map(|pid| (pid, None)));
    found
}

/// The listeners of each network namespace, read once through one of its processes.
async fn tables(place: &Place, drafts: &[Process]) -> BTreeMap<(bool, u64), Vec<Listener>> {
    let mut tables = BTreeMap::new();
    for process in drafts {
        let key = namespace(process);
        if tables.contains_key(&key) {
            continue;
        }
        // a process that ended meanwhile leaves the look to the next one of its namespace
        if let Some(listeners) = listeners_at(place, &process.pid.to_string()).await {
            tables.insert(key, listeners);
        }
    }
    tables
}

/// The listeners of the network namespace of process `pid` (or `self`), which everybody may read.
pub(super) async fn listeners_at(place: &Place, pid: &str) -> Option<Vec<Listener>> {
    let files = ["tcp", "tcp6"].map(|name| PathBuf::from(format!("/proc/{pid}/net/{name}")));
    // Of a table of all connections only those that listen, which is few of it.
    let contents = place.lines_each(files.to_vec(), &[" 0A "], TABLE).await;
    contents.iter().any(Result::is_ok).then(|| {
        let texts = contents.into_iter().filter_map(Result::ok).map(|content| content.text());
        texts.flat_map(|text| listeners(&text)).collect()
    })
}

/// Whether two tables of listeners are of one namespace: a socket stands in one namespace only. Two empty tables do not
/// tell.
fn same_namespace(its: &[Listener], ours: &[Listener]) -> Option<bool> {
    if its.is_empty() && ours.is_empty() {
        return None;
    }
    Some(its.iter().any(|listener| ours.iter().any(|own| own.inode == listener.inode)))
}

/// The network namespace; where that is hidden, the process stands for itself.
fn namespace(process: &Process) -> (bool, u64) {
    process.netns.map_or((false, u64::from(process.pid)), |inode| (true, inode))
}

fn addresses(table: &[Listener], which: impl Fn(&Listener) -> bool) -> Vec<std::net::SocketAddr> {
    let mut found: Vec<_> = table.iter().filter(|listener| which(listener)).map(|listener| listener.address).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The part, or its name among the denied.
fn seen<T>(part: Result<T, Blind>, name: &'static str, denied: &mut Vec<&'static str>) -> Option<T> {
    match part {
        Ok(part) => Some(part),
        Err(blind) => {
            if blind.kind == BlindKind::Denied {
                denied.push(name);
            }
            None
        }
    }
}

fn paths(pids: &[u32], name: &str) -> Vec<PathBuf> {
    pids.iter().map(|pid| PathBuf::from(format!("/proc/{pid}/{name}"))).collect()
}
