//! Pure judgement: verdicts now, detectors and forecasts later.

mod verdict;

pub use verdict::{order, verdict};
