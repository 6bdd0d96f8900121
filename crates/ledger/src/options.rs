//! How much is kept, and how long at which resolution.

use crate::error::Error;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Looks older than `after_ms` are kept as steps of `step_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinning {
    /// Age, in milliseconds.
    pub after_ms: i64,
    /// Length of a step, in milliseconds.
    pub step_ms: i64,
}

/// How a ledger is kept. All times are in milliseconds, all sizes in bytes.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bound of all files together; the oldest segments are dropped before it is passed. At least 1 MiB.
    pub bytes: u64,
    /// Bound of the log within that, and about that of the memory for looks that are in no chunk yet. At most a quarter of `bytes`.
    pub log_bytes: u64,
    /// A target's looks become a chunk when there are so many …
    pub chunk_looks: usize,
    /// … or when the first of them is so old.
    pub chunk_ms: i64,
    /// A segment takes chunks for so long. It is thinned and dropped as a whole.
    pub segment_ms: i64,
    /// Steps by age, finest first; each a multiple of the one before. Nothing is thinned where there are none.
    pub thin: Vec<Thinning>,
    /// Whether a network's file system is accepted.
    pub allow_network: bool,
    /// Called before and after each step on the disk, with its name and that of the file in the directory (nothing where it is
    /// the directory; of a renaming the old one before and the new one after). For tests: they stop there, or let it fail.
    pub at: fn(&'static str, &str) -> std::io::Result<()>,
}

impl Default for Options {
    /// 1 GiB; full resolution for a day, minutes for a week, ten minutes for thirty days, then hours.
    fn default() -> Self {
        let thin = [(DAY, MINUTE), (7 * DAY, 10 * MINUTE), (30 * DAY, HOUR)];
        Self {
            bytes: 1 << 30,
            log_bytes: 128 << 20,
            chunk_looks: 1440,
            chunk_ms: 2 * HOUR,
            segment_ms: 4 * HOUR,
            thin: thin.map(|(after_ms, step_ms)| Thinning { after_ms, step_ms }).to_vec(),
            allow_network: false,
            at: |_, _| Ok(()),
        }
    }
}

impl Options {
    /// Says what does not fit together.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let fault = |text: &str| Err(Error::Unfit(text.to_owned()));
        if self.bytes < 1 << 20 || self.log_bytes > self.bytes / 4 || self.log_bytes < 64 << 10 {
            return fault("at least 1 MiB is needed, and a log between 64 KiB and a quarter of the whole");
        }
        if self.chunk_looks == 0 || self.chunk_ms <= 0 || self.segment_ms <= 0 || self.thin.len() > 9 {
            return fault("chunks and segments need a length, and there may be nine kinds of steps");
        }
        let mut before = Thinning { after_ms: 0, step_ms: 1 };
        for thin in &self.thin {
            if thin.step_ms <= before.step_ms || thin.step_ms % before.step_ms != 0 || thin.after_ms <= before.after_ms
            {
                return fault("each kind of steps must be older than the one before, and a multiple of it");
            }
            before = *thin;
        }
        Ok(())
    }

    /// A segment takes no more chunks when it is so long.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.bytes / 16
    }
}
