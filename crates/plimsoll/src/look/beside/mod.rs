//! What a server on this host leaves beside its answers: its logs and its shared memory, what it tells others of its kind,
//! and what it holds of the host.
//! Read while it is asked over HTTP, and without it where that fails.

mod follow;
#[cfg(test)]
mod follow_test;
mod hardware;
mod journal;
#[cfg(test)]
mod journal_test;
mod logs;
mod outputs;
mod tree;

use engines::table::{Format, Table};
use model::{Answer, Log, Note, Observation};
use sense::Process;

use super::Eye;
use super::candidate::Candidate;

pub(super) use hardware::of as hardware;
pub(super) use logs::stretches;
pub(crate) use outputs::Writes;
pub(super) use tree::of as published;

/// What was read beside the answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    pub(crate) slabs: Vec<Observation>,
    pub(crate) logs: Vec<Log>,
    pub(crate) notes: Vec<Note>,
}

/// Finds out where the servers of this host write; their processes, in the order of the candidates that have one.
pub(super) async fn prepare(eye: &Eye, candidates: &mut [Candidate]) -> Vec<Process> {
    let mut homes: Vec<&mut Candidate> =
        candidates.iter_mut().filter(|candidate| candidate.process.is_some()).collect();
    let processes: Vec<Process> = homes.iter().filter_map(|home| home.process.as_deref()).cloned().collect();
    let table = |home: &Candidate| home.engine.as_deref().and_then(|name| eye.tables.get(name));
    let logs: Vec<bool> = homes.iter().map(|home| table(home).is_some_and(|table| !table.lines.is_empty())).collect();
    let writes = outputs::of(eye, &processes, &logs).await;
    for (home, writes) in homes.iter_mut().zip(writes) {
        home.writes = Some(writes);
    }
    processes
}

/// Reads what the table knows of: its logs, those that were read `before` from where they ended, and its shared memory.
pub(super) async fn look(
    eye: &Eye,
    table: &Table,
    home: &Process,
    writes: Option<&Writes>,
    before: Vec<Log>,
) -> Beside {
    let mut beside = Beside::default();
    if let Some(writes) = writes.filter(|_| !table.lines.is_empty()) {
        if writes.with.is_empty() {
            beside.logs = logs::of(eye, home, writes, before, &mut beside.notes).await;
        } else {
            let text = format!(
                "pid {} writes its log into one place with pid {}: whose line is whose cannot be told, so none was read",
                home.pid,
                writes.with.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            );
            beside.notes.push(Note::new("log-shared", text));
        }
    }
    for source in table.sources.iter().filter(|source| source.format == Format::Slab) {
        beside.slabs.extend(slabs(eye, &source.get, home).await);
    }
    beside
}

/// Looks at a slab that is being written, at most.
const TRIES: usize = 4;
/// Milliseconds between two of them: a write takes microseconds.
const PAUSE_MS: u64 = 2;

/// The slabs of living writers.
async fn slabs(eye: &Eye, pattern: &str, home: &Process) -> Vec<Observation> {
    let started = eye.place.now();
    let mut observations = Vec::new();
    for slab in sense::process::slabs_of(&eye.place, &home.family, &[pattern.to_owned()]).await {
        let mut bytes = slab.bytes.clone();
        for _ in 1..TRIES {
            if !bytes.as_ref().is_ok_and(|content| engines::is_being_written(&content.bytes)) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(PAUSE_MS)).await;
            bytes = sense::process::reread(&eye.place, &slab).await;
        }
        let at = eye.place.now();
        let outcome = bytes.map(|content| Answer { status: 200, body: content.bytes, ..Answer::default() });
        let url = slab.path.display().to_string();
        observations.push(Observation { get: pattern.to_owned(), url, at, took: at.since(started), outcome });
    }
    observations
}
