//! Which lines of a log a look reads anything from, and what of each: for keeping these and nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{Account, Facts};
use wire::log::{self, Anchors};

use super::rows::{self, Rows};
use super::scan::{MOST_FIRST, after, head, is_passed_on};
use super::worded::{Number, calls, measured, pairs, worded};
use crate::Tables;
use crate::interpret::facts;
use crate::table::{Line, Table};

/// What of a line is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Its time and rank: a message goes on below it, or it tells how far the log was read back.
    Head,
    /// What it says.
    Message,
    /// Only that it is longer than any line that is read.
    Length,
}

/// The lines that any table knows.
#[derive(Debug)]
pub struct Telling<'a>(Vec<One<'a>>);

#[derive(Debug)]
struct One<'a> {
    table: &'a Table,
    anchors: Anchors,
    rows: Rows<'a>,
    tags: Vec<(&'a str, &'a str)>,
}

/// What a scan makes of a line, but for when that was.
#[derive(Debug, PartialEq)]
struct Made {
    row: usize,
    remark: Option<usize>,
    /// By their bits: what is no number is equal to itself here. With how far off each may be.
    pairs: Vec<(String, u64, Option<u64>)>,
    facts: Facts,
}

impl<'a> Telling<'a> {
    /// By all tables that know lines.
    pub fn of(tables: &'a Tables) -> Telling<'a> {
        let with_lines = tables.iter().filter(|table| !table.lines.is_empty());
        let one = |table| One { table, anchors: rows::anchors(table), rows: Rows::of(table), tags: rows::tags(table) };
        Telling(with_lines.map(one).collect())
    }

    /// A stretch of a log with empty lines for all that is not needed, and how many these are; see [`Telling::needed`] and
    /// [`Telling::lean`].
    pub fn keep(&self, stretch: &[u8], whole: bool, scrub: &dyn Fn(&str, bool) -> String) -> (Vec<u8>, u64) {
        let needed = self.needed(stretch, whole);
        let (mut out, mut left) = (Vec::new(), 0);
        let mut at = 0;
        let end = stretch.trim_ascii_end().len();
        for raw in stretch.split(|byte| *byte == b'\n') {
            if at > 0 {
                out.push(b'\n');
            }
            let lean = match needed.get(&at) {
                Some((_, Need::Length)) => Some(" ".repeat(raw.len())),
                Some((_, need)) => self.lean(raw, *need, scrub),
                None => None,
            };
            let blank = raw.trim_ascii().is_empty();
            match lean {
                Some(lean) => out.extend_from_slice(lean.replace('\n', " ").as_bytes()),
                // That something stands behind a line tells that it is not the last one.
                None if !blank && at + raw.len() >= end => out.push(b'-'),
                None => {}
            }
            left += u64::from(!blank && !needed.contains_key(&at));
            at += raw.len() + 1;
        }
        (out, left)
    }

    /// The lines of a stretch of a log that are needed, by where they begin; `whole` says that it begins where a line does.
    /// A scan of these alone, each in its place, sees what a scan of all sees.
    pub fn needed(&self, stretch: &[u8], whole: bool) -> BTreeMap<usize, (Range<usize>, Need)> {
        let mut needed = BTreeMap::new();
        for one in &self.0 {
            one.needed(stretch, whole, &mut needed);
        }
        needed
    }

    /// A line that is needed, and no more of it than that; `scrub` takes secrets out of a message, of a dump of arguments
    /// where it is told so. None where nothing can be left out without changing what is read of it.
    pub fn lean(&self, raw: &[u8], need: Need, scrub: &dyn Fn(&str, bool) -> String) -> Option<String> {
        let fitting = self.0.iter().filter(|one| need == Need::Head || one.made(raw).is_some());
        let mut candidates = fitting.flat_map(|one| {
            let rewritten =
                |whole: bool| log::rewrite(raw, &one.tags, &mut |message| one.message(message, need, whole, scrub));
            let lean =
                [false, true].into_iter().filter(move |whole| need != Need::Head || !whole).filter_map(rewritten);
            // Before a message of which nothing is kept anything may stand.
            let scrubbed = |lean: String| if need == Need::Head { scrub(&lean, false) } else { lean };
            lean.map(move |lean| scrubbed(lean).trim_end().to_owned())
        });
        candidates.find(|lean| self.0.iter().all(|one| one.alike(raw, lean.as_bytes(), need)))
    }
}

impl One<'_> {
    fn needed(&self, stretch: &[u8], whole: bool, needed: &mut BTreeMap<usize, (Range<usize>, Need)>) {
        let mut need = |range: Range<usize>, need: Need| {
            let known = needed.entry(range.start).or_insert((range, need));
            known.1 = known.1.max(need);
        };
        let place = |raw: &[u8]| {
            let start = raw.as_ptr() as usize - stretch.as_ptr() as usize;
            start..start + raw.len()
        };
        let mut headless = false;
        // As the scan does, without what depends on when the look was.
        for (range, raw) in log::newest_first(stretch, &self.anchors, whole) {
            let line = log::line(raw, &self.tags);
            let Some((row, ..)) = self.rows.fitting(&line.message) else { continue };
            let before = &stretch[..range.start];
            if line.stamp.is_none()
                && let Some((head, first)) = head(before, &self.tags, |line| line.stamp.is_some())
            {
                if !self.table.lines[row].inside {
                    continue;
                }
                need(place(head), Need::Head);
                let after = after(&stretch[range.end..], &self.tags);
                if let Some((after, _)) = after.filter(|_| is_passed_on(&self.table.lines[row], first.stamp)) {
                    need(place(after), Need::Head);
                }
            } else if !line.heads && line.ranks.is_empty() && !headless {
                match head(before, &self.tags, |line| line.heads) {
                    Some((head, _)) => need(place(head), Need::Head),
                    None => headless = true,
                }
            }
            need(range, Need::Message);
        }
        let (first, last) = (stretch.split(|byte| *byte == b'\n'), stretch.rsplit(|byte| *byte == b'\n'));
        for raw in first.take(MOST_FIRST).chain(last.take(MOST_FIRST)) {
            if log::line(raw, &self.tags).stamp.is_some() {
                need(place(raw), Need::Head);
            }
        }
        for raw in stretch.split(|byte| *byte == b'\n').filter(|raw| raw.len() > log::MOST_LINE) {
            need(place(raw), Need::Length);
        }
    }

