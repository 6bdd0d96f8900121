//! The first pass: which lines of a log a row fits, from the newest back.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, Log, Note, Stretch, Time};
use wire::log::{self, Anchors};

use super::super::{MOST_RANKS, facts};
use super::clock::{Clock, STEP_S};
use super::rows::{self, Rows};
use super::worded::pairs;
use crate::table::Table;
use crate::table::condition::Holds;

/// The note about lines whose times lie ahead.
const AHEAD: &str = "log-clock";
/// Lines kept of one stretch; what is older tells little more.
const MOST_LINES: usize = 4096;
/// Lines in a row that are older than the server: before them nothing is its own.
const MOST_EARLIER: usize = 3;
/// Lines at the beginning of a stretch of which one should say a time.
pub(super) const MOST_FIRST: usize = 16;
/// Lines of one message, at most: only its first line says when it was written, and by whom.
const MOST_MESSAGE: usize = 64;

/// What was seen of one log, newest first.
#[derive(Debug)]
pub(crate) struct Scanned {
    pub(super) name: String,
    /// The time up to which it tells of the server: that of the look where the server writes it now, else its newest line's.
    pub(super) as_of: Time,
    pub(super) lines: Vec<Seen>,
    pub(super) notes: Vec<Note>,
    /// The time back to which nothing was passed over.
    complete_since: Option<Time>,
}

/// A line that a row fits.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its row's place in the table.
    pub(super) row: usize,
    /// The row for whose note it is worth one: its own, or one that has nothing but its note.
    pub(super) remark: Option<usize>,
    /// When it was written.
    pub(super) at: Time,
    /// Whether it says so itself.
    pub(super) timed: bool,
    /// The log and the line's number in it, where known; then the row's id.
    pub(super) source: String,
    ranks: Vec<(String, u32)>,
    pairs: Vec<(String, f64)>,
}

impl Seen {
    /// The number behind `key`.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.pairs.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// What its tags say of its rank.
    pub(super) fn said(&self) -> BTreeMap<&str, u32> {
        self.ranks.iter().map(|(kind, number)| (kind.as_str(), *number)).collect()
    }

    /// Whether another line has the same numbers.
    pub(super) fn says_the_same(&self, other: &Seen) -> bool {
        self.pairs == other.pairs
    }
}

impl Scanned {
    /// How many lines were kept.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// How many of the numbers that rows look for stand in their lines.
    pub(crate) fn numbers(&self, table: &Table) -> usize {
        let in_line = |seen: &Seen| {
            let names: BTreeSet<&str> = table.lines[seen.row].read.iter().map(|read| read.name.as_str()).collect();
            names.into_iter().filter(|name| seen.number(name).is_some()).count()
        };
        self.lines.iter().map(in_line).sum()
    }

    /// Whether lines were passed over because their times lie ahead.
    pub(crate) fn is_ahead(&self) -> bool {
        self.notes.iter().any(|note| note.id == AHEAD)
    }

    /// The newest and the oldest time that a line says.
    pub(crate) fn span(&self) -> Option<(Time, Time)> {
        let mut timed = self.lines.iter().filter(|seen| seen.timed).map(|seen| seen.at);
        let newest = timed.next()?;
        Some((newest, timed.next_back().unwrap_or(newest)))
    }

    /// Whether every line from `time` on was looked at.
    pub(super) fn covers(&self, time: Time) -> bool {
        self.complete_since.is_some_and(|since| since <= time)
    }
}

/// Looks through a log; arguments that it dumps become facts of the account.
pub(crate) fn scan(table: &Table, log: &Log, stretches: &[Stretch], account: &mut Account) -> Scanned {
    let anchors = rows::anchors(table);
    let mut walk = Walk {
        table,
        rows: Rows::of(table),
        tags: rows::tags(table),
        clock: Clock::of(log),
        log,
        newest: None,
        end: None,
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
    walk.finish()
}

/// A line whose facts are learned when all others are.
struct Late {
    row: usize,
    message: String,
    pairs: Vec<(String, f64)>,
    place: String,
}

struct Walk<'a> {
    table: &'a Table,
    rows: Rows<'a>,
    tags: Vec<(&'a str, &'a str)>,
    clock: Clock,
    log: &'a Log,
    /// The time of the newest line.
    newest: Option<Time>,
    /// The newest time at its end, on whatever line.
    end: Option<Time>,
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
            let before = &stretch.bytes[..range.start];
            if stamp.is_none()
                && let Some((_, head)) = head(before, &tags, |line| line.stamp.is_some())
            {
                // Below a line with a time stands what belongs to it: a request's text, as well.
                if !self.table.lines[row].inside {
                    continue;
                }
                (stamp, ranks) = (head.stamp, if ranks.is_empty() { head.ranks } else { ranks });
            } else if !line.heads && ranks.is_empty() && !headless {
                // A shipper dates every line, but only the first one of a message has a rank.
                let head = head(before, &tags, |line| line.heads);
                headless = head.is_none();
                ranks = head.map_or(ranks, |(_, head)| head.ranks);
            }
            let known = &self.table.lines[row];
            let timeless = known.lasting || known.run || known.count.is_some() || !known.note.is_empty();
            let Some((at, timed)) = self.time(stamp, is_end || timeless) else { continue };
            if self.log.since.is_some_and(|since| timed && at.plus(1.0) < since) {
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
            self.out.lines.push(Seen { row, remark, at, timed, source: place, pairs, ranks });
            if table_row.run {
                // The run begins here.
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
        if last && self.log.since.is_none() {
            let newest = stretch.bytes.rsplit(|byte| *byte == b'\n').take(MOST_FIRST).find_map(|raw| {
                let stamp = log::line(raw, &tags).stamp?;
                self.clock.time(stamp)
            });
            self.end = newest;
        }
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
    fn time(&mut self, stamp: Option<log::Stamp>, holds: bool) -> Option<(Time, bool)> {
        let Some(stamp) = stamp else {
            if let Some(newest) = self.newest {
                return self.log.written.is_none().then_some((newest, false));
            }
            return match self.log.written {
                Some(written) => holds.then_some((written, false)),
                None => Some((self.log.at, false)),
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
        if self.newest.is_some_and(|newest| time.since(newest) > STEP_S) {
            self.ahead += 1;
            return None;
        }
        self.newest.get_or_insert(time);
        Some((time, true))
    }

    fn finish(mut self) -> Scanned {
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
            let newest = self.newest.into_iter().chain(self.end).max_by(|one, other| one.0.total_cmp(&other.0));
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
