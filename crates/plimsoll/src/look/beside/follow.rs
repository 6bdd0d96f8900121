//! Reading a journal on from where it ended before, in a watch: then nothing that a server says is missed between two
//! looks, however much it is, and a look asks for little.

use model::{Stretch, Time};
use sense::Ran;

use super::journal::{NEWEST, START_S, STARTING, TICK_S, joined, records, time_of};

/// Seconds back from now that are kept: signs are sought in the last minute.
const KEPT_S: f64 = 90.0;
/// Bytes that are kept at most.
const KEPT: usize = 4 << 20;

/// What was read of a journal.
pub(super) struct Read {
    /// Its start, where messages between that and the newest ones were passed over.
    start: Option<Stretch>,
    newest: Stretch,
    until: Time,
}

impl Read {
    /// Nothing where there is no message to go on from.
    pub(super) fn of(mut stretches: Vec<Stretch>) -> Option<Read> {
        let newest = stretches.pop()?;
        let until = time_of(lines(&newest).next_back()?)?;
        Some(Read { start: stretches.pop(), newest, until })
    }

    /// The time from which on to ask: its last message comes again, as the sign that none is missed.
    pub(super) fn until(&self) -> Time {
        self.until.plus(-TICK_S)
    }

    /// With what came since then, of a server that started at `since`. Nothing where messages may be missing: there were
    /// more than can be read at once, or the one to go on from is no longer there.
    pub(super) fn on(self, since: Time, now: Time, ran: &Ran) -> Option<Vec<Stretch>> {
        let came = records(ran);
        let last = lines(&self.newest).next_back()?;
        let new = came.iter().position(|record| *record == last)? + 1;
        if ran.cut {
            return None;
        }
        let all: Vec<&[u8]> = lines(&self.newest).chain(came[new..].iter().copied()).collect();
        let from = first_kept(&all, now);
        let whole = self.newest.from_start && from == 0;
        let first: &[u8] = if whole { b"" } else { b"\n" };
        let newest = Stretch { bytes: joined(first, &all[from..]), from_start: whole, ..Stretch::default() };
        // What of its start goes from among the newest stays as the start.
        let start = self.start.or_else(|| {
            let until = since.plus(START_S);
            let early = |record: &&&[u8]| time_of(record).is_none_or(|at| at < until);
            let start: Vec<&[u8]> = all[..from].iter().take(STARTING).take_while(early).copied().collect();
            let began = self.newest.from_start && !start.is_empty();
            began.then(|| Stretch { bytes: joined(b"", &start), from_start: true, ..Stretch::default() })
        });
        Some(start.into_iter().chain([newest]).collect())
    }
}

/// The place of the oldest record that is kept: as many as are asked for at first, and more where they are young.
fn first_kept(all: &[&[u8]], now: Time) -> usize {
    let mut from = all.len().saturating_sub(NEWEST as usize);
    let mut bytes: usize = all[from..].iter().map(|record| record.len() + 1).sum();
    let young = |record: &[u8]| time_of(record).is_some_and(|at| now.since(at) <= KEPT_S);
    while from > 0 && young(all[from - 1]) && bytes + all[from - 1].len() < KEPT {
        from -= 1;
        bytes += all[from].len() + 1;
    }
    from
}

fn lines(stretch: &Stretch) -> impl DoubleEndedIterator<Item = &[u8]> {
    stretch.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
