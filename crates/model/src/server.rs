//! Servers: one HTTP endpoint with a role, and what a router says about its workers.

use serde::Serialize;

use crate::{Gap, Note, Rank, Readings, Trouble, Verdict};

/// What a server does in its deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sends requests to workers; has no cache.
    Router,
    /// Computes prompts and sends their cache away.
    Prefill,
    /// Receives caches and generates.
    Decode,
    /// Does both.
    Unified,
    /// Holds caches for others.
    Store,
    /// Nothing said so far.
    Unknown,
}

impl Role {
    /// The word for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Role::Router => "router",
            Role::Prefill => "prefill",
            Role::Decode => "decode",
            Role::Unified => "unified",
            Role::Store => "store",
            Role::Unknown => "unknown",
        }
    }

    /// The role with this name; `Unknown` for any other word.
    pub fn from_name(name: &str) -> Role {
        [Role::Router, Role::Prefill, Role::Decode, Role::Unified, Role::Store]
            .into_iter()
            .find(|role| role.name() == name)
            .unwrap_or(Role::Unknown)
    }
}

/// One server of the snapshot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Server {
    /// Its address, without credentials.
    pub url: String,
    /// Host name or address part of `url`.
    pub host: String,
    /// The engine's name as its folder is called, or null when nothing was recognised.
    pub engine: Option<String>,
    /// The engine's version as it says it.
    pub version: Option<String>,
    /// What it does.
    pub role: Role,
    /// The served model's name.
    pub model: Option<String>,
    /// The systemd unit that runs it, where visible.
    pub unit: Option<String>,
    /// Its process on this host, where visible.
    pub pid: Option<u32>,
    /// The NUMA nodes that its process is bound to; null where that is not visible, or it may run on all.
    pub numa_nodes: Option<Vec<u32>>,
    /// What its processes hold of each accelerator's memory, where the driver's own tool tells it.
    pub gpus: Vec<GpuMemory>,
    /// What could not be reached, when nothing of it could.
    pub unreachable: Option<String>,
    /// Its ranks; none on a router.
    pub ranks: Vec<Rank>,
    /// What this router says about its workers.
    pub router_view: Vec<RouterView>,
    /// How close to trouble.
    pub verdict: Verdict,
    /// Remarks: disagreements, copies dropped, limits hit.
    pub notes: Vec<Note>,
    /// What it hides.
    pub gaps: Vec<Gap>,
    /// What it says of itself that is trouble by itself; in what is shown these are notes, and the verdict's reason.
    #[serde(skip)]
    pub troubles: Vec<Trouble>,
}

/// The note that a server's numbers are a router's word.
pub const TOLD_BY_ROUTER: &str = "told-by-router";

impl Server {
    /// Whether its numbers are what a router says, because it does not say them itself.
    pub fn is_told_by_router(&self) -> bool {
        self.notes.iter().any(|note| note.id == TOLD_BY_ROUTER)
    }
}

/// What one server holds of one accelerator's memory, in MiB (2²⁰ bytes), as the driver counts it: weights, cache and
/// everything else together. It says nothing of how full the cache is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuMemory {
    /// The accelerator's number on its host.
    pub index: u32,
    /// Held by this server's processes.
    pub used_mib: u64,
    /// All that it has.
    pub total_mib: u64,
}

/// A router's opinion of one worker; shown beside the worker's own word. Where the worker says nothing, what it told its
/// router may stand in for that, and is marked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouterView {
    /// The worker's address as the router spells it.
    pub worker: String,
    /// The role that the router gives it.
    pub role: Option<Role>,
    /// Whether the router sends it requests.
    pub healthy: Option<bool>,
    /// The data parallel rank that the readings are of.
    pub dp: Option<u32>,
    /// What the router says: in use, used, capacity, running, waiting.
    #[serde(flatten)]
    pub readings: Readings,
}
