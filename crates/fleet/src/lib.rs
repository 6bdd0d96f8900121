//! Joins what servers said to the current snapshot: one coherent set for each pool, staleness, ranks, totals. Pure; time
//! is passed in.

mod again;
mod choose;
mod complete;
mod crosscheck;
mod hearsay;
mod moment;
mod ranks;
mod replicas;
mod server;
mod sound;
mod totals;

pub use again::Again;
pub use choose::{Choice, Contender};
pub use hearsay::{may_stand, told_alone};
pub use moment::Moment;
pub use replicas::{Replica, drift};
pub use server::{Joined, Subject, join};
pub use totals::totals;

/// How old a value may be and still count as fresh, for a single look (a watch takes three of its own intervals).
pub const FRESH_S: f64 = 15.0;
