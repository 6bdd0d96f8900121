//! Names: a series' key, and the shape of looks at a target.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::bytes::{Take, put_text, put_varint};
use crate::chunk::put_deflated;
use crate::error::Error;

/// Longest name of a target, in bytes.
pub const MOST_TARGET_BYTES: usize = 1024;
/// Most series in one look.
pub const MOST_SERIES: usize = 100_000;
/// Longest list of names that is kept together, in bytes; what is deflated may be four times as long.
const MOST_NAMES_BYTES: usize = 16 << 20;
/// Longest text of a key or an event, in bytes.
pub const MOST_TEXT_BYTES: usize = 16_384;

/// Names a series within its target: a list of texts whose meaning is the caller's (rank, pool, tier, signal).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<[String]>);

impl Key {
    /// The key of these parts, in this order.
    pub fn new<T: Into<String>>(parts: impl IntoIterator<Item = T>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }

    /// The parts, in the order in which they were given.
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

/// Which series the looks at one target have, in which order. Made by `Ledger::shape` once, for many looks.
#[derive(Clone, Debug)]
pub struct Shape(pub(crate) Arc<Named>);

/// What a shape names.
#[derive(Debug)]
pub(crate) struct Named {
    /// Unique in this process; files have it only beside a copy of the names.
    pub(crate) id: u64,
    pub(crate) target: Arc<str>,
    pub(crate) keys: Vec<Key>,
    /// Target and keys as the log has them.
    pub(crate) names: Vec<u8>,
}

impl Shape {
    /// Fails where two keys are the same, or where names are too long or too many.
    pub(crate) fn new(id: u64, target: &str, keys: Vec<Key>) -> Result<Self, Error> {
        if target.len() > MOST_TARGET_BYTES || keys.len() > MOST_SERIES {
            return Err(Error::Unfit(format!("the target has {} bytes and {} series", target.len(), keys.len())));
        }
        if let Some(key) = keys.iter().find(|key| key.parts().iter().map(String::len).sum::<usize>() > MOST_TEXT_BYTES)
        {
            return Err(Error::Unfit(format!("a key of {target} has {} parts and too many bytes", key.parts().len())));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = keys.iter().find(|key| !seen.insert(*key)) {
            return Err(Error::Unfit(format!("{target} has the key {:?} twice", twice.parts())));
        }
        let mut list = Vec::new();
        put_text(&mut list, target);
        put_keys(&mut list, &keys);
        if list.len() > MOST_NAMES_BYTES {
            return Err(Error::Unfit(format!("the names of {target} have {} bytes", list.len())));
        }
        let mut names = Vec::new();
        put_deflated(&mut names, &list);
        Ok(Self(Arc::new(Named { id, target: target.into(), keys, names })))
    }

    /// The target whose looks have this shape.
    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// The series, in the order of a look's samples.
    pub fn keys(&self) -> &[Key] {
        &self.0.keys
    }
}

/// Series of several looks that are to be kept together.
#[derive(Default)]
pub(crate) struct Union {
    seen: HashSet<Key>,
    /// In the order in which they came.
    pub(crate) keys: Vec<Key>,
    bytes: usize,
}

impl Union {
    /// Takes these too; false where there are too many then, and nothing was taken.
    pub(crate) fn add(&mut self, keys: &[Key]) -> bool {
        let new: Vec<&Key> = keys.iter().filter(|key| !self.seen.contains(*key)).collect();
        // A part has its length before it, and a key their count.
        let bytes = |key: &&Key| 5 + key.parts().iter().map(|part| 5 + part.len()).sum::<usize>();
        let bytes = self.bytes + new.iter().map(bytes).sum::<usize>();
        if self.keys.len() + new.len() > MOST_SERIES || bytes > 2 * MOST_NAMES_BYTES {
            return false;
        }
        self.bytes = bytes;
        for key in new {
            self.seen.insert(key.clone());
            self.keys.push(key.clone());
        }
        true
    }
}

/// The keys as bytes: how many, and of each how many parts, and the parts.
pub(crate) fn put_keys(out: &mut Vec<u8>, keys: &[Key]) {
    put_varint(out, keys.len() as u64);
    for key in keys {
        put_varint(out, key.0.len() as u64);
        for part in key.parts() {
            put_text(out, part);
        }
    }
}

pub(crate) fn take_keys(bytes: &mut Take) -> Option<Vec<Key>> {
    // Each key has at least its count of parts, each part its length.
    let count = bytes.count(bytes.0.len().min(MOST_SERIES))?;
    let mut keys = Vec::with_capacity(count);
    for _ in 0..count {
        let parts = bytes.count(bytes.0.len())?;
        let parts: Option<Vec<&str>> = (0..parts).map(|_| bytes.text()).collect();
        keys.push(Key::new(parts?));
    }
    Some(keys)
}

/// A mark of a list of keys (FNV-1a of its bytes): equal lists have the same.
pub(crate) fn mark(keys: &[u8]) -> u64 {
    keys.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}
