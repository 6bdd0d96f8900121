//! Points in time, always passed in: only `sense` and the binary read the clock.

use serde::{Deserialize, Serialize};

/// Seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub f64);

impl Time {
    /// Seconds from `earlier` to `self`; negative when `earlier` lies in the future (clocks differ).
    pub fn since(self, earlier: Time) -> f64 {
        self.0 - earlier.0
    }

    /// `self` moved by `seconds`.
    #[must_use]
    pub fn plus(self, seconds: f64) -> Time {
        Time(self.0 + seconds)
    }
}
