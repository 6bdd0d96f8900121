//! What is seen of all processes at once.

use serde::{Deserialize, Serialize};

use crate::capture::form::not;

/// The processes that were asked for by words of their command lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commands {
    /// Those that hold one, by pid.
    pub found: Vec<CommandLine>,
    /// Processes that were looked at.
    pub seen: usize,
    /// Processes that ended while we looked.
    pub vanished: usize,
    /// Processes that we had no right to look at.
    pub denied: usize,
    /// Why processes that hang were not looked at.
    pub hung: Vec<String>,
    /// Not even the first process was listed.
    #[serde(skip_serializing_if = "not")]
    pub hidden: bool,
    /// There were more processes than are looked at.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
}

/// The command line of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// The process.
    pub pid: u32,
    /// Its `/proc/PID/cmdline`.
    #[serde(with = "wire::capture::bytes")]
    pub bytes: Vec<u8>,
    /// It is longer than is read.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
}

/// A process and its parent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kin {
    /// The process.
    pub pid: u32,
    /// Its parent.
    pub ppid: u32,
    /// Seconds from the boot of its host to its start.
    pub started: f64,
}

/// Ends of pipes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pipes {
    /// All that were seen.
    pub ends: Vec<PipeEnd>,
    /// Processes that were looked at.
    pub seen: usize,
    /// Processes that we had no right to look at.
    pub denied: usize,
    /// There were more processes, or open files, than are looked at.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
}

/// One end of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipeEnd {
    /// The pipe's inode.
    pub pipe: u64,
    /// The process that has it open.
    pub pid: u32,
    /// The number of its descriptor.
    pub fd: u32,
}
