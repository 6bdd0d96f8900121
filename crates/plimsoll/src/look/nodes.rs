//! Servers over several nodes: which parts of them cannot be asked from here, and where to look.

use engines::table::Table;
use model::{Fix, Gap};

use super::candidate::Candidate;

/// The gap for a process that is not the first node of its server: only that one has the API.
pub(super) fn elsewhere(table: &Table, candidate: &Candidate) -> Option<Gap> {
    let fact = |name: &str| candidate.flags.get(name).map(|fact| fact.value.as_str());
    let number = |name: &str| fact(name).and_then(|value| value.parse::<u32>().ok());
    let node = number("node_rank").filter(|node| *node > 0)?;
    let nodes = number("nnodes").map_or_else(|| "several".to_owned(), |nodes| nodes.to_string());
    let pid = candidate.place.pid.map_or_else(String::new, |pid| format!("pid {pid} "));
    let first = match fact("dist_init_addr") {
        Some(address) => format!("node 0, on the host of {address}"),
        None => "node 0 of the same server".to_owned(),
    };
    Some(Gap {
        id: "other-node".to_owned(),
        server: None,
        what: format!("ranks of a {} server whose API is on another node", table.engine.title),
        evidence: format!("{pid}is node {node} of {nodes} ({})", candidate.flags.get("node_rank")?.source),
        fix: Fix { flag: None, place: format!("{first}: look there"), series: Vec::new() },
        price: String::new(),
        meanwhile: "nothing of it is asked here: only its first node answers".to_owned(),
    })
}
