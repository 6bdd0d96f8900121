//! Chunks: many looks at one target, column by column. All series of a look share its time, so there is one column of times.
//!
//! A chunk at full resolution has, for each series, its states as runs and the numbers of those that have one. A thinned one
//! has the columns of `steps.rs` in their place. The table (names, states, ways of columns) is deflated, since it is texts and
//! small numbers that repeat.

use std::io::{Read, Write};
use std::sync::Arc;

use crate::bytes::{Take, put_text, put_varint};
use crate::column::{MOST_NUMBERS, Reader, Writer};
use crate::key::{Key, mark, put_keys, take_keys};
use crate::lines::Lines;
use crate::look::Look;
use crate::sample::{STATES, Sample};

/// Longest table that is believed, in bytes, inflated.
const MOST_TABLE: usize = 64 << 20;

/// What a chunk is about: its frame's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) target: Arc<str>,
    /// Milliseconds that each row stands for; 0 where a row is a look.
    pub(crate) step: i64,
    /// Earliest and latest time of a row, milliseconds since 1970; a step's is its beginning.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// First and last number of the looks (or events) in it.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Rows: looks, steps or events.
    pub(crate) rows: u64,
    /// Mark of the list of keys.
    pub(crate) mark: u64,
}

impl About {
    pub(crate) fn put(&self) -> Vec<u8> {
        let mut head = Vec::new();
        put_text(&mut head, &self.target);
        for time in [self.step, self.from, self.to] {
            head.extend_from_slice(&time.to_le_bytes());
        }
        for number in [self.first, self.last, self.rows, self.mark] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        head
    }

    pub(crate) fn take(head: &[u8]) -> Option<Self> {
        let mut head = Take(head);
        let target = head.text()?.into();
        let (step, from, to) = (head.i64()?, head.i64()?, head.i64()?);
        let (first, last, rows, mark) = (head.u64()?, head.u64()?, head.u64()?, head.u64()?);
        let sound = head.is_empty() && step >= 0 && from <= to && first <= last && rows <= MOST_NUMBERS as u64;
        sound.then_some(Self { target, step, from, to, first, last, rows, mark })
    }
}

/// A chunk's body, opened: names and times are read, columns wait.
pub(crate) struct Chunk<'a> {
    pub(crate) times: Vec<i64>,
    pub(crate) keys: Vec<Key>,
    pub(crate) columns: Columns<'a>,
}

/// A chunk's columns.
pub(crate) struct Columns<'a> {
    pub(crate) rows: usize,
    /// Column 0 has the times; then come those of each key.
    pub(crate) numbers: Reader<'a>,
    /// For each key its runs of states; nothing in a thinned chunk.
    states: Vec<Vec<(u8, usize)>>,
}

/// A chunk of these looks at one target: what it is about, and its body. There is at least one look.
pub(crate) fn of_looks(looks: &[Arc<Look>]) -> (About, Vec<u8>) {
    let lines = Lines::of(looks, &|_| true);
    let mut columns = Writer::default();
    columns.push_wholes(&lines.times);
    let mut states = Vec::new();
    for line in &lines.series {
        put_runs(&mut states, &line.states);
        columns.push(&line.numbers);
    }
    let numbers = (looks[0].number, looks[looks.len() - 1].number);
    seal(&looks[0].shape.target, 0, numbers, &lines.times, &lines.keys, &states, columns)
}

/// Puts a chunk together.
pub(crate) fn seal(
    target: &Arc<str>,
    step: i64,
    (first, last): (u64, u64),
    times: &[i64],
    keys: &[Key],
    states: &[u8],
    mut columns: Writer,
) -> (About, Vec<u8>) {
    let mut table = Vec::new();
    put_keys(&mut table, keys);
    let mark = mark(&table);
    table.extend_from_slice(states);
    table.append(&mut columns.table);
    let mut body = Vec::new();
    put_deflated(&mut body, &table);
    body.append(&mut columns.data);
    let (from, to) = times.iter().fold((i64::MAX, i64::MIN), |(from, to), time| (from.min(*time), to.max(*time)));
    (About { target: target.clone(), step, from, to, first, last, rows: times.len() as u64, mark }, body)
}

/// Appends the bytes deflated, with both lengths in front.
pub(crate) fn put_deflated(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory does not fail.
    let small = deflate.write_all(bytes).and_then(|()| deflate.finish()).unwrap_or_default();
    put_varint(out, bytes.len() as u64);
    put_varint(out, small.len() as u64);
    out.extend_from_slice(&small);
}

