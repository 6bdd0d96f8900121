//! Pure judgement: verdicts, and signs of known troubles; forecasts later.

mod course;
mod detect;
mod limits;
mod pace;
mod verdict;
mod watched;

pub use detect::{Row, SIGNS, is_compared, signs};
pub use limits::full;
pub use pace::Paces;
pub use verdict::{EITHER, ONE_LOOK, ONE_LOOK_AND_LOG, WATCHED, order, verdict, verdict_over};
