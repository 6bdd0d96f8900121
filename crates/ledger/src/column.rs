//! Columns of numbers, each in the cheapest of a few ways.
//!
//! The largest saving is between neighbours: two buckets of a histogram grow together, so the second is kept as how differently
//! it grew from the first. On the pages of 553 series that docs/history.md measures, that makes whole numbers five times smaller.

use pco::standalone::{simple_compress, simple_decompress_into};
use pco::{ChunkConfig, DeltaSpec, ModeSpec};

use crate::bytes::{Take, put_varint, unzig, whole, zig};

/// One whole number all along: the number as a zigzag varint.
const SAME_WHOLE: u8 = 0;
/// One number all along: its eight bytes.
const SAME: u8 = 1;
/// Whole numbers that seldom change: the first, then pairs (steps without change, change).
const SELDOM: u8 = 2;
/// Whole numbers by their differences.
const WHOLE: u8 = 3;
/// Differences of whole numbers less those of the column of whole numbers before.
const BESIDE: u8 = 4;
/// Any numbers.
const ANY: u8 = 5;
/// Eight bytes each.
const PLAIN: u8 = 6;

/// So many columns may stand on each other; reading one decodes those below it.
const MOST_DEPTH: u8 = 32;
/// So many rows a chunk may have.
pub(crate) const MOST_NUMBERS: usize = 1 << 22;

/// Writes columns one after another.
#[derive(Default)]
pub(crate) struct Writer {
    /// For each column: how many numbers, which way, how many bytes.
    pub(crate) table: Vec<u8>,
    pub(crate) data: Vec<u8>,
    /// The last column of whole numbers that change: its differences, and on how many others it stands.
    before: Option<(Vec<i64>, u8)>,
}

impl Writer {
    /// Appends a column.
    pub(crate) fn push(&mut self, numbers: &[f64]) {
        let wholes: Option<Vec<i64>> = numbers.iter().map(|number| whole(*number)).collect();
        if let Some(wholes) = wholes {
            return self.push_wholes(&wholes);
        }
        let plain = || numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let (way, bytes) = if numbers.iter().all(|number| number.to_bits() == numbers[0].to_bits()) {
            (SAME, numbers[0].to_le_bytes().to_vec())
        } else {
            match simple_compress(numbers, &ChunkConfig::default()) {
                Ok(bytes) if bytes.len() < numbers.len() * 8 => (ANY, bytes),
                _ => (PLAIN, plain()),
            }
        };
        self.put(numbers.len(), way, &bytes);
    }

    /// Appends a column of whole numbers, which may be any.
    pub(crate) fn push_wholes(&mut self, numbers: &[i64]) {
        let (way, bytes) = if numbers.iter().all(|number| *number == numbers[0]) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, numbers.first().map_or(0, |number| zig(*number)));
            (SAME_WHOLE, bytes)
        } else {
            self.cheapest(numbers)
        };
        self.put(numbers.len(), way, &bytes);
    }

    fn put(&mut self, numbers: usize, way: u8, bytes: &[u8]) {
        put_varint(&mut self.table, numbers as u64);
        self.table.push(way);
        put_varint(&mut self.table, bytes.len() as u64);
        self.data.extend_from_slice(bytes);
    }

    fn cheapest(&mut self, wholes: &[i64]) -> (u8, Vec<u8>) {
        let changes = differences(wholes);
        let mut best = (SELDOM, seldom(&changes));
        let mut depth = 0;
        let mut offer = |way, bytes: Option<Vec<u8>>, deep| {
            if let Some(bytes) = bytes.filter(|bytes| bytes.len() < best.1.len()) {
                best = (way, bytes);
                depth = deep;
            }
        };
        offer(WHOLE, compressed(wholes, DeltaSpec::TryConsecutive(1)), 0);
        if let Some((before, below)) = self.before.as_ref().filter(|(before, _)| before.len() == changes.len())
            && *below < MOST_DEPTH
        {
            let rest: Vec<i64> = changes.iter().zip(before).map(|(now, then)| now.wrapping_sub(*then)).collect();
            offer(BESIDE, compressed(&rest, DeltaSpec::NoOp), below + 1);
        }
        self.before = Some((changes, depth));
        best
    }
}

