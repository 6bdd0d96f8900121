//! Recognising what people save: which engine gave an answer, a page or a log, from its content alone.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, Facts, Log, LogClock, Reading, Time};
use serde_json::Value;
use wire::exposition::{Limits, scan};

use crate::Tables;
use crate::apart::Page;
use crate::builtin::fits_json;
use crate::interpret::{answered_at, holds_series, json_find, log, looks_wrong, parse_json};
use crate::table::{AnswerRule, Format, Source, Table};

/// What the address of a worker in each element weighs, in fields.
const WORKERS: usize = 1000;
/// Seconds ahead of UTC that a log is read with, to see whether its zone matters.
const ELSEWHERE_S: f64 = 3600.0;

/// The engine that gave this body of an answer, and the path that it answers.
pub fn answer<'a>(tables: &'a Tables, body: &[u8]) -> Option<(&'a Table, &'a str)> {
    if looks_wrong(body).is_none() {
        return page(tables, body);
    }
    if !may_be_json(body) {
        return None;
    }
    let root = parse_json(body).ok()?;
    let sources = tables.iter().flat_map(|table| table.sources.iter().map(move |source| (table, source)));
    let scored = sources.map(|(table, source)| (fields(table, source, &root), table, source));
    // Of equals, the engine and path that are asked first to find out what a port is.
    let order = |table: &Table, source: &Source| {
        let rules = table.engine.answer.iter().filter(|rule| rule.get == source.get);
        std::cmp::Reverse(rules.map(|rule| rule.order).min().unwrap_or(u16::MAX))
    };
    let best = scored.max_by_key(|(score, table, source)| (*score, order(table, source)));
    best.filter(|(score, ..)| *score > 0).map(|(_, table, source)| (table, source.get.as_str()))
}

/// The path of this engine that a small answer fits which names none: an object in which every field is one that the source
/// reads. Told only where it is known that the answer is of this engine, or of none.
pub fn small_answer<'a>(table: &'a Table, body: &[u8]) -> Option<&'a str> {
    let root = parse_json(body).ok()?;
    let fields = root.as_object().filter(|fields| !fields.is_empty())?;
    let reads = |source: &&Source| {
        let named =
            |field: &String| source.facts.contains_key(field) || source.read.iter().any(|row| row.name == *field);
        source.format == Format::Json && source.each.is_none() && fields.keys().all(named)
    };
    table.sources.iter().find(reads).map(|source| source.get.as_str())
}

/// The engine whose series a server's part of a page has, and the path that gives them: told as of any page, or by names
/// that no other engine has.
pub fn part<'a>(tables: &'a Tables, page: &Page) -> Option<(&'a Table, &'a str)> {
    let by_name = || own_page(tables.get(page.engine.as_deref()?)?);
    answer(tables, &page.body).or_else(by_name)
}

/// The engine of each worker whose own page a router passes on in this one, by the router's name for it.
pub fn relayed<'a>(tables: &'a Tables, body: &[u8]) -> BTreeMap<String, &'a Table> {
    let pages = crate::apart(tables, body).map(|apart| apart.pages).unwrap_or_default();
    let of = |page: Page| {
        let (table, _) = part(tables, &page)?;
        Some((page.server?, table))
    };
    pages.into_iter().filter_map(of).collect()
}

/// Whether a text begins like the JSON of an answer. A log's `[2026-…` does not, and is long.
fn may_be_json(body: &[u8]) -> bool {
    match body.trim_ascii_start() {
        [b'{', ..] => true,
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'{' | b'[' | b'"' | b']')),
        _ => false,
    }
}

/// The engine whose series a page has. Engines that share a prefix: the one whose rule for certain series is asked first.
fn page<'a>(tables: &'a Tables, body: &[u8]) -> Option<(&'a Table, &'a str)> {
    let rules = tables.iter().flat_map(|table| table.engine.answer.iter().map(move |rule| (table, rule)));
    let mut rules: Vec<(&Table, &AnswerRule)> = rules.filter(|(_, rule)| rule.is_page()).collect();
    rules.sort_by_key(|(_, rule)| (rule.series.is_empty(), rule.order));
    let (table, _) = rules.into_iter().find(|(table, rule)| holds_series(table, body, &rule.series))?;
    own_page(table)
}

/// The titles of other engines of which certain series stand on a page that is read as `known`'s: two files in one, or a
/// collector's page that nothing marks as such.
pub fn others<'a>(tables: &'a Tables, known: &Table, body: &[u8]) -> Vec<&'a str> {
    if looks_wrong(body).is_some() {
        return Vec::new();
    }
    let mut marks: Vec<(&str, &[String], &str)> = Vec::new();
    for table in tables.iter() {
        let own = table.engine.prefixes.iter().filter(|prefix| !known.engine.prefixes.contains(prefix));
        let rules = table.engine.answer.iter().filter(|rule| rule.is_page());
        for (prefix, rule) in own.flat_map(|prefix| rules.clone().map(move |rule| (prefix, rule))) {
            marks.push((prefix, &rule.series, &table.engine.title));
        }
    }
    let mut found = BTreeSet::new();
    let asked = |name: &str| {
        let is = |(prefix, names, _): &&(&str, &[String], &str)| {
            name.strip_prefix(prefix).is_some_and(|bare| names.is_empty() || names.iter().any(|known| known == bare))
        };
        found.extend(marks.iter().filter(is).map(|(.., title)| *title));
        false
    };
    scan(body, &Limits::whole(), asked, |_| {});
    found.into_iter().collect()
}

