//! Candidates: what may be a server, before it is asked; and what it was found to be.

use std::collections::BTreeMap;

use engines::Whereabouts;
use model::{Account, Facts, Note, Observation};
use sense::Target;

use super::identity::{Atlas, Spot};
use super::named::Named;

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
    /// Everything that came back; bodies are dropped once they are understood.
    pub(crate) observations: Vec<Observation>,
    /// The workers that it names, if it is a router.
    pub(crate) named: Vec<Named>,
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

    /// All its ports.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.ports.values().chain(&self.unsorted)
    }

    /// Where its ports are.
    pub(crate) fn spots(&self, atlas: &Atlas) -> Vec<Spot> {
        self.targets().flat_map(|target| atlas.spots(target)).collect()
    }
}
