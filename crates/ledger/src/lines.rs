//! Looks at one target, turned: for each series its samples, row by row.

use std::collections::HashMap;
use std::sync::Arc;

use crate::key::Key;
use crate::look::Look;
use crate::sample::Sample;

/// A series' states, and the numbers of those that have one.
#[derive(Default)]
pub(crate) struct Line {
    pub(crate) states: Vec<u8>,
    pub(crate) numbers: Vec<f64>,
}

/// Looks at one target by series.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) times: Vec<i64>,
    pub(crate) keys: Vec<Key>,
    pub(crate) series: Vec<Line>,
}

impl Lines {
    /// The lines of all keys that are `wanted`, in the order of their first look.
    pub(crate) fn of(looks: &[Arc<Look>], wanted: &dyn Fn(&Key) -> bool) -> Self {
        let mut all = Self::default();
        let mut known: HashMap<Key, usize> = HashMap::new();
        // Where the samples of the shape before go; most looks have the same.
        let mut shape = None;
        let mut places = Vec::new();
        for (row, look) in looks.iter().enumerate() {
            if shape != Some(look.shape.id) {
                let place = |key: &Key| wanted(key).then(|| all.place(key, row, &mut known));
                places = look.shape.keys.iter().map(place).collect();
                shape = Some(look.shape.id);
            }
            for (sample, place) in look.samples().into_iter().zip(&places) {
                let Some(line) = place.map(|place| &mut all.series[place]) else { continue };
                line.states.push(sample.state());
                line.numbers.extend(sample.number());
            }
            all.times.push(look.time);
            for line in &mut all.series {
                line.states.resize(row + 1, Sample::Absent.state());
            }
        }
        all
    }

    /// Where the key's line is; a new one begins absent.
    fn place(&mut self, key: &Key, row: usize, known: &mut HashMap<Key, usize>) -> usize {
        *known.entry(key.clone()).or_insert_with(|| {
            self.keys.push(key.clone());
            self.series.push(Line { states: vec![Sample::Absent.state(); row], numbers: Vec::new() });
            self.series.len() - 1
        })
    }
}

impl Line {
    /// The samples, one a row.
    pub(crate) fn samples(&self) -> Option<Vec<Sample>> {
        let mut numbers = self.numbers.iter().copied();
        self.states.iter().map(|state| Sample::of(*state, || numbers.next())).collect()
    }
}