/// The first number, then what is added each time.
fn differences(wholes: &[i64]) -> Vec<i64> {
    std::iter::once(0).chain(wholes.iter().copied()).zip(wholes).map(|(then, now)| now.wrapping_sub(then)).collect()
}

fn seldom(changes: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut quiet = 0;
    for (index, change) in changes.iter().enumerate() {
        if *change == 0 && index > 0 {
            quiet += 1;
            continue;
        }
        put_varint(&mut bytes, quiet);
        put_varint(&mut bytes, zig(*change));
        quiet = 0;
    }
    bytes
}

fn compressed(numbers: &[i64], delta: DeltaSpec) -> Option<Vec<u8>> {
    let config = ChunkConfig::default().with_mode_spec(ModeSpec::Classic).with_delta_spec(delta);
    simple_compress(numbers, &config).ok()
}

/// Reads columns in any order.
pub(crate) struct Reader<'a> {
    columns: Vec<Column<'a>>,
}

struct Column<'a> {
    numbers: usize,
    way: u8,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Takes `count` columns from `table`, of which none has more than `rows` numbers; their bytes stand one after another in
    /// `data`, which ends with the last.
    pub(crate) fn new(table: &mut Take, count: usize, rows: usize, data: &'a [u8]) -> Option<Self> {
        let mut data = Take(data);
        let mut columns = Vec::new();
        for _ in 0..count {
            let (numbers, way) = (table.count(rows)?, table.byte()?);
            let length = table.count(data.0.len())?;
            columns.push(Column { numbers, way, bytes: data.slice(length)? });
        }
        data.is_empty().then_some(Self { columns })
    }

    /// The column at `index`; `None` where its bytes are none.
    pub(crate) fn read(&self, index: usize) -> Option<Vec<f64>> {
        let column = self.columns.get(index)?;
        match column.way {
            SAME => Some(vec![Take(column.bytes).f64()?; column.numbers]),
            ANY => {
                let mut numbers = vec![0.0; column.numbers];
                decompress(column.bytes, &mut numbers)?;
                Some(numbers)
            }
            PLAIN => {
                let mut bytes = Take(column.bytes);
                let numbers: Option<Vec<f64>> = (0..column.bytes.len() / 8).map(|_| bytes.f64()).collect();
                numbers.filter(|numbers| numbers.len() == column.numbers)
            }
            _ => Some(self.wholes(index)?.into_iter().map(|number| number as f64).collect()),
        }
    }

    /// The column at `index` as whole numbers; `None` where it has others.
    pub(crate) fn wholes(&self, index: usize) -> Option<Vec<i64>> {
        let column = self.columns.get(index)?;
        if column.way == SAME_WHOLE {
            return Some(vec![unzig(Take(column.bytes).varint()?); column.numbers]);
        }
        let mut numbers = self.changes(index)?;
        let mut sum = 0i64;
        for number in &mut numbers {
            sum = sum.wrapping_add(*number);
            *number = sum;
        }
        Some(numbers)
    }

    /// The differences of a column of whole numbers that change.
    fn changes(&self, index: usize) -> Option<Vec<i64>> {
        // Down to the first column that stands by itself, then up again.
        let mut stack = vec![index];
        let mut at = index;
        while self.columns[at].way == BESIDE {
            at = (0..at).rev().find(|below| matches!(self.columns[*below].way, SELDOM | WHOLE | BESIDE))?;
            stack.push(at);
            if stack.len() > usize::from(MOST_DEPTH) + 1 {
                return None;
            }
        }
        let mut changes = Vec::new();
        while let Some(at) = stack.pop() {
            let column = &self.columns[at];
            changes = match column.way {
                SELDOM => often(column.bytes, column.numbers)?,
                WHOLE => {
                    let mut wholes = vec![0; column.numbers];
                    decompress(column.bytes, &mut wholes)?;
                    differences(&wholes)
                }
                BESIDE => {
                    let mut rest = vec![0i64; column.numbers];
                    decompress(column.bytes, &mut rest)?;
                    if rest.len() != changes.len() {
                        return None;
                    }
                    rest.iter().zip(&changes).map(|(now, then)| now.wrapping_add(*then)).collect()
                }
                _ => return None,
            };
        }
        Some(changes)
    }
}

