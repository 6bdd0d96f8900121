//! One signal of one place over the window.

use model::number::amount;
use model::{Reading, Signal, Time, Unit};

/// Values shown of a series.
const SHOWN: usize = 6;

/// Fresh readings of one signal from one source, oldest first; the newest look has one.
pub(super) struct Series<'a> {
    signal: Signal,
    points: Vec<(Time, &'a Reading, f64)>,
}

impl<'a> Series<'a> {
    /// The readings of a place, look by look. Those of another source than the newest are left out (two sources may count
    /// differently), and so is one that is only the earlier one again.
    pub(super) fn of(
        signal: Signal,
        readings: impl DoubleEndedIterator<Item = (Time, Option<&'a Reading>)>,
    ) -> Option<Series<'a>> {
        let mut readings = readings.rev();
        let (at, newest) = readings.next()?;
        let point = |at: Time, reading: &'a Reading| Some((reading.at.unwrap_or(at), reading, reading.fresh()?));
        let mut points = vec![point(at, newest?)?];
        for (at, reading) in readings {
            let Some(next) = reading.and_then(|reading| point(at, reading)) else { continue };
            let last = points[points.len() - 1];
            if next.1.source == last.1.source && next.0 < last.0 {
                points.push(next);
            }
        }
        points.reverse();
        Some(Series { signal, points })
    }

    /// The newest reading.
    pub(super) fn reading(&self) -> &'a Reading {
        self.points[self.points.len() - 1].1
    }

    /// The newest value.
    pub(super) fn last(&self) -> f64 {
        self.points[self.points.len() - 1].2
    }

    /// The oldest value.
    pub(super) fn first(&self) -> f64 {
        self.points[0].2
    }

    /// All values, oldest first.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.points.iter().map(|(_, _, value)| *value)
    }

    /// The value at the newest look that is not later than `time`.
    pub(super) fn at(&self, time: Time) -> Option<f64> {
        self.points.iter().rev().find(|(at, ..)| *at <= time).map(|(_, _, value)| *value)
    }

    /// When each value was taken.
    pub(super) fn times(&self) -> impl Iterator<Item = Time> {
        self.points.iter().map(|(at, ..)| *at)
    }

    /// Seconds from the first to the last.
    pub(super) fn span(&self) -> f64 {
        self.points[self.points.len() - 1].0.since(self.points[0].0)
    }

    /// How much more the last is than the first; none of a single value.
    pub(super) fn rise(&self) -> Option<f64> {
        (self.points.len() > 1).then(|| self.last() - self.first())
    }

    /// Whether it was looked at so often, and for so long.
    pub(super) fn watched(&self, looks: f64, seconds: f64) -> bool {
        self.points.len() as f64 >= looks && self.span() >= seconds
    }

    /// The lowest value.
    pub(super) fn least(&self) -> f64 {
        self.values().fold(f64::INFINITY, f64::min)
    }

    /// The highest value.
    pub(super) fn most(&self) -> f64 {
        self.values().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether no value is below the one before it.
    pub(super) fn never_falls(&self) -> bool {
        self.values().zip(self.values().skip(1)).all(|(before, after)| after >= before)
    }

    /// The values with their source, for people: `waiting 3, 4, 4 over 36 s (http://… num_queue_reqs)`.
    pub(super) fn told(&self) -> String {
        let show = |value: f64| shown(value, self.reading().unit);
        let title = self.signal.row().title;
        let values: Vec<String> = self.values().map(show).collect();
        let steady = values.iter().all(|value| *value == values[0]);
        let text = match values.len() {
            1 => format!("{title} {}", values[0]),
            many if steady => format!("{title} {} in all of {many} looks over {}", values[0], seconds(self.span())),
            many if many <= SHOWN => format!("{title} {} over {}", values.join(", "), seconds(self.span())),
            many => {
                format!("{title} {} … {} in {many} looks over {}", values[0], values[many - 1], seconds(self.span()))
            }
        };
        text + &source(self.reading())
    }
}

/// A value in its unit, for people.
pub(super) fn shown(value: f64, unit: Unit) -> String {
    amount(value, unit)
}

/// One fresh reading with its source, for people.
pub(super) fn told(signal: Signal, reading: &Reading) -> Option<String> {
    Some(format!("{} {}{}", signal.row().title, shown(reading.fresh()?, reading.unit), source(reading)))
}

/// ` (who said it)`.
pub(super) fn source(reading: &Reading) -> String {
    match &reading.source {
        Some(source) => format!(" ({source})"),
        None if reading.inputs.is_empty() => String::new(),
        None => format!(" (from {})", reading.inputs.join(", ")),
    }
}

/// Seconds, for people.
pub(super) fn seconds(seconds: f64) -> String {
    format!("{seconds:.0} s")
}
