//! Pages as a server under load has them, made up: gauges that wander, counters, and histograms whose buckets are cumulative.
//! 553 series, of which about 400 change from look to look, as on the page that docs/history.md measures.

use ledger::{Key, Sample};

/// Histograms, and how many buckets each has; each has a sum and a count besides.
const HISTOGRAMS: [usize; 15] = [40, 38, 34, 30, 28, 26, 24, 22, 20, 20, 18, 18, 16, 14, 9];
const COUNTERS: usize = 63;
const GAUGES: usize = 103;
/// Of the gauges, so many move; the others stand still as configuration does.
const MOVING: usize = 24;

/// One server's page.
pub(crate) struct Page {
    dice: u64,
    gauges: Vec<f64>,
    counters: Vec<f64>,
    histograms: Vec<(Vec<f64>, f64, f64)>,
}

impl Page {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            gauges: (0..GAUGES).map(|index| index as f64 * 16.0).collect(),
            counters: vec![0.0; COUNTERS],
            histograms: HISTOGRAMS.iter().map(|buckets| (vec![0.0; *buckets], 0.0, 0.0)).collect(),
        }
    }

    pub(crate) fn keys() -> Vec<Key> {
        let mut keys: Vec<Key> = (0..GAUGES).map(|index| Key::new(["dp0", &format!("gauge_{index}")])).collect();
        keys.extend((0..COUNTERS).map(|index| Key::new(["dp0", &format!("counter_{index}_total")])));
        for (index, buckets) in HISTOGRAMS.iter().enumerate() {
            let name = format!("duration_{index}_seconds");
            keys.extend((0..*buckets).map(|le| Key::new(["dp0", &format!("{name}_bucket"), &format!("le={le}")])));
            keys.extend(["sum", "count"].map(|end| Key::new(["dp0", &format!("{name}_{end}")])));
        }
        keys
    }

    /// A number from 0 to 1.
    fn chance(&mut self) -> f64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next look: up to 20 requests came since the one before.
    pub(crate) fn step(&mut self) -> Vec<Sample> {
        for index in 0..MOVING {
            let by = (self.chance() * 65.0).floor() - 32.0;
            // Every third is a ratio of the pool's 8192 tokens.
            let unit = if index % 3 == 0 { 1.0 / 8192.0 } else { 1.0 };
            self.gauges[index] = (self.gauges[index] + by * unit).abs();
        }
        let requests = (self.chance() * 20.0).floor();
        // A third of the counters stands for what does not happen here.
        for index in 0..COUNTERS * 2 / 3 {
            let each = 1.0 + (index % 7) as f64 * 30.0;
            self.counters[index] += (requests * each * (0.5 + self.chance())).floor();
        }
        for at in 0..self.histograms.len() {
            let buckets = self.histograms[at].0.len();
            for _ in 0..requests as usize {
                // Sums of chances are near their middle, as durations are.
                let place = (self.chance() + self.chance() + self.chance()) / 3.0;
                let histogram = &mut self.histograms[at];
                let first = (place * buckets as f64) as usize;
                histogram.0[first.min(buckets - 1)..].iter_mut().for_each(|count| *count += 1.0);
                histogram.1 += place;
                histogram.2 += 1.0;
            }
        }
        let mut all = self.gauges.clone();
        all.extend(&self.counters);
        for (buckets, sum, count) in &self.histograms {
            all.extend(buckets);
            all.extend([sum, count]);
        }
        all.into_iter().map(Sample::Value).collect()
    }
}
