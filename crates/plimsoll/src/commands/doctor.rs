//! `plimsoll doctor`: what is hidden, why, and what reveals it; and whether anything scrapes these servers.

use anyhow::Result;
use model::{Finding, Gap, Note, SelfReport, Time};
use sense::Target;
use serde::Serialize;

use super::status::json;
use crate::cli::DoctorArgs;
use crate::look::monitors::{self, Watcher};
use crate::{Said, look, show};

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

/// Looks, examines and asks the monitors. Exit code 3 with gaps, 1 when no server could be examined, else 0.
pub(crate) async fn run(args: &DoctorArgs) -> Result<Said> {
    let given: Vec<Target> = args.prometheus.iter().map(|url| url.parse()).collect::<Result<_, _>>()?;
    let look = look::look(&args.look).await?;
    let monitors = monitors::watchers(&look.eye, &given, look.searched, &look.looked).await?;
    let asked = look.searched || !given.is_empty();
    let mut gaps = look.snapshot.gaps.clone();
    if asked {
        gaps.extend(monitors::gaps(&monitors, &look.looked, &look.eye));
    }
    let servers: Vec<Examined> = look
        .snapshot
        .servers
        .iter()
        .zip(&look.looked)
        .map(|(server, one)| Examined {
            url: server.url.clone(),
            engine: server.engine.clone(),
            version: server.version.clone(),
            role: server.role,
            unit: server.unit.clone(),
            pid: server.pid,
            unreachable: server.unreachable.clone(),
            findings: one.findings.clone(),
            notes: server.notes.clone(),
            gaps: server.gaps.clone(),
        })
        .collect();
    let reached = servers.iter().any(|server| server.unreachable.is_none() && server.engine.is_some());
    let code = match (reached, gaps.is_empty()) {
        (false, _) => 1,
        (true, false) => 3,
        (true, true) => 0,
    };
    let report = Report {
        schema: "plimsoll.doctor/1",
        made_by: crate::MADE_BY,
        taken_at: look.snapshot.taken_at,
        servers,
        monitors,
        notes: look.notes,
        gaps,
        own: look.snapshot.own,
    };
    let text = if args.look.json { json(&report)? } else { show::doctor(&report, asked) };
    Ok(Said { text, code })
}
