//! `plimsoll doctor`: what is hidden, why, and what reveals it; and whether anything scrapes these servers.

use anyhow::Result;
use model::Note;

use super::status::json;
use crate::cli::DoctorArgs;
use crate::look::{monitors, progress};
use crate::report::{Examined, Report};
use crate::{Said, look, show};

/// Looks, examines and asks the monitors. Exit code 3 with gaps, 1 when no server could be examined, else 0.
pub(crate) async fn run(args: &DoctorArgs) -> Result<Said> {
    let look = look::look_with(&args.look, &args.prometheus).await?;
    let monitors = progress::over(&look.eye, args.look.json, Box::pin(monitors::watchers(&look))).await?;
    let asked = look.searched || !look.monitors.is_empty();
    let mut gaps = look.snapshot.gaps.clone();
    if asked {
        gaps.extend(monitors::gaps(&monitors, &look));
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
    let code = match (gaps.is_empty(), reached) {
        (false, _) => 3,
        (true, true) => 0,
        (true, false) => 1,
    };
    let mut notes = look.notes;
    if !asked {
        let text =
            "whether anything scrapes these servers was not asked, since targets were given: add --prometheus URL";
        notes.push(Note::new("monitors-not-asked", text));
    }
    let report = Report {
        schema: "plimsoll.doctor/1",
        made_by: crate::MADE_BY,
        taken_at: look.snapshot.taken_at,
        servers,
        monitors,
        notes,
        gaps,
        own: look.snapshot.own,
    };
    let text = if args.look.json { json(&report)? } else { show::doctor(&report, asked) };
    Ok(Said { text, code })
}
