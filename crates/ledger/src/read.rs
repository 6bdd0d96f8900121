//! Reading: from one state, whatever is written meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::error::Note;
use crate::events::{Event, take_events};
use crate::frame::Kind;
use crate::key::Key;
use crate::rows::{Cells, Fold, Rows, overlaps};
use crate::sample::{Sample, Summary};
use crate::view::{Shared, View};

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// Only this target; every one where there is none.
    pub target: Option<&'a str>,
    /// Only the series of which this is true.
    pub wanted: &'a dyn Fn(&Key) -> bool,
    /// From this time on, milliseconds since 1970.
    pub from: i64,
    /// Up to and with this time, milliseconds since 1970.
    pub to: i64,
    /// Most points of a series. Where more are kept, they come as steps.
    pub most: usize,
}

impl Default for Query<'_> {
    /// Everything, as finely as it is kept.
    fn default() -> Self {
        Self { target: None, wanted: &|_| true, from: i64::MIN, to: i64::MAX, most: usize::MAX }
    }
}

/// A series at a moment, or along a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// One look, as it was taken.
    Look {
        /// Milliseconds since 1970.
        time: i64,
        /// What it said; `Absent` where a look of the target before and one after have the series, and this one not.
        sample: Sample,
    },
    /// The looks of a step.
    Step {
        /// Its beginning, milliseconds since 1970.
        time: i64,
        /// Its length, in milliseconds.
        step_ms: i64,
        /// What they said.
        summary: Summary,
    },
}

impl Point {
    /// Milliseconds since 1970; of a step its beginning.
    pub fn time(&self) -> i64 {
        match self {
            Self::Look { time, .. } | Self::Step { time, .. } => *time,
        }
    }

    /// Whether no look of it has the series.
    fn is_absent(&self) -> bool {
        match self {
            Self::Look { sample, .. } => *sample == Sample::Absent,
            Self::Step { summary: Summary { counts, .. }, .. } => counts.all()[..6] == [0; 6],
        }
    }
}

/// One series, in the order of time; points with the same time in the order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The server.
    pub target: Arc<str>,
    /// The series within it.
    pub key: Key,
    /// Never interpolated: where nothing is kept, there is no point.
    pub points: Vec<Point>,
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// By target and key.
    pub series: Vec<Series>,
    /// What could not be read, and is missing above.
    pub notes: Vec<Note>,
}

/// Reads while the ledger is written. Each call answers from one state.
#[derive(Clone)]
pub struct Reader(Arc<Shared>);

impl Reader {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// The names of all targets that have looks.
    pub fn targets(&self) -> BTreeSet<Arc<str>> {
        let view = self.0.now();
        targets(&view, None)
    }

