//! As of when something is joined, and how old may be what counts as fresh.

use model::Time;

use crate::FRESH_S;

/// A time, and the age up to which what was said before it is fresh.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The time.
    pub now: Time,
    /// Seconds.
    pub fresh_s: f64,
}

impl From<Time> for Moment {
    /// That of a single look.
    fn from(now: Time) -> Moment {
        Moment { now, fresh_s: FRESH_S }
    }
}

impl Moment {
    /// That of a watch which looks every `every_s` seconds: it may miss one look and be late with the next.
    pub fn of_watch(now: Time, every_s: f64) -> Moment {
        Moment { now, fresh_s: FRESH_S.max(3.0 * every_s) }
    }
}
