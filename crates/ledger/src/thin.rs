//! Thinning: a few neighbouring segments become one of longer steps, target by target, and are then replaced at once.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use crate::chunk::About;
use crate::disk::File;
use crate::error::{Error, Note};
use crate::events::Event;
use crate::frame::{self, Kind};
use crate::key::{Key, Union};
use crate::ledger::Ledger;
use crate::options::Thinning;
use crate::rows::Fold;
use crate::segment::{Entry, Id, Segment, start};
use crate::steps::Steps;

/// Most segments that become one.
const TOGETHER: usize = 6;
/// Steps times series that are gathered at once: about 15 MiB.
const MOST_CELLS: usize = 1 << 16;
/// The segment that is being made.
pub(crate) const NEW: &str = "thin.new";

/// A thinned segment that is being made.
pub(crate) struct Thin {
    sources: Vec<Arc<Segment>>,
    step: i64,
    targets: VecDeque<Arc<str>>,
    segment: Segment,
    /// What could not be read.
    damage: Vec<Event>,
}

impl Thin {
    /// Bytes of the new segment so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.segment.bytes
    }
}

impl Ledger {
    /// Does one piece of thinning, at most one target of a few segments; false where nothing is old enough.
    pub(crate) fn thin_some(&mut self, now: i64) -> Result<bool, Error> {
        let Some(thin) = &self.thin else {
            self.thin = self.begin_thinning(now)?;
            return Ok(self.thin.is_some());
        };
        // Steps of a target are not larger than its looks were. What is dropped for them may be of what is thinned.
        let next = thin.targets.front().cloned();
        let parts = thin.sources.iter().flat_map(|segment| &segment.entries);
        let parts = parts.filter(|entry| match &next {
            Some(target) => entry.place.kind == Kind::Chunk && entry.about.target == *target,
            None => entry.place.kind == Kind::Events,
        });
        let need = parts.map(|entry| entry.place.end() - entry.place.at).sum();
        self.make_room(need)?;
        let Some(mut thin) = self.thin.take() else { return Ok(true) };
        let done = match thin.targets.pop_front() {
            Some(target) => self.thin_target(thin, &target, now),
            None => self.finish_thinning(thin),
        };
        if done.is_err() {
            // It begins anew at the next call.
            let _ = self.disk.remove(NEW);
        }
        done.map(|()| true)
    }

    /// Gives up thinning a segment that is not there any more.
    pub(crate) fn thin_without(&mut self, id: Id) -> Result<(), Error> {
        if self.thin.as_ref().is_some_and(|thin| thin.sources.iter().any(|segment| segment.id == id)) {
            self.thin = None;
            self.disk.remove(NEW)?;
        }
        Ok(())
    }

    /// The first run of neighbours that are old enough, and are enough or overdue.
    fn begin_thinning(&mut self, now: i64) -> Result<Option<Thin>, Error> {
        let view = self.shared.now();
        for (tier, Thinning { after_ms, step_ms }) in self.options.thin.iter().copied().enumerate() {
            let whole = if self.growing { view.segments.len().saturating_sub(1) } else { view.segments.len() };
            let age = |segment: &Segment| segment.span().map_or(0, |(_, to)| now.saturating_sub(to));
            let fits = |segment: &&Arc<Segment>| usize::from(segment.id.tier) == tier && age(segment) > after_ms;
            let run: Vec<_> = view.segments[..whole]
                .iter()
                .skip_while(|segment| !fits(segment))
                .take_while(fits)
                .take(TOGETHER)
                .cloned()
                .collect();
            let overdue = run.first().is_some_and(|first| age(first) > after_ms.saturating_mul(2));
            let Some(last) = run.last().filter(|_| run.len() == TOGETHER || overdue) else { continue };
            let id = Id { number: last.id.number, tier: tier as u8 + 1 };
            let replaced: Vec<Id> = run.iter().map(|segment| segment.id).collect();
            let chunks =
                run.iter().flat_map(|segment| &segment.entries).filter(|entry| entry.place.kind == Kind::Chunk);
            let targets: BTreeSet<Arc<str>> = chunks.map(|entry| entry.about.target.clone()).collect();
            let file: Arc<File> = Arc::new(self.disk.create(NEW)?);
            let mut segment = Segment { id, file, bytes: 0, entries: Vec::new() };
            let start = start(&replaced);
            self.disk.write(&segment.file, NEW, 0, &start)?;
            segment.bytes = start.len() as u64;
            return Ok(Some(Thin {
                sources: run,
                step: step_ms,
                targets: targets.into_iter().collect(),
                segment,
                damage: vec![],
            }));
        }
        Ok(None)
    }

