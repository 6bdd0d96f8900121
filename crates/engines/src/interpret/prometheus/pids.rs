//! Processes behind one page: their copies and their ranks.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, Note};

use super::{Part, Place, Seen};
use crate::table::Source;

/// Samples of one rank that differ only in their process id: equal ones are copies of one process's number, unequal ones
/// are ranks that nothing but the process id tells apart.
pub(super) fn tell_apart(source: &Source, seen: &mut Vec<Seen<'_>>, account: &mut Account) {
    let mut groups: BTreeMap<(Part, Place<'_>), Vec<(u64, f64)>> = BTreeMap::new();
    for sample in seen.iter() {
        if let Some(pid) = sample.met.pid {
            groups.entry((sample.met.part, sample.place)).or_default().push((pid, sample.value));
        }
    }
    let several = |group: &&Vec<(u64, f64)>| group.iter().map(|(pid, _)| pid).collect::<BTreeSet<_>>().len() > 1;
    let differ = groups.values().filter(several).any(|group| group.iter().any(|(_, value)| *value != group[0].1));
    let copied = groups.values().filter(several).count();
    if copied == 0 {
        return;
    }
    if !differ {
        let mut kept = BTreeSet::new();
        seen.retain(|sample| sample.met.pid.is_none() || kept.insert((sample.met.part, sample.place)));
        let text = format!(
            "GET {}: {copied} series stand once per process with equal values; copies were dropped",
            source.get
        );
        account.notes.push(Note::new("pid-copies", text));
        return;
    }
    if seen.iter().all(|sample| sample.met.pid.is_none() || sample.place.dp.is_some()) {
        // Another label names the rank.
        return;
    }
    let pids: BTreeSet<u64> = seen.iter().filter_map(|sample| sample.met.pid).collect();
    let ranks: BTreeMap<u64, u32> = pids.into_iter().zip(0..).collect();
    for sample in seen.iter_mut() {
        if let (Some(pid), None) = (sample.met.pid, sample.place.dp) {
            sample.place.dp = ranks.get(&pid).copied();
        }
    }
    let text = format!(
        "GET {}: {} ranks are told apart by their process id alone; their order is that of the ids",
        source.get,
        ranks.len()
    );
    account.notes.push(Note::new("ranks-by-pid", text));
}
