//! What was kept, as readers and thinning see it: rows of looks or of steps, by series.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::chunk::{About, Chunk};
use crate::key::Key;
use crate::lines::Lines;
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

/// Rows of one target.
pub(crate) struct Rows {
    /// Milliseconds that a row stands for; 0 where it is a look.
    pub(crate) step: i64,
    pub(crate) times: Vec<i64>,
    /// How many looks a row stands for.
    pub(crate) looks: Vec<u64>,
    pub(crate) lines: Vec<(Key, Cells)>,
    /// All keys of a chunk, wanted or not.
    pub(crate) keys: Vec<Key>,
}

impl Rows {
    /// The series of a chunk that are `wanted`; `None` where the body is damaged.
    pub(crate) fn of_chunk(about: &About, body: &[u8], wanted: &dyn Fn(&Key) -> bool) -> Option<Self> {
        let thin = about.step > 0;
        let chunk = Chunk::open(about, body, if thin { EACH } else { 1 })?;
        let mut lines = Vec::new();
        for (index, key) in chunk.keys.iter().enumerate().filter(|(_, key)| wanted(key)) {
            let cells =
                if thin { Cells::Steps(summaries(&chunk, index)?) } else { Cells::Samples(chunk.samples(index)?) };
            lines.push((key.clone(), cells));
        }
        let looks = if thin && !chunk.keys.is_empty() {
            // Every series of a step counts every look of it.
            counts(&chunk, 0)?.iter().map(total).collect()
        } else {
            vec![1; chunk.times.len()]
        };
        Some(Self { step: about.step, times: chunk.times, looks, lines, keys: chunk.keys })
    }

    /// The series of looks that are not in a chunk yet.
    pub(crate) fn of_looks(looks: &[Arc<Look>], wanted: &dyn Fn(&Key) -> bool) -> Self {
        let Lines { times, keys, series } = Lines::of(looks, wanted);
        let cells = series.iter().map(|line| Cells::Samples(line.samples().unwrap_or_default()));
        let lines = keys.iter().cloned().zip(cells).collect();
        Self { step: 0, looks: vec![1; times.len()], times, lines, keys }
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

    /// When the step with this moment begins.
    fn begin(&self, time: i64) -> i64 {
        time.saturating_sub(time.rem_euclid(self.step))
    }

    /// Takes in the rows for which `take` is true, in the order of their times.
    pub(crate) fn add(&mut self, rows: &Rows, take: impl Fn(usize) -> bool) {
        let mut order: Vec<usize> = (0..rows.times.len()).filter(|row| take(*row)).collect();
        order.sort_by_key(|row| rows.times[*row]);
        for row in &order {
            *self.looks.entry(self.begin(rows.times[*row])).or_default() += rows.looks[*row];
        }
        for (key, cells) in &rows.lines {
            let place = *self.known.entry(key.clone()).or_insert_with(|| {
                self.lines.push((key.clone(), BTreeMap::new()));
                self.lines.len() - 1
            });
            for row in &order {
                let begin = self.begin(rows.times[*row]);
                self.lines[place].1.entry(begin).or_default().merge(&cells.summary(*row));
            }
        }
    }

    /// The steps' beginnings, and for each series a summary of each; looks without the series are counted as absent.
    pub(crate) fn finish(self) -> (Vec<i64>, Vec<(Key, Vec<Summary>)>) {
        let looks = self.looks;
        let whole = |(key, mut steps): (Key, BTreeMap<i64, Summary>)| {
            let step = |(begin, looks): (&i64, &u64)| {
                let mut step = steps.remove(begin).unwrap_or_default();
                step.counts.absent += looks.saturating_sub(total(&step.counts));
                step
            };
            (key, looks.iter().map(step).collect())
        };
        let lines = self.lines.into_iter().map(whole).collect();
        (looks.into_keys().collect(), lines)
    }
}
