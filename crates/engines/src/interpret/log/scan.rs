//! The first pass: which lines of a log a row fits, from the newest back.

use std::collections::BTreeSet;

use model::{Account, Log, Note, Stretch, Time};
use wire::log::{self, Anchors};

use super::super::{MOST_RANKS, facts};
use super::clock::{Clock, STEP_S};
use super::rows::{self, Rows};
use super::seen::{AHEAD, Dated, Scanned, Seen};
use super::worded::{Number, pairs};
use crate::table::condition::Holds;
use crate::table::{Line, Table};

/// Lines kept of one stretch; what is older tells little more.
const MOST_LINES: usize = 4096;
/// Lines in a row that are older than the server: before them nothing is its own.
const MOST_EARLIER: usize = 3;
/// Lines at the beginning and at the end of a stretch of which one should say a time.
pub(super) const MOST_FIRST: usize = 16;
/// Seconds by which a line may be older, by the time that its program runs, than one after it: more is another run.
const OUT_OF_ORDER_S: f64 = 1.0;
/// Lines of one message, at most: only its first line says when it was written, and by whom.
const MOST_MESSAGE: usize = 64;

/// Looks through a log; arguments that it dumps become facts of the account.
pub(crate) fn scan(table: &Table, log: &Log, stretches: &[Stretch], account: &mut Account) -> Scanned {
    let anchors = rows::anchors(table);
    let tags = rows::tags(table);
    let end = stretches.last().map_or_else(Vec::new, |last| end_of(&last.bytes, &tags));
    let mut walk = Walk {
        table,
        rows: Rows::of(table),
        tags,
        clock: Clock::of(log, &end),
        log,
        last: None,
        newest: None,
        since: None,
        ahead: 0,
        zoneless: 0,
        long: 0,
        writers: BTreeSet::new(),
        ranks: BTreeSet::new(),
        more_ranks: false,
        late: Vec::new(),
        out: Scanned {
            name: log.name.clone(),
            as_of: log.at,
            lines: Vec::new(),
            notes: Vec::new(),
            complete_since: None,
            began: None,
        },
    };
    for (index, stretch) in stretches.iter().enumerate().rev() {
        let ended = walk.stretch(&anchors, stretch, index + 1 == stretches.len(), account);
        if ended {
            break;
        }
    }
    for Late { row, message, pairs, place } in std::mem::take(&mut walk.late) {
        let row = &table.lines[row];
        let otherwise = row.when.as_ref().is_some_and(|when| when.holds(|name| account.fact(name)) == Holds::No);
        if !otherwise {
            facts::of_line(table, row, &message, &pairs, &place, account);
        }
    }
    walk.finish(&end)
}

/// The times of the last lines, whatever they say, the last one first.
fn end_of(bytes: &[u8], tags: &[(&str, &str)]) -> Vec<log::Stamp> {
    let lines = bytes.rsplit(|byte| *byte == b'\n').take(MOST_FIRST);
    lines.filter_map(|raw| log::line(raw, tags).stamp).collect()
}

/// A line whose facts are learned when all others are.
struct Late {
    row: usize,
    message: String,
    pairs: Vec<Number>,
    place: String,
}

struct Walk<'a> {
    table: &'a Table,
    rows: Rows<'a>,
    tags: Vec<(&'a str, &'a str)>,
    clock: Clock,
    log: &'a Log,
    /// The time of the last line that was kept: those before it are held against it.
    last: Option<Time>,
    /// The newest time of a line that was kept: lines of several processes may be a little out of order.
    newest: Option<Time>,
    /// How long its program ran when the line behind was written, where lines tell that.
    since: Option<f64>,
    /// Lines whose time cannot be.
    ahead: usize,
    /// Lines whose time has no zone, in a log whose zone is not known.
    zoneless: usize,
    /// Lines that are too long to be read.
    long: usize,
    /// Who is said to have written lines that were kept.
    writers: BTreeSet<String>,
    /// The ranks of lines that were kept, as they are said.
    ranks: BTreeSet<Vec<(String, u32)>>,
    /// There were more of them than are kept.
    more_ranks: bool,
    /// Lines of rows that count on a condition: row, message, numbers, place.
    late: Vec<Late>,
    out: Scanned,
}

