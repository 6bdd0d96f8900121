//! `plimsoll doctor`: what is hidden, why, and what reveals it; and whether anything scrapes these servers.

use std::path::Path;

use anyhow::Result;
use engines::Whereabouts;
use model::{Gap, Note};

use super::drop_in::{self, DropIn};
use super::status::json;
use crate::cli::DoctorArgs;
use crate::look::{monitors, progress};
use crate::report::{Examined, Report};
use crate::{Said, look, show};

/// Looks, examines and asks the monitors. Exit code 3 with gaps, 1 when no server could be examined, else 0.
pub(crate) async fn run(args: &DoctorArgs) -> Result<Said> {
    let folder = args.write_dropin.as_deref().map(drop_in::folder).transpose()?;
    let look = look::look_with(&args.look, &args.prometheus).await?;
    let monitors = progress::over(look.eyes(), args.look.json, Box::pin(monitors::watchers(&look))).await?;
    let asked = look.searched() || !look.monitors.is_empty();
    let mut gaps = look.snapshot.gaps.clone();
    let mut notes = look.notes.clone();
    if asked {
        notes.extend(monitors::not_worth_scraping(&look));
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
            build: one.source.clone(),
            drop_in: added(&one.candidate.place, &server.gaps),
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
    let from_files = look.looked.iter().any(|one| one.candidate.place.saved);
    if !asked && !from_files {
        let text =
            "whether anything scrapes these servers was not asked, since targets were given: add --prometheus URL";
        notes.push(Note::new("monitors-not-asked", text));
    }
    if let Some(folder) = &folder {
        notes.extend(written(folder, &servers));
    }
    let report = Report {
        schema: "plimsoll.doctor/1",
        made_by: crate::MADE_BY,
        taken_at: look.snapshot.taken_at,
        origin: look.origin,
        hosts: look.snapshot.hosts,
        servers,
        monitors,
        notes,
        gaps,
        own: look.snapshot.own,
    };
    let text = if args.look.json { json(&report)? } else { show::doctor(&report, asked) };
    Ok(Said { text, code })
}

/// The drop-in that adds all flags that reveal something to the unit of a server.
fn added(place: &Whereabouts, gaps: &[Gap]) -> Option<DropIn> {
    let mut flags: Vec<&str> = gaps.iter().filter_map(|gap| gap.fix.flag.as_deref()).collect();
    flags.dedup();
    if flags.is_empty() { None } else { DropIn::of(place.launch.as_ref()?, &flags) }
}

/// Writes the drop-ins of all servers below `folder`; a note for each, also where that fails.
fn written(folder: &Path, servers: &[Examined]) -> Vec<Note> {
    let mut notes = Vec::new();
    for drop_in in servers.iter().filter_map(|server| server.drop_in.as_ref()) {
        let text = match drop_in.write(folder) {
            Ok(Some(path)) => format!(
                "wrote {}; nothing else was changed: it takes effect as {}, after systemctl daemon-reload and a restart of {}",
                path.display(),
                drop_in.path,
                drop_in.unit
            ),
            Ok(None) => format!("{}: {}", drop_in.unit, drop_in.reason.as_deref().unwrap_or_default()),
            Err(error) => format!("the drop-in of {} was not written: {error:#}", drop_in.unit),
        };
        notes.push(Note::new("drop-in", text));
    }
    if notes.is_empty() {
        notes.push(Note::new("drop-in", "no drop-in was written: no unit that is known here lacks a flag"));
    }
    notes
}
