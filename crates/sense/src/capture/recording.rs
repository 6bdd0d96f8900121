//! Reading captures.

use std::ops::Range;

use model::{Note, Time};
use wire::capture::{Head, Index, Limits, Look, Site, Unreadable};

use super::answers::answers;
use crate::place::{Capture, Kept};

/// A capture that was read: what is in it and, on demand, each look of it. It holds the packed file and one look at a time.
#[derive(Debug, Clone)]
pub struct Recording {
    file: Vec<u8>,
    index: Index,
    takes: Vec<Take>,
}

/// One take: looks at one or several sites at about the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// Its number in the file.
    pub number: u64,
    /// When its first look began.
    pub from: Time,
    /// The newest time as of which one of its looks is judged.
    pub to: Time,
    /// Its looks.
    looks: Range<usize>,
}

impl Take {
    /// How many sites it looked at; each is found by its index.
    pub fn sites(&self) -> usize {
        self.looks.len()
    }
}

impl Recording {
    /// Longest file that is read, bytes: of a longer one give one byte more, and a note will say so.
    pub const LONGEST: usize = 256 << 20;

    /// Reads a capture of version 1 or 2, packed with gzip or plain.
    pub fn read(file: Vec<u8>) -> Result<Recording, Unreadable> {
        Recording::within(file, Limits::default())
    }

    /// The same within other limits.
    pub fn within(file: Vec<u8>, limits: Limits) -> Result<Recording, Unreadable> {
        let index = Index::read(&file, limits)?;
        let mut takes: Vec<Take> = Vec::new();
        for (place, look) in index.looks.iter().enumerate() {
            match takes.last_mut() {
                Some(take) if take.number == look.number => {
                    take.from = if look.at < take.from { look.at } else { take.from };
                    take.to = if look.now > take.to { look.now } else { take.to };
                    take.looks.end = place + 1;
                }
                _ => takes.push(Take { number: look.number, from: look.at, to: look.now, looks: place..place + 1 }),
            }
        }
        Ok(Recording { file, index, takes })
    }

    /// Its version.
    pub fn version(&self) -> u32 {
        self.index.version
    }

    /// What it says of itself.
    pub fn head(&self) -> &Head {
        &self.index.head
    }

    /// Limits that were hit, and what could not be read.
    pub fn notes(&self) -> &[Note] {
        &self.index.notes
    }

    /// Its takes, in the order of the file.
    pub fn takes(&self) -> &[Take] {
        &self.takes
    }

    /// The take to show for `moment`: the last one that had ended by then; before the first, the first. An index into
    /// [`Recording::takes`]; none where there is no take at all.
    pub fn take_at(&self, moment: Time) -> Option<usize> {
        let ended = self.takes.iter().enumerate().filter(|(_, take)| take.to <= moment);
        let last = ended.max_by(|(_, one), (_, other)| one.to.0.total_cmp(&other.to.0));
        last.map(|(index, _)| index).or((!self.takes.is_empty()).then_some(0))
    }

    /// The sites of a take.
    pub fn sites(&self, take: usize) -> impl Iterator<Item = &Site> {
        let looks = self.takes.get(take).and_then(|take| self.index.looks.get(take.looks.clone()));
        looks.unwrap_or_default().iter().filter_map(|look| self.index.sites.get(look.site))
    }

    /// One look of a take, as a place to look from; and what of it could not be read. None where there is no such look.
    pub fn site(&self, take: usize, index: usize) -> Option<(Site, Capture, Vec<Note>)> {
        let (site, look) = self.look(take, index)?;
        let (kept, notes) = self.answers(look);
        Some((site.clone(), Capture::new(kept, look.now), notes))
    }

    /// What was asked and told in one look of a take, as it was recorded, and the time as of which it is judged: for
    /// writing it anew.
    pub fn kept(&self, take: usize, index: usize) -> Option<(Vec<Kept>, Time)> {
        let (_, look) = self.look(take, index)?;
        Some((self.answers(look).0, look.now))
    }

    fn look(&self, take: usize, index: usize) -> Option<(&Site, &Look)> {
        let looks = self.index.looks.get(self.takes.get(take)?.looks.clone())?;
        let look = looks.get(index)?;
        Some((self.index.sites.get(look.site)?, look))
    }

    fn answers(&self, look: &Look) -> (Vec<Kept>, Vec<Note>) {
        let (lines, mut notes) = self.index.answers(&self.file, look);
        let (kept, unread) = answers(self.index.version, lines);
        if unread > 0 {
            let text = format!("{unread} answers of the look are of no kind that can be read");
            notes.push(Note::new("answers-unread", text));
        }
        (kept, notes)
    }
}
