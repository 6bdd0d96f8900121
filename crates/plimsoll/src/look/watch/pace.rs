//! How often.

/// The part of its time that a server may spend on being looked at.
pub(super) const DUTY: f64 = 0.01;
/// Most seconds between two looks at a server that gives no answer: nothing is known of what asking costs it, and one that
/// is back is to be seen.
const SILENT_S: f64 = 60.0;

/// What gives no answer so soon refuses it.
const REFUSED_S: f64 = 0.5;

/// How often what is watched is looked at, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    /// Between looks at a server, where it can bear that.
    pub(crate) every: f64,
    /// Between searches of a host.
    pub(crate) search: f64,
    /// Between looks at what hardly changes: flags, versions, what a log says where pages say more.
    pub(crate) whole: f64,
    /// For so long a server stays watched whose process is gone, or which its router names no more.
    pub(crate) forget: f64,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { every: 5.0, search: 15.0, whole: 60.0, forget: 3600.0 }
    }
}

impl Pace {
    /// Seconds from the beginning of a look on which a server spent so many to that of the next.
    pub(super) fn pause(&self, spent_s: f64) -> f64 {
        self.every.max(spent_s / DUTY)
    }

    /// The same after a look that brought no answer, the `failed`th in a row.
    pub(super) fn pause_silent(&self, spent_s: f64, failed: u32) -> f64 {
        let doubled = self.every * f64::from(1_u32 << failed.min(16).saturating_sub(1));
        // A refusal costs nobody anything; waiting until the end of our patience may.
        let bearable = if spent_s < REFUSED_S { self.every } else { doubled };
        bearable.min(SILENT_S.max(self.every))
    }

    /// The same after a look that brought some answers, and waited so many seconds for others in vain.
    pub(super) fn pause_waited(&self, waited_s: f64) -> f64 {
        if waited_s < REFUSED_S { self.every } else { self.every.max(SILENT_S) }
    }
}
