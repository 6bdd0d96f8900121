//! Whether the numbers of one set can be true together.

use model::{Reading, Readings, Signal};

/// Pages and rounding may make the parts exceed the whole by this share.
const SLACK: f64 = 0.001;
/// A ratio that was taken a step before or after its tokens, or rounded once more, is off by less than this.
const ROUNDING: f64 = 0.006;

/// Why the numbers of one set cannot be shown together, or `None` when they can. `capacity` stands in for one that the
/// set does not say.
pub(crate) fn fault(readings: &Readings, capacity: Option<&Reading>) -> Option<String> {
    if let (Some(capacity), false) = (capacity, readings.contains_key(&Signal::KV_CAPACITY)) {
        let mut whole = readings.clone();
        whole.insert(Signal::KV_CAPACITY, capacity.clone());
        return fault(&whole, None);
    }
    above_the_whole(readings).or_else(|| of_several_pools(readings))
}

/// Parts that come to more than the whole, or to nothing at all: they are not parts of it.
pub(crate) fn above_the_whole(readings: &Readings) -> Option<String> {
    let value = |signal| readings.get(&signal).and_then(|reading| reading.value);
    let capacity = value(Signal::KV_CAPACITY)?;
    if capacity == 0.0 {
        return Some("a capacity of 0: nothing was published yet".to_owned());
    }
    let most = capacity * (1.0 + SLACK) + 1.0;
    let parts = [("used", Signal::KV_USED), ("evictable", Signal::KV_EVICTABLE), ("available", Signal::KV_AVAILABLE)];
    let known: Vec<(&str, f64)> = parts.iter().filter_map(|(name, signal)| Some((*name, value(*signal)?))).collect();
    let sum: f64 = known.iter().map(|(_, value)| value).sum();
    if known.len() == parts.len() && sum == 0.0 {
        return Some(format!("nothing of {capacity} is used, cached or free: this pool is not there"));
    }
    let words: Vec<String> = known.iter().map(|(name, value)| format!("{name} {value}")).collect();
    (sum > most).then(|| format!("{} come to {sum}, above the capacity of {capacity}", words.join(" + ")))
}

/// Whether a capacity of 0 is said, and that nothing of it is taken.
pub(crate) fn is_nothing_of_nothing(readings: &Readings) -> bool {
    readings.contains_key(&Signal::KV_CAPACITY) && readings.values().all(|reading| reading.value == Some(0.0))
}

/// Tokens and a ratio that do not fit: a source may mean different pools by them (hybrid models), and then the tokens
/// belong to no pool that could be named. Nobody counted wrong.
pub(crate) fn of_several_pools(readings: &Readings) -> Option<String> {
    let capacity = readings.get(&Signal::KV_CAPACITY)?.value?;
    let (used, ratio) = (readings.get(&Signal::KV_USED)?, readings.get(&Signal::KV_IN_USE)?);
    let (used_value, ratio_value) = (used.value?, ratio.value?);
    let off = (used_value / capacity - ratio_value).abs();
    let allowed = ratio.precision.unwrap_or(0.0) + used.precision.unwrap_or(0.0) / capacity + ROUNDING;
    (off > allowed)
        .then(|| format!("used {used_value} of {capacity} does not fit its own ratio of {ratio_value}: of which pool?"))
}
