//! The first pass: what is where in a capture.

use std::collections::HashMap;
use std::ops::Range;

use model::{Note, Time};

use super::line::{self, Line, Site};
use super::rounds::Rounds;
use super::unpack::{Lines, Point, Stop};
use super::{Head, Limits, Unreadable};

/// Longest first line, bytes.
const HEAD: usize = 1 << 20;

/// What a capture holds, without the answers.
#[derive(Debug, Clone)]
pub struct Index {
    /// Its version.
    pub version: u32,
    /// What it says of itself.
    pub head: Head,
    /// The different sites.
    pub sites: Vec<Site>,
    /// The looks, in the order of the file. Those of one take follow each other and have the same number.
    pub looks: Vec<Look>,
    /// Limits that were hit, and what could not be read.
    pub notes: Vec<Note>,
    pub(super) limits: Limits,
    pub(super) points: Vec<Point>,
    /// Of version 1.
    pub(super) rounds: Option<Rounds>,
}

/// One look at one site.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The number of its take.
    pub number: u64,
    /// Its site, an index into [`Index::sites`].
    pub site: usize,
    /// When it began.
    pub at: Time,
    /// The time as of which it is judged.
    pub now: Time,
    /// Its lines; of version 1, answers in the order of their times.
    pub(super) lines: Range<u32>,
}

impl Index {
    /// Finds what is where in `file`, which is packed or plain; of one that is longer than `limits` allow, the beginning.
    pub fn read(file: &[u8], limits: Limits) -> Result<Index, Unreadable> {
        let (version, head) = head(file, limits)?;
        let mut index = Index {
            version,
            head,
            sites: Vec::new(),
            looks: Vec::new(),
            notes: Vec::new(),
            limits,
            points: Vec::new(),
            rounds: None,
        };
        if file.len() > limits.packed {
            let text = format!("the capture is longer than {} bytes: the rest was not read", limits.packed);
            index.notes.push(Note::new("capture-long", text));
        }
        let mut lines = Lines::new(index.within(file), limits, None);
        lines.next();
        if version == 1 {
            super::rounds::read(&mut index, &mut lines);
        } else {
            Reading { index: &mut index, known: HashMap::new(), size: 0, open: None, lost: Lost::default() }
                .read(&mut lines);
        }
        index.notes.extend(lines.stopped().map(|stop| stop.note(&limits)));
        index.points = lines.points();
        Ok(index)
    }

    /// As much of `file` as is read.
    pub(super) fn within<'a>(&self, file: &'a [u8]) -> &'a [u8] {
        &file[..file.len().min(self.limits.packed)]
    }
}

/// Reads the first line, and no more than that takes.
fn head(file: &[u8], limits: Limits) -> Result<(u32, Head), Unreadable> {
    let limits = Limits { line: HEAD, unpacked: HEAD as u64, ..limits };
    let mut lines = Lines::new(file, limits, None);
    let first = lines.next().and_then(|first| first.bytes).unwrap_or_default().to_vec();
    line::head(&first).map_err(|unreadable| match lines.stopped() {
        Some(Stop::Damaged) => Unreadable::Other("it is packed with gzip, but damaged from its first line on"),
        Some(Stop::Cut) => Unreadable::Other("it is packed with gzip, but cut off within its first line"),
        _ => unreadable,
    })
}

/// What was passed over.
#[derive(Default)]
pub(super) struct Lost {
    /// Lines that could not be read.
    pub(super) lines: usize,
    /// Answers and ends of no look.
    stray: usize,
    /// Looks without their end.
    endless: usize,
    /// The first line, if it is the last of the file, that could not be read.
    pub(super) torn: Option<u32>,
}

struct Reading<'a> {
    index: &'a mut Index,
    known: HashMap<Site, usize>,
    /// What the sites take together.
    size: usize,
    open: Option<Look>,
    lost: Lost,
}

impl Reading<'_> {
    fn read(mut self, lines: &mut Lines<'_>) {
        while let Some(next) = lines.next() {
            let number = next.number;
            if next.bytes.is_some_and(|bytes| bytes.trim_ascii().is_empty()) {
                continue;
            }
            let Some(line) = next.bytes.and_then(line::line) else {
                self.lost.unread(number, next.whole);
                continue;
            };
            match line {
                Line::Begin { look, at, site } => {
                    self.close(None);
                    if self.index.looks.len() == self.index.limits.looks {
                        let text = format!(
                            "the capture has more than {} looks: the rest was not read",
                            self.index.limits.looks
                        );
                        self.index.notes.push(Note::new("capture-long", text));
                        break;
                    }
                    let Some(site) = self.site(site) else { break };
                    self.open = Some(Look { number: look, site, at, now: at, lines: number + 1..number + 1 });
                }
                Line::Answer { at } => match &mut self.open {
                    Some(open) => {
                        open.now = if at > open.now { at } else { open.now };
                        open.lines.end = number + 1;
                    }
                    None => self.lost.stray += 1,
                },
                Line::End { look, now } => match &self.open {
                    Some(open) if open.number == look => self.close(Some(now)),
                    _ => self.lost.stray += 1,
                },
                Line::Head => {
                    let text = format!("another capture begins on line {number}: only the first was read");
                    self.index.notes.push(Note::new("capture-second", text));
                    break;
                }
                Line::Other => {}
            }
        }
        self.close(None);
        let lost = self.lost;
        self.index.notes.extend(lost.notes());
    }

    /// Ends the look that is open. Without an end of its own it is judged as of its newest answer.
    fn close(&mut self, now: Option<Time>) {
        let Some(mut open) = self.open.take() else { return };
        match now {
            Some(now) => open.now = now,
            None => self.lost.endless += 1,
        }
        self.index.looks.push(open);
    }

    /// The site as one that is known; none where there are too many.
    fn site(&mut self, site: Site) -> Option<usize> {
        if let Some(&known) = self.known.get(&site) {
            return Some(known);
        }
        self.size += site.size();
        if self.size > self.index.limits.sites {
            let text = "the capture has too many sites: looks from the first one too many on were not read";
            self.index.notes.push(Note::new("capture-long", text));
            return None;
        }
        let number = self.index.sites.len();
        self.index.sites.push(site.clone());
        self.known.insert(site, number);
        Some(number)
    }
}

impl Lost {
    /// A line could not be read; `whole`: its end is there.
    pub(super) fn unread(&mut self, number: u32, whole: bool) {
        if whole {
            self.lines += 1;
        } else {
            self.torn = Some(number);
        }
    }

    /// What is said of it.
    pub(super) fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.lines > 0 {
            notes.push(Note::new("lines-unread", format!("{} lines of the capture could not be read", self.lines)));
        }
        if let Some(number) = self.torn {
            notes.push(Note::new("capture-cut", format!("the capture ends within line {number}")));
        }
        if self.stray > 0 {
            let text = format!("{} lines of the capture belong to no look", self.stray);
            notes.push(Note::new("lines-stray", text));
        }
        if self.endless > 0 {
            let text = format!("{} looks have no end: each is read as far as it goes", self.endless);
            notes.push(Note::new("look-cut", text));
        }
        notes
    }
}
