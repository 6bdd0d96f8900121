//! From the log into segments, and out of the directory when there is no room.

use std::sync::Arc;

use crate::chunk::{About, of_looks};
use crate::error::Error;
use crate::events::of_events;
use crate::frame::{self, FIXED, Kind};
use crate::key::Union;
use crate::ledger::Ledger;
use crate::look::Look;
use crate::open::first_open;
use crate::segment::{Entry, Id, Segment, start};

impl Ledger {
    /// Makes a chunk of the looks at a target that are in none: of all, unless they have too many series together.
    pub(crate) fn store_looks(&mut self, target: &Arc<str>) -> Result<(), Error> {
        let Some(looks) = self.shared.now().looks.get(target).cloned() else { return Ok(()) };
        let (looks, rest) = looks.split_at(together(&looks));
        let (about, body) = of_looks(looks);
        let segment = self.store(Kind::Chunk, about, &body)?;
        // One change, so that no reader sees a look twice or not at all.
        self.shared.change(|view| {
            put_last(&mut view.segments, segment);
            if rest.is_empty() {
                view.looks.remove(target);
            } else {
                view.looks.insert(target.clone(), Arc::new(rest.to_vec()));
            }
        });
        self.forget()
    }

    /// Puts all events that are in no segment into one.
    pub(crate) fn store_events(&mut self) -> Result<(), Error> {
        let events = self.shared.now().events.clone();
        if events.is_empty() {
            return Ok(());
        }
        let (about, body) = of_events(&events);
        let segment = self.store(Kind::Events, about, &body)?;
        self.shared.change(|view| {
            put_last(&mut view.segments, segment);
            view.events = Arc::default();
        });
        self.forget()
    }

    /// Writes a frame into the last segment, or a new one, and waits for the disk. Gives the segment with it.
    fn store(&mut self, kind: Kind, about: About, body: &[u8]) -> Result<Arc<Segment>, Error> {
        let head = about.put();
        self.make_room((FIXED + head.len() + body.len()) as u64 + 64)?;
        let view = self.shared.now();
        let last = view.segments.last().filter(|segment| {
            let span = segment.span().map_or(0, |(from, _)| about.to.saturating_sub(from));
            self.growing && segment.bytes < self.options.segment_bytes() && span < self.options.segment_ms
        });
        let mut frames = Vec::new();
        let mut segment = if let Some(last) = last {
            Segment::clone(last)
        } else {
            let number = view.segments.last().map_or(0, |segment| segment.id.number) + 1;
            let id = Id { number, tier: 0 };
            let file = Arc::new(self.disk.create(&id.name())?);
            frames = start(&[]);
            Segment { id, file, bytes: 0, entries: Vec::new() }
        };
        let name = segment.id.name();
        let new = segment.bytes == 0;
        let at = frames.len();
        frame::put(&mut frames, segment.bytes, kind, &head, body);
        let mut written = self.disk.write(&segment.file, &name, segment.bytes, &frames);
        written = written.and_then(|()| self.disk.sync(&segment.file, &name));
        if new {
            written = written.and_then(|()| self.disk.sync_names());
        }
        if let Err(error) = written {
            // Cut off, so that the next frame stands where it thinks; an empty file is one that was never there.
            let _ = if new { self.disk.remove(&name) } else { self.disk.cut(&segment.file, &name, segment.bytes) };
            return Err(error);
        }
        if let Some((place, _)) = frame::read(&frames[at..], segment.bytes + at as u64) {
            segment.entries.push(Entry { place, about });
        }
        segment.bytes += frames.len() as u64;
        self.growing = true;
        Ok(Arc::new(segment))
    }

    /// Removes files of the log of which everything is in segments.
    fn forget(&mut self) -> Result<(), Error> {
        let below = first_open(&self.shared.now()).unwrap_or(u64::MAX);
        self.wal.forget(&self.disk, below)
    }

