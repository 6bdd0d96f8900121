//! Numbers as people read them: 65,536 and 2.58 M, 28.3 %.

use crate::{Reading, Unit};

/// A count: 65,536, 2.58 M, 12.4 G.
pub fn count(value: f64) -> String {
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

/// An amount in its unit, without the unit's name where that is a word: 65,536, 28.3 %, 44.0 MiB.
pub fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ratio => percent(value),
        Unit::Bytes => bytes(value),
        _ => count(value),
    }
}

/// `text`, an amount of `unit`, with the unit's name where [`amount`] leaves it out.
pub fn with_unit(text: &str, unit: Unit) -> String {
    match unit {
        Unit::Ratio | Unit::Bytes => text.to_owned(),
        _ => format!("{text} {}", unit.name().replace('_', " ")),
    }
}

/// Bytes: 512 B, 44.0 MiB, 40.1 GiB.
fn bytes(value: f64) -> String {
    let scales =
        [(1024.0_f64.powi(4), "TiB"), (1024.0_f64.powi(3), "GiB"), (1024.0_f64.powi(2), "MiB"), (1024.0, "KiB")];
    match scales.into_iter().find(|(scale, _)| value >= *scale) {
        Some((scale, name)) => format!("{:.1} {name}", value / scale),
        None => format!("{value:.0} B"),
    }
}

/// A share as a percentage: 28.3 %; shares that would round to nothing or to all keep a sign that they are not.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    match value {
        value if (f64::MIN_POSITIVE..0.05).contains(&value) => "<0.1 %".to_owned(),
        value if (99.95..100.0).contains(&value) => ">99.9 %".to_owned(),
        value => format!("{value:.1} %"),
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

/// ± what a value may be off, where that is more than nothing.
pub fn precision(reading: &Reading) -> String {
    match reading.precision {
        Some(off) if off > 0.0 && reading.unit == Unit::Ratio && off >= 0.0005 => format!(" ±{}", percent(off)),
        Some(off) if off >= 0.5 && reading.unit != Unit::Ratio => format!(" ±{}", amount(off, reading.unit)),
        _ => String::new(),
    }
}
