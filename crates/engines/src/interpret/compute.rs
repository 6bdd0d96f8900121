//! From what is said to what it means: percentages, numbers in blocks, ratios of two counters. A part that is not known
//! makes no value: half of a product is no number.

use model::{Reading, Signal, State, Time};

use super::value;
use crate::table::Read;

/// How far from whole the inverse of a floor may be, in parts of it.
const WHOLE: f64 = 1.0e-6;

/// How far two numbers that should be the same may be apart, in parts of them.
const ALIKE: f64 = 0.05;

/// What stands around a number.
pub(super) struct Around<'a> {
    /// What the row divides by, where that is said.
    pub(super) other: Option<f64>,
    /// What it adds; none where a part of it is not said.
    pub(super) plus: Option<Vec<f64>>,
    /// Ranks that each say the number of all of them, where all were seen.
    pub(super) ranks: Option<usize>,
    /// A number by name: said beside it, or a fact.
    pub(super) named: &'a dyn Fn(&str) -> Option<f64>,
    /// Whether nothing runs, where that is said.
    pub(super) idle: Option<bool>,
    /// How far off its rounding may put the number, where that is told beside it and not by the row.
    pub(super) off: Option<f64>,
}

impl<'a> Around<'a> {
    /// Nothing but what names lead to.
    pub(super) fn of(named: &'a dyn Fn(&str) -> Option<f64>) -> Around<'a> {
        Around { other: None, plus: None, ranks: Some(1), named, idle: None, off: None }
    }

    /// The same, with what the row divides by and adds found by name.
    pub(super) fn beside(self, read: &Read, number: impl Fn(&str) -> Option<f64>) -> Around<'a> {
        let plus = read.plus.iter().map(|name| number(name)).collect();
        Around { other: read.over.as_deref().and_then(&number), plus, ..self }
    }
}

/// The number that `read` makes of what was said, and what it was made from.
struct Made {
    value: f64,
    /// Which of the numbers it multiplied; its rounding grows with them.
    scale: f64,
    inputs: Vec<String>,
    precision: Option<f64>,
    inferred: bool,
    /// A factor is only taken to be what it mostly is.
    assumed: bool,
}

/// Makes the reading that row `read` gives for `said`; none where something that it needs is not known.
pub(super) fn reading<'a>(
    read: &Read,
    said: f64,
    around: &Around<'_>,
    source: String,
    at: Time,
    fact: impl Fn(&str) -> Option<&'a str> + Copy,
) -> Option<Reading> {
    let made = make(read, said, around)?;
    if let Some(why) = disagrees(read, &made, around) {
        return Some(Reading::not_reported(read.unit.unwrap_or(read.signal.unit()), why));
    }
    let mut reading = value::reading(read, made.value, source, at, fact);
    if let Some(off) = around.off.filter(|_| reading.value.is_some() && read.round.is_none()) {
        reading.precision = Some(off);
    }
    if reading.value.is_some() && !made.inputs.is_empty() {
        // What agrees with another number is as sure as that.
        let assumed = made.assumed && read.agrees.as_ref().is_none_or(|name| (around.named)(name).is_none());
        reading.state = if made.inferred || assumed { State::Inferred } else { State::Derived };
        reading.inputs = made.inputs.into_iter().map(model::text::visible).collect();
        reading.precision = reading.precision.map(|off| off * made.scale);
    }
    if reading.value.is_some() && made.precision.is_some() {
        reading.precision = made.precision;
    }
    Some(reading)
}

/// Why a number is not what its name says, where another that should be the same is far off.
fn disagrees(read: &Read, made: &Made, around: &Around<'_>) -> Option<String> {
    let name = read.agrees.as_ref()?;
    let other = (around.named)(name)?;
    let far = (made.value - other).abs() > ALIKE * other.abs();
    far.then(|| {
        format!("{} makes {}, but {name} is {other}: not of one kind of layers", made.inputs.join(", "), made.value)
    })
}

fn make(read: &Read, said: f64, around: &Around<'_>) -> Option<Made> {
    let mut value = if read.percent { said / 100.0 } else { said };
    let mut made = Made { value, scale: 1.0, inputs: Vec::new(), precision: None, inferred: false, assumed: false };
    let name = read.label.as_ref().unwrap_or(&read.name);
    if !read.plus.is_empty() {
        let others = around.plus.as_ref()?;
        made.inputs.push(format!("{name} {said}"));
        for (other, number) in read.plus.iter().zip(others) {
            if !super::may_be(*number) || !super::may_be(value) {
                value = if super::may_be(value) { *number } else { value };
                break;
            }
            made.inputs.push(format!("plus {other} {number}"));
            value += number;
        }
    }
    if read.shared && read.floor.is_none() && around.ranks != Some(1) {
        let ranks = around.ranks?;
        made.inputs.extend([format!("{name} {said}"), format!("shared by {ranks} ranks")]);
        value /= ranks as f64;
    }
    if let Some(divisor) = &read.over {
        let other = around.other.filter(|other| *other > 0.0 && other.is_finite())?;
        if made.inputs.is_empty() {
            made.inputs.push(format!("{name} {said}"));
        }
        made.inputs.push(format!("over {divisor} {other}"));
        value /= other;
    }
    if let Some(blocks) = &read.floor {
        let all = (around.named)(blocks)?;
        // Of an engine whose ranks share it each has a floor of its own: the blocks are those of all of them.
        let floors = if read.shared { around.ranks? } else { 1 };
        let count = Some(all / floors as f64).filter(|count| *count > 1.0)?;
        let of_all = if floors > 1 { format!(" of {floors} ranks, one of each") } else { ", one of them".to_owned() };
        made.inputs.extend([format!("{name} {said}"), format!("{blocks} {all}{of_all} never free")]);
        value = value.mul_add(count, -1.0) / (count - 1.0);
        // Its last digit may put it a hair below nothing.
        value = if (-WHOLE..0.0).contains(&value) { 0.0 } else { value };
    }
    if read.reciprocal {
        let blocks = 1.0 / value;
        let whole = (blocks - blocks.round()).abs() <= WHOLE * blocks;
        if around.idle != Some(true) || !(value > 0.0 && value < 1.0 && whole) {
            return None;
        }
        made.inputs.push(format!("{name} {said} while nothing runs, which is one block of {}", blocks.round()));
        made.inferred = true;
        // Of what is in use it is all, and no request's.
        value = if read.signal == Signal::KV_IN_USE { 0.0 } else { blocks.round() };
    }
    if let Some(less) = read.less {
        if made.inputs.is_empty() {
            made.inputs.push(format!("{name} {said}"));
        }
        made.inputs.push(format!("less {less}"));
        value -= less;
    }
    for factor in &read.times {
        let known = (around.named)(factor);
        let by = known.or_else(|| read.assumed.get(factor).copied()).filter(|by| by.is_finite() && *by > 0.0)?;
        if made.inputs.is_empty() {
            made.inputs.push(format!("{name} {said}"));
        }
        made.assumed |= known.is_none();
        let as_if = if known.is_none() { ", as nothing tells another" } else { "" };
        made.inputs.push(format!("times {factor} {by}{as_if}"));
        value *= by;
        made.scale *= by;
    }
    if let Some(blocks) = &read.grain {
        made.precision = (around.named)(blocks).filter(|count| *count > 0.0).map(|count| 1.0 / count);
    }
    made.value = value;
    Some(made)
}