pub(crate) fn take_deflated(bytes: &mut Take) -> Option<Vec<u8>> {
    let length = bytes.count(MOST_TABLE)?;
    let small = bytes.count(bytes.0.len())?;
    let mut out = Vec::new();
    flate2::read::DeflateDecoder::new(bytes.slice(small)?).take(length as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() == length).then_some(out)
}

/// Appends how many runs there are, and each: the state, how long. One run of values all along is no runs.
fn put_runs(out: &mut Vec<u8>, states: &[u8]) {
    let runs: Vec<(u8, usize)> = states.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    if let [(0, _)] = runs[..] {
        return out.push(0);
    }
    put_varint(out, runs.len() as u64);
    for (state, length) in runs {
        out.push(state);
        put_varint(out, length as u64);
    }
}

fn take_runs(bytes: &mut Take, rows: usize) -> Option<Vec<(u8, usize)>> {
    let count = bytes.count(rows)?;
    if count == 0 {
        return Some(vec![(0, rows)]);
    }
    let mut left = rows;
    let mut runs = Vec::new();
    for _ in 0..count {
        let run = (bytes.byte()?, bytes.count(left)?);
        if usize::from(run.0) >= STATES {
            return None;
        }
        left -= run.1;
        runs.push(run);
    }
    (left == 0).then_some(runs)
}

impl<'a> Chunk<'a> {
    /// Opens a body of a chunk with `each` columns a key; `None` where it is none.
    pub(crate) fn open(about: &About, body: &'a [u8], each: usize) -> Option<Self> {
        let mut body = Take(body);
        let table = take_deflated(&mut body)?;
        let mut table = Take(&table);
        let keys = take_keys(&mut table)?;
        let rows = about.rows as usize;
        let states: Option<Vec<_>> =
            if about.step == 0 { keys.iter().map(|_| take_runs(&mut table, rows)).collect() } else { Some(Vec::new()) };
        let columns = Reader::new(&mut table, 1 + each * keys.len(), rows, body.0)?;
        let times = columns.wholes(0)?;
        let columns = Columns { rows, numbers: columns, states: states? };
        // By its head it is found, and by that the length of steps is chosen.
        let within = times.iter().all(|time| (about.from..=about.to).contains(time));
        (table.is_empty() && times.len() == rows && within).then_some(Self { times, keys, columns })
    }
}

impl Columns<'_> {
    /// The samples of the key at `index`, one for each time; of a chunk at full resolution.
    pub(crate) fn samples(&self, index: usize) -> Option<Vec<Sample>> {
        let mut numbers = self.numbers.read(1 + index)?.into_iter();
        let mut samples = Vec::with_capacity(self.rows);
        for (state, length) in self.states.get(index)? {
            for _ in 0..*length {
                samples.push(Sample::of(*state, || numbers.next())?);
            }
        }
        numbers.next().is_none().then_some(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Shape;
    use crate::look::encode;

    fn look(number: u64, time: i64, shape: &Shape, samples: &[Sample]) -> Arc<Look> {
        let mut bytes = Vec::new();
        encode(&mut bytes, samples);
        Arc::new(Look { number, time, shape: shape.0.clone(), bytes: bytes.into() })
    }

    #[test]
    fn a_chunk_gives_back_looks_of_several_shapes_and_times_that_go_back() {
        let [a, b, c] = ["a", "b", "c"].map(|part| Key::new(["dp0", part]));
        let first = Shape::new(1, "server", vec![a.clone(), b.clone()]).expect("a shape");
        let second = Shape::new(2, "server", vec![c.clone(), a.clone()]).expect("a shape");
        let looks = [
            look(7, 1000, &first, &[Sample::Value(1.0), Sample::NotReported]),
            look(8, 6000, &second, &[Sample::Stale(0.5), Sample::Unreachable]),
            look(12, i64::MIN, &first, &[Sample::Impossible(-1.0), Sample::Value(f64::NAN)]),
        ];
        let (about, body) = of_looks(&looks);
        assert_eq!(About::take(&about.put()), Some(about.clone()));
        assert_eq!((about.from, about.to, about.first, about.last, about.rows), (i64::MIN, 6000, 7, 12, 3));
        let chunk = Chunk::open(&about, &body, 1).expect("a chunk");
        assert_eq!(chunk.times, [1000, 6000, i64::MIN]);
        assert_eq!(chunk.keys, [a, b, c]);
        let samples: Vec<_> = (0..3).map(|index| chunk.columns.samples(index).expect("samples")).collect();
        assert_eq!(samples[0], [Sample::Value(1.0), Sample::Unreachable, Sample::Impossible(-1.0)]);
        assert_eq!(samples[1], [Sample::NotReported, Sample::Absent, Sample::Value(f64::NAN)]);
        assert_eq!(samples[2], [Sample::Absent, Sample::Stale(0.5), Sample::Absent]);
    }
}
