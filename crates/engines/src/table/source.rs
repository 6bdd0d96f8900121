//! `sources.toml`: where answers are, and what their fields mean.

use std::collections::BTreeMap;

use model::Signal;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::line::{Line, LogFormat};
use super::read::Read;
use super::tree::{Hear, Leaf, Tree};
use super::version::Version;

/// The whole of `sources.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// The rows; of two equally precise ones the earlier is trusted more.
    #[serde(default)]
    pub source: Vec<Source>,
    /// The files by which its servers find each other.
    #[serde(default)]
    pub tree: Option<Tree>,
    /// What follows from facts.
    #[serde(default)]
    pub infer: Vec<Infer>,
    /// Pools below the device that are no cache but hold what running requests need.
    #[serde(default)]
    pub bind: Vec<Bind>,
    /// Facts of which each value would give other numbers, and which may be told by nothing.
    #[serde(default)]
    pub assume: Vec<Assume>,
    /// How its log is written.
    #[serde(default)]
    pub log: LogFormat,
    /// Lines of its log; of two that fit, the earlier counts.
    #[serde(default)]
    pub line: Vec<Line>,
}

/// A value that a fact implies, for sets of a pool that do not say it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Infer {
    /// The signal.
    pub signal: Signal,
    /// The pool, on the device tier.
    pub pool: String,
    /// The value.
    pub value: f64,
    /// Holds for it.
    pub when: Condition,
    /// The fact that is named as its input.
    pub from: String,
}

/// A pool of a lower tier without room in which no request can run: it binds as the device's pools do. Caches of a lower
/// tier do not: that they are full is what they are for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// The pool.
    pub pool: String,
    /// The tier.
    pub tier: String,
}

/// A fact that may be known by nothing but the numbers. If only one of its values leaves numbers that can be, it is that;
/// else the figure for each is said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assume {
    /// The fact.
    pub fact: String,
    /// All values that it may have.
    pub values: Vec<String>,
    /// What each means, behind an *if*.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
}

