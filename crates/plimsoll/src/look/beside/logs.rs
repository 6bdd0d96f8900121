//! The logs of a server: the files and the journal that its outputs go to, and its container's log.

use std::collections::BTreeSet;

use model::{Blind, BlindKind, Log, LogClock, Note, Stretch};
use sense::Process;
use sense::place::{Ends, Wanted};
use sense::process::{Output, container_logs, outputs_of, zone_of};

use super::outputs::pipes_of;
use super::{Writes, journal};
use crate::look::Eye;

/// Bytes of a log's beginning: what a starting server says of itself.
const HEAD: usize = 512 << 10;
/// Bytes of its end: some thousand lines.
const TAIL: usize = 1 << 20;
/// Logs of one server.
const MOST_LOGS: usize = 4;

/// A file to be read, and its name for people.
struct File {
    name: String,
    wanted: Wanted,
}

/// All logs of a server that can be found; those that cannot be read say why. Of a file both ends are read each time; a
/// journal is read on from where it ended `before`.
pub(super) async fn of(
    eye: &Eye,
    home: &Process,
    writes: &Writes,
    before: Vec<Log>,
    notes: &mut Vec<Note>,
) -> Vec<Log> {
    let pid = home.pid;
    let outputs = &writes.outputs;
    let mut logs = Vec::new();
    let mut files: Vec<File> = Vec::new();
    let (mut journaled, mut piped) = (false, false);
    for output in [outputs.stdout.clone(), outputs.stderr.clone()] {
        match output {
            Output::File { fd, path, .. } => {
                let name = model::text::visible(path.display().to_string());
                if !files.iter().any(|known| known.name == name) {
                    files.push(File { name, wanted: Wanted::Descriptor { pid, fd } });
                }
            }
            Output::Journal => journaled = true,
            Output::Pipe { .. } => piped = true,
            Output::Unseen(blind) if blind.kind == BlindKind::Denied => {
                // The unit's journal may be open to us where the process is not.
                journaled |= home.unit.as_ref().is_some_and(|unit| unit.name.ends_with(".service"));
                if logs.is_empty() {
                    logs.push(unread(eye, home, "its output", blind));
                }
            }
            Output::Unseen(_) | Output::Terminal | Output::Nothing => {}
        }
    }
    if journaled && let Some(unit) = &home.unit {
        let journal = journal::of(eye, home, unit, before, notes).await;
        // What the journal says makes up for what the process hides.
        if journal.outcome.is_ok() {
            logs.clear();
        }
        logs.push(journal);
    }
    if piped {
        files.extend(match &home.container {
            Some(container) => of_container(eye, home, container, notes).await,
            None => behind_pipes(eye, home, writes, notes).await,
        });
    }
    if files.len() > MOST_LOGS {
        let text = format!("what pid {pid} prints may be in {} files: {MOST_LOGS} of them were read", files.len());
        notes.push(Note::new("logs-cut", text));
        files.truncate(MOST_LOGS);
    }
    logs.extend(read(eye, home, files).await);
    logs
}

/// What the runtime of a server's container writes of it.
async fn of_container(eye: &Eye, home: &Process, container: &str, notes: &mut Vec<Note>) -> Vec<File> {
    // Within a container of an ordinary user the server may run as yet another one.
    let owners: Vec<u32> = std::iter::once(home.uid).chain(home.unit.as_ref().and_then(|unit| unit.user)).collect();
    let found = container_logs(&eye.place, container, &owners).await;
    if found.files.is_empty() && !found.unseen.is_empty() {
        let unseen: Vec<&str> = found.unseen.iter().map(|blind| blind.text.as_str()).collect();
        let text =
            format!("the log of container {container}, of pid {}, was not found: {}", home.pid, unseen.join("; "));
        notes.push(Note::new("log-unseen", text));
    }
    found
        .files
        .into_iter()
        .map(|(path, wanted)| File { name: model::text::visible(path.display().to_string()), wanted })
        .collect()
}

/// The files that whoever reads the pipes writes, such as `tee`; of one who reads other pipes too none, since nobody can
/// tell what of it is whose.
async fn behind_pipes(eye: &Eye, home: &Process, writes: &Writes, notes: &mut Vec<Note>) -> Vec<File> {
    let pid = home.pid;
    let readers = &writes.readers;
    notes.extend(readers.notes.iter().cloned());
    if readers.found.is_empty() && readers.denied > 0 {
        let text = format!(
            "pid {pid} prints into a pipe, and who reads that was not found: {} processes may not be looked at from here; run this as root",
            readers.denied
        );
        notes.push(Note::new("log-unseen", text));
    }
    let mut own: BTreeSet<u64> = pipes_of(&writes.outputs).collect();
    if readers.found.iter().any(|reader| !reader.reads.is_subset(&own)) {
        // Children of a server may print into pipes of their own.
        own.extend(outputs_of(&eye.place, &home.family).await.iter().flat_map(pipes_of));
    }
    let mut files: Vec<File> = Vec::new();
    for reader in &readers.found {
        if !reader.reads.is_subset(&own) && !reader.files.is_empty() {
            let text = format!(
                "pid {} ({}), which takes what pid {pid} prints, reads other pipes too: whose line in its files is whose cannot be told, so none was read",
                reader.pid, reader.name
            );
            notes.push(Note::new("log-shared", text));
            continue;
        }
        for held in &reader.files {
            let name = model::text::visible(held.path.display().to_string());
            if !files.iter().any(|known| known.name == name) {
                files.push(File { name, wanted: Wanted::Descriptor { pid: reader.pid, fd: held.fd } });
            }
        }
    }
    files
}

async fn read(eye: &Eye, home: &Process, files: Vec<File>) -> Vec<Log> {
    if files.is_empty() {
        return Vec::new();
    }
    let started = eye.place.now();
    let clock = match zone_of(&eye.place, Some(home.pid), started).await {
        Some(seconds) => LogClock::Offset(seconds),
        None => LogClock::Unknown,
    };
    let wanted = files.iter().map(|file| file.wanted.clone()).collect();
    let ends = eye.place.ends_each(wanted, HEAD, TAIL).await;
    let mut logs: Vec<Log> = Vec::new();
    let mut seen = Vec::new();
    for (file, ends) in files.into_iter().zip(ends) {
        let at = eye.place.now();
        // Two names may lead to one file.
        if ends.as_ref().is_ok_and(|ends| seen.contains(&ends.identity)) {
            continue;
        }
        seen.extend(ends.as_ref().map(|ends| ends.identity));
        let (written, outcome) = match ends {
            Ok(ends) => (Some(ends.modified), Ok(stretches(ends))),
            Err(blind) => (None, Err(blind)),
        };
        let since = Some(home.started_at);
        logs.push(Log { name: file.name, at, took: at.since(started), since, clock, written, outcome });
    }
    logs
}

/// The ends of a file as stretches of a log: one, where nothing lies between them.
pub(in crate::look) fn stretches(ends: Ends) -> Vec<Stretch> {
    let joined = ends.tail_from == ends.head.len() as u64;
    let head = Stretch { bytes: ends.head, first_line: Some(1), from_start: true, name: None };
    if joined {
        return vec![Stretch { bytes: [head.bytes, ends.tail].concat(), ..head }];
    }
    vec![head, Stretch { bytes: ends.tail, ..Stretch::default() }]
}

fn unread(eye: &Eye, home: &Process, name: &str, blind: Blind) -> Log {
    Log {
        name: format!("{name} (pid {})", home.pid),
        at: eye.place.now(),
        took: 0.0,
        since: None,
        clock: LogClock::Unknown,
        written: None,
        outcome: Err(blind),
    }
}
