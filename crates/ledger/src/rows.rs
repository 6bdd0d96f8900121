//! What was kept, as readers and thinning see it: rows of looks or of steps, by series.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::chunk::{About, Chunk, Columns};
use crate::key::Key;
use crate::lines::{Line, Lines};
use crate::look::Look;
use crate::sample::{Counts, Sample, Summary};
use crate::steps::{EACH, counts, summaries};

/// One series' rows.
pub(crate) enum Cells {
    Samples(Vec<Sample>),
    Steps(Vec<Summary>),
}

impl Cells {
    /// The row as a step.
    pub(crate) fn summary(&self, row: usize) -> Summary {
        match self {
            Self::Steps(steps) => steps[row],
            Self::Samples(samples) => {
                let mut step = Summary::default();
                step.add(samples[row]);
                step
            }
        }
    }
}

/// Rows of one target. The series are read one at a time.
pub(crate) struct Rows<'a> {
    /// Milliseconds that a row stands for; 0 where it is a look.
    pub(crate) step: i64,
    pub(crate) times: Vec<i64>,
    /// How many looks a row stands for.
    pub(crate) looks: Vec<u64>,
    pub(crate) keys: Vec<Key>,
    series: Source<'a>,
}

enum Source<'a> {
    Chunk(Columns<'a>),
    /// In the order of the keys.
    Lines(Vec<Line>),
}

impl<'a> Rows<'a> {
    /// A chunk's; `None` where the body is damaged.
    pub(crate) fn of_chunk(about: &About, body: &'a [u8]) -> Option<Self> {
        let thin = about.step > 0;
        let Chunk { times, keys, columns } = Chunk::open(about, body, if thin { EACH } else { 1 })?;
        let looks = if thin && !keys.is_empty() {
            // Every series of a step counts every look of it.
            counts(&columns, 0)?.iter().map(total).collect()
        } else {
            vec![1; times.len()]
        };
        Some(Self { step: about.step, times, looks, keys, series: Source::Chunk(columns) })
    }

    /// The wanted series of looks that are not in a chunk yet.
    pub(crate) fn of_looks(looks: &[Arc<Look>], wanted: &dyn Fn(&Key) -> bool) -> Self {
        let Lines { times, keys, series } = Lines::of(looks, wanted);
        Self { step: 0, looks: vec![1; times.len()], times, keys, series: Source::Lines(series) }
    }

    /// The rows of the key at `index`; `None` where they are damaged.
    pub(crate) fn cells(&self, index: usize) -> Option<Cells> {
        match &self.series {
            Source::Lines(lines) => Some(Cells::Samples(lines.get(index)?.samples()?)),
            Source::Chunk(columns) if self.step > 0 => Some(Cells::Steps(summaries(columns, index)?)),
            Source::Chunk(columns) => Some(Cells::Samples(columns.samples(index)?)),
        }
    }

    /// Whether a row lies, in part at least, between these times.
    pub(crate) fn within(&self, row: usize, from: i64, to: i64) -> bool {
        overlaps(self.times[row], self.times[row], self.step, from, to)
    }
}

/// Whether rows from `first` to `last`, each of so many milliseconds, lie in part between these times.
pub(crate) fn overlaps(first: i64, last: i64, step: i64, from: i64, to: i64) -> bool {
    first <= to && last.saturating_add((step - 1).max(0)) >= from
}

fn total(counts: &Counts) -> u64 {
    counts.all().iter().fold(0, |sum, count| sum.saturating_add(*count))
}

/// Rows gathered into longer steps.
pub(crate) struct Fold {
    step: i64,
    looks: BTreeMap<i64, u64>,
    known: HashMap<Key, usize>,
    lines: Vec<(Key, BTreeMap<i64, Summary>)>,
}

impl Fold {
    /// Into steps of so many milliseconds, at least 1.
    pub(crate) fn new(step: i64) -> Self {
        Self { step: step.max(1), looks: BTreeMap::new(), known: HashMap::new(), lines: Vec::new() }
    }

    /// Milliseconds of a step.
    pub(crate) fn step(&self) -> i64 {
        self.step
    }

    /// When the step with this moment begins.
    pub(crate) fn begin(&self, time: i64) -> i64 {
        time.saturating_sub(time.rem_euclid(self.step))
    }

    /// Takes in these rows of the wanted series, in the order of their times: all of them, or nothing where a column is none.
    pub(crate) fn add(&mut self, rows: &Rows, wanted: &dyn Fn(&Key) -> bool, taken: &[usize]) -> Option<()> {
        let mut order = taken.to_vec();
        order.sort_by_key(|row| rows.times[*row]);
        let mut folded = Vec::new();
        for (index, key) in rows.keys.iter().enumerate().filter(|(_, key)| wanted(key)) {
            let cells = rows.cells(index)?;
            let mut steps: Vec<(i64, Summary)> = Vec::new();
            for row in &order {
                let (begin, summary) = (self.begin(rows.times[*row]), cells.summary(*row));
                match steps.last_mut() {
                    Some((same, step)) if *same == begin => step.merge(&summary),
                    _ => steps.push((begin, summary)),
                }
            }
            folded.push((key, steps));
        }
        for row in &order {
            *self.looks.entry(self.begin(rows.times[*row])).or_default() += rows.looks[*row];
        }
        for (key, steps) in folded {
            let place = *self.known.entry(key.clone()).or_insert_with(|| {
                self.lines.push((key.clone(), BTreeMap::new()));
                self.lines.len() - 1
            });
            for (begin, step) in steps {
                self.lines[place].1.entry(begin).or_default().merge(&step);
            }
        }
        Some(())
    }

    /// The steps' beginnings, and for each series, in the order in which they came, a summary of each; looks without the series
    /// are counted as absent.
    pub(crate) fn finish(self) -> (Vec<i64>, impl Iterator<Item = (Key, Vec<Summary>)>) {
        let looks = self.looks;
        let times = looks.keys().copied().collect();
        let lines = self.lines.into_iter().map(move |(key, mut steps)| {
            let step = |(begin, looks): (&i64, &u64)| {
                let mut step = steps.remove(begin).unwrap_or_default();
                step.counts.absent += looks.saturating_sub(total(&step.counts));
                step
            };
            (key, looks.iter().map(step).collect())
        });
        (times, lines)
    }
}