/// One answer of one kind of port.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // they are columns of a table
pub struct Source {
    /// Its name in other rows and in `explain`.
    pub id: String,
    /// The path to ask, query and all; of a slab the pattern of its files, with `*` in the last part; of files of the tree a
    /// name for them; of events their topic.
    pub get: String,
    /// The port to ask it on (`PortRule::serves`).
    #[serde(default = "api")]
    pub on: String,
    /// How to read it.
    pub format: Format,
    /// Never asked, only read where somebody saved it: asking takes away what it tells from others.
    #[serde(default)]
    pub saved_only: bool,
    /// Asked only where this is not known to be otherwise, by what was answered before.
    #[serde(default)]
    pub when: Option<Condition>,
    /// Asked only when none of these sources answered.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Costly where it is asked again and again: then another source is asked in its place.
    #[serde(default)]
    pub spare: Option<Spare>,
    /// A router's copy of its workers' own pages, with this label added for the worker's address: read by the worker's
    /// own table, and asked only for workers that could not be read themselves.
    #[serde(default)]
    pub relay: Option<String>,
    /// Status codes that mean that it is switched off (as opposed to broken).
    #[serde(default)]
    pub off: Vec<u16>,
    /// Versions that have it.
    #[serde(default)]
    pub since: Option<Version>,
    /// First version without it.
    #[serde(default)]
    pub until: Option<Version>,
    /// It looks at the pools when it is asked (or often, and says when); pages of gauges that are written at batches do not.
    #[serde(default)]
    pub live: bool,
    /// How much older than the answer its numbers may be, in words; shown as the reading's reason.
    #[serde(default)]
    pub lag: String,
    /// Slab: the first four bytes.
    #[serde(default)]
    pub magic: String,
    /// Slab: the versions of its layout that the rows are of.
    #[serde(default)]
    pub layouts: Vec<u16>,
    /// Leaf and events: the files of the tree that are it, or that say where it is published.
    #[serde(default)]
    pub leaf: Option<Leaf>,
    /// Events: how they are listened to.
    #[serde(default)]
    pub hear: Option<Hear>,
    /// JSON: the elements that rows are read from, e.g. `loads[*]`; absent, the whole answer is one element.
    #[serde(default)]
    pub each: Option<String>,
    /// JSON: all elements are parts of one rank (slots of a server), and rows fold over them; else each is a rank.
    #[serde(default)]
    pub gather: bool,
    /// Prometheus: a page without any series of the engine means that it is switched off (the fact `<id>=off`).
    #[serde(default)]
    pub empty: Option<Empty>,
    /// Prometheus: prefixes of the series that prove it on, where the page holds series of a library as well, which stay when it
    /// is off; absent, all prefixes of the engine.
    #[serde(default)]
    pub own: Vec<String>,
    /// JSON: elements in an element, e.g. `engine_load.loads[*]`; `worker` and `at` stay paths of the outer one.
    #[serde(default)]
    pub inner: Option<String>,
    /// Where a rank's numbers are: label names, or JSON paths in the element; keys `dp`, `tp`, `pp`.
    #[serde(default)]
    pub rank: BTreeMap<String, String>,
    /// Labels of samples that are parts of another sample, in which the label is empty: such samples are passed over.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Prometheus: labels of what the server serves that has a cache of its own (models). Where a page has several, each is
    /// read as a server of its own.
    #[serde(default)]
    pub servers: Vec<String>,
    /// JSON: the time at which the element's numbers were taken (seconds, or RFC 3339).
    #[serde(default)]
    pub at: Option<String>,
    /// JSON: the same clock's time of the answer, so that an age can be had from a clock that differs from ours.
    #[serde(default)]
    pub now: Option<String>,
    /// JSON: a field of the element that is 0 only before anything was published; the element's numbers are void then.
    #[serde(default)]
    pub void: Option<String>,
    /// Rows are about other servers: the label or JSON path that holds their address.
    #[serde(default)]
    pub worker: Option<String>,
    /// `worker` holds no address but what the workers themselves say as this fact.
    #[serde(default)]
    pub worker_fact: Option<String>,
    /// JSON: the list of a router's workers.
    #[serde(default)]
    pub workers: Option<WorkerList>,
    /// JSON: keys of the answer's top level are read by `knobs.toml`.
    #[serde(default)]
    pub knobs: bool,
    /// Fact name by label name, or `series.label` (Prometheus), or JSON path.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// By fact: the only values that are evidence; others are what the engine says whatever is so.
    #[serde(default)]
    pub believe: BTreeMap<String, Vec<String>>,
    /// Text taken off the front of a fact's value, e.g. `smg-` of `smg-1.13.0`.
    #[serde(default)]
    pub strip: BTreeMap<String, String>,
    /// The fields.
    #[serde(default)]
    pub read: Vec<Read>,
}

/// Where a source is spared: in a watch it is asked only with the looks at what hardly changes (one a minute), while another
/// one tells how full the pools are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spare {
    /// Holds for a server on which it is costly: its `role` and its `version`.
    pub when: Condition,
    /// The other source.
    pub beside: String,
}

/// The formats that Rust knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Prometheus text.
    Prometheus,
    /// JSON.
    Json,
    /// Shared memory: `magic`, version, ranks, size of a slot; in each slot a length and msgpack. Its rows are read as
    /// those of the JSON `{"version": …, "ranks": [{"rank": 0, …}]}`.
    Slab,
    /// A file of the tree (`leaf`): JSON.
    Leaf,
    /// Events over ZMQ, listened to for a while where a file of the tree (`leaf`) says and the process listens: four frames,
    /// in the last of which is msgpack. Rows are read as those of the JSON `{"events": […]}`, which holds the newest of each
    /// rank.
    Events,
}

impl Format {
    /// Whether it is asked over HTTP.
    pub fn is_page(self) -> bool {
        matches!(self, Format::Prometheus | Format::Json)
    }
}

/// What a page without any series of the engine means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Empty {
    /// Its series are switched off.
    Off,
}

/// Where a router's answer lists its workers; JSON paths.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerList {
    /// The elements.
    pub each: String,
    /// The worker's address in an element.
    pub url: String,
    /// Its role.
    #[serde(default)]
    pub role: Option<String>,
    /// Whether it gets requests.
    #[serde(default)]
    pub healthy: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
}

fn api() -> String {
    "api".to_owned()
}
