//! Candidates: what may be a server, before it is asked; and what it was found to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use engines::{Trees, Whereabouts};
use model::{Account, Facts, GpuMemory, Log, Note, Observation, Sign};
use sense::http::Scheme;
use sense::{Process, Target};

use super::beside::{Beside, Writes};
use super::discover::target;
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
    /// It says that it has no port to be asked on: the address only stands for it.
    pub(crate) mute: bool,
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
    /// It was not asked, and a router alone tells of it: the host that it names.
    pub(crate) alone: Option<String>,
    /// What stands for an address, where there is none: the files that tell of it, or what its router calls it.
    pub(crate) title: Option<String>,
    /// Which of the servers it is on whose page it stands with others, as that names it.
    pub(crate) part: Option<String>,
    /// The host on which its addresses mean something, where that is not this one: `ssh://gpu-a`.
    pub(crate) via: Option<Arc<str>>,
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
    /// Known troubles that its numbers show, worst first; filled when joined.
    pub(crate) signs: Vec<Sign>,
    /// What it was joined to, in a watch, for as long as nothing new is heard of it.
    pub(crate) again: Option<Box<fleet::Again>>,
    /// Seconds spent on it.
    pub(crate) took: f64,
    /// The number of the site that it was seen from.
    pub(crate) site: usize,
    /// Its number in a watch.
    pub(crate) known: usize,
    /// Seconds between looks at it, in a watch; 0 where it is looked at once.
    pub(crate) every_s: f64,
    /// What the next look at it may go on from, in a watch.
    pub(crate) kept: Kept,
    /// A router's page of its workers' pages, and the label that tells them apart, until it is read for them.
    pub(crate) relayed: Option<(String, Observation)>,
    /// Whose copy of its page was read for it.
    pub(crate) relay: Option<Box<Relay>>,
}

/// What stands in for what a server did not say itself.
#[derive(Debug, Clone)]
pub(crate) struct Relay {
    /// When its router gave the copy.
    pub(crate) at: model::Time,
    /// What it said itself.
    pub(crate) own: Account,
}

/// What was brought and is still true: answers that say what does not change from one look to the next, with their bodies,
/// and logs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    /// Answers of pages.
    pub(crate) observations: Vec<Observation>,
    /// What was taken apart of them.
    pub(crate) trees: Trees,
    /// What was read beside them.
    pub(crate) beside: Option<Beside>,
    /// That is read again, and the logs are read on from where they ended.
    pub(crate) read_on: bool,
}

impl Kept {
    /// Everything is asked again.
    pub(crate) fn ask_all(&mut self) {
        *self = Kept { beside: self.beside.take(), read_on: true, ..Kept::default() };
    }
}

impl Looked {
    /// A candidate that nobody was asked about, with what is known of it.
    pub(crate) fn of(candidate: Candidate, account: Account) -> Looked {
        Looked {
            candidate,
            observations: Vec::new(),
            named: Vec::new(),
            account,
            choices: Vec::new(),
            source: None,
            findings: Vec::new(),
            signs: Vec::new(),
            again: None,
            took: 0.0,
            site: 0,
            known: usize::MAX,
            every_s: 0.0,
            kept: Kept::default(),
            relayed: None,
            relay: None,
        }
    }
}

impl Candidate {
    /// A candidate of which nothing is known.
    pub(crate) fn nothing() -> Candidate {
        Candidate {
            engine: None,
            ports: BTreeMap::new(),
            unsorted: Vec::new(),
            mute: false,
            flags: Facts::new(),
            place: Whereabouts::default(),
            process: None,
            writes: None,
            logs: Vec::new(),
            hardware: Hardware::default(),
            notes: Vec::new(),
            named_by: None,
            alone: None,
            title: None,
            part: None,
            via: None,
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

    /// Its address for people; of a server on another host one that may be given as a target.
    pub(crate) fn url(&self) -> String {
        let title = || self.title.clone().map(model::text::visible);
        let address = match (self.face(), &self.via) {
            (Some(face), None) => face.to_string(),
            (Some(face), Some(via)) => beyond(via, face),
            (None, Some(via)) if self.alone.is_some() => format!("{via}/{}", title().unwrap_or_default()),
            (None, _) => title().unwrap_or_default(),
        };
        match &self.part {
            Some(part) => format!("{address}#{part}"),
            None => address,
        }
    }

    /// The host that it is on, for people: the name that ssh knows, or the host of its address.
    pub(crate) fn host(&self) -> String {
        let beyond = self.via.as_deref().and_then(|via| via.parse::<sense::ssh::Destination>().ok());
        let own = || self.face().map(|face| face.base.host.clone()).or_else(|| self.alone.clone()).unwrap_or_default();
        beyond.map_or_else(own, |via| via.host().to_owned())
    }

    /// All its ports.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.ports.values().chain(&self.unsorted)
    }

    /// Where its process itself listens, whatever that serves: a router may know it by a port that is not asked.
    pub(crate) fn sockets(&self, atlas: &Atlas) -> Vec<Spot> {
        let own = self.process.iter().flat_map(|process| process.listening_itself.iter().map(move |at| (process, at)));
        own.flat_map(|(process, at)| atlas.spots(&target(*at, Scheme::Http, process))).collect()
    }

    /// Where its ports are.
    pub(crate) fn spots(&self, atlas: &Atlas) -> Vec<Spot> {
        self.targets().flat_map(|target| atlas.spots(target)).collect()
    }
}

/// The address of `target` on the host `via`; plain HTTP goes without saying.
pub(crate) fn beyond(via: &str, target: &Target) -> String {
    let address = target.to_string();
    format!("{via}/{}", address.strip_prefix("http://").unwrap_or(&address))
}
