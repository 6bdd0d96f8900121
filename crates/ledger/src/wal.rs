//! The log: each look and event by itself, on the disk within a second, until its chunk is. A log is several files; the oldest
//! is removed when everything in it stands in segments.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::bytes::{Take, put_text, put_varint};
use crate::chunk::take_deflated;
use crate::disk::{Disk, File};
use crate::error::{Error, Note};
use crate::events::{Event, Numbered};
use crate::frame::{self, Kind};
use crate::key::{Key, Named, take_keys};
use crate::look::{Look, decode};

/// First and last of no numbers at all.
const NO_NUMBERS: (u64, u64) = (u64::MAX, 0);

/// One file of the log.
pub(crate) struct LogFile {
    pub(crate) id: u64,
    file: File,
    bytes: u64,
    /// First and last number of a look or an event in it.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The log's files, and what is to be written into the last one.
#[derive(Default)]
pub(crate) struct Wal {
    files: VecDeque<LogFile>,
    /// Whether the last file is this process's own; it never goes on with another's.
    own: bool,
    next: u64,
    pending: Vec<u8>,
    /// Shapes whose names the last file has.
    shapes: HashSet<u64>,
    /// A sync failed, so what the files hold may not be on the disk, and no later sync says so.
    pub(crate) suspect: bool,
}

/// What a log says that is in no segment yet, maybe.
#[derive(Default)]
pub(crate) struct Replayed {
    pub(crate) looks: Vec<Arc<Look>>,
    pub(crate) events: Vec<Arc<Numbered>>,
    /// Numbers of a target's looks that were dropped; of events where there is no target.
    pub(crate) dropped: Vec<(Option<Arc<str>>, u64, u64)>,
}

fn name(id: u64) -> String {
    format!("log-{id:010}")
}

/// The number in a log file's name.
pub(crate) fn id_of(file: &str) -> Option<u64> {
    file.strip_prefix("log-")?.parse().ok().filter(|id| name(*id) == file)
}

impl Wal {
    /// Bytes of all files, with what is still to be written.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum::<u64>() + self.pending.len() as u64
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The oldest file, and whether it is the one that is written.
    pub(crate) fn oldest(&self) -> Option<(&LogFile, bool)> {
        self.files.front().map(|file| (file, self.own && self.files.len() == 1))
    }

    /// Bytes of the file that is written.
    pub(crate) fn own_bytes(&self) -> u64 {
        if self.own { self.files.back().map_or(0, |file| file.bytes) } else { 0 }
    }

    /// Makes the file that is written, where there is none; to be called before anything is put into the log.
    pub(crate) fn ready(&mut self, disk: &Disk) -> Result<(), Error> {
        if !self.own {
            let file = disk.create(&name(self.next))?;
            disk.sync_names()?;
            self.files.push_back(LogFile { id: self.next, file, bytes: 0, first: u64::MAX, last: 0 });
            self.next += 1;
            self.own = true;
            self.shapes.clear();
        }
        Ok(())
    }

    fn put(&mut self, numbers: (u64, u64), kind: Kind, head: &[u8], body: &[u8]) {
        let Some(own) = self.files.back_mut().filter(|_| self.own) else { return };
        own.first = own.first.min(numbers.0);
        own.last = own.last.max(numbers.1);
        frame::put(&mut self.pending, own.bytes, kind, head, body);
    }

    pub(crate) fn look(&mut self, look: &Look) {
        let numbers = (look.number, look.number);
        let shape = &look.shape;
        if self.shapes.insert(shape.id) {
            // Twice, since all its looks in this file are lost without it.
            for _ in 0..2 {
                self.put(numbers, Kind::Shape, &shape.id.to_le_bytes(), &shape.names);
            }
        }
        let mut head = Vec::new();
        put_varint(&mut head, shape.id);
        put_varint(&mut head, look.number);
        head.extend_from_slice(&look.time.to_le_bytes());
        self.put(numbers, Kind::Look, &head, &look.bytes);
    }

    pub(crate) fn event(&mut self, event: &Numbered) {
        let mut body = Vec::new();
        event.event.put(&mut body);
        self.put((event.number, event.number), Kind::Event, &event.number.to_le_bytes(), &body);
    }

    /// Says that looks of these numbers are not to be replayed, since their segment is going to be dropped.
    pub(crate) fn dropped(&mut self, target: Option<&str>, first: u64, last: u64) {
        let mut head = vec![u8::from(target.is_some())];
        put_text(&mut head, target.unwrap_or_default());
        put_varint(&mut head, first);
        put_varint(&mut head, last);
        self.put((last, last), Kind::Dropped, &head, &[]);
    }

