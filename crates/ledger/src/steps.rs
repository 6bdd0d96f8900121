//! Thinned chunks: for each step and series how many looks had which state, and figures of the fresh numbers.

use std::sync::Arc;

use crate::chunk::{About, Chunk, seal};
use crate::column::Writer;
use crate::key::Key;
use crate::sample::{Counts, Figures, Summary};

/// Columns a key: seven counts, and least, largest, last and mean of the steps that have figures.
pub(crate) const EACH: usize = 11;

/// A chunk of steps of `step` milliseconds. Each line has a summary for each time.
pub(crate) fn of_steps(
    target: &Arc<str>,
    step: i64,
    numbers: (u64, u64),
    times: &[i64],
    lines: &[(Key, Vec<Summary>)],
) -> (About, Vec<u8>) {
    let mut columns = Writer::default();
    columns.push_wholes(times);
    for (_, line) in lines {
        for index in 0..7 {
            let counts: Vec<i64> = line.iter().map(|step| step.counts.all()[index].cast_signed()).collect();
            columns.push_wholes(&counts);
        }
        for figure in [|f: &Figures| f.min, |f: &Figures| f.max, |f: &Figures| f.last, |f: &Figures| f.mean] {
            let figures: Vec<f64> = line.iter().filter_map(|step| step.figures.as_ref().map(figure)).collect();
            columns.push(&figures);
        }
    }
    let keys: Vec<Key> = lines.iter().map(|(key, _)| key.clone()).collect();
    seal(target, step, numbers, times, &keys, &[], columns)
}

/// The steps of the key at `index`, one for each time; of a thinned chunk.
pub(crate) fn summaries(chunk: &Chunk, index: usize) -> Option<Vec<Summary>> {
    let counts = counts(chunk, index)?;
    let base = 1 + index * EACH + 7;
    let figures: Option<Vec<_>> = (base..base + 4).map(|column| chunk.columns.read(column)).collect();
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
pub(crate) fn counts(chunk: &Chunk, index: usize) -> Option<Vec<Counts>> {
    let base = 1 + index * EACH;
    let columns: Option<Vec<_>> = (base..base + 7).map(|column| chunk.columns.wholes(column)).collect();
    let columns = columns?;
    let rows = chunk.times.len();
    if columns.iter().any(|column| column.len() != rows || column.iter().any(|count| *count < 0)) {
        return None;
    }
    Some((0..rows).map(|row| Counts::of(std::array::from_fn(|of| columns[of][row].cast_unsigned()))).collect())
}
