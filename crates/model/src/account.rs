//! Accounts: everything that one server said in one look, understood but not yet joined. `engines` writes them from
//! observations, `fleet` joins them to servers of a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use crate::text::printable;
use crate::{Note, RankId, Reading, Readings, Role, Signal, Time, Trouble};

/// Facts about a server that are not numbers of the moment: version, role, flags. Keyed by the name that the engine's
/// tables give them.
pub type Facts = BTreeMap<String, Fact>;

/// One fact and who said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The value as text; switches are `on` or `off`.
    pub value: String,
    /// Where it was read, for people, e.g. `/server_info enable_metrics`.
    pub source: String,
    /// Higher wins when two sources differ: 0 a default, 1 the command line, 2 the server's own word.
    pub weight: u8,
}

/// What one server said.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The engine's name, or none when the answers fit no table.
    pub engine: Option<String>,
    /// Facts, the weightiest of each name.
    pub facts: Facts,
    /// Candidate sets for each pool of each rank.
    pub sets: Vec<PoolSet>,
    /// Readings of ranks that belong to no pool.
    pub values: Vec<RankValue>,
    /// Pools (and their tiers) below the device that requests cannot run without.
    pub binding: BTreeSet<(String, String)>,
    /// The workers that a router lists.
    pub workers: Vec<Worker>,
    /// What a router says about its workers.
    pub views: Vec<View>,
    /// What became of each source that was asked.
    pub sources: Vec<SourceStatus>,
    /// Remarks from reading.
    pub notes: Vec<Note>,
    /// What it says of itself that is trouble by itself, in the table's order.
    pub troubles: Vec<Trouble>,
    /// Series of the table that stand in an answer without a number.
    pub unsaid: Vec<Unsaid>,
}

/// A series that stands in an answer, and no number of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaid {
    /// The source's id in the engine's table.
    pub source: String,
    /// The series as the table calls it.
    pub name: String,
    /// Why there is none.
    pub how: Silence,
}

/// Why a series that stands in an answer has no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// It is declared, and has no sample so far.
    Declared,
    /// Its line is the last one and has no end: the number may have lost digits.
    Cut,
}

/// The numbers of one pool of one rank, all from one observation.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolSet {
    /// The source's id in the engine's table.
    pub source: String,
    /// Place in the table: of two equally precise sets the lower wins.
    pub trust: u16,
    /// Which rank.
    pub rank: RankId,
    /// Which pool.
    pub pool: String,
    /// Which tier.
    pub tier: String,
    /// When the source took the numbers.
    pub at: Time,
    /// The source looks at the pool when it is asked, or says when it looked; others show what was last written down.
    pub live: bool,
    /// The source says that nothing runs and nothing waits.
    pub idle: bool,
    /// The numbers.
    pub readings: Readings,
}

/// One reading of one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankValue {
    /// Place of the source in the table: the lower wins.
    pub trust: u16,
    /// Which rank.
    pub rank: RankId,
    /// Which signal.
    pub signal: Signal,
    /// The reading.
    pub reading: Reading,
}

/// A worker as a router lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its address as the router spells it.
    pub url: String,
    /// The role that the router gives it.
    pub role: Option<Role>,
    /// Whether the router sends it requests.
    pub healthy: Option<bool>,
    /// The version that the router knows of it.
    pub version: Option<String>,
}

/// What a router says about one rank of one worker.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The source's id in the router's table.
    pub source: String,
    /// The worker's address as the router spells it.
    pub worker: String,
    /// The worker is named by what it says as this fact, and not by an address.
    pub by_fact: Option<String>,
    /// The data parallel rank.
    pub dp: Option<u32>,
    /// Whether the readings carry the time at which the worker said them, so that they can stand in for the worker's
    /// own word while the worker cannot be asked.
    pub timed: bool,
    /// The router counted this itself, as of its answer; others it heard at some time.
    pub own: bool,
    /// The readings.
    pub readings: Readings,
}

/// What became of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceStatus {
    /// The source's id in the engine's table.
    pub id: String,
    /// The path that was asked; of a log its name, of shared memory the pattern of its file.
    pub get: String,
    /// Whether it was asked over HTTP.
    pub http: bool,
    /// When the answer was complete.
    pub at: Time,
    /// Seconds that it took.
    pub took: f64,
    /// How it ended.
    pub outcome: SourceOutcome,
    /// Who passed the answer on and may have left things out, where that was not the server itself.
    pub passed_by: Option<String>,
}

/// How asking a source ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOutcome {
    /// Values were read.
    Answered,
    /// It answered, but with nothing that the table knows; the text says what it looked like.
    Empty(String),
    /// It answered with a status that the table knows to mean `off`.
    Off(String),
    /// It wants credentials (401, 403).
    Denied(String),
    /// It answered with another error status, or with something that is not what the table expects.
    Broken(String),
    /// No answer.
    Unreachable(String),
}

impl Account {
    /// The value of a fact.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(|fact| fact.value.as_str())
    }

    /// Records a fact unless a weightier one is known; a peer's words are made safe to show.
    pub fn learn(&mut self, name: &str, value: impl Into<String>, source: impl Into<String>, weight: u8) {
        if self.facts.get(name).is_none_or(|known| known.weight < weight) {
            let fact = Fact { value: printable(&value.into()), source: printable(&source.into()), weight };
            self.facts.insert(name.to_owned(), fact);
        }
    }

    /// Why nothing answered over HTTP, when nothing did.
    pub fn silent(&self) -> Option<&str> {
        let mut pages = self.sources.iter().filter(|status| status.http).map(|status| match &status.outcome {
            SourceOutcome::Unreachable(text) => Some(text.as_str()),
            _ => None,
        });
        let first = pages.next()??;
        pages.all(|why| why.is_some()).then_some(first)
    }

    /// The outcome of a source, if it was asked.
    pub fn source(&self, id: &str) -> Option<&SourceStatus> {
        self.sources.iter().find(|status| status.id == id)
    }
}

impl SourceOutcome {
    /// The outcome in words.
    pub fn text(&self) -> &str {
        match self {
            SourceOutcome::Answered => "answered",
            SourceOutcome::Empty(text)
            | SourceOutcome::Off(text)
            | SourceOutcome::Denied(text)
            | SourceOutcome::Broken(text)
            | SourceOutcome::Unreachable(text) => text,
        }
    }
}
