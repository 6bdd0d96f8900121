//! What the next look at a server need not ask again. Pages from which nothing fresh is shown say what hardly changes:
//! flags, versions, capacities that another page repeats. They are asked once a minute, and their last answer stands
//! meanwhile, as old as it is.

use std::collections::BTreeSet;

use engines::table::Table;
use engines::table::condition::Holds;
use model::{Log, Observation, Reading, Server};

use crate::look::candidate::Kept;

/// Which answers stood still.
#[derive(Debug, Clone, Default)]
pub(super) struct Still {
    /// The addresses of the pages.
    pages: BTreeSet<String>,
    /// What is read beside them did, too.
    beside: bool,
}

impl Still {
    /// Drops what is to be asked again.
    pub(super) fn sift(&self, kept: &mut Kept) {
        kept.observations.retain(|seen| self.pages.contains(&seen.url));
        kept.read_on |= !self.beside;
    }
}

/// Drops what is to be asked again, by what is shown of the server, and tells what is not.
pub(super) fn sift(kept: &mut Kept, server: &Server, table: Option<&Table>) -> Still {
    let sources = sources(server);
    let speaks = |name: &str| sources.iter().any(|source| source.contains(name));
    // A router's numbers are its workers' health: it is asked as a whole.
    if server.role == model::Role::Router || server.unreachable.is_some() {
        kept.ask_all();
        return Still::default();
    }
    let relies = |get: &str| table.is_some_and(|table| needs(table, get));
    let told = |get: &str| kept.observations.iter().any(|seen| seen.get == get && speaks(&seen.url));
    let spared = |get: &str| table.is_some_and(|table| spares(table, get, server, told));
    let still = |seen: &&Observation| {
        let good = seen.outcome.as_ref().is_ok_and(|answer| answer.status < 500);
        good && (spared(&seen.get) || !speaks(&seen.url) && !relies(&seen.get))
    };
    let beside = kept.beside.as_ref().is_some_and(|beside| {
        let silent = |log: &Log| log.outcome.is_ok() && !speaks(&log.name);
        beside.slabs.is_empty() && !beside.logs.is_empty() && beside.logs.iter().all(silent)
    });
    let pages = kept.observations.iter().filter(still).map(|seen| seen.url.clone()).collect();
    let still = Still { pages, beside };
    kept.read_on = false;
    still.sift(kept);
    still
}

/// Whether a page stands in for another, or leads to workers: whether it is asked hangs on what others answered.
fn needs(table: &Table, get: &str) -> bool {
    table.sources.iter().any(|source| source.get == get && (source.workers.is_some() || !source.unless.is_empty()))
}

/// Whether another page, which told something, is asked in its place.
fn spares(table: &Table, get: &str, server: &Server, told: impl Fn(&str) -> bool) -> bool {
    let fact = |name: &str| match name {
        "role" => Some(server.role.name()),
        "version" => server.version.as_deref(),
        _ => None,
    };
    let named = |id: &str| table.sources.iter().find(|source| source.id == id);
    let spared = table.sources.iter().filter(|source| source.get == get).filter_map(|source| source.spare.as_ref());
    let mut spared = spared.filter(|spare| spare.when.holds(fact) == Holds::Yes);
    spared.any(|spare| named(&spare.beside).is_some_and(|other| told(&other.get)))
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
