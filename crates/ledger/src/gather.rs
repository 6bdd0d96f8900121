//! Answering a query for one target: chunk by chunk, and of a chunk one series after another, so that what is held is the answer
//! and not everything that it is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Note;
use crate::key::Key;
use crate::look::Look;
use crate::read::{Point, Query, Series};
use crate::rows::{Cells, Fold, Rows, overlaps};
use crate::sample::{Sample, Summary};
use crate::segment::{Entry, Segment};
use crate::view::View;

/// Where rows are.
#[derive(Clone, Copy)]
enum Part<'a> {
    Chunk(&'a Segment, &'a Entry),
    /// Looks that are in no chunk.
    Looks(&'a [Arc<Look>]),
}

/// The series of a target that are asked for.
pub(crate) fn gather(view: &View, target: &Arc<str>, query: &Query, notes: &mut Vec<Note>) -> Vec<Series> {
    let parts = parts(view, target, query);
    let trim = |(key, points)| trimmed(target, key, points);
    if is_more(&parts, query) {
        let mut fold = Fold::new(step(&parts, query));
        for part in &parts {
            notes.extend(part.read(query, |rows, taken| fold.add(rows, query.wanted, taken)).err());
        }
        let step_ms = fold.step();
        let (times, lines) = fold.finish();
        let point = |(time, summary): (&i64, Summary)| Point::Step { time: *time, step_ms, summary };
        let mut series: Vec<Series> = lines
            .filter_map(|(key, line)| trim((key, times.iter().zip(line).map(point).collect::<Vec<Point>>())))
            .collect();
        series.sort_by(|a, b| a.key.cmp(&b.key));
        series
    } else {
        let mut plain = Plain::default();
        for part in &parts {
            notes.extend(part.read(query, |rows, taken| plain.add(rows, query.wanted, taken)).err());
        }
        plain.lines.into_iter().filter_map(trim).collect()
    }
}

/// Everything of a target that may have rows between the query's times, in the order of arrival.
fn parts<'a>(view: &'a View, target: &Arc<str>, query: &Query) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for segment in &view.segments {
        let asked = |entry: &&Entry| {
            let about = &entry.about;
            entry.is_chunk_of(target) && overlaps(about.from, about.to, about.step, query.from, query.to)
        };
        parts.extend(segment.entries.iter().filter(asked).map(|entry| Part::Chunk(segment, entry)));
    }
    parts.extend(view.looks.get(target).map(|looks| Part::Looks(looks)));
    parts
}

impl Part<'_> {
    /// Reads the rows between the query's times; `read` gives `None` where it does not understand them.
    fn read<T>(self, query: &Query, read: impl FnOnce(&Rows, &[usize]) -> Option<T>) -> Result<Option<T>, Note> {
        let taken = |rows: &Rows| {
            (0..rows.times.len()).filter(|row| rows.within(*row, query.from, query.to)).collect::<Vec<usize>>()
        };
        match self {
            Self::Chunk(segment, entry) => segment.rows(entry, |rows| read(rows, &taken(rows))).map(Some),
            Self::Looks(looks) => {
                let rows = Rows::of_looks(looks, query.wanted);
                Ok(read(&rows, &taken(&rows)))
            }
        }
    }

    /// How many rows it has between the query's times.
    fn count(self, query: &Query) -> usize {
        match self {
            Self::Chunk(_, Entry { about, .. }) if about.from >= query.from && about.to <= query.to => {
                usize::try_from(about.rows).unwrap_or(usize::MAX)
            }
            // Damage is said when it is read.
            Self::Chunk(..) => self.read(query, |_, taken| Some(taken.len())).ok().flatten().unwrap_or_default(),
            Self::Looks(looks) => looks.iter().filter(|look| (query.from..=query.to).contains(&look.time)).count(),
        }
    }

    /// Between which times its rows are, the query's if it has more.
    fn span(self, query: &Query) -> Option<(i64, i64)> {
        let (from, to, step) = match self {
            Self::Chunk(_, Entry { about, .. }) => (about.from, about.to, about.step),
            Self::Looks(looks) => {
                let times = || looks.iter().map(|look| look.time);
                (times().min()?, times().max()?, 0)
            }
        };
        Some((from.max(query.from.saturating_sub(step)), to.min(query.to)))
    }

    fn step(self) -> i64 {
        if let Self::Chunk(_, entry) = self { entry.about.step } else { 0 }
    }
}

/// Whether there are more rows than points are wanted.
fn is_more(parts: &[Part], query: &Query) -> bool {
    let mut count = 0usize;
    parts.iter().any(|part| {
        count = count.saturating_add(part.count(query));
        count > query.most
    })
}

/// How long steps must be so that there are not more than wanted: a multiple of the longest that is kept.
fn step(parts: &[Part], query: &Query) -> i64 {
    let unit = parts.iter().map(|part| part.step()).max().unwrap_or_default().max(1);
    let spans = || parts.iter().filter_map(|part| part.span(query));
    let first = spans().map(|(first, _)| first).min().unwrap_or_default();
    let last = spans().map(|(_, last)| last).max().unwrap_or_default();
    let most = i64::try_from(query.most).unwrap_or(i64::MAX).max(1);
    let mut step = unit.saturating_mul((last.saturating_sub(first) / most / unit).max(1));
    while last.div_euclid(step).saturating_sub(first.div_euclid(step)) >= most && step <= i64::MAX / 2 {
        step = step.saturating_add(unit.max(step / 64 / unit * unit));
    }
    step
}

/// Every row as a point. A series that others' looks miss is absent there.
#[derive(Default)]
struct Plain {
    lines: BTreeMap<Key, Vec<Point>>,
    /// What a series without these rows has in their place, in the order of arrival.
    rows: Vec<Point>,
}

impl Plain {
    /// Takes all of it, or nothing where a column is none.
    fn add(&mut self, rows: &Rows, wanted: &dyn Fn(&Key) -> bool, taken: &[usize]) -> Option<()> {
        let mut told = Vec::new();
        for (index, key) in rows.keys.iter().enumerate().filter(|(_, key)| wanted(key)) {
            let cells = rows.cells(index)?;
            told.push((key, taken.iter().map(|row| point(rows, *row, Some(&cells))).collect::<Vec<Point>>()));
        }
        for (key, points) in told {
            self.lines.entry(key.clone()).or_insert_with(|| self.rows.clone()).extend(points);
        }
        self.rows.extend(taken.iter().map(|row| point(rows, *row, None)));
        for points in self.lines.values_mut() {
            let there = points.len();
            points.extend_from_slice(&self.rows[there..]);
        }
        Some(())
    }
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
