//! Writing looks into a capture.

use std::io;

use model::{Blind, BlindKind, Time};
use wire::capture::{Head, Site, TOO_LONG};

use super::told::Said;
use crate::place::Kept;

/// Writes a capture, take by take: what was written is in the file when its take has ended, and not before.
#[derive(Debug)]
pub struct Writer<W>(wire::capture::Writer<W>);

impl<W: io::Write> Writer<W> {
    /// A capture that goes to `out`.
    pub fn new(out: W, head: &Head) -> Writer<W> {
        Writer(wire::capture::Writer::new(out, head))
    }

    /// One look at `site`, which began `at`, with what was asked and told in it; it is judged as of `now`. Looks of one
    /// take follow each other and have its number. Fails with [`io::ErrorKind::StorageFull`] when a reader would read no
    /// more; what was written before stays.
    pub fn look(&mut self, number: u64, site: &Site, at: Time, kept: &[Kept], now: Time) -> io::Result<()> {
        self.0.begin(number, at, site)?;
        for Kept { key, at, answered } in kept {
            match self.0.answer(&key.0, *at, &Said::from(answered)) {
                Err(error) if error.kind() == TOO_LONG => {
                    let text = format!("{}: {error}", key.0.join(" "));
                    let text = text.chars().take(LONGEST).collect::<String>();
                    let blind = Err(Blind::new(BlindKind::TooLarge, text));
                    self.0.answer(&key.0, *at, &Said::from(&blind))?;
                }
                other => other?,
            }
        }
        self.0.end(number, now)
    }

    /// Ends the take: it goes into the file.
    pub fn end_take(&mut self) -> io::Result<()> {
        self.0.end_take()
    }
}

/// Longest text about an answer that is too long, characters.
const LONGEST: usize = 300;
