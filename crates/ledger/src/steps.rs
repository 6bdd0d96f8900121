//! Thinned chunks: for each step and series how many looks had which state, and figures of the fresh numbers.

use std::sync::Arc;

use crate::chunk::{About, Columns, seal};
use crate::column::Writer;
use crate::key::Key;
use crate::sample::{Counts, Figures, Summary};

/// Columns a key: seven counts, and least, largest, last and mean of the steps that have figures.
pub(crate) const EACH: usize = 11;

/// A chunk of steps that is being made, series by series.
pub(crate) struct Steps {
    times: Vec<i64>,
    keys: Vec<Key>,
    columns: Writer,
}

impl Steps {
    /// Steps that begin at these times.
    pub(crate) fn new(times: Vec<i64>) -> Self {
        let mut columns = Writer::default();
        columns.push_wholes(&times);
        Self { times, keys: Vec::new(), columns }
    }

    /// Appends a series, with a summary for each time.
    pub(crate) fn push(&mut self, key: Key, line: &[Summary]) {
        for index in 0..7 {
            let counts: Vec<i64> = line.iter().map(|step| step.counts.all()[index].cast_signed()).collect();
            self.columns.push_wholes(&counts);
        }
        for figure in [|f: &Figures| f.min, |f: &Figures| f.max, |f: &Figures| f.last, |f: &Figures| f.mean] {
            let figures: Vec<f64> = line.iter().filter_map(|step| step.figures.as_ref().map(figure)).collect();
            self.columns.push(&figures);
        }
        self.keys.push(key);
    }

    /// What it is about, and its body: of a target, each step so many milliseconds, of the looks of these numbers.
    pub(crate) fn seal(self, target: &Arc<str>, step: i64, numbers: (u64, u64)) -> (About, Vec<u8>) {
        seal(target, step, numbers, &self.times, &self.keys, &[], self.columns)
    }
}

/// The steps of the key at `index`, one for each time; of a thinned chunk.
pub(crate) fn summaries(columns: &Columns, index: usize) -> Option<Vec<Summary>> {
    let counts = counts(columns, index)?;
    let base = 1 + index * EACH + 7;
    let figures: Option<Vec<_>> = (base..base + 4).map(|column| columns.numbers.read(column)).collect();
    let figures = figures?;
    let mut row = 0;
    let mut steps = Vec::with_capacity(counts.len());
    for counts in counts {
        let figures = if counts.values > 0 {
            let figure = |column: usize| figures[column].get(row).copied();
            let of = Figures { min: figure(0)?, max: figure(1)?, last: figure(2)?, mean: figure(3)? };
            row += 1;
            Some(of)
        } else {
            None
        };
        steps.push(Summary { counts, figures });
    }
    figures.iter().all(|column| column.len() == row).then_some(steps)
}

/// How many looks had which state in each step of the key at `index`.
pub(crate) fn counts(columns: &Columns, index: usize) -> Option<Vec<Counts>> {
    let base = 1 + index * EACH;
    let rows = columns.rows;
    let columns: Option<Vec<_>> = (base..base + 7).map(|column| columns.numbers.wholes(column)).collect();
    let columns = columns?;
    if columns.iter().any(|column| column.len() != rows || column.iter().any(|count| *count < 0)) {
        return None;
    }
    Some((0..rows).map(|row| Counts::of(std::array::from_fn(|of| columns[of][row].cast_unsigned()))).collect())
}
