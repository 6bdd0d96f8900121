//! Logs that were given with `--log`: read as those that are found by themselves, and put to the server that wrote them.

use anyhow::{Result, anyhow};
use engines::saved;
use model::{Facts, Log, LogClock, Note};
use sense::process::zone_of;
use sense::{Place, Wanted};

use super::Eye;
use super::beside::stretches;
use super::candidate::Candidate;

/// Bytes of a log's beginning and of its end.
const ENDS: (usize, usize) = (512 << 10, 4 << 20);

/// Reads the files and puts each to the candidate that it must be of; notes tell of those that nothing tells.
pub(super) async fn place(eye: &Eye, files: &[String], candidates: &mut [Candidate]) -> Result<Vec<Note>> {
    let mut notes = Vec::new();
    for file in files {
        let mut log = read(&eye.place, file).await?;
        let writers = saved::writers(&eye.tables, &log);
        let Some(first) = writers.first() else {
            return Err(crate::wrong_usage(anyhow!("--log {file}: no line of a log that is known here")));
        };
        // A fork prints the lines of the original: the one that is looked at counts.
        let is_looked_at = |written: &&saved::Written<'_>| {
            candidates.iter().any(|candidate| candidate.engine.as_deref() == Some(&written.table.engine.name))
        };
        let table = writers.iter().find(is_looked_at).unwrap_or(first).table;
        let facts = engines::interpret(table, &[], std::slice::from_ref(&log), &Facts::new()).facts;
        let engine = &table.engine.name;
        let may = |candidate: &Candidate| {
            let port = candidate.face().map(|face| face.base.port.to_string());
            let fits = |name: &str, own: Option<&str>| match (facts.get(name).filter(|fact| fact.weight > 0), own) {
                (Some(said), Some(own)) => said.value == own,
                _ => true,
            };
            candidate.engine.as_ref().is_none_or(|known| known == engine)
                && fits("port", port.as_deref())
                && fits("role", candidate.flags.get("role").map(|fact| fact.value.as_str()))
        };
        let mut fitting: Vec<&mut Candidate> = candidates.iter_mut().filter(|candidate| may(candidate)).collect();
        match fitting.as_mut_slice() {
            [only] => {
                if !is_here(only) {
                    log.clock = LogClock::Unknown;
                }
                only.logs.push(log);
            }
            several => {
                let text = format!(
                    "--log {file}: {} of the servers looked at may have written it, so it was read for none; look at one server at a time",
                    several.len()
                );
                notes.push(Note::new("log-unplaced", text));
            }
        }
    }
    Ok(notes)
}

/// Whether a server is on this host, so that its clock is ours.
fn is_here(candidate: &Candidate) -> bool {
    let host = candidate.face().map(|face| face.base.host.as_str()).unwrap_or_default();
    let loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    candidate.process.is_some() || loopback || host == "localhost"
}

async fn read(place: &Place, file: &str) -> Result<Log> {
    let began = place.now();
    let path = std::path::absolute(file)?;
    let mut ends = place.ends_each(vec![Wanted::File(path)], ENDS.0, ENDS.1).await;
    let ends = match ends.pop() {
        Some(Ok(ends)) => ends,
        Some(Err(blind)) => return Err(crate::wrong_usage(anyhow!("--log: cannot read {blind}"))),
        None => return Err(anyhow!("--log {file}: nothing was read")),
    };
    let at = place.now();
    // As a server of this host would write it.
    let clock = match zone_of(place, None, at).await {
        Some(seconds) => LogClock::Offset(seconds),
        None => LogClock::Unknown,
    };
    let written = Some(ends.modified);
    let outcome = Ok(stretches(ends));
    Ok(Log { name: file.to_owned(), at, took: at.since(began), since: None, clock, written, outcome })
}
