//! What a process takes of its host: memory and NUMA nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use model::Time;

use super::stat::{boot_time, stat_of};
use crate::place::Place;

/// Largest small file that is read, bytes.
const SMALL: usize = 64 << 10;
/// Largest `/proc/stat` that is read, bytes: it has a line for every processor before the time of the boot.
const STAT: usize = 1 << 20;
/// Where the kernel lists the nodes.
const NODES: &str = "/sys/devices/system/node";
/// Most nodes and processors that a list may name.
const MOST: u32 = 8192;

/// What a process takes of its host; `None` where that is not visible.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The process.
    pub pid: u32,
    /// When it started.
    pub started_at: Option<Time>,
    /// The memory that it holds, bytes, shared pages included.
    pub resident: Option<u64>,
    /// The NUMA nodes to which it is bound, by memory or else by processors; `None` also when it may use them all.
    pub numa: Option<Vec<u32>>,
}

/// What these processes take, in the order asked. The binding of memory by policy (`numactl --membind`) is not shown by the
/// kernel in these files, that of processors (`--cpunodebind`) and of control groups is.
pub async fn facts_of(place: &Place, pids: &[u32]) -> Vec<Facts> {
    let file = |name: &str| pids.iter().map(|pid| PathBuf::from(format!("/proc/{pid}/{name}"))).collect();
    let states = texts(place, file("status")).await;
    let starts = texts(place, file("stat")).await;
    let booted = place.read("/proc/stat", STAT).await.ok().and_then(|content| boot_time(&content.text()));
    let nodes = nodes(place).await;
    let mut facts = Vec::with_capacity(pids.len());
    for ((&pid, state), start) in pids.iter().zip(states).zip(starts) {
        let started_at = booted.zip(stat_of(&start)).map(|(booted, stat)| Time(booted + stat.started));
        facts.push(Facts { pid, started_at, resident: resident(&state), numa: bound(&state, &nodes) });
    }
    facts
}

/// The texts of small files; empty where there is none.
async fn texts(place: &Place, paths: Vec<PathBuf>) -> Vec<String> {
    let texts = place.read_each(paths, SMALL).await.into_iter();
    texts.map(|content| content.map(|content| content.text()).unwrap_or_default()).collect()
}

/// The NUMA nodes to which a process is bound; `None` when it may use them all, or that cannot be told.
pub async fn numa_of(place: &Place, pid: u32) -> Option<Vec<u32>> {
    facts_of(place, &[pid]).await.pop()?.numa
}

/// The host's nodes with their processors.
async fn nodes(place: &Place) -> BTreeMap<u32, BTreeSet<u32>> {
    let online = texts(place, vec![PathBuf::from(format!("{NODES}/online"))]).await.concat();
    let nodes: Vec<u32> = numbers(&online).into_iter().collect();
    let lists = texts(place, nodes.iter().map(|node| PathBuf::from(format!("{NODES}/node{node}/cpulist"))).collect());
    nodes.iter().copied().zip(lists.await.iter().map(|list| numbers(list))).collect()
}

/// The nodes that a `status` allows, where they are fewer than there are.
fn bound(status: &str, nodes: &BTreeMap<u32, BTreeSet<u32>>) -> Option<Vec<u32>> {
    let memory = numbers(field(status, "Mems_allowed_list:")?);
    let memory: Vec<u32> = nodes.keys().copied().filter(|node| memory.contains(node)).collect();
    if !memory.is_empty() && memory.len() < nodes.len() {
        return Some(memory);
    }
    let cpus = numbers(field(status, "Cpus_allowed_list:")?);
    // nodes of memory alone have no processors, and bind nobody
    let with_cpus = nodes.iter().filter(|(_, own)| !own.is_empty());
    let used: Vec<u32> = with_cpus.clone().filter(|(_, own)| !own.is_disjoint(&cpus)).map(|(node, _)| *node).collect();
    (!used.is_empty() && used.len() < with_cpus.count()).then_some(used)
}

/// Resident memory in a `status`, bytes.
fn resident(status: &str) -> Option<u64> {
    let kib: u64 = field(status, "VmRSS:")?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The numbers of a list such as `0-3,8,10-11`; parts that are not understood are passed over.
pub fn numbers(text: &str) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            all.extend(first..=last.min(MOST));
        }
    }
    all
}
