//! Reading: from one state, whatever is written meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::error::Note;
use crate::events::{Event, take_events};
use crate::frame::Kind;
use crate::gather::gather;
use crate::key::Key;
use crate::rows::overlaps;
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
    pub(crate) fn is_absent(&self) -> bool {
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
        let (mut all, mut notes) = (BTreeMap::new(), Vec::new());
        for target in targets(&view, None) {
            let (keys, damaged) = keys(&view, &target);
            notes.extend(damaged);
            if !keys.is_empty() {
                all.insert(target, keys);
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
        let mut series = Vec::new();
        let notes = self.each(query, |target| series.extend(target));
        History { series, notes }
    }

    /// The same, told of one target after another, so that only one's series are in memory; gives the notes. Besides what it
    /// tells it holds one chunk as it is on the disk, and one series of it.
    pub fn each(&self, query: &Query, mut tell: impl FnMut(Vec<Series>)) -> Vec<Note> {
        let view = self.0.now();
        let mut notes = Vec::new();
        for target in targets(&view, query.target) {
            tell(gather(&view, &target, query, &mut notes));
        }
        notes
    }
}

/// The keys of a target's looks. Its chunks mostly have the same ones: one of each list is read.
fn keys(view: &View, target: &Arc<str>) -> (BTreeSet<Key>, Vec<Note>) {
    let (mut all, mut notes, mut seen) = (BTreeSet::new(), Vec::new(), HashSet::new());
    for segment in &view.segments {
        for entry in segment.entries.iter().filter(|entry| entry.is_chunk_of(target)) {
            if seen.contains(&entry.about.mark) {
                continue;
            }
            match segment.keys(entry) {
                Ok(keys) => {
                    all.extend(keys);
                    seen.insert(entry.about.mark);
                }
                Err(note) => notes.push(note),
            }
        }
    }
    let mut shape = None;
    for look in view.looks.get(target).iter().flat_map(|looks| looks.iter()) {
        if shape.replace(look.shape.id) != Some(look.shape.id) {
            all.extend(look.shape.keys.iter().cloned());
        }
    }
    (all, notes)
}

fn targets(view: &View, only: Option<&str>) -> BTreeSet<Arc<str>> {
    let entries = view.segments.iter().flat_map(|segment| &segment.entries);
    let chunks = entries.filter(|entry| entry.place.kind == Kind::Chunk).map(|entry| &entry.about.target);
    let targets = chunks.chain(view.looks.keys());
    targets.filter(|target| only.is_none_or(|only| only == &***target)).cloned().collect()
}
