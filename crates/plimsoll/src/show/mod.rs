//! Text for people: the status screen, doctor's report, explanations. JSON is made by the commands themselves.

mod bar;
mod doctor;
mod explain;
mod fleet;
mod headline;
mod hosts;
mod number;
mod paint;
mod pool;
mod status;
mod wrap;

pub(crate) use doctor::doctor;
pub(crate) use explain::{explain, explain_within};
pub(crate) use headline::plain as headline;
pub(crate) use number::several;
pub(crate) use status::{status, status_within};
pub(crate) use wrap::{columns, hang};
