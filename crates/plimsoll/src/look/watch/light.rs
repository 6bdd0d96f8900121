//! What the next look at a server need not ask again. Pages from which nothing fresh is shown say what hardly changes:
//! flags, versions, capacities that another page repeats. They are asked once a minute, and their last answer stands
//! meanwhile, as old as it is.

use engines::table::Table;
use model::{Reading, Server};

use crate::look::candidate::Kept;

/// Drops what is to be asked again.
pub(super) fn sift(kept: &mut Kept, server: &Server, table: Option<&Table>) {
    let sources = sources(server);
    let speaks = |name: &str| sources.iter().any(|source| source.contains(name));
    // A router's numbers are its workers' health: it is asked as a whole.
    if server.role == model::Role::Router || server.unreachable.is_some() {
        *kept = Kept::default();
        return;
    }
    let relies = |get: &str| table.is_some_and(|table| needs(table, get));
    kept.observations.retain(|seen| {
        let good = seen.outcome.as_ref().is_ok_and(|answer| answer.status < 500);
        good && !speaks(&seen.url) && !relies(&seen.get)
    });
    let beside = kept.beside.take().filter(|beside| {
        let slabs = beside.slabs.is_empty();
        let logs = beside.logs.iter().all(|log| log.outcome.is_ok() && !speaks(&log.name));
        slabs && logs && !beside.logs.is_empty()
    });
    kept.beside = beside;
}

/// Whether a page stands in for another, or leads to workers: whether it is asked hangs on what others answered.
fn needs(table: &Table, get: &str) -> bool {
    table.sources.iter().any(|source| source.get == get && (source.workers.is_some() || !source.unless.is_empty()))
}

/// Where the fresh numbers of a server come from.
fn sources(server: &Server) -> Vec<&str> {
    let pools = server.ranks.iter().flat_map(|rank| rank.pools.iter().flat_map(|pool| pool.readings.values()));
    let ranks = server.ranks.iter().flat_map(|rank| rank.readings.values());
    let mut sources: Vec<&str> = pools.chain(ranks).filter_map(fresh).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

fn fresh(reading: &Reading) -> Option<&str> {
    reading.fresh().and(reading.source.as_deref())
}