    /// Frees the oldest file of the log, a target at a time; false where there is nothing to do.
    pub(crate) fn relieve(&mut self) -> Result<bool, Error> {
        let Some((last, own)) = self.wal.oldest().map(|(file, own)| (file.last, own)) else { return Ok(false) };
        if own {
            // A file that is removed must not be written any more.
            self.wal.turn(&self.disk)?;
        }
        let view = self.shared.now();
        if view.events.first().is_some_and(|event| event.number <= last) {
            self.store_events()?;
        } else if let Some((target, _)) =
            view.looks.iter().find(|(_, looks)| looks.first().is_some_and(|look| look.number <= last))
        {
            self.store_looks(target)?;
        } else {
            self.forget()?;
        }
        Ok(true)
    }

    /// Puts everything into segments and begins a new log.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        let targets: Vec<Arc<str>> = self.shared.now().looks.keys().cloned().collect();
        for target in targets {
            while self.shared.now().looks.contains_key(&target) {
                self.store_looks(&target)?;
            }
        }
        self.store_events()?;
        self.wal.abandon(&self.disk)
    }

    /// Drops the oldest segments until so many bytes fit beside the log.
    pub(crate) fn make_room(&mut self, bytes: u64) -> Result<(), Error> {
        // The other files (lock, format) have a few bytes each.
        let most = self.options.bytes - self.options.log_bytes - 4096;
        while self.segment_bytes() + bytes > most && self.drop_oldest()? {}
        Ok(())
    }

    fn drop_oldest(&mut self) -> Result<bool, Error> {
        if !self.leftovers.is_empty() {
            // That may be room enough.
            self.remove_leftovers()?;
            return Ok(true);
        }
        let view = self.shared.now();
        let Some(oldest) = view.segments.first() else { return Ok(false) };
        if self.wal.oldest().is_some_and(|(file, _)| oldest.last() >= file.first) {
            // The log may still have its looks, which are not to come back.
            self.wal.ready(&self.disk)?;
            for Entry { place, about } in &oldest.entries {
                let target = (place.kind == Kind::Chunk).then_some(&*about.target);
                self.wal.dropped(target, about.first, about.last);
            }
            self.wal.sync(&self.disk)?;
        }
        self.disk.remove(&oldest.id.name())?;
        self.disk.sync_names()?;
        self.thin_without(oldest.id)?;
        self.growing &= view.segments.len() > 1;
        self.shared.change(|view| view.segments.remove(0));
        Ok(true)
    }
}

/// Samples of a chunk at most, unless it has one look: their states are to fit into its table, whatever they are.
const MOST_SAMPLES: usize = 1 << 23;

/// How many of the looks go into one chunk, at least one.
fn together(looks: &[Arc<Look>]) -> usize {
    let mut series = Union::default();
    let mut shape = None;
    let mut fits = |row: usize, look: &Arc<Look>| {
        let named = shape.replace(look.shape.id) == Some(look.shape.id) || series.add(&look.shape.keys);
        named && (row + 1) * series.keys.len() <= MOST_SAMPLES
    };
    looks.iter().enumerate().take_while(|(row, look)| fits(*row, look)).count().max(1)
}

/// Puts a segment in the place of its earlier state, or at the end.
fn put_last(segments: &mut Vec<Arc<Segment>>, segment: Arc<Segment>) {
    if segments.last().is_some_and(|last| last.id == segment.id) {
        segments.pop();
    }
    segments.push(segment);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Key, Shape};

    #[test]
    fn a_chunk_has_no_more_samples_than_its_table_can_say() {
        let keys = (0..8192).map(|index| Key::new([format!("{index}")])).collect();
        let shape = Shape::new(1, "t", keys).expect("a shape");
        let look = |number| Arc::new(Look { number, time: 0, shape: shape.0.clone(), bytes: Box::default() });
        let looks: Vec<_> = (0..1500).map(look).collect();
        // 8192 series of 1024 looks are 2^23 samples.
        assert_eq!((together(&looks), together(&looks[..7])), (1024, 7));
    }
}
