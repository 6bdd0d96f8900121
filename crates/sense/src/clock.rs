//! The clock of the observed side's readers; elsewhere time is passed in.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use model::Time;

/// Now, by this host's clock; 0 when that is set before 1970.
pub fn now() -> Time {
    Time(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()))
}

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Seconds since some moment of this process, whatever the clock is set to meanwhile: for waiting and measuring.
pub fn steady() -> f64 {
    BEGAN.elapsed().as_secs_f64()
}
