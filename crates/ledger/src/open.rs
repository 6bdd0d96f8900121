//! Opening: whatever a process left that ended at any moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::FORMAT;
use crate::disk::Disk;
use crate::error::{Error, Note};
use crate::frame::Kind;
use crate::ledger::Ledger;
use crate::lock::{Lock, check_file_system};
use crate::look::Look;
use crate::options::Options;
use crate::segment::{Id, Leftovers, Segment};
use crate::thin;
use crate::view::{Shared, View};
use crate::wal::{self, Replayed, Wal};

/// The file with the format's number.
const NAME: &str = "format";
/// What is in front of the number.
const WORDS: &str = "plimsoll history ";

impl Ledger {
    /// Opens the ledger in this directory, or makes one. The notes say what was damaged and what that cost.
    pub fn open(folder: &Path, options: Options) -> Result<(Self, Vec<Note>), Error> {
        options.check()?;
        let disk = Disk::open(folder, options.at)?;
        if !options.allow_network {
            check_file_system(&disk)?;
        }
        let lock = Lock::take(&disk)?;
        let mut notes = Vec::new();
        let files = disk.list()?;
        // Who wrote them may have been killed before it waited for a name, and others go for it.
        disk.sync_names()?;
        format(&disk, &files, &mut notes)?;
        let (segments, leftovers) = segments(&disk, &files, &mut notes)?;
        let mut view = View { segments, ..View::default() };
        let logs: Vec<u64> = files.iter().filter_map(|(name, _)| wal::id_of(name)).collect();
        let mut shapes = 0;
        let (mut wal, replayed) = Wal::open(&disk, &logs, &mut shapes, &mut notes)?;
        let number = replay(&mut view, replayed);
        wal.forget(&disk, first_open(&view).unwrap_or(number))?;
        let shared = Arc::new(Shared::default());
        shared.change(|now| *now = view);
        Ok((Self::new(options, disk, lock, shared, wal, (number, shapes), leftovers), notes))
    }
}

/// Refuses later formats; writes the number where it is missing.
fn format(disk: &Disk, files: &[(String, u64)], notes: &mut Vec<Note>) -> Result<(), Error> {
    let there = files.iter().any(|(name, _)| name == NAME);
    let text = if there { disk.contents(NAME)? } else { Vec::new() };
    let text = String::from_utf8_lossy(&text).into_owned();
    match text.strip_prefix(WORDS).and_then(|rest| rest.trim_end().parse().ok()) {
        Some(FORMAT) => return Ok(()),
        Some(found) => return Err(Error::Format { path: disk.folder.clone(), found }),
        None if there => notes.push(Note::new(NAME, "it was damaged and is written anew")),
        None => (),
    }
    let new = "format.new";
    let file = disk.create(new)?;
    disk.write(&file, new, 0, format!("{WORDS}{FORMAT}\n").as_bytes())?;
    disk.sync(&file, new)?;
    disk.rename(new, NAME)?;
    disk.sync_names()
}

/// The segments, in the order of arrival, without those for which a thinned one stands; and of these the ones whose files
/// cannot be removed now.
fn segments(
    disk: &Disk,
    files: &[(String, u64)],
    notes: &mut Vec<Note>,
) -> Result<(Vec<Arc<Segment>>, Leftovers), Error> {
    // A thinned segment that was not finished; those that it was to stand for are still there.
    disk.remove(thin::NEW)?;
    let mut ids: Vec<Id> = files.iter().filter_map(|(name, _)| Id::of(name)).collect();
    ids.sort();
    let last = ids.last().copied();
    let mut gone = BTreeSet::new();
    let mut segments = Vec::new();
    for id in ids {
        let (segment, replaced) = Segment::open(disk, id, Some(id) == last, notes)?;
        gone.extend(replaced);
        segments.push(Arc::new(segment));
    }
    // An empty one is what is left of a first write that did not happen.
    let over = |segment: &&Arc<Segment>| gone.contains(&segment.id) || segment.entries.is_empty();
    let stays = |segment: &&Arc<Segment>| disk.remove(&segment.id.name()).is_err();
    let leftovers = segments.iter().filter(over).filter(stays).map(|segment| (segment.id, segment.bytes)).collect();
    segments.retain(|segment| !over(&segment));
    Ok((segments, leftovers))
}

/// Puts what the log says into the view, without what segments have; gives the next free number.
fn replay(view: &mut View, replayed: Replayed) -> u64 {
    // Numbers that are done, by target; those of events under `None`.
    let mut done: BTreeMap<Option<Arc<str>>, Vec<(u64, u64)>> = BTreeMap::new();
    for entry in view.segments.iter().flat_map(|segment| &segment.entries) {
        let target = (entry.place.kind == Kind::Chunk).then(|| entry.about.target.clone());
        done.entry(target).or_default().push((entry.about.first, entry.about.last));
    }
    for (target, first, last) in replayed.dropped {
        done.entry(target).or_default().push((first, last));
    }
    // Most of what is done is older than all of the log.
    let first = replayed.looks.iter().map(|look| look.number).min().unwrap_or(u64::MAX);
    let first = replayed.events.iter().map(|event| event.number).fold(first, u64::min);
    let most = done.values().flatten().map(|(_, last)| *last).max().unwrap_or_default();
    let numbers = replayed.looks.iter().map(|look| look.number);
    let most = numbers.chain(replayed.events.iter().map(|event| event.number)).fold(most, u64::max);
    for done in done.values_mut() {
        done.retain(|(_, last)| *last >= first);
    }
    // Looks stand in files in the order of their numbers, and each run of numbers of a target is one chunk.
    let open = |target: &Option<Arc<str>>, number: u64| {
        !done.get(target).is_some_and(|done| done.iter().any(|(first, last)| (first..=last).contains(&&number)))
    };
    let mut looks: BTreeMap<Arc<str>, Vec<Arc<Look>>> = BTreeMap::new();
    for look in replayed.looks {
        if open(&Some(look.shape.target.clone()), look.number) {
            looks.entry(look.shape.target.clone()).or_default().push(look);
        }
    }
    view.looks = looks.into_iter().map(|(target, looks)| (target, Arc::new(looks))).collect();
    view.events = Arc::new(replayed.events.into_iter().filter(|event| open(&None, event.number)).collect());
    most + 1
}

/// The first number that is in no segment.
pub(crate) fn first_open(view: &View) -> Option<u64> {
    let looks = view.looks.values().filter_map(|looks| looks.first().map(|look| look.number));
    looks.chain(view.events.first().map(|event| event.number)).min()
}
