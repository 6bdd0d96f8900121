//! Segments: files of chunks and events, which grow at their end, are thinned and dropped as a whole, and are never changed.

use std::sync::Arc;

use crate::bytes::{Take, put_varint};
use crate::chunk::About;
use crate::disk::{Disk, File, read_at, read_up_to};
use crate::error::{Error, Note};
use crate::frame::{self, FIXED, Kind, Place};
use crate::key::Key;
use crate::rows::Rows;

/// The segment's place in the order of arrival, and how often it was thinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) number: u64,
    pub(crate) tier: u8,
}

impl Id {
    pub(crate) fn name(self) -> String {
        format!("segment-{:010}-{}", self.number, self.tier)
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        let (number, tier) = name.strip_prefix("segment-")?.split_once('-')?;
        Some(Self { number: number.parse().ok()?, tier: tier.parse().ok()? }).filter(|id| id.name() == name)
    }
}

/// Segments for which others stand and whose files are still there, with their bytes.
pub(crate) type Leftovers = Vec<(Id, u64)>;

/// A frame of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) about: About,
}

impl Entry {
    /// Whether it has looks at this target.
    pub(crate) fn is_chunk_of(&self, target: &str) -> bool {
        self.place.kind == Kind::Chunk && &*self.about.target == target
    }
}

/// A segment's file, and what is where in it.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) id: Id,
    /// Stays readable when the file is removed.
    pub(crate) file: Arc<File>,
    /// Bytes of the file.
    pub(crate) bytes: u64,
    pub(crate) entries: Vec<Entry>,
}

/// The first frame of a segment that stands for these others.
pub(crate) fn start(replaced: &[Id]) -> Vec<u8> {
    let mut head = Vec::new();
    put_varint(&mut head, replaced.len() as u64);
    for id in replaced {
        put_varint(&mut head, id.number);
        head.push(id.tier);
    }
    let mut frame = Vec::new();
    frame::put(&mut frame, 0, Kind::Start, &head, &[]);
    frame
}

fn take_start(head: &[u8]) -> Option<Vec<Id>> {
    let mut head = Take(head);
    let count = head.count(head.0.len())?;
    let ids: Option<Vec<Id>> = (0..count).map(|_| Some(Id { number: head.varint()?, tier: head.byte()? })).collect();
    ids.filter(|_| head.is_empty())
}

impl Segment {
    /// Earliest and latest time of its rows, milliseconds since 1970; `None` where it has none.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        let from = self.entries.iter().map(|entry| entry.about.from).min()?;
        let to = self.entries.iter().map(|entry| entry.about.to.saturating_add(entry.about.step)).max()?;
        Some((from, to))
    }

    /// The last number of a look or an event in it.
    pub(crate) fn last(&self) -> u64 {
        self.entries.iter().map(|entry| entry.about.last).max().unwrap_or_default()
    }

    /// The body of an entry, checked.
    pub(crate) fn body(&self, entry: &Entry) -> Result<Vec<u8>, Note> {
        let lost = |why: &str| Note::new(self.id.name(), format!("{why}: {} is lost", describe(&entry.about)));
        let body = read_at(&self.file, entry.place.body_at(), entry.place.body_bytes)
            .map_err(|error| lost(&format!("cannot read ({error})")))?;
        if entry.place.holds(&body) { Ok(body) } else { Err(lost("a checksum is wrong")) }
    }

    /// Reads the rows of a chunk; `read` gives `None` where it does not understand them.
    pub(crate) fn rows<T>(&self, entry: &Entry, read: impl FnOnce(&Rows) -> Option<T>) -> Result<T, Note> {
        let body = self.body(entry)?;
        let lost = || Note::new(self.id.name(), format!("it is not understood: {} is lost", describe(&entry.about)));
        Rows::of_chunk(&entry.about, &body).and_then(|rows| read(&rows)).ok_or_else(lost)
    }

    /// The keys of a chunk.
    pub(crate) fn keys(&self, entry: &Entry) -> Result<Vec<Key>, Note> {
        self.rows(entry, |rows| Some(rows.keys.clone()))
    }

    /// Opens a segment's file; also gives the segments that it stands for. The last one is read as a whole and a torn end is
    /// cut; of the others only the heads are read, and each body is checked when it is.
    pub(crate) fn open(disk: &Disk, id: Id, last: bool, notes: &mut Vec<Note>) -> Result<(Self, Vec<Id>), Error> {
        let name = id.name();
        let file = disk.file(&name)?;
        let mut bytes = file.metadata().map_err(Error::io("look at", &disk.path(&name)))?.len();
        let skimmed = if last { None } else { skim(&file, bytes) };
        let frames = if let Some(frames) = skimmed {
            frames
        } else {
            let scan = frame::scan(&disk.contents(&name)?);
            for range in &scan.damaged {
                notes.push(Note::new(&name, format!("{} bytes are damaged and lost", range.end - range.start)));
            }
            if scan.end < bytes {
                notes.push(Note::new(&name, format!("{} torn bytes at its end were cut off", bytes - scan.end)));
                disk.cut(&file, &name, scan.end)?;
                bytes = scan.end;
            }
            // Who wrote it may have been killed before its sync, and the log goes for what is read here.
            disk.sync(&file, &name)?;
            scan.frames
        };
        let mut replaced = Vec::new();
        let mut entries = Vec::new();
        for (place, head) in frames {
            match place.kind {
                Kind::Start => replaced = take_start(&head).unwrap_or_default(),
                Kind::Chunk | Kind::Events => {
                    entries.extend(About::take(&head).map(|about| Entry { place, about }));
                }
                _ => (),
            }
        }
        Ok((Self { id, file: Arc::new(file), bytes, entries }, replaced))
    }
}

/// The heads of all frames, one after another; `None` where one is not as it should be.
fn skim(file: &File, bytes: u64) -> Option<Vec<(Place, Vec<u8>)>> {
    // More than a head has, whatever the target's name.
    const MOST_HEAD: usize = FIXED + 2048;
    let mut frames = Vec::new();
    let mut at = 0;
    while at < bytes {
        let front = read_up_to(file, at, MOST_HEAD).ok()?;
        let (place, head) = frame::read(&front, at)?;
        if place.end() > bytes {
            return None;
        }
        at = place.end();
        frames.push((place, head.to_vec()));
    }
    Some(frames)
}

fn describe(about: &About) -> String {
    let rows = if about.step > 0 { "steps" } else { "looks or events" };
    format!("{} {rows} of {:?} from {} to {}", about.rows, about.target, about.from, about.to)
}
