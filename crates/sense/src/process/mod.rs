//! Processes: who runs here, since when, in which unit and container, and where it listens.
//!
//! [`processes`] finds them; [`grounds_of`] and [`file_of`] look closer at one, [`outputs_of`], [`slabs_of`] and
//! [`facts_of`] at a family.

mod argv;
mod cgroup;
mod container;
mod descriptors;
mod environment;
mod facts;
mod family;
mod grounds;
mod inside;
mod output;
mod readers;
mod scan;
mod slab;
mod sockets;
mod stat;
mod zone;

use std::net::SocketAddr;
use std::path::PathBuf;

use model::{Note, Time};

pub use argv::split as split_argv;
pub use cgroup::{Unit, container_of, unit_of};
pub use container::{ContainerLogs, container_logs};
pub use environment::{variables, variables_of};
pub use facts::{Facts, facts_of, numa_of, numbers};
pub use grounds::{Grounds, grounds_of, interface_addresses};
pub use inside::{addresses_of, file_of, local_addresses};
pub use output::{Output, Outputs, journal_stream, outputs_of};
pub use readers::{Held, Reader, Readers, readers_of};
pub use scan::processes;
pub use slab::{Slab, matches, reread, slabs_of};
pub use sockets::{Listener, listeners};
pub use stat::{Stat, boot_time, stat_of, uid_of};
pub use zone::{zone_name, zone_of};

/// One process that the caller wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub ppid: u32,
    /// Itself and its descendants, nearest first, at most 1024.
    pub family: Vec<u32>,
    /// Its arguments, or the title that it gave itself instead (then mostly one element).
    pub argv: Vec<String>,
    /// Its program, where we may see it; ` (deleted)` at the end when the file was replaced since.
    pub exe: Option<PathBuf>,
    /// Its working folder, as it sees it itself, where we may see it.
    pub cwd: Option<PathBuf>,
    /// When it started, by this host's clock, which may be set.
    pub started_at: Time,
    /// Seconds from the start of the host to its own: with its id, what tells it from any later process.
    pub since_boot: f64,
    /// The user that it runs as.
    pub uid: u32,
    /// The systemd unit that it belongs to.
    pub unit: Option<Unit>,
    /// The short id of its container (first 12 hex digits), whatever runs that.
    pub container: Option<String>,
    /// The inode of its network namespace, where we may see it.
    pub netns: Option<u64>,
    /// The lowest socket inode that listens in its network namespace: where `netns` is hidden, two processes are in one
    /// namespace only if this is equal.
    pub netns_mark: Option<u64>,
    /// Whether that is ours; `None` when we may not see it.
    pub same_netns_as_us: Option<bool>,
    /// Where it or one of its descendants listens, in the addresses of its network namespace.
    pub listening: Vec<SocketAddr>,
    /// Those of them whose sockets the process itself holds.
    pub listening_itself: Vec<SocketAddr>,
    /// When `fd` is denied: where its user (or, if that user listens nowhere, anyone) listens in its network namespace.
    pub maybe_listening: Vec<SocketAddr>,
    /// What could not be read for want of rights: `fd`, `ns/net`, `exe`, `cwd`, …
    pub denied: Vec<&'static str>,
}

impl Process {
    /// Whether the two are one and the same: ids come again, and the clock may be set.
    pub fn is(&self, other: &Process) -> bool {
        self.run() == other.run()
    }

    /// What no other process of this host has: its id and when it started, seconds from the start of the host.
    pub fn run(&self) -> (u32, f64) {
        (self.pid, self.since_boot)
    }
}

/// What a look at all processes brought.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Processes {
    /// The processes that the caller wanted, by pid.
    pub found: Vec<Process>,
    /// Processes that were looked at.
    pub seen: usize,
    /// Processes that ended while we looked.
    pub vanished: usize,
    /// Processes and parts of them that we had no right to see.
    pub denied: usize,
    /// Even the first process was not listed: other users' processes are hidden from us altogether (`hidepid`).
    pub hidden: bool,
    /// Limits that were hit.
    pub notes: Vec<Note>,
}