    /// Writes what is pending, without waiting for the disk.
    pub(crate) fn write(&mut self, disk: &Disk) -> Result<(), Error> {
        let Some(own) = self.files.back_mut().filter(|_| self.own && !self.pending.is_empty()) else { return Ok(()) };
        disk.write(&own.file, &name(own.id), own.bytes, &self.pending)?;
        own.bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Writes what is pending and waits for the disk.
    pub(crate) fn sync(&mut self, disk: &Disk) -> Result<(), Error> {
        self.write(disk)?;
        let synced = match self.files.back().filter(|_| self.own) {
            Some(own) => disk.sync(&own.file, &name(own.id)),
            None => Ok(()),
        };
        self.suspect |= synced.is_err();
        synced
    }

    /// Lets the next frame begin a new file. The one before is on the disk then.
    pub(crate) fn turn(&mut self, disk: &Disk) -> Result<(), Error> {
        self.sync(disk)?;
        self.own = false;
        Ok(())
    }

    /// Removes the oldest files, as far as they hold nothing from this number on; never the one that is written.
    pub(crate) fn forget(&mut self, disk: &Disk, below: u64) -> Result<(), Error> {
        let kept = usize::from(self.own);
        while self.files.len() > kept && self.files.front().is_some_and(|file| file.last < below) {
            if let Some(file) = self.files.front() {
                disk.remove(&name(file.id))?;
            }
            self.files.pop_front();
        }
        Ok(())
    }

    /// Removes all files, with what is pending.
    pub(crate) fn abandon(&mut self, disk: &Disk) -> Result<(), Error> {
        self.pending.clear();
        self.own = false;
        self.forget(disk, u64::MAX)?;
        self.suspect = false;
        Ok(())
    }

    /// Reads the files that were left, oldest first.
    pub(crate) fn open(
        disk: &Disk,
        ids: &[u64],
        shapes: &mut u64,
        notes: &mut Vec<Note>,
    ) -> Result<(Self, Replayed), Error> {
        let mut wal = Self { next: ids.iter().max().map_or(1, |id| id + 1), ..Self::default() };
        let mut all = Replayed::default();
        for id in ids {
            let bytes = disk.contents(&name(*id))?;
            let file = disk.file(&name(*id))?;
            let scan = frame::scan(&bytes);
            for range in &scan.damaged {
                notes.push(Note::new(name(*id), format!("{} bytes are damaged and lost", range.end - range.start)));
            }
            if scan.end < bytes.len() as u64 {
                let torn = bytes.len() as u64 - scan.end;
                notes.push(Note::new(name(*id), format!("{torn} torn bytes at its end were cut off")));
                disk.cut(&file, &name(*id), scan.end)?;
            }
            // Who wrote it may have been killed before its sync: what is read here counts as promised from now on.
            wal.suspect |= disk.sync(&file, &name(*id)).is_err();
            let mut known = HashMap::new();
            let mut numbers = NO_NUMBERS;
            let mut strange = 0;
            for (place, head) in &scan.frames {
                let body = &bytes[place.body_at() as usize..place.end() as usize];
                match all.take(place.kind, head, body, &mut known, shapes) {
                    Some((first, last)) => numbers = (numbers.0.min(first), numbers.1.max(last)),
                    None => strange += 1,
                }
            }
            if strange > 0 {
                notes.push(Note::new(name(*id), format!("{strange} looks or events have lost their names")));
            }
            let (first, last) = numbers;
            wal.files.push_back(LogFile { id: *id, file, bytes: scan.end, first, last });
        }
        Ok((wal, all))
    }
}

impl Replayed {
    /// Takes a frame in, and gives the first and the last number that it says (names say none); `None` where it is not
    /// understood.
    fn take(
        &mut self,
        kind: Kind,
        head: &[u8],
        body: &[u8],
        known: &mut HashMap<u64, Arc<Named>>,
        shapes: &mut u64,
    ) -> Option<(u64, u64)> {
        let mut head = Take(head);
        match kind {
            Kind::Shape => {
                let names = take_deflated(&mut Take(body))?;
                let mut names = Take(&names);
                let target = names.text()?.into();
                let keys: Vec<Key> = take_keys(&mut names)?;
                *shapes += 1;
                known.entry(head.u64()?).or_insert(Arc::new(Named { id: *shapes, target, keys, names: body.to_vec() }));
                Some(NO_NUMBERS)
            }
            Kind::Look => {
                let (shape, number, time) = (head.varint()?, head.varint()?, head.i64()?);
                let shape = known.get(&shape)?.clone();
                decode(body, shape.keys.len())?;
                self.looks.push(Arc::new(Look { number, time, shape, bytes: body.into() }));
                Some((number, number))
            }
            Kind::Event => {
                let number = head.u64()?;
                let event = Event::take(&mut Take(body))?;
                self.events.push(Arc::new(Numbered { number, event }));
                Some((number, number))
            }
            Kind::Dropped => {
                let target = head.byte()? != 0;
                let name = head.text()?.into();
                let (first, last) = (head.varint()?, head.varint()?);
                self.dropped.push((target.then_some(name), first, last));
                Some((last, last))
            }
            _ => None,
        }
    }
}
