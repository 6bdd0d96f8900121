//! From a number on a page to a reading: what cannot be is *impossible*, a dead zero is *not reported*.

use model::{Kind, Reading, Time, Unit};

use crate::table::{Read, condition::Holds};

/// A ratio may exceed one by its own rounding, and by nothing else.
const RATIO_SLACK: f64 = 0.005;
/// No pool or counter holds more; larger numbers are garbage, and would lose digits.
const LARGEST: f64 = 9.0e15;

/// Makes the reading that row `read` gives for `value`.
pub(crate) fn reading<'a>(
    read: &Read,
    value: f64,
    source: String,
    at: Time,
    fact: impl Fn(&str) -> Option<&'a str> + Copy,
) -> Reading {
    let row = read.signal.row();
    let unit = read.unit.unwrap_or(row.unit);
    if let Some(why) = impossible(unit, row.kind, value) {
        return Reading::impossible(unit, format!("said {}: {why}", shown(value)), source, at);
    }
    if let Some(refuse) = read.refuse.iter().find(|refuse| refuse.when.holds(fact) == Holds::Yes) {
        return Reading::not_reported(unit, format!("{}: {}", read.name, refuse.why));
    }
    if value == 0.0 && !read.dead.is_empty() {
        let dead = read.dead.iter().find(|dead| dead.holds(fact) != Holds::No);
        if let Some(dead) = dead {
            let text = String::from(dead.clone());
            return Reading::not_reported(unit, format!("{} is 0 but never moves when {text}", read.name));
        }
    }
    let reading = Reading::reported(value, unit, source, at).within(Some(read.round.unwrap_or(0.0)));
    Reading { at_end: read.at_end, ..reading }
}

/// The value in few digits.
fn shown(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1.0e-4..1.0e16).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

fn impossible(unit: Unit, kind: Kind, value: f64) -> Option<&'static str> {
    if value.is_nan() {
        return Some("not a number");
    }
    if value.is_infinite() || value > LARGEST {
        return Some("no such amount");
    }
    if value < 0.0 {
        return Some(if kind == Kind::Counter { "a counter below zero" } else { "below zero" });
    }
    (unit == Unit::Ratio && value > 1.0 + RATIO_SLACK).then_some("a share above one")
}
