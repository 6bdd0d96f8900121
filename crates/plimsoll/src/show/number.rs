//! Numbers for people: 2.58 M tokens, 28.3 %, 0.05 s. A value that is not there is a dash.

use model::{Reading, Unit};

use super::paint::state_word;

/// What stands for a value that nothing tells.
pub(crate) const NOTHING: &str = "–";

/// A count: 65,536, 2.58 M, 12.4 G.
pub(crate) fn count(value: f64) -> String {
    if value >= 1.0e9 {
        format!("{:.2} G", value / 1.0e9)
    } else if value >= 1.0e6 {
        format!("{:.2} M", value / 1.0e6)
    } else if value.fract() == 0.0 || value >= 1000.0 {
        grouped(value.round() as u64)
    } else {
        format!("{value:.1}")
    }
}

/// A share as a percentage: 28.3 %; shares that would round to nothing or to all keep a sign that they are not.
pub(crate) fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    match value {
        value if value > 0.0 && value < 0.05 => "<0.1 %".to_owned(),
        value if value < 100.0 && value >= 99.95 => ">99.9 %".to_owned(),
        value => format!("{value:.1} %"),
    }
}

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
    let text = if reading.unit == Unit::Ratio { percent(value) } else { count(value) };
    format!("{text}{}", state_word(reading.state))
}

/// ± what a value may be off, where that is more than nothing.
pub(crate) fn precision(reading: &Reading) -> String {
    match reading.precision {
        Some(off) if off > 0.0 && reading.unit == Unit::Ratio && off >= 0.0005 => format!(" ±{}", percent(off)),
        Some(off) if off >= 0.5 && reading.unit != Unit::Ratio => format!(" ±{}", count(off)),
        _ => String::new(),
    }
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