    fn made(&self, raw: &[u8]) -> Option<Made> {
        let line = log::line(raw, &self.tags);
        let (row, message, remark) = self.rows.fitting(&line.message)?;
        let known = &self.table.lines[row];
        let mut account = Account::default();
        let needed = |number: &Number| known.sole || names(known).any(|name| name == number.key);
        let pairs: Vec<Number> = pairs(known, message, false).into_iter().filter(needed).collect();
        facts::of_line(self.table, known, message, &pairs, "", &mut account);
        let bits = |number: Number| (number.key, number.value.to_bits(), number.off.map(f64::to_bits));
        let pairs = pairs.into_iter().map(bits).collect();
        Some(Made { row, remark, pairs, facts: account.facts })
    }

    /// Whether two lines are read alike.
    fn alike(&self, one: &[u8], other: &[u8], need: Need) -> bool {
        let (before, after) = (log::line(one, &self.tags), log::line(other, &self.tags));
        let place = before.stamp == after.stamp && before.ranks == after.ranks && before.heads == after.heads;
        let said = match need {
            Need::Message => self.made(one) == self.made(other),
            Need::Head | Need::Length => self.made(other).is_none(),
        };
        place && said && (need != Need::Message || log::writer(one) == log::writer(other))
    }

    /// What of a message is needed.
    fn message(&self, message: &str, need: Need, whole: bool, scrub: &dyn Fn(&str, bool) -> String) -> String {
        if need != Need::Message {
            return String::new();
        }
        let Some((row, said, remark)) = self.rows.fitting(message) else { return String::new() };
        let known = &self.table.lines[row];
        if known.dump {
            return scrub(if whole { message } else { said }, true);
        }
        let remark = remark.map(|row| begin(&self.table.lines[row], said));
        let words = begin(known, said).max(remark.unwrap_or(0));
        let numbers = numbers(known, said);
        // What is read is a name and its number; a secret stands between two of them.
        let (mut kept, mut at) = (String::new(), 0);
        for number in &numbers {
            if number.end <= at {
                continue;
            }
            kept += &scrub(&said[at..number.start.max(at)], false);
            kept += &said[number.start.max(at)..number.end];
            at = number.end;
        }
        let end = if whole { said.len() } else { words.max(at) };
        kept += &scrub(&said[at..end], false);
        if whole {
            kept.insert_str(0, &scrub(&message[..message.len() - said.len()], false));
        }
        if end < said.len() { kept + LEFT_OUT } else { kept }
    }
}

/// What stands where the end of a message was left out.
const LEFT_OUT: &str = " …";

/// The names of the numbers that a row reads.
fn names(row: &Line) -> impl Iterator<Item = &str> {
    let counted = row.count.as_ref().and_then(|count| count.key.as_deref());
    let facts = row.tells.keys().chain(row.facts.keys()).map(String::as_str);
    row.read.iter().flat_map(crate::table::Read::names).chain(facts).chain(counted)
}

/// Where the numbers that a row reads stand in a message, each with its name.
fn numbers(row: &Line, message: &str) -> Vec<Range<usize>> {
    let at = |part: &str| part.as_ptr() as usize - message.as_ptr() as usize;
    let end = |part: &str| at(part) + part.len();
    let needed = |pair: &log::Pair<'_>| row.sole || names(row).any(|name| calls(name, pair.under, pair.key));
    let pairs = log::pairs(message).filter(needed).map(|pair| at(pair.key)..end(pair.text));
    let worded = worded(row, message).map(|worded| {
        let (start, length) = (at(worded.written), worded.text.len());
        let end = start + worded.written.len();
        if worded.behind { start - length..end } else { start..end + length }
    });
    let measured = measured(row, message).map(|measured| {
        let sizes = std::iter::once(measured.sizes.first).chain(measured.sizes.second);
        let ends = sizes.flat_map(|size| std::iter::once(size.text).chain(size.unit)).map(end);
        at(measured.sizes.key)..ends.max().unwrap_or_default()
    });
    let mut all: Vec<Range<usize>> = pairs.chain(worded).chain(measured).collect();
    all.sort_by_key(|range| (range.start, range.end));
    all
}

/// Where the words of a row that must be there end.
fn begin(row: &Line, message: &str) -> usize {
    let end = |text: &String| message.find(text.as_str()).map(|at| at + text.len());
    let start = row.starts.iter().filter_map(end).min();
    row.with.iter().filter_map(end).chain(start).max().unwrap_or(0).max(row.told(message))
}
