//! Doctor's report, as it is printed and as `plimsoll.doctor/1`.

use model::{Finding, Gap, Note, SelfReport, Time};
use serde::Serialize;

use crate::look::monitors::Watcher;

/// Serialises as `plimsoll.doctor/1`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) made_by: &'static str,
    pub(crate) taken_at: Time,
    pub(crate) servers: Vec<Examined>,
    pub(crate) monitors: Vec<Watcher>,
    pub(crate) notes: Vec<Note>,
    pub(crate) gaps: Vec<Gap>,
    #[serde(rename = "self")]
    pub(crate) own: SelfReport,
}

/// One server's part of the report.
#[derive(Debug, Serialize)]
pub(crate) struct Examined {
    pub(crate) url: String,
    pub(crate) engine: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) role: model::Role,
    pub(crate) unit: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) unreachable: Option<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) notes: Vec<Note>,
    pub(crate) gaps: Vec<Gap>,
}
