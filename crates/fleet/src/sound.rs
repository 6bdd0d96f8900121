//! Whether the numbers of one set can be true together.

use model::{Readings, Signal};

/// Pages and rounding may make the parts exceed the whole by this share.
const SLACK: f64 = 0.001;

/// Why the numbers cannot be true together, or `None` when they can.
pub(crate) fn fault(readings: &Readings) -> Option<String> {
    let value = |signal| readings.get(&signal).and_then(|reading| reading.value);
    let capacity = value(Signal::KV_CAPACITY)?;
    if capacity == 0.0 {
        return Some("a capacity of 0: nothing was published yet".to_owned());
    }
    let most = capacity * (1.0 + SLACK) + 1.0;
    let parts: [(&str, Option<f64>); 3] = [
        ("used", value(Signal::KV_USED)),
        ("evictable", value(Signal::KV_EVICTABLE)),
        ("available", value(Signal::KV_AVAILABLE)),
    ];
    let known: Vec<String> =
        parts.iter().filter_map(|(name, value)| value.map(|value| format!("{name} {value}"))).collect();
    let sum: f64 = parts.iter().filter_map(|(_, value)| *value).sum();
    if sum > most {
        return Some(format!("{} come to {sum}, above the capacity of {capacity}", known.join(" + ")));
    }
    // A source that gives both tokens and a ratio may mean different pools by them (hybrid models): then the tokens
    // belong to no pool that could be named.
    let (used, ratio) = (readings.get(&Signal::KV_USED)?, readings.get(&Signal::KV_IN_USE)?);
    let (used_value, ratio_value) = (used.value?, ratio.value?);
    let off = (used_value / capacity - ratio_value).abs();
    let allowed = ratio.precision.unwrap_or(0.0) + used.precision.unwrap_or(0.0) / capacity + 0.006;
    (off > allowed)
        .then(|| format!("used {used_value} of {capacity} does not fit its own ratio of {ratio_value}: of which pool?"))
}