    /// Gathers all looks of a target, some series at a time; what is damaged is left out, and is an event.
    fn thin_target(&mut self, mut thin: Thin, target: &Arc<str>, now: i64) -> Result<(), Error> {
        let (parts, notes) = sound(&thin, target);
        for Sound { chunks, numbers, series, times } in parts {
            let mut steps = Steps::new(times.iter().copied().collect());
            for group in series.keys.chunks((MOST_CELLS / times.len()).max(1)) {
                let group: HashSet<&Key> = group.iter().collect();
                let mut fold = Fold::new(thin.step);
                for (segment, entry) in &chunks {
                    let all: Vec<usize> = (0..usize::try_from(entry.about.rows).unwrap_or_default()).collect();
                    let read = segment.rows(entry, |rows| fold.add(rows, &|key| group.contains(key), &all));
                    // It could be read a moment ago, and nothing may be missing in a part of the series only.
                    let again = |note: Note| std::io::Error::other(note.text);
                    read.map_err(|note| Error::io("read", &self.disk.path(&segment.id.name()))(again(note)))?;
                }
                fold.finish().1.for_each(|(key, line)| steps.push(key, &line));
            }
            let (about, body) = steps.seal(target, thin.step, numbers);
            self.thin_write(&mut thin, Kind::Chunk, about, &body)?;
        }
        let damaged =
            |text| Event { time: now, target: target.to_string(), kind: "damaged".to_owned(), text, value: None };
        thin.damage.extend(notes.into_iter().map(damaged));
        self.thin = Some(thin);
        Ok(())
    }

    fn thin_write(&mut self, thin: &mut Thin, kind: Kind, about: About, body: &[u8]) -> Result<(), Error> {
        let at = thin.segment.bytes;
        let mut frame = Vec::new();
        frame::put(&mut frame, at, kind, &about.put(), body);
        self.disk.write(&thin.segment.file, NEW, at, &frame)?;
        if let Some((place, _)) = frame::read(&frame, at) {
            thin.segment.entries.push(Entry { place, about });
        }
        thin.segment.bytes += frame.len() as u64;
        Ok(())
    }

    /// Copies the events, and puts the new segment in the old ones' place.
    fn finish_thinning(&mut self, mut thin: Thin) -> Result<(), Error> {
        for segment in thin.sources.clone() {
            for entry in segment.entries.iter().filter(|entry| entry.place.kind == Kind::Events) {
                if let Ok(body) = segment.body(entry) {
                    self.thin_write(&mut thin, Kind::Events, entry.about.clone(), &body)?;
                }
            }
        }
        let name = thin.segment.id.name();
        self.disk.sync(&thin.segment.file, NEW)?;
        self.disk.rename(NEW, &name)?;
        let old: Vec<Id> = thin.sources.iter().map(|segment| segment.id).collect();
        self.shared.change(|view| {
            let at = view.segments.iter().position(|segment| old.contains(&segment.id)).unwrap_or_default();
            view.segments.retain(|segment| !old.contains(&segment.id));
            view.segments.insert(at, Arc::new(thin.segment));
        });
        // Not before: what fails until here begins anew, and would tell it again each time.
        self.damage.extend(thin.damage);
        self.leftovers.extend(thin.sources.iter().map(|segment| (segment.id, segment.bytes)));
        self.remove_leftovers()
    }

    /// Removes segments for which others stand. Before that succeeds nothing is thinned or dropped: a file that is left when
    /// the segment goes that stands for it would be read again at the next opening.
    pub(crate) fn remove_leftovers(&mut self) -> Result<(), Error> {
        if self.leftovers.is_empty() {
            return Ok(());
        }
        // What stands for them has its name on the disk first.
        self.disk.sync_names()?;
        while let Some((id, _)) = self.leftovers.last() {
            self.disk.remove(&id.name())?;
            self.leftovers.pop();
        }
        self.disk.sync_names()
    }
}

/// Chunks of a target that can be read and become one.
struct Sound {
    chunks: Vec<(Arc<Segment>, Entry)>,
    /// First and last number of their looks.
    numbers: (u64, u64),
    series: Union,
    /// When the steps begin.
    times: BTreeSet<i64>,
}

/// Reads all of a target's chunks, and keeps none: which become one, and what cannot be read. They become several where they have
/// too many series together; a step that stands in two is put together again by readers.
fn sound(thin: &Thin, target: &Arc<str>) -> (Vec<Sound>, Vec<String>) {
    let fold = Fold::new(thin.step);
    let (mut parts, mut notes): (Vec<Sound>, Vec<String>) = (Vec::new(), Vec::new());
    for segment in &thin.sources {
        for entry in segment.entries.iter().filter(|entry| entry.is_chunk_of(target)) {
            let read = segment.rows(entry, |rows| {
                let whole = (0..rows.keys.len()).all(|index| rows.cells(index).is_some());
                whole
                    .then(|| (rows.keys.clone(), rows.times.iter().map(|time| fold.begin(*time)).collect::<Vec<i64>>()))
            });
            let (keys, times) = match read {
                Ok(read) => read,
                Err(note) => {
                    notes.push(note.text);
                    continue;
                }
            };
            if !parts.last_mut().is_some_and(|part| part.series.add(&keys)) {
                let mut series = Union::default();
                series.add(&keys);
                parts.push(Sound { chunks: vec![], numbers: (u64::MAX, 0), series, times: BTreeSet::new() });
            }
            if let Some(part) = parts.last_mut() {
                part.numbers = (part.numbers.0.min(entry.about.first), part.numbers.1.max(entry.about.last));
                part.times.extend(times);
                part.chunks.push((segment.clone(), entry.clone()));
            }
        }
    }
    (parts, notes)
}
