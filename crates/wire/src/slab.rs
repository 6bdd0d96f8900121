//! Snapshots of load in shared memory: a header, then one slot of equal size for each rank.
//!
//! All numbers little-endian: 4 bytes of magic, `u16` version, `u16` ranks, `u32` size of a slot; in a slot the `u32`
//! length of what follows, then one msgpack map. The writer sets the length to 0 while it writes. Seen in the files of
//! recorded servers (`tests/slabs`); fields at their default may be missing from the map.

use serde_json::Value;

use crate::msgpack::{self, Limits};

/// Bytes of the header.
const HEADER: usize = 12;
/// More ranks are no slab.
const MOST_RANKS: usize = 1024;
/// Larger slots are no slab.
const MOST_SLOT: usize = 1 << 20;

/// A slab as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Slab {
    /// Version of the layout, as its header says. Whether it is a known one is for the caller to judge.
    pub version: u16,
    /// One slot for each rank, in the order of ranks.
    pub ranks: Vec<Slot>,
}

/// What one rank published.
#[derive(Debug, Clone, PartialEq)]
pub enum Slot {
    /// Nothing: it is being written, or never was.
    Empty,
    /// Bytes that are no map, and why: caught while it was written, or of another layout.
    Torn(String),
    /// The map, a JSON object. Arrays stay arrays.
    Value(Value),
}

/// Why bytes are no slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Shorter than the header.
    #[error("it ends within its header")]
    Short,
    /// It begins with other bytes.
    #[error("it begins otherwise")]
    Magic,
    /// More than 1024 ranks.
    #[error("it claims {0} ranks")]
    Ranks(u16),
    /// Slots too small for their length, or larger than 1 MiB.
    #[error("it claims slots of {0} bytes")]
    Slot(u32),
}

/// Reads a slab that begins with `magic`. A rank that cannot be read costs that rank.
pub fn decode(bytes: &[u8], magic: &[u8; 4]) -> Result<Slab, Fault> {
    let header: &[u8; HEADER] = bytes.first_chunk().ok_or(Fault::Short)?;
    if header[..4] != magic[..] {
        return Err(Fault::Magic);
    }
    let version = u16::from_le_bytes([header[4], header[5]]);
    let ranks = u16::from_le_bytes([header[6], header[7]]);
    let size = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    if usize::from(ranks) > MOST_RANKS {
        return Err(Fault::Ranks(ranks));
    }
    let length = size as usize;
    if !(4..=MOST_SLOT).contains(&length) {
        return Err(Fault::Slot(size));
    }
    let slots = (0..usize::from(ranks)).map(|rank| slot(bytes.get(HEADER + rank * length..), length));
    Ok(Slab { version, ranks: slots.collect() })
}

fn slot(bytes: Option<&[u8]>, size: usize) -> Slot {
    let Some((length, rest)) = bytes.and_then(|bytes| bytes.split_first_chunk::<4>()) else {
        return Slot::Torn("the file ends before it".to_owned());
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length == 0 {
        return Slot::Empty;
    }
    let Some(map) = rest.get(..length).filter(|_| length <= size - 4) else {
        return Slot::Torn(format!("it claims {length} bytes and has room for {}", rest.len().min(size - 4)));
    };
    match msgpack::read(map, &Limits::default()) {
        Ok((Value::Object(fields), read)) if read == length => Slot::Value(Value::Object(fields)),
        Ok((Value::Object(_), read)) => Slot::Torn(format!("its map ends after {read} of {length} bytes")),
        Ok(_) => Slot::Torn("it holds no map".to_owned()),
        Err(bad) => Slot::Torn(bad.to_string()),
    }
}