impl Walk<'_> {
    /// Looks through one stretch; true when nothing before it is of this server.
    fn stretch(&mut self, anchors: &Anchors, stretch: &Stretch, last: bool, account: &mut Account) -> bool {
        let tags = self.tags.clone();
        let mut kept = 0;
        let mut oldest = None;
        let mut headless = false;
        let mut earlier = 0;
        let mut counted: Option<(usize, usize)> = None;
        let written_to = self.log.written.is_some();
        let mut lines = log::newest_first(&stretch.bytes, anchors, stretch.from_start);
        for (range, raw) in lines.by_ref() {
            // A line without its end may still be being written, a number in it lack its last digits.
            if last && written_to && range.end == stretch.bytes.len() {
                continue;
            }
            let line = log::line(raw, &tags);
            let Some((row, message, remark)) = self.rows.fitting(&line.message) else { continue };
            let is_end = last && range.end >= stretch.bytes.trim_ascii_end().len();
            let (mut stamp, mut ranks) = (line.stamp, line.ranks);
            let (before, behind) = (&stretch.bytes[..range.start], &stretch.bytes[range.end..]);
            let mut upto = None;
            if stamp.is_none()
                && let Some((_, head)) = head(before, &tags, |line| line.stamp.is_some())
            {
                // Below a line with a time stands what belongs to it: a request's text, as well.
                if !self.table.lines[row].inside {
                    continue;
                }
                let passed_on = is_passed_on(&self.table.lines[row], head.stamp);
                upto = passed_on.then(|| self.upto(behind, last));
                (stamp, ranks) = (head.stamp, if ranks.is_empty() { head.ranks } else { ranks });
            } else if !line.heads && ranks.is_empty() && !headless {
                // A shipper dates every line, but only the first one of a message has a rank.
                let head = head(before, &tags, |line| line.heads);
                headless = head.is_none();
                ranks = head.map_or(ranks, |(_, head)| head.ranks);
            }
            if self.is_of_another_run(stamp) {
                // Or of another program that writes here, too: nothing tells how far back all of this run is there.
                self.covered(last, oldest);
                return true;
            }
            let known = &self.table.lines[row];
            let timeless = known.lasting || known.run || known.count.is_some() || !known.note.is_empty();
            let Some((at, dated)) = self.time(stamp, is_end || timeless) else { continue };
            if self.log.since.is_some_and(|since| dated == Dated::Said && at.plus(1.0) < since) {
                // One may be out of order; several in a row are another server's.
                earlier += 1;
                if earlier == MOST_EARLIER {
                    self.covered(last, self.log.since);
                    return true;
                }
                continue;
            }
            earlier = 0;
            let ranks: Vec<(String, u32)> = ranks.iter().map(|(kind, number)| ((*kind).to_owned(), *number)).collect();
            if !self.ranks.contains(&ranks) {
                if self.ranks.len() == MOST_RANKS {
                    self.more_ranks = true;
                    continue;
                }
                self.ranks.insert(ranks.clone());
            }
            if let Some(writer) = log::writer(raw).filter(|writer| !self.writers.contains(*writer)) {
                self.writers.insert(writer.to_owned());
            }
            oldest = Some(at);
            let table_row = &self.table.lines[row];
            let name = stretch.name.as_ref().unwrap_or(&self.log.name);
            let place = match stretch.first_line {
                Some(first) => {
                    // Counted from line to line: from the beginning for each would be all of the log for each.
                    let (number, at) =
                        *counted.get_or_insert_with(|| (log::number_of_line(&stretch.bytes, range.start), range.start));
                    let number = number + 1 - log::number_of_line(&stretch.bytes[range.start..at], at - range.start);
                    counted = Some((number, range.start));
                    format!("{name}:{}", first + number as u64 - 1)
                }
                None => name.clone(),
            };
            // A file that was cut out may end within a number: the last one is not believed where nothing follows it.
            let open = last && range.end == stretch.bytes.len();
            let pairs = pairs(table_row, message, open);
            // Whether a row counts may be told by an older line only.
            if table_row.when.is_some() {
                self.late.push(Late { row, message: message.to_owned(), pairs: pairs.clone(), place: place.clone() });
            } else {
                facts::of_line(self.table, table_row, message, &pairs, &place, account);
            }
            self.out.lines.push(Seen { row, remark, at, upto: upto.unwrap_or(at), dated, source: place, pairs, ranks });
            if table_row.run {
                // The run begins here.
                self.out.began = Some(at);
                self.covered(last, Some(Time(f64::MIN)));
                return true;
            }
            kept += 1;
            if kept == MOST_LINES {
                self.covered(last, oldest);
                return false;
            }
        }
        // That a stretch begins where its file does tells nothing of before: files are cut out and rotated.
        let first = stretch.bytes.split(|byte| *byte == b'\n').take(MOST_FIRST).find_map(|raw| {
            let stamp = log::line(raw, &tags).stamp?;
            self.clock.time(stamp)
        });
        self.long += lines.long();
        let before = first.filter(|first| oldest.is_none_or(|oldest: Time| *first < oldest));
        self.covered(last, before.or(oldest));
        false
    }

    fn covered(&mut self, last: bool, since: Option<Time>) {
        if last {
            self.out.complete_since = since;
        }
    }

    /// When a line was written, and whether it says so. A line without a time is as old as the log's last change, if it
    /// is its last one, or one whose time does not matter (`holds`); of others nothing is known, except in a log that has no
    /// times at all and was saved.
    fn time(&mut self, stamp: Option<log::Stamp>, holds: bool) -> Option<(Time, Dated)> {
        let Some(stamp) = stamp.filter(|stamp| self.clock.reads(*stamp)) else {
            if let Some(last) = self.last {
                return self.log.written.is_none().then_some((last, Dated::No));
            }
            return match self.log.written {
                Some(written) => holds.then_some((written, Dated::No)),
                None => Some((self.log.at, Dated::No)),
            };
        };
        if self.clock.is_lost(stamp) {
            self.zoneless += 1;
            return None;
        }
        let Some(time) = self.clock.time(stamp) else {
            self.ahead += 1;
            return None;
        };
        if self.last.is_some_and(|last| time.since(last) > STEP_S) {
            self.ahead += 1;
            return None;
        }
        self.last.get_or_insert(time);
        self.newest = Some(self.newest.filter(|newest| *newest > time).unwrap_or(time));
        Some((time, self.clock.dates(stamp)))
    }

    /// The time before which a line was written that stands before `behind`, which is the end of the log if it is of the
    /// last stretch.
    fn upto(&self, behind: &[u8], last: bool) -> Time {
        let after = after(behind, &self.tags).and_then(|(_, stamp)| self.clock.time(stamp));
        let is_end = last && behind.iter().filter(|byte| **byte == b'\n').take(MOST_MESSAGE).count() < MOST_MESSAGE;
        let end = self.log.written.unwrap_or(self.log.at);
        after.unwrap_or(if is_end { end } else { Time(f64::MAX) })
    }

    /// Whether a line is of a run before: there its program ran longer than when it wrote the line behind.
    fn is_of_another_run(&mut self, stamp: Option<log::Stamp>) -> bool {
        let Some(log::Stamp::Since(since)) = stamp else { return false };
        let longer = self.since.is_some_and(|behind| since > behind + OUT_OF_ORDER_S);
        self.since = Some(since);
        longer
    }

    /// The newest time of the last lines, as far as they are of one time.
    fn end(&self, stamps: &[log::Stamp]) -> Option<Time> {
        let mut times = stamps.iter().filter_map(|stamp| self.clock.time(*stamp));
        let last = times.next()?;
        let alike = times.filter(|time| time.since(last) <= STEP_S);
        Some(alike.fold(last, |newest, time| if time > newest { time } else { newest }))
    }

    fn finish(mut self, end: &[log::Stamp]) -> Scanned {
        if self.ahead > 0 {
            let text = format!(
                "{}: {} lines have times ahead of the present or of lines after them, and were not read: was the clock set?",
                self.log.name, self.ahead
            );
            self.out.notes.push(Note::new(AHEAD, text));
        }
        if self.zoneless > 0 {
            let text = format!(
                "{}: {} lines have times without a zone, and which one its server's clock has is not known from here: they were not read",
                self.log.name, self.zoneless
            );
            self.out.notes.push(Note::new("log-zone", text));
        }
        if self.long > 0 {
            let most = log::MOST_LINE >> 20;
            let text = format!("{}: {} lines are longer than {most} MiB and were not read", self.log.name, self.long);
            self.out.notes.push(Note::new("log-long", text));
        }
        if self.more_ranks {
            let text = format!(
                "{}: more than {MOST_RANKS} ranks; lines of those that are met last were not read",
                self.log.name
            );
            self.out.notes.push(Note::new("cut", text));
        }
        if self.writers.len() > 1 {
            let shown: Vec<&str> = self.writers.iter().take(4).map(String::as_str).collect();
            let text = format!(
                "{}: lines of several writers stand in it ({}), and numbers of two servers must not meet: none was read; give the lines of one",
                self.log.name,
                shown.join(", ")
            );
            self.out.notes.push(Note::new("log-mixed", text));
            self.out.lines.clear();
        }
        if self.ahead > 0 || self.long > 0 || self.zoneless > 0 {
            self.out.complete_since = None;
        }
        // It is known to be this server's until now only where it was found as its output.
        if self.log.since.is_none() {
            let newest = self.newest.into_iter().chain(self.end(end)).max_by(|one, other| one.0.total_cmp(&other.0));
            self.out.as_of = newest.filter(|newest| *newest < self.log.at).unwrap_or(self.log.at);
        }
        // By time, not by place: lines of several processes may be a little out of order. The sort is stable.
        self.out.lines.sort_by(|a, b| b.at.0.total_cmp(&a.at.0));
        self.out
    }
}