    /// The earliest and the latest time of a look, milliseconds since 1970; a step counts with its beginning and its end.
    pub fn span(&self) -> Option<(i64, i64)> {
        let view = self.0.now();
        let open = view.looks.values().flat_map(|looks| looks.iter()).map(|look| (look.time, look.time));
        let spans = view.segments.iter().filter_map(|segment| segment.span()).chain(open);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// All series that have looks, by target.
    pub fn series(&self) -> (BTreeMap<Arc<str>, BTreeSet<Key>>, Vec<Note>) {
        let view = self.0.now();
        let mut all: BTreeMap<Arc<str>, BTreeSet<Key>> = BTreeMap::new();
        let mut notes = Vec::new();
        // Chunks of one target mostly have the same keys: one of each list is read.
        let mut seen = HashSet::new();
        for segment in &view.segments {
            for entry in segment.entries.iter().filter(|entry| entry.place.kind == Kind::Chunk) {
                let about = &entry.about;
                if seen.contains(&(about.target.clone(), about.mark)) {
                    continue;
                }
                match segment.keys(entry) {
                    Ok(keys) => {
                        all.entry(about.target.clone()).or_default().extend(keys);
                        seen.insert((about.target.clone(), about.mark));
                    }
                    Err(note) => notes.push(note),
                }
            }
        }
        for (target, looks) in &view.looks {
            let mut shape = None;
            for look in looks.iter().filter(|look| shape.replace(look.shape.id) != Some(look.shape.id)) {
                all.entry(target.clone()).or_default().extend(look.shape.keys.iter().cloned());
            }
        }
        (all, notes)
    }

    /// The events between these times (both included), in the order of time.
    pub fn events(&self, from: i64, to: i64) -> (Vec<Event>, Vec<Note>) {
        let view = self.0.now();
        let mut events = Vec::new();
        let mut notes = Vec::new();
        for segment in &view.segments {
            for entry in segment.entries.iter().filter(|entry| entry.place.kind == Kind::Events) {
                if !overlaps(entry.about.from, entry.about.to, 0, from, to) {
                    continue;
                }
                match segment.body(entry) {
                    Ok(body) => events.extend(take_events(&body).unwrap_or_default()),
                    Err(note) => notes.push(note),
                }
            }
        }
        events.extend(view.events.iter().map(|event| event.event.clone()));
        events.retain(|event| (from..=to).contains(&event.time));
        events.sort_by_key(|event| event.time);
        (events, notes)
    }

    /// What is kept of the series that are asked for.
    pub fn history(&self, query: &Query) -> History {
        let view = self.0.now();
        let mut history = History::default();
        for target in targets(&view, query.target) {
            let parts = parts(&view, &target, query, &mut history.notes);
            let rows: Vec<(&Rows, Vec<usize>)> = parts.iter().map(|rows| (rows, within(rows, query))).collect();
            let count: usize = rows.iter().map(|(_, rows)| rows.len()).sum();
            let lines = if count > query.most { thinned(&rows, query.most) } else { plain(&rows) };
            let series = lines.into_iter().filter_map(|(key, points)| trimmed(&target, key, points));
            history.series.extend(series);
        }
        history
    }
}

fn targets(view: &View, only: Option<&str>) -> BTreeSet<Arc<str>> {
    let entries = view.segments.iter().flat_map(|segment| &segment.entries);
    let chunks = entries.filter(|entry| entry.place.kind == Kind::Chunk).map(|entry| &entry.about.target);
    let targets = chunks.chain(view.looks.keys());
    targets.filter(|target| only.is_none_or(|only| only == &***target)).cloned().collect()
}

/// All rows of a target that may lie between the query's times, in the order of arrival.
fn parts(view: &View, target: &Arc<str>, query: &Query, notes: &mut Vec<Note>) -> Vec<Rows> {
    let mut parts = Vec::new();
    for segment in &view.segments {
        for entry in &segment.entries {
            let about = &entry.about;
            let asked = entry.place.kind == Kind::Chunk
                && about.target == *target
                && overlaps(about.from, about.to, about.step, query.from, query.to);
            match asked.then(|| segment.rows(entry, query.wanted)) {
                Some(Ok(rows)) => parts.push(rows),
                Some(Err(note)) => notes.push(note),
                None => (),
            }
        }
    }
    if let Some(looks) = view.looks.get(target) {
        parts.push(Rows::of_looks(looks, query.wanted));
    }
    parts
}

fn within(rows: &Rows, query: &Query) -> Vec<usize> {
    (0..rows.times.len()).filter(|row| rows.within(*row, query.from, query.to)).collect()
}

/// Every row as a point. A series that others' looks miss is absent there.
fn plain(parts: &[(&Rows, Vec<usize>)]) -> Vec<(Key, Vec<Point>)> {
    let keys = parts.iter().flat_map(|(rows, _)| rows.lines.iter().map(|(key, _)| key.clone()));
    let mut all: BTreeMap<Key, Vec<Point>> = keys.map(|key| (key, Vec::new())).collect();
    for (rows, taken) in parts {
        let here: HashMap<&Key, &Cells> = rows.lines.iter().map(|(key, cells)| (key, cells)).collect();
        for (key, points) in &mut all {
            let cells = here.get(key).copied();
            points.extend(taken.iter().map(|row| point(rows, *row, cells)));
        }
    }
    all.into_iter().collect()
}

fn point(rows: &Rows, row: usize, cells: Option<&Cells>) -> Point {
    let (time, step_ms) = (rows.times[row], rows.step);
    match cells {
        Some(Cells::Samples(samples)) => Point::Look { time, sample: samples[row] },
        Some(Cells::Steps(steps)) => Point::Step { time, step_ms, summary: steps[row] },
        None if step_ms == 0 => Point::Look { time, sample: Sample::Absent },
        None => {
            let mut summary = Summary::default();
            summary.counts.absent = rows.looks[row];
            Point::Step { time, step_ms, summary }
        }
    }
}

/// The rows as so many steps at most, each a multiple of the longest that is kept.
fn thinned(parts: &[(&Rows, Vec<usize>)], most: usize) -> Vec<(Key, Vec<Point>)> {
    let unit = parts.iter().map(|(rows, _)| rows.step).max().unwrap_or_default().max(1);
    let times = || parts.iter().flat_map(|(rows, taken)| taken.iter().map(|row| rows.times[*row]));
    let (first, last) = (times().min().unwrap_or_default(), times().max().unwrap_or_default());
    let most = i64::try_from(most).unwrap_or(i64::MAX).max(1);
    let mut step = unit.saturating_mul((last.saturating_sub(first) / most / unit).max(1));
    while last.div_euclid(step).saturating_sub(first.div_euclid(step)) >= most && step <= i64::MAX / 2 {
        step = step.saturating_add(unit.max(step / 64 / unit * unit));
    }
    let mut fold = Fold::new(step);
    for (rows, taken) in parts {
        let taken: BTreeSet<usize> = taken.iter().copied().collect();
        fold.add(rows, |row| taken.contains(&row));
    }
    let (times, lines) = fold.finish();
    let point = |(time, summary): (&i64, Summary)| Point::Step { time: *time, step_ms: step, summary };
    lines.into_iter().map(|(key, line)| (key, times.iter().zip(line).map(point).collect())).collect()
}

/// Puts points in the order of time, and leaves out those before the first and after the last that have the series.
fn trimmed(target: &Arc<str>, key: Key, mut points: Vec<Point>) -> Option<Series> {
    if !points.is_sorted_by_key(Point::time) {
        points.sort_by_key(Point::time);
    }
    // A step's looks may stand in two segments.
    points.dedup_by(|later, point| match (point, later) {
        (Point::Step { time, step_ms, summary }, Point::Step { time: same, step_ms: as_long, summary: rest })
            if (*time, *step_ms) == (*same, *as_long) =>
        {
            summary.merge(rest);
            true
        }
        _ => false,
    });
    let first = points.iter().position(|point| !point.is_absent())?;
    let last = points.iter().rposition(|point| !point.is_absent())?;
    points.truncate(last + 1);
    points.drain(..first);
    Some(Series { target: target.clone(), key, points })
}
