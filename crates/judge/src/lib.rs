//! Pure judgement: verdicts now, detectors and forecasts later.

mod verdict;

pub use verdict::{ONE_LOOK, ONE_LOOK_AND_LOG, order, verdict};