/// The first line of the message that goes on behind `before`: the nearest one that `is_first` says so of.
pub(super) fn head<'b, 't>(
    before: &'b [u8],
    tags: &[(&str, &'t str)],
    is_first: impl Fn(&log::Line) -> bool,
) -> Option<(&'b [u8], log::Line<'b, 't>)> {
    let lines = before.strip_suffix(b"\n").unwrap_or(before).rsplit(|byte| *byte == b'\n');
    lines.take(MOST_MESSAGE).map(|raw| (raw, log::line(raw, tags))).find(|(_, line)| is_first(line))
}

/// Whether a line without a time is another program's, below one with the time `above`: only known to be no older than that.
/// Of a log that says in each line how long its program runs any line that does not is one.
pub(super) fn is_passed_on(row: &Line, above: Option<log::Stamp>) -> bool {
    row.borrowed || matches!(above, Some(log::Stamp::Since(_)))
}

/// The first line in `behind` that says a time.
pub(super) fn after<'b>(behind: &'b [u8], tags: &[(&str, &str)]) -> Option<(&'b [u8], log::Stamp)> {
    let lines = behind.strip_prefix(b"\n").unwrap_or(behind).split(|byte| *byte == b'\n');
    lines.take(MOST_MESSAGE).find_map(|raw| Some((raw, log::line(raw, tags).stamp?)))
}
