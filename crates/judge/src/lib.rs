//! Pure judgement: verdicts now, detectors and forecasts later.

mod verdict;

pub use verdict::{ONE_LOOK, order, verdict};
