//! The clock of the observed side's readers; elsewhere time is passed in.

use std::time::{SystemTime, UNIX_EPOCH};

use model::Time;
use rustix::time::{ClockId, clock_gettime};

/// Now, by this host's clock; 0 when that is set before 1970.
pub fn now() -> Time {
    Time(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()))
}

/// Seconds since this host was started, whatever the clock is set to meanwhile, and also while it was suspended: for waiting
/// and measuring.
pub fn steady() -> f64 {
    let since = clock_gettime(ClockId::Boottime);
    since.tv_sec as f64 + since.tv_nsec as f64 / 1e9
}