fn often(bytes: &[u8], numbers: usize) -> Option<Vec<i64>> {
    let mut bytes = Take(bytes);
    let mut changes = Vec::with_capacity(numbers);
    while !bytes.is_empty() {
        let quiet = bytes.count(numbers.saturating_sub(changes.len() + 1))?;
        changes.resize(changes.len() + quiet, 0);
        changes.push(bytes.zigzag()?);
    }
    changes.resize(numbers, 0);
    Some(changes)
}

/// Fills `numbers` wholly.
fn decompress<T: pco::data_types::Number>(bytes: &[u8], numbers: &mut [T]) -> Option<()> {
    let progress = simple_decompress_into(bytes, numbers).ok()?;
    (progress.n_processed == numbers.len() && progress.finished).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the columns, reads each, and gives the bytes of all.
    fn check(columns: &[Vec<f64>]) -> usize {
        let mut writer = Writer::default();
        for column in columns {
            writer.push(column);
        }
        let mut table = Take(&writer.table);
        let reader = Reader::new(&mut table, columns.len(), 1000, &writer.data).expect("columns");
        for (index, column) in columns.iter().enumerate() {
            let read = reader.read(index).expect("a column");
            let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&read), bits(column), "column {index}");
        }
        writer.data.len()
    }

    #[test]
    fn every_way_gives_back_what_it_took() {
        let counter: Vec<f64> = (0..500).map(|step| f64::from(step / 7 * 3 + step % 2)).collect();
        let twin: Vec<f64> = counter.iter().map(|number| number + 1e6).collect();
        let seldom: Vec<f64> = (0..500).map(|step| if step < 400 { 5.0 } else { -6.0 }).collect();
        let ratios: Vec<f64> = (0..500).map(|step| f64::from(step * 37 % 101) / 8192.0).collect();
        let odd = vec![f64::NAN, -0.0, f64::INFINITY, f64::from_bits(0x7FF8_0000_0000_1234), 1e-310];
        let far = vec![9_007_199_254_740_991.0, -9_007_199_254_740_991.0, 0.0];
        check(&[counter, twin, vec![], seldom, vec![0.0; 500], vec![0.1; 500], ratios, odd, vec![-0.0], far]);
    }

    #[test]
    fn a_column_that_moves_with_the_one_before_costs_next_to_nothing() {
        // Steps that no rule gives, so that the first column has to be kept; the second takes the same ones.
        let mut dice = 1u32;
        let mut sum = 0.0;
        let steps = std::iter::repeat_with(|| {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            sum += f64::from(dice >> 24);
            sum
        });
        let first: Vec<f64> = steps.take(1000).collect();
        let second: Vec<f64> = first.iter().map(|number| number + 77.0).collect();
        let alone = check(std::slice::from_ref(&first));
        // Eight bits a step cannot be had for less than a byte each.
        assert!(alone >= 1000, "{alone}");
        assert!(check(&[first, second]) < alone + 100);
    }

    #[test]
    fn a_column_of_more_numbers_than_rows_is_none() {
        let mut writer = Writer::default();
        writer.push(&[7.0; 500]);
        // A few bytes that say how many there are.
        let read = |rows| Reader::new(&mut Take(&writer.table), 1, rows, &writer.data).is_some();
        assert!(read(500) && !read(499));
    }

    #[test]
    fn long_chains_end() {
        let columns: Vec<Vec<f64>> = (0..100)
            .map(|column| (0..64).map(|step| f64::from(step * step + step % 5 * 13 + column * 1000)).collect())
            .collect();
        check(&columns);
    }
}
