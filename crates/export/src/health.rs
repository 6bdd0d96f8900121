//! plimsoll's own health, as whoever watches knows it.

use model::Time;

/// What is told beside the snapshot: how the watching itself goes, and what only looks over time show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    /// plimsoll's version.
    pub version: String,
    /// When the watch began.
    pub started_at: Option<Time>,
    /// Everything that is looked at again and again.
    pub targets: Vec<Target>,
    /// Signs that servers show: the server's address and the sign's id.
    pub signs: Vec<(String, &'static str)>,
    /// The history on disk; none where it is off.
    pub history: Option<History>,
}

/// How the looks at one target go.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Target {
    /// Its address without credentials, spelled as the server's in the snapshot.
    pub url: String,
    /// The newest look was answered.
    pub up: bool,
    /// Seconds since the newest answer; none before the first.
    pub age_s: Option<f64>,
    /// Seconds that the answers of the newest look took; none, or 0, where nothing answered.
    pub took_s: Option<f64>,
    /// Seconds between two looks, as they are planned now: longer where the target is slow to answer.
    pub every_s: f64,
    /// The share of its time that the target spends on answering us; none, or 0, where nothing answered.
    pub duty: Option<f64>,
    /// Looks since the watch began.
    pub looks: u64,
    /// Those of them that brought no answer.
    pub failed: u64,
    /// Looks that were due and were not made, since an earlier one was still on its way.
    pub dropped: u64,
}

/// How the history on disk does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct History {
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes that it may take.
    pub limit_bytes: u64,
    /// Looks that could not be kept.
    pub lost_looks: u64,
    /// The newest look was kept.
    pub works: bool,
}
