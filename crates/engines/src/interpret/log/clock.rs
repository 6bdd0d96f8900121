//! When a line was written, as far as its log tells.

use jiff::tz::TimeZone;
use model::{Log, LogClock, Time};
use wire::log::Stamp;

use super::seen::Dated;

/// Seconds by which a line may be ahead of the one that reads it before its time is disbelieved, …
const AHEAD_S: f64 = 5.0;
/// … where its zone is not known: the clocks furthest ahead of UTC, and a little.
const AHEAD_ANYWHERE_S: f64 = 15.0 * 3600.0;
/// Lines further down that are older than ones above by more than this tell of a clock that was set back.
pub(super) const STEP_S: f64 = 60.0;
const DAY_S: f64 = 86_400.0;
/// Years back in which a date without a year is looked for: a leap day comes every four, once in a while every eight.
const YEARS: i64 = 9;

/// Reads stamps of one log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    offset: Option<f64>,
    /// It is being written: its times are held against the present.
    live: bool,
    at: Time,
    written: Option<Time>,
    /// When its program started, for times since then.
    started: Option<Time>,
}

impl Clock {
    /// The clock of a log whose last lines have these times, the last one first.
    pub(super) fn of(log: &Log, end: &[Stamp]) -> Clock {
        let offset = match log.clock {
            LogClock::Offset(seconds) => Some(seconds),
            LogClock::Unknown => None,
        };
        let newest = end.iter().find_map(|stamp| match stamp {
            Stamp::Since(seconds) => Some(*seconds),
            _ => None,
        });
        // The last line was written when the log last changed; where nothing tells that, it stands for the time of the look,
        // and only how far apart lines are is known.
        let started = || Some(log.written.unwrap_or(log.at).plus(-newest?));
        let (live, started) = (log.since.is_some() || log.written.is_some(), log.since.or_else(started));
        Clock { offset, live, at: log.at, written: log.written, started }
    }

    /// Whether it is known from when this stamp counts.
    pub(super) fn reads(&self, stamp: Stamp) -> bool {
        self.started.is_some() || !matches!(stamp, Stamp::Since(_))
    }

    /// What a line with this stamp says of when it was written.
    pub(super) fn dates(&self, stamp: Stamp) -> Dated {
        if self.live || !matches!(stamp, Stamp::Since(_)) { Dated::Said } else { Dated::Apart }
    }

    /// The time that a stamp tells; `None` when it lies ahead of the look.
    pub(super) fn time(&self, stamp: Stamp) -> Option<Time> {
        let ahead = if self.offset.is_some() { AHEAD_S } else { AHEAD_ANYWHERE_S };
        let newest = self.written.unwrap_or(self.at).plus(AHEAD_S);
        let time = match stamp {
            Stamp::Utc(time) => return (time.since(self.at) <= AHEAD_S).then_some(time),
            Stamp::Since(seconds) => {
                return Some(self.started?.plus(seconds)).filter(|time| time.since(self.at) <= AHEAD_S);
            }
            Stamp::Local(time) => self.utc(time.0),
            // What is left out is such that it lies not ahead, and as little behind as can be.
            Stamp::Day(month, day, seconds) => self.latest_year(newest, month, day, seconds)?,
            Stamp::Clock(seconds) => {
                let midnight = (newest.plus(self.offset.unwrap_or(0.0)).0 / DAY_S).floor() * DAY_S;
                let today = self.utc(midnight + seconds);
                if today > newest { today.plus(-DAY_S) } else { today }
            }
        };
        (time.since(self.at) <= ahead).then_some(time)
    }

    /// Whether a stamp cannot be held against the present: it has no zone, and none is known.
    pub(super) fn is_lost(&self, stamp: Stamp) -> bool {
        self.live && self.offset.is_none() && !matches!(stamp, Stamp::Utc(_) | Stamp::Since(_))
    }

    fn utc(&self, local: f64) -> Time {
        Time(local - self.offset.unwrap_or(0.0))
    }

    fn latest_year(&self, newest: Time, month: u8, day: u8, seconds: f64) -> Option<Time> {
        let year = TimeZone::UTC.to_datetime(jiff::Timestamp::from_second(newest.0 as i64).ok()?).year();
        let slack = if self.offset.is_some() { 0.0 } else { AHEAD_ANYWHERE_S };
        let midnight = |year: i64| {
            let date = jiff::civil::Date::new(year as i16, month.cast_signed(), day.cast_signed()).ok()?;
            let midnight =
                TimeZone::UTC.to_timestamp(date.to_datetime(jiff::civil::Time::midnight())).ok()?.as_second();
            Some(self.utc(midnight as f64 + seconds)).filter(|time| *time <= newest.plus(slack))
        };
        (0..=YEARS).find_map(|back| midnight(i64::from(year) + 1 - back))
    }
}
