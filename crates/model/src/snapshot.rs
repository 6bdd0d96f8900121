//! The snapshot: the fleet at one time, which every surface shows.

use serde::Serialize;

use crate::{Gap, Reading, Server, Time};

/// Everything that is known at one time; serialises as `plimsoll.status/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    /// Name and version of this shape.
    pub schema: &'static str,
    /// Program and version that took it.
    pub made_by: &'static str,
    /// When it was taken.
    pub taken_at: Time,
    /// Worst first.
    pub servers: Vec<Server>,
    /// The hosts over ssh that were looked at; none when only this one was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostReport>,
    /// Figures over all servers.
    pub fleet: Fleet,
    /// All gaps, the servers' and the host's.
    pub gaps: Vec<Gap>,
    /// plimsoll's own health, plain numbers.
    #[serde(rename = "self")]
    pub own: SelfReport,
}

/// What is told of one host over ssh.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostReport {
    /// How it was reached: `ssh://gpu-a`.
    pub via: String,
    /// Why nothing of it could be seen.
    pub unreachable: Option<String>,
    /// Seconds by which its clock is ahead of ours, where that could be told; exact to a second or so.
    pub clock_ahead_s: Option<f64>,
    /// Wall seconds spent on it.
    pub took_s: f64,
}

/// Figures over all servers that have a cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fleet {
    /// The highest in-use of any pool of any rank.
    pub in_use_max: Reading,
    /// Sum of used over sum of capacity of the full pools: the capacity-weighted mean, never a sum of ratios.
    pub in_use_weighted: Reading,
}

/// plimsoll's own health for this snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SelfReport {
    /// Wall seconds from start to answer.
    pub took_s: f64,
    /// Wall seconds of the slowest target.
    pub slowest_target_s: f64,
    /// HTTP requests sent.
    pub requests: u64,
    /// Requests that brought no answer.
    pub failed: u64,
    /// Bytes of bodies read.
    pub bytes: u64,
    /// Processes and files that could not be seen for want of rights.
    pub denied: u64,
}
