//! Writing captures.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use model::Time;
use serde::Serialize;
use serde_json::Value;

use super::{Head, Limits, Site, VERSION};

/// What a writer says of an answer that is longer than a line may be; nothing of it was written, and the capture goes on.
pub const TOO_LONG: io::ErrorKind = io::ErrorKind::FileTooLarge;

/// A shorter answer is written again: naming its line would take as much.
const SHORT: usize = 40;
/// Most answers that are known again.
const KNOWN: usize = 1 << 20;
/// What is left for the ends of looks where a capture is full, bytes.
const REST: u64 = 1 << 10;

/// Writes a capture. What belongs to a take is packed in memory and written at once when the take ends, as a member of its
/// own: whatever happens to the writer, the file holds all takes before.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    member: GzEncoder<Vec<u8>>,
    lines: u32,
    unpacked: u64,
    looks: usize,
    /// The line of each answer, by two sums of it, which nobody outside can foresee.
    known: HashMap<(u64, u64), u32>,
    sums: (RandomState, RandomState),
    limits: Limits,
}

impl<W: Write> Writer<W> {
    /// A capture that goes to `out`. The first line is written with the first take.
    pub fn new(out: W, head: &Head) -> Writer<W> {
        Writer::within(out, head, Limits::default())
    }

    /// The same for readers with these limits.
    pub fn within(out: W, head: &Head, limits: Limits) -> Writer<W> {
        let mut writer = Writer {
            out,
            member: member(),
            lines: 0,
            unpacked: 0,
            looks: 0,
            known: HashMap::new(),
            sums: (RandomState::new(), RandomState::new()),
            limits,
        };
        let line = format!(
            r#"{{"plimsoll_capture":{VERSION},"made_by":{},"started_at":{},"anonymised":{}}}"#,
            Value::from(&*head.made_by),
            Value::from(head.started_at.0),
            head.anonymised
        );
        // Into memory: it cannot fail.
        let _ = writer.put(&line);
        writer
    }

    /// A look at one site begins. Looks of one take follow each other and have its number.
    pub fn begin(&mut self, look: u64, at: Time, site: &Site) -> io::Result<()> {
        if self.looks == self.limits.looks {
            return Err(full(&format!("{} looks", self.looks)));
        }
        self.room(0)?;
        self.looks += 1;
        self.put(&format!(r#"{{"look":{look},"at":{},"site":{}}}"#, Value::from(at.0), serde_json::to_string(site)?))
    }

    /// An answer: `told` is what becomes an object, with one key for its kind. One that is equal to an earlier one becomes
    /// its line's number. A failure of the kind [`TOO_LONG`] concerns this answer only.
    pub fn answer(&mut self, ask: &[String], at: Time, told: &impl Serialize) -> io::Result<()> {
        let told = serde_json::to_string(told)?;
        let Some(fields) = told.strip_prefix('{') else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an answer is an object"));
        };
        let begin = format!(r#"{{"ask":{},"at":{},"#, serde_json::to_string(ask)?, Value::from(at.0));
        let sum = (self.sums.0.hash_one(fields), self.sums.1.hash_one(fields));
        let line = match self.known.get(&sum) {
            Some(line) if fields.len() > SHORT => format!(r#"{begin}"as":{line}}}"#),
            _ => begin + fields,
        };
        if line.len() > self.limits.line {
            return Err(io::Error::new(TOO_LONG, "the answer is longer than a line of a capture may be"));
        }
        self.room(line.len())?;
        self.put(&line)?;
        if fields.len() > SHORT && self.known.len() < KNOWN {
            self.known.entry(sum).or_insert(self.lines);
        }
        Ok(())
    }

    /// The look ends; it is judged as of `now`.
    pub fn end(&mut self, look: u64, now: Time) -> io::Result<()> {
        self.put(&format!(r#"{{"look":{look},"now":{}}}"#, Value::from(now.0)))
    }

    /// Ends the take: all that was written so far goes out.
    pub fn end_take(&mut self) -> io::Result<()> {
        let packed = std::mem::replace(&mut self.member, member()).finish()?;
        self.out.write_all(&packed)?;
        self.out.flush()
    }

    /// Whether a reader would still read `more` bytes.
    fn room(&self, more: usize) -> io::Result<()> {
        if self.unpacked + more as u64 + REST > self.limits.unpacked {
            return Err(full(&format!("{} bytes unpacked", self.limits.unpacked)));
        }
        // One is left for the end of the look.
        if self.lines + 1 >= self.limits.lines {
            return Err(full(&format!("{} lines", self.limits.lines)));
        }
        Ok(())
    }

    fn put(&mut self, line: &str) -> io::Result<()> {
        self.lines += 1;
        self.unpacked += line.len() as u64 + 1;
        self.member.write_all(line.as_bytes())?;
        self.member.write_all(b"\n")
    }
}

fn full(of: &str) -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, format!("the capture is full: a reader takes {of} and no more"))
}

fn member() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}
