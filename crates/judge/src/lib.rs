//! Pure judgement: verdicts, and signs of known troubles; forecasts later.

mod detect;
mod verdict;

pub use detect::{Row, SIGNS, signs};
pub use verdict::{EITHER, ONE_LOOK, ONE_LOOK_AND_LOG, order, verdict};
