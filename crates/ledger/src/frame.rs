//! Frames: every byte of every file stands in one. A frame is a head, which says what it is, and a body; both have a checksum,
//! so a flipped bit costs one frame. The head's covers the frame's place in its file, so nothing that a body holds can be
//! taken for a frame.
//!
//! ```text
//! 0  4  MAGIC
//! 4  1  kind
//! 5  1  0
//! 6  2  bytes of the head
//! 8  4  bytes of the body
//! 12 4  CRC-32 of the body
//! 16 4  CRC-32 of the frame's offset in its file (8 bytes), of the bytes 0 to 16, and of the head
//! 20    head, body
//! ```

use std::ops::Range;

const MAGIC: [u8; 4] = *b"\xB7LDG";
/// Bytes before the head.
pub(crate) const FIXED: usize = 20;
/// Longest body that is believed, in bytes.
pub(crate) const MOST_BODY: usize = 256 << 20;

/// What a frame holds. The numbers are the format's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The first of a segment: which segments it stands for.
    Start = 1,
    /// Looks at one target, at full resolution or thinned.
    Chunk = 2,
    /// Events.
    Events = 3,
    /// In the log: the names behind a shape's number.
    Shape = 4,
    /// In the log: one look.
    Look = 5,
    /// In the log: one event.
    Event = 6,
    /// In the log: looks that are not to be replayed, because their segment was dropped.
    Dropped = 7,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Start, Self::Chunk, Self::Events, Self::Shape, Self::Look, Self::Event, Self::Dropped]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// Where a frame stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    pub(crate) at: u64,
    pub(crate) head_bytes: usize,
    pub(crate) body_bytes: usize,
    pub(crate) body_sum: u32,
}

impl Place {
    pub(crate) fn body_at(&self) -> u64 {
        self.at + (FIXED + self.head_bytes) as u64
    }

    pub(crate) fn end(&self) -> u64 {
        self.body_at() + self.body_bytes as u64
    }

    /// Whether these are the bytes of the body that was written.
    pub(crate) fn holds(&self, body: &[u8]) -> bool {
        body.len() == self.body_bytes && crc32fast::hash(body) == self.body_sum
    }
}

/// Appends a frame to `out`, the first byte of which stands at `base` in the file.
pub(crate) fn put(out: &mut Vec<u8>, base: u64, kind: Kind, head: &[u8], body: &[u8]) {
    let at = base + out.len() as u64;
    let start = out.len();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[kind as u8, 0]);
    out.extend_from_slice(&(head.len() as u16).to_le_bytes());
    out.extend_from_slice(&(body.len() as u32).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    let sum = head_sum(at, &out[start..start + 16], head);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(head);
    out.extend_from_slice(body);
}

fn head_sum(at: u64, fixed: &[u8], head: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&at.to_le_bytes());
    sum.update(fixed);
    sum.update(head);
    sum.finalize()
}

/// The frame at `at` in a file, of which `bytes` are the next ones; `None` where its head is not whole.
pub(crate) fn read(bytes: &[u8], at: u64) -> Option<(Place, &[u8])> {
    let fixed = bytes.get(..FIXED)?;
    let number = |range: Range<usize>| fixed[range].iter().rev().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
    if fixed[..4] != MAGIC {
        return None;
    }
    let (head_bytes, body_bytes) = (number(6..8) as usize, number(8..12) as usize);
    let head = bytes.get(FIXED..FIXED + head_bytes)?;
    if head_sum(at, &fixed[..16], head) != number(16..20) || body_bytes > MOST_BODY {
        return None;
    }
    let place = Place { kind: Kind::of(fixed[4])?, at, head_bytes, body_bytes, body_sum: number(12..16) };
    Some((place, head))
}

/// What a whole file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Frames whose head and body are whole, with their heads' bytes.
    pub(crate) frames: Vec<(Place, Vec<u8>)>,
    /// Stretches of the file, in bytes, that are damaged and have whole frames behind them.
    pub(crate) damaged: Vec<Range<u64>>,
    /// Where the last whole frame ends; what follows was torn off.
    pub(crate) end: u64,
}

/// Finds every whole frame. Behind damage it goes on with the next one.
pub(crate) fn scan(bytes: &[u8]) -> Scan {
    let mut found = Scan::default();
    let mut at = 0;
    while at < bytes.len() {
        let whole = read(&bytes[at..], at as u64).filter(|(place, _)| {
            let body = bytes.get(place.body_at() as usize..place.end() as usize);
            body.is_some_and(|body| place.holds(body))
        });
        if let Some((place, head)) = whole {
            if place.at > found.end {
                found.damaged.push(found.end..place.at);
            }
            found.end = place.end();
            at = found.end as usize;
            found.frames.push((place, head.to_vec()));
        } else {
            // One byte on, to where the next frame might begin.
            let next = bytes[at + 1..].windows(MAGIC.len()).position(|window| window == MAGIC);
            at = next.map_or(bytes.len(), |next| at + 1 + next);
        }
    }
    found
}
