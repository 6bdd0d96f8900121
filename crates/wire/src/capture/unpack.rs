//! The lines of a file, unpacked piece by piece, within limits.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;
use model::Note;

use super::Limits;

/// Beginning of each member of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b";
/// How much is unpacked at once, bytes.
const CHUNK: usize = 64 << 10;

/// Where reading can begin: a member whose first byte is the first of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    /// Where the member begins in the file, bytes.
    offset: usize,
    /// The number of the line before.
    pub(super) before: u32,
}

/// Why reading ended before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Cut,
    Damaged,
    Behind,
    Members,
    Unpacked,
    Lines,
}

/// The lines of a file, in turn.
pub(super) struct Lines<'a> {
    source: Source<'a>,
    limits: Limits,
    chunk: Vec<u8>,
    at: usize,
    line: Vec<u8>,
    /// The line that is being read is longer than may be.
    long: bool,
    number: u32,
    unpacked: u64,
    stopped: Option<Stop>,
    points: Vec<Point>,
}

/// One line.
pub(super) struct Numbered<'a> {
    /// From 1.
    pub(super) number: u32,
    /// Without its end; none of one that is too long.
    pub(super) bytes: Option<&'a [u8]>,
    /// Its end was there.
    pub(super) whole: bool,
}

enum Source<'a> {
    Plain(&'a [u8]),
    Packed(Members<'a>),
}

impl<'a> Lines<'a> {
    /// The lines of `file`, which is packed or plain, from `point` on.
    pub(super) fn new(file: &'a [u8], limits: Limits, point: Option<Point>) -> Lines<'a> {
        let Point { offset, before } = point.unwrap_or(Point { offset: 0, before: 0 });
        let rest = file.get(offset..).unwrap_or_default();
        let source = if rest.starts_with(GZIP) {
            Source::Packed(Members { file, offset, decoder: None, left: limits.members, fresh: false })
        } else {
            Source::Plain(rest)
        };
        Lines {
            source,
            limits,
            chunk: Vec::new(),
            at: 0,
            line: Vec::new(),
            long: false,
            number: before,
            unpacked: 0,
            stopped: None,
            points: Vec::new(),
        }
    }

    /// The next line.
    pub(super) fn next(&mut self) -> Option<Numbered<'_>> {
        self.line.clear();
        self.long = false;
        let mut whole = false;
        while !whole {
            if self.at == self.chunk.len() && !self.fill() {
                if self.line.is_empty() && !self.long {
                    return None;
                }
                break;
            }
            let rest = &self.chunk[self.at..];
            let end = memchr::memchr(b'\n', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + piece.len() > self.limits.line {
                self.long = true;
                // What a file of long lines was given is given back.
                self.line = Vec::new();
            } else if !self.long {
                self.line.extend_from_slice(piece);
            }
            self.at += piece.len();
            if end.is_some() {
                self.at += 1;
                whole = true;
            }
        }
        if self.number == self.limits.lines {
            self.stopped = Some(Stop::Lines);
            return None;
        }
        self.number += 1;
        Some(Numbered { number: self.number, bytes: (!self.long).then_some(&*self.line), whole })
    }

    /// The number of the last line that was given.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Why there are no more, if that is not the end of the file.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Where reading can begin, as far as it was read.
    pub(super) fn points(self) -> Vec<Point> {
        self.points
    }

    /// Unpacks some more; whether there was any.
    fn fill(&mut self) -> bool {
        if self.stopped.is_some() {
            return false;
        }
        self.chunk.resize(CHUNK, 0);
        self.at = 0;
        let read = match &mut self.source {
            // A slice never fails to be read.
            Source::Plain(rest) => Ok(rest.read(&mut self.chunk).unwrap_or(0)),
            Source::Packed(members) => members.read(&mut self.chunk),
        };
        let mut count = read.unwrap_or_else(|stop| {
            self.stopped = Some(stop);
            0
        });
        if let Source::Packed(Members { fresh: fresh @ true, offset, .. }) = &mut self.source {
            *fresh = false;
            if self.line.is_empty() && !self.long {
                self.points.push(Point { offset: *offset, before: self.number });
            }
        }
        let left = self.limits.unpacked - self.unpacked;
        if count as u64 > left {
            self.stopped = Some(Stop::Unpacked);
            count = left as usize;
        }
        self.unpacked += count as u64;
        self.chunk.truncate(count);
        count > 0
    }
}

/// The members of a gzip file, one after the other.
struct Members<'a> {
    file: &'a [u8],
    /// Where the one that is being read begins.
    offset: usize,
    decoder: Option<GzDecoder<&'a [u8]>>,
    /// How many more may be opened.
    left: usize,
    /// What was read last is the beginning of a member.
    fresh: bool,
}

impl Members<'_> {
    /// Bytes of one member only.
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Stop> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                let rest = self.file.get(self.offset..).unwrap_or_default();
                if !rest.starts_with(GZIP) {
                    // Some tools fill up with zeros.
                    return if rest.iter().all(|byte| *byte == 0) { Ok(0) } else { Err(Stop::Behind) };
                }
                self.left = self.left.checked_sub(1).ok_or(Stop::Members)?;
                self.fresh = true;
                self.decoder = Some(GzDecoder::new(rest));
                continue;
            };
            match decoder.read(into) {
                Ok(0) => {
                    self.offset = self.file.len() - decoder.get_ref().len();
                    self.decoder = None;
                }
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Stop::Cut),
                Err(_) => return Err(Stop::Damaged),
            }
        }
    }
}

impl Stop {
    /// What is said of it.
    pub(super) fn note(self, limits: &Limits) -> Note {
        match self {
            Stop::Cut => Note::new("capture-cut", "the capture is cut off: it was read as far as it goes"),
            Stop::Damaged => Note::new("capture-damaged", "the capture is damaged: it was read up to there"),
            Stop::Behind => Note::new("capture-behind", "what stands behind the capture's last member is no gzip"),
            Stop::Members => {
                let text = format!("the capture has more than {} members: the rest was not read", limits.members);
                Note::new("capture-long", text)
            }
            Stop::Unpacked => {
                let text = format!("the capture unpacks to more than {} bytes: the rest was not read", limits.unpacked);
                Note::new("capture-long", text)
            }
            Stop::Lines => {
                let text = format!("the capture has more than {} lines: the rest was not read", limits.lines);
                Note::new("capture-long", text)
            }
        }
    }
}
