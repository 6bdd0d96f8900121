//! Events of the last minute: a log has a window, also for a single look.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, RankValue, Reading, Signal};

use super::{Dated, Scanned, Seen, ranks};
use crate::table::condition::Holds;
use crate::table::{Line, Table};

/// Seconds back from the look, or from the newest line of a saved log, in which events count.
const WINDOW_S: f64 = 60.0;

/// Events by the tensor- and the pipeline-parallel rank that printed them.
type Copies = BTreeMap<(Option<u32>, Option<u32>), f64>;

/// Counts events for each data-parallel rank. Tensor and pipeline ranks run in lockstep and may each print an event:
/// the one that printed most counts. Nothing is counted when the log was not read back far enough.
pub(super) fn count(table: &Table, trust: u16, scanned: &Scanned, told: &[&Seen], account: &Account) -> Vec<RankValue> {
    let holds = |row: &Line| row.when.as_ref().is_none_or(|when| when.holds(|name| account.fact(name)) == Holds::Yes);
    let signals: BTreeSet<Signal> =
        table.lines.iter().filter(|row| holds(row)).filter_map(|row| Some(row.count.as_ref()?.signal)).collect();
    let begins = scanned.as_of.plus(-WINDOW_S);
    // A line without a time may be of any minute; one that only tells how far it is from others is of one minute with them.
    let undated = |seen: &&&Seen| seen.dated == Dated::No && table.lines[seen.row].count.is_some();
    // Nor is it known of which minute one is whose time is only bounded, where the minute begins between the bounds.
    let open = |seen: &&&Seen| seen.at < begins && seen.upto >= begins && table.lines[seen.row].count.is_some();
    if !scanned.covers(begins) || told.iter().any(|seen| undated(&seen) || open(&seen)) {
        return Vec::new();
    }
    let mut by_rank: BTreeMap<(Signal, Option<u32>), Copies> = BTreeMap::new();
    for rank in scanned.lines.iter().map(|seen| ranks::rank(&seen.said(), account)) {
        for signal in &signals {
            by_rank.entry((*signal, rank.dp)).or_default();
        }
    }
    for seen in told.iter().filter(|seen| seen.at >= begins) {
        let Some(count) = table.lines[seen.row].count.as_ref().filter(|count| signals.contains(&count.signal)) else {
            continue;
        };
        let rank = ranks::rank(&seen.said(), account);
        let many = count.key.as_ref().and_then(|key| seen.number(key)).unwrap_or(1.0);
        if (0.0..1.0e9).contains(&many) {
            let copies = by_rank.entry((count.signal, rank.dp)).or_default();
            *copies.entry((rank.tp, rank.pp)).or_default() += many;
        }
    }
    let apart = scanned.lines.iter().any(|seen| seen.dated == Dated::Apart);
    let value = |((signal, dp), copies): ((Signal, Option<u32>), BTreeMap<_, f64>)| {
        let most = copies.into_values().fold(0.0, f64::max);
        let source = format!("{}, lines of the last {WINDOW_S:.0} s", scanned.name);
        // A server that was started anew for what it threw out has thrown out nothing yet.
        let young = scanned.began.filter(|began| *began > begins && most == 0.0);
        let reading = match young {
            Some(began) => Reading::not_reported(signal.unit(), too_young(scanned.as_of.since(began))),
            None => Reading::reported(most, signal.unit(), source, scanned.as_of).within(Some(0.0)).untimed(apart),
        };
        RankValue { trust, rank: model::RankId { dp, ..model::RankId::ZERO }, signal, reading }
    };
    by_rank.into_iter().map(value).collect()
}

fn too_young(age: f64) -> String {
    format!("by its log this run began {age:.0} s ago, and of the minute before now no more is known of it")
}
