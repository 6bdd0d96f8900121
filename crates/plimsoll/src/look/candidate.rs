//! Candidates: what may be a server, before it is asked; and what it was found to be.

use std::collections::BTreeMap;

use engines::Whereabouts;
use model::{Account, Facts, GpuMemory, Log, Note, Observation};
use sense::{Process, Target};

use super::beside::Writes;
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
    /// Its process, if it was found by it.
    pub(crate) process: Option<Box<Process>>,
    /// Where it writes.
    pub(crate) writes: Option<Writes>,
    /// Logs of it that were given.
    pub(crate) logs: Vec<Log>,
    /// What it holds of its host.
    pub(crate) hardware: Hardware,
    /// Remarks from finding it.
    pub(crate) notes: Vec<Note>,
    /// A router named it.
    pub(crate) named_by: Option<String>,
    /// What stands for an address, where there is none: the files that tell of it.
    pub(crate) title: Option<String>,
}

/// What a server holds of its host, where visible.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hardware {
    /// The NUMA nodes that it is bound to.
    pub(crate) numa_nodes: Option<Vec<u32>>,
    /// What it holds of accelerators' memory.
    pub(crate) gpus: Vec<GpuMemory>,
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
    /// Its installed source, in a deep look.
    pub(crate) source: Option<crate::report::Source>,
    /// How each need stands; filled when joined.
    pub(crate) findings: Vec<model::Finding>,
    /// Seconds spent on it.
    pub(crate) took: f64,
}

impl Looked {
    /// A candidate that nobody was asked about, with what is known of it.
    pub(crate) fn of(candidate: Candidate, account: Account) -> Looked {
        let (observations, named, choices, findings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Looked { candidate, observations, named, account, choices, findings, source: None, took: 0.0 }
    }
}

impl Candidate {
    /// A candidate of which nothing is known.
    pub(crate) fn nothing() -> Candidate {
        Candidate {
            engine: None,
            ports: BTreeMap::new(),
            unsorted: Vec::new(),
            flags: Facts::new(),
            place: Whereabouts::default(),
            process: None,
            writes: None,
            logs: Vec::new(),
            hardware: Hardware::default(),
            notes: Vec::new(),
            named_by: None,
            title: None,
        }
    }

    /// A target that was given.
    pub(crate) fn given(target: Target) -> Candidate {
        Candidate { unsorted: vec![target], ..Candidate::nothing() }
    }

    /// The target that stands for the candidate: its API if it has one.
    pub(crate) fn face(&self) -> Option<&Target> {
        self.ports.get("api").or_else(|| self.ports.values().next()).or_else(|| self.unsorted.first())
    }

    /// Its address for people.
    pub(crate) fn url(&self) -> String {
        let title = || self.title.clone().map(model::text::visible);
        self.face().map(ToString::to_string).or_else(title).unwrap_or_default()
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
