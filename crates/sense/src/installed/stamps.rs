//! What is known of files that have not changed since they were scanned.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use wire::python::Metric;

use crate::place::Stamp;

/// Most files that are remembered.
const MOST: usize = 50_000;
/// The kept form's first bytes: what another version kept is forgotten, since it may have scanned otherwise.
const HEAD: &[u8] = concat!("plimsoll-stamps/1 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// What a scan of one file brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scanned {
    /// What it defines.
    pub metrics: Vec<Metric>,
    /// Remarks of the scanner.
    pub remarks: Vec<String>,
    /// The sum of its bytes.
    pub sha256: [u8; 32],
}

/// Files by their stamps. A file is the same only if its device, number, size and both its times are.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    files: HashMap<Stamp, Known>,
    /// What was looked for: files without it are of no interest.
    needles: Vec<String>,
    /// Counts scans, so that what was not seen for long can go first.
    turn: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    scanned: Option<Scanned>,
    seen: u32,
}

impl Stamps {
    /// How many files are known.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The kept form of what is known.
    pub fn serialise(&self) -> Vec<u8> {
        let files: Vec<(&Stamp, &Option<Scanned>)> =
            self.files.iter().map(|(stamp, known)| (stamp, &known.scanned)).collect();
        let mut bytes = HEAD.to_vec();
        // These types always serialise; were it otherwise, nothing would be kept.
        bytes.extend(postcard::to_stdvec(&(&self.needles, files)).unwrap_or_default());
        bytes
    }

    /// Reads the kept form back; nothing is known where it is of another version, or broken.
    pub fn deserialise(bytes: &[u8]) -> Stamps {
        let kept = bytes.strip_prefix(HEAD).and_then(|bytes| postcard::from_bytes(bytes).ok());
        let (needles, kept): (Vec<String>, Vec<(Stamp, Option<Scanned>)>) = kept.unwrap_or_default();
        let files = kept.into_iter().take(MOST).map(|(stamp, scanned)| (stamp, Known { scanned, seen: 0 }));
        Stamps { files: files.collect(), needles, turn: 0 }
    }

    /// The known stamps, at the beginning of a scan for `needles`.
    pub(super) fn known(&mut self, needles: &[String]) -> HashSet<Stamp> {
        self.turn += 1;
        if self.needles != needles {
            self.files.clear();
            self.needles = needles.to_vec();
        }
        if self.files.len() >= MOST {
            let newest = self.turn - 1;
            self.files.retain(|_, known| known.seen >= newest);
        }
        self.files.keys().copied().collect()
    }

    /// A known file was seen again.
    pub(super) fn keep(&mut self, stamp: &Stamp) {
        if let Some(known) = self.files.get_mut(stamp) {
            known.seen = self.turn;
        }
    }

    /// A file was scanned; `None`: it is of no interest.
    pub(super) fn learn(&mut self, stamp: Stamp, scanned: Option<Scanned>) {
        if self.files.len() < MOST || scanned.is_some() {
            self.files.insert(stamp, Known { scanned, seen: self.turn });
        }
    }

    /// What is known of a file of interest.
    pub(super) fn get(&self, stamp: &Stamp) -> Option<&Scanned> {
        self.files.get(stamp)?.scanned.as_ref()
    }
}
