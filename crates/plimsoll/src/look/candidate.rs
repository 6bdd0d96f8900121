//! Candidates: what may be a server, before it is asked; and what it was found to be.

use std::collections::BTreeMap;

use engines::Whereabouts;
use model::{Account, Facts, Note, Observation};
use sense::Target;

/// Something that may be a server.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The engine, where a process or an earlier answer told it.
    pub(crate) engine: Option<String>,
    /// What is served where: `api`, `prometheus`.
    pub(crate) ports: BTreeMap<String, Target>,
    /// Ports of which it is not known what they serve; asked to find out.
    pub(crate) unsorted: Vec<Target>,
    /// Facts of its command line.
    pub(crate) flags: Facts,
    /// How it is started.
    pub(crate) place: Whereabouts,
    /// Remarks from finding it.
    pub(crate) notes: Vec<Note>,
    /// A router named it.
    pub(crate) named_by: Option<String>,
}

/// A candidate that was asked.
#[derive(Debug, Clone)]
pub(crate) struct Looked {
    /// What it was.
    pub(crate) candidate: Candidate,
    /// Everything that came back.
    pub(crate) observations: Vec<Observation>,
    /// What that means.
    pub(crate) account: Account,
    /// How its pools were chosen; filled when joined.
    pub(crate) choices: Vec<fleet::Choice>,
    /// How each need stands; filled when joined.
    pub(crate) findings: Vec<model::Finding>,
    /// Seconds spent on it.
    pub(crate) took: f64,
}

impl Candidate {
    /// A target that was given.
    pub(crate) fn given(target: Target) -> Candidate {
        Candidate {
            engine: None,
            ports: BTreeMap::new(),
            unsorted: vec![target],
            flags: Facts::new(),
            place: Whereabouts::default(),
            notes: Vec::new(),
            named_by: None,
        }
    }

    /// The target that stands for the candidate: its API if it has one.
    pub(crate) fn face(&self) -> Option<&Target> {
        self.ports.get("api").or_else(|| self.ports.values().next()).or_else(|| self.unsorted.first())
    }

    /// Its address for people.
    pub(crate) fn url(&self) -> String {
        self.face().map(ToString::to_string).unwrap_or_default()
    }

    /// Whether a target is one of its ports.
    pub(crate) fn has(&self, other: &Target) -> bool {
        self.ports.values().chain(&self.unsorted).any(|own| same(own, other))
    }
}

/// Whether two targets are one place: loopback names are alike.
pub(crate) fn same(one: &Target, other: &Target) -> bool {
    let host =
        |target: &Target| if target.base.is_loopback() { "localhost".to_owned() } else { target.base.host.clone() };
    one.base.port == other.base.port
        && one.base.prefix == other.base.prefix
        && one.namespace.is_some() == other.namespace.is_some()
        && host(one) == host(other)
}