/// An engine, and the path of its own metrics page.
fn own_page(table: &Table) -> Option<(&Table, &str)> {
    let mut pages = table.sources.iter().filter(|source| source.format == Format::Prometheus);
    pages.find(|source| source.relay.is_none()).map(|source| (table, source.get.as_str()))
}

/// How many rows and settings of a JSON source an answer has; one alone counts only when it is all that the answer has.
fn fields(table: &Table, source: &Source, root: &Value) -> usize {
    let rules = table.engine.answer.iter().filter(|rule| rule.get == source.get);
    let lacks = |rule: &AnswerRule| !rule.is_page() && !fits_json(rule, root);
    let none_fits = rules.clone().any(lacks) && !rules.clone().any(|rule| !rule.is_page() && fits_json(rule, root));
    if source.format != Format::Json || none_fits {
        return 0;
    }
    let element = match &source.each {
        Some(each) => json_find(root, root, each, 1).into_iter().next(),
        None => Some(root),
    };
    let has = |from: &Value, path: &String| !json_find(root, from, path, 1).is_empty();
    let rows = element.map_or(0, |element| {
        let inner = match &source.inner {
            Some(inner) => json_find(root, element, inner, 1).into_iter().next(),
            None => Some(element),
        };
        let rows = inner.map_or(0, |inner| source.read.iter().filter(|row| has(inner, &row.name)).count());
        // Numbers of several workers must never be read as those of one server.
        match &source.worker {
            Some(worker) if !has(element, worker) => 0,
            Some(_) => rows + WORKERS,
            None => rows + source.at.iter().filter(|path| has(element, path)).count(),
        }
    });
    let own = [&source.now].into_iter().flatten().chain(source.facts.keys()).filter(|path| has(root, path)).count();
    let marked = source.strip.iter().filter(|(fact, mark)| {
        let paths = source.facts.iter().filter(|(_, known)| known == fact).map(|(path, _)| path);
        let mut said = paths.flat_map(|path| json_find(root, root, path, 1)).filter_map(Value::as_str);
        said.any(|value| value.starts_with(mark.as_str()))
    });
    let own = own + WORKERS * marked.count();
    let workers = source.workers.as_ref().map_or(0, |list| {
        let first = json_find(root, root, &list.each, 1).into_iter().next();
        first.map_or(0, |first| usize::from(has(first, &list.url)))
    });
    let knobs = table.knobs.iter().filter_map(|knob| knob.info.as_ref());
    let knobs = if source.knobs { knobs.filter(|key| root.get(key.as_str()).is_some()).count() } else { 0 };
    // A router that has no workers yet still says that it lists them.
    let certain = rules.filter(|rule| !rule.is_page()).count();
    let small = element.is_some_and(|element| rows > 0 && element.as_object().is_some_and(|fields| fields.len() == 1));
    let found = rows + workers + knobs;
    if found > 1 || certain > 0 || small { found + own + certain } else { 0 }
}

/// An engine that may have written a log, and what was seen of it.
#[derive(Debug, Clone)]
pub struct Written<'a> {
    /// The engine's table.
    pub table: &'a Table,
    /// How many lines, without those that it borrows.
    pub lines: usize,
    /// How many numbers.
    numbers: usize,
    /// The newest and the oldest time in it, as its own clock says them.
    pub span: Option<(Time, Time)>,
    /// Lines were passed over because their times lie ahead of the log's look.
    pub ahead: bool,
    /// What its lines say of the server.
    pub facts: Facts,
}

/// The engine that wrote this log, by its lines alone: the one of which most are, and of those with as many the one that finds
/// most numbers in them; one that borrows another's lines comes before that. `None` where no line of it is known.
pub fn written<'a>(tables: &'a Tables, log: &Log) -> Option<Written<'a>> {
    by_lines(tables, log).max_by_key(|written| (written.lines, written.numbers))
}

/// The engines that may have written this log, the likeliest first: engines that grew from one another print the same lines.
/// Each knows at least half of those that the first one knows.
pub fn writers<'a>(tables: &'a Tables, log: &Log) -> Vec<Written<'a>> {
    let mut known: Vec<Written<'a>> = by_lines(tables, log).filter(|written| written.lines > 0).collect();
    known.sort_by_key(|written| (written.lines, written.numbers));
    known.reverse();
    let most = known.first().map_or(0, |first| first.lines);
    known.retain(|written| written.lines * 2 >= most);
    known
}

