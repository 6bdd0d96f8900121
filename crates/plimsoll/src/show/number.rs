//! Numbers for people: 2.58 M tokens, 28.3 %, 0.05 s. A value that is not there is a dash.

use model::Reading;
use model::number::amount;
pub(crate) use model::number::precision;

use super::paint::state_word;

/// What stands for a value that nothing tells.
pub(crate) const NOTHING: &str = "–";

/// Seconds: 0.05 s, 12 s, 3 min.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2} s"),
        value if value < 120.0 => format!("{value:.0} s"),
        value if value < 7200.0 => format!("{:.0} min", value / 60.0),
        value => format!("{:.1} h", value / 3600.0),
    }
}

/// A reading in its unit, without the unit's name, with its state where that is not plain.
pub(crate) fn reading(reading: Option<&Reading>) -> String {
    let Some(reading) = reading else { return NOTHING.to_owned() };
    let Some(value) = reading.value else { return NOTHING.to_owned() };
    format!("{}{}", amount(value, reading.unit), state_word(reading.state))
}

/// `1 gap`, `2 gaps`.
pub(crate) fn several(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
