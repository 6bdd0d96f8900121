//! Where the servers of this host write, and which of them write into one place: there nobody can tell whose line is whose.

use std::collections::BTreeMap;

use sense::Process;
use sense::process::{Output, Outputs, Reader, Readers, outputs_of, readers_of};

use crate::look::Eye;

/// Where one server writes.
#[derive(Debug, Clone)]
pub(crate) struct Writes {
    /// Its outputs.
    pub(crate) outputs: Outputs,
    /// Who reads those of them that are pipes, except a container's; with what could not be looked at.
    pub(crate) readers: Readers,
    /// Other servers that write into one of them.
    pub(crate) with: Vec<u32>,
}

/// Where each of these servers writes, in their order; `logs` says of which lines are read at all.
pub(in crate::look) async fn of(eye: &Eye, processes: &[Process], logs: &[bool]) -> Vec<Writes> {
    let pids: Vec<u32> = processes.iter().map(|process| process.pid).collect();
    let all = outputs_of(&eye.place, &pids).await;
    // One look through all processes for all pipes. What a container's runtime reads is found by the container's name.
    let read = processes.iter().zip(&all).zip(logs).filter(|((process, _), log)| **log && process.container.is_none());
    let pipes: Vec<u64> = read.flat_map(|((_, outputs), _)| pipes_of(outputs)).collect();
    let readers = if pipes.is_empty() { Readers::default() } else { readers_of(&eye.place, &pipes).await };
    let of_these = |outputs: &Outputs| -> Vec<Reader> {
        let own: Vec<u64> = pipes_of(outputs).collect();
        readers.found.iter().filter(|reader| own.contains(&reader.pipe)).cloned().collect()
    };
    let mut writers: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let of = |((process, outputs), log): ((&Process, &Outputs), &bool)| {
        if *log { places(process, outputs, &of_these(outputs)) } else { Vec::new() }
    };
    let places: Vec<Vec<String>> = processes.iter().zip(&all).zip(logs).map(of).collect();
    for (process, places) in processes.iter().zip(&places) {
        for place in places {
            writers.entry(place.clone()).or_default().push(process.pid);
        }
    }
    let with = |process: &Process, places: &[String]| {
        let mut others: Vec<u32> = places.iter().filter_map(|place| writers.get(place)).flatten().copied().collect();
        others.retain(|pid| *pid != process.pid);
        others.sort_unstable();
        others.dedup();
        others
    };
    let each = processes.iter().zip(&places).zip(all);
    let one = |((process, places), outputs): ((&Process, &Vec<String>), Outputs)| Writes {
        readers: Readers { found: of_these(&outputs), ..readers.clone() },
        with: with(process, places),
        outputs,
    };
    each.map(one).collect()
}

/// The pipes among the outputs of a process.
pub(super) fn pipes_of(outputs: &Outputs) -> impl Iterator<Item = u64> {
    [&outputs.stdout, &outputs.stderr].into_iter().filter_map(|output| match output {
        Output::Pipe { inode } => Some(*inode),
        _ => None,
    })
}

/// The places that a process writes to, or whoever reads its pipes, each in words that are equal for equal places.
fn places(process: &Process, outputs: &Outputs, readers: &[Reader]) -> Vec<String> {
    let place = |output: &Output| match output {
        Output::File { path, .. } => Some(format!("{:?} {}", process.container, path.display())),
        Output::Pipe { inode } => Some(format!("pipe {inode}")),
        Output::Journal => process.unit.as_ref().map(|unit| format!("journal {:?} {}", unit.user, unit.name)),
        Output::Terminal | Output::Nothing | Output::Unseen(_) => None,
    };
    let mut places: Vec<String> = [&outputs.stdout, &outputs.stderr].into_iter().filter_map(place).collect();
    for reader in readers {
        places.push(format!("reader {}", reader.pid));
        places.extend(reader.files.iter().map(|held| format!("{:?} {}", process.container, held.path.display())));
    }
    places.sort_unstable();
    places.dedup();
    places
}