fn by_lines<'a>(tables: &'a Tables, log: &Log) -> impl Iterator<Item = Written<'a>> {
    let all = tables.iter().filter(|table| !table.lines.is_empty()).filter_map(|table| written_by(table, log));
    let all: Vec<Written<'a>> = all.filter(|written| written.lines > 0 || written.ahead).collect();
    // Where one that starts the other wrote lines of its own, the other's stand between them, however many they are.
    let borrows = |row: &crate::table::Borrow, of: &Written<'_>| row.engine == of.table.engine.name;
    let lends = |one: &Written<'_>| {
        let mut borrowers = all.iter().filter(|other| other.lines > 0);
        borrowers.any(|other| other.table.engine.borrows.iter().any(|row| borrows(row, one)))
    };
    let lenders: Vec<bool> = all.iter().map(lends).collect();
    all.into_iter().zip(lenders).filter(|(_, lends)| !lends).map(|(written, _)| written)
}

/// What is seen of this log, read as this engine's; `None` where it could not be read.
pub fn written_by<'a>(table: &'a Table, log: &Log) -> Option<Written<'a>> {
    let stretches = log.outcome.as_ref().ok()?;
    let mut account = Account::default();
    let scanned = log::scan(table, log, stretches, &mut account);
    Some(Written {
        table,
        lines: scanned.own(table),
        numbers: scanned.numbers(table),
        span: scanned.span(),
        ahead: scanned.is_ahead(),
        facts: account.facts,
    })
}

/// Whether the times of this engine's log, of which `span` was seen, say their zone: then it does not matter which one is
/// assumed.
pub fn is_zoned(table: &Table, log: &Log, span: (Time, Time)) -> bool {
    let elsewhere = Log { clock: LogClock::Offset(ELSEWHERE_S), ..log.clone() };
    written_by(table, &elsewhere).is_some_and(|written| written.span == Some(span))
}

/// When an answer or a page says that it was given or its newest number taken, in seconds since 1970. A page on which
/// some samples carry no time does not say when those were taken.
pub fn said_at(table: &Table, get: &str, body: &[u8]) -> Option<Time> {
    if looks_wrong(body).is_none() {
        let (mut newest, mut all): (Option<i64>, bool) = (None, true);
        scan(
            body,
            &Limits::whole(),
            |_| true,
            |sample| {
                newest = newest.max(sample.timestamp_ms);
                all &= sample.timestamp_ms.is_some();
            },
        );
        return newest.filter(|_| all).map(|stamp| Time(stamp as f64 / 1000.0)).filter(|time| time.0 > 0.0);
    }
    let root = parse_json(body).ok()?;
    let sources = table.sources.iter().filter(|source| source.get == get && source.format == Format::Json);
    sources.filter_map(|source| answered_at(source, &root)).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The engine whose server printed its arguments, and what they tell; `place` is the file and line.
pub fn dumped<'a>(tables: &'a Tables, text: &str, place: &str) -> Option<(&'a Table, Facts)> {
    let facts = |table: &'a Table| {
        let mut account = Account::default();
        crate::interpret::dumped(table, text, place, &mut account);
        (table, account.facts)
    };
    tables.iter().map(facts).max_by_key(|(_, facts)| facts.len()).filter(|(_, facts)| facts.len() > 1)
}

/// What each reading of an account that comes from these paths (or, with `log`, from the log) says of its age: nothing.
/// A file that holds no time must not pose as fresh.
pub fn forget_times(table: &Table, account: &mut Account, gets: &[&str], log: bool) {
    let untimed = |trust: u16| match table.sources.get(usize::from(trust)) {
        Some(source) => gets.contains(&source.get.as_str()),
        None => log,
    };
    let sets = account.sets.iter_mut().filter(|set| untimed(set.trust)).flat_map(|set| set.readings.values_mut());
    let values = account.values.iter_mut().filter(|value| untimed(value.trust)).map(|value| &mut value.reading);
    sets.chain(values).for_each(|reading| forget(reading, "the file does not say when this was taken"));
}

/// Takes their age from readings of a log whose times have no zone, where `now` is of clocks that have one. Nothing is
/// stale then, and nothing fresh.
pub fn forget_zone(table: &Table, account: &mut Account, now: Time) {
    let of_log = |trust: u16| table.sources.get(usize::from(trust)).is_none();
    let why = "the log does not say its zone, and now is of a clock that does";
    for set in account.sets.iter_mut().filter(|set| of_log(set.trust)) {
        set.at = now;
        set.readings.values_mut().for_each(|reading| forget(reading, why));
    }
    for value in account.values.iter_mut().filter(|value| of_log(value.trust)) {
        forget(&mut value.reading, why);
    }
    for source in account.sources.iter_mut().filter(|source| source.id == log::ID) {
        source.at = now;
    }
}

fn forget(reading: &mut Reading, why: &str) {
    if reading.value.is_some() {
        reading.at = None;
        reading.reason = Some(why.to_owned());
    }
}
