//! Answers whose elements are parts of one rank: the slots of a server. Rows fold over all of them, or over those in
//! which something is so.

use std::collections::BTreeMap;

use model::{Account, Observation, RankId, RankValue, Readings, State};
use serde_json::Value;

use super::compute::{self, Around};
use super::spots::{self, Spots};
use super::{add, counts, json, path};
use crate::table::{Fold, Read, Source};

/// The elements and what they stand in.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) root: &'a Value,
    pub(super) elements: &'a [&'a Value],
    pub(super) spots: &'a Spots,
}

/// Reads every row of `source`; whether any gave a number.
pub(super) fn read(
    trust: u16,
    source: &Source,
    observation: &Observation,
    parts: Parts<'_>,
    account: &mut Account,
) -> bool {
    let Some(first) = parts.elements.first() else { return false };
    let at = json::taken_at(source, observation, parts.root, first);
    let mut pools: BTreeMap<(String, String), Readings> = BTreeMap::new();
    let mut values = Vec::new();
    let rank = RankId::ZERO;
    for row in source.read.iter().filter(|row| counts(row, account)) {
        let Some(number) = folded(parts, row, account) else { continue };
        let from = spots::named(observation, parts.spots.line(first), &named(source, row));
        let of_fact = |name: &str| super::fact_number(account, name);
        // The factors of each element are in the sum already.
        let plain = Read { times: Vec::new(), ..row.clone() };
        let made = compute::reading(&plain, number, &Around::of(&of_fact), from, at.time, |name| account.fact(name));
        let Some(mut reading) = made else { continue };
        if !row.times.is_empty() && reading.value.is_some() {
            reading.state = State::Derived;
            reading.inputs.push(format!("{} times {}", row.name, row.times.join(" times ")));
        }
        let reading = reading.untimed(source.at.is_some() && !at.said);
        match &row.pool {
            Some(pool) => {
                let tier = row.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
                add(pools.entry((pool.clone(), tier)).or_default(), row.signal, reading);
            }
            None => values.push(RankValue { trust, rank, signal: row.signal, reading }),
        }
    }
    let any = !pools.is_empty() || !values.is_empty();
    json::keep(trust, source, rank, at.time, pools, values, account);
    any
}

/// What the number is of: `n_prompt_tokens of [*] where is_processing`.
fn named(source: &Source, row: &Read) -> String {
    let each = source.each.as_deref().unwrap_or_default();
    let only = row.only.iter().map(|path| format!(" where {path}"));
    let unless = row.unless.iter().map(|path| format!(" unless {path}"));
    let which: String = only.chain(unless).collect();
    format!("{} of {each}{which}", row.name)
}

/// The row's number over all elements that it is about. One of them that lacks the field makes no number of the others,
/// unless the table says what its absence means; of no elements at all, a sum and a count are 0.
fn folded(parts: Parts<'_>, row: &Read, account: &Account) -> Option<f64> {
    let Parts { root, elements, .. } = parts;
    let is = |element: &Value, path: &String| match path::first(root, element, path) {
        Some(Value::Bool(is)) => Some(*is),
        Some(value) => json::number(value).map(|number| number != 0.0),
        None => None,
    };
    let mut numbers = Vec::new();
    for element in elements {
        let only = row.only.as_ref().map_or(Some(true), |path| is(element, path))?;
        let not = row.unless.as_ref().map_or(Some(false), |path| is(element, path))?;
        if !only || not {
            continue;
        }
        if row.fold == Fold::Count {
            numbers.push(1.0);
            continue;
        }
        let beside = |name: &str| path::first(root, element, name).and_then(json::number);
        let found = path::first(root, element, &row.name);
        let mut number = found.map_or(row.omitted, json::number)?;
        for factor in &row.times {
            number *= beside(factor).or_else(|| super::fact_number(account, factor))?;
        }
        numbers.push(number);
    }
    // A part that cannot be is the answer, and not hidden in a sum.
    if let Some(wrong) = numbers.iter().find(|number| !super::may_be(**number)) {
        return Some(*wrong);
    }
    match row.fold {
        // A sum of nothing begins below zero, for reasons of its own.
        Fold::Sum | Fold::Count => Some(numbers.iter().fold(0.0, |sum, number| sum + number)),
        Fold::Max => numbers.into_iter().max_by(f64::total_cmp),
        Fold::One => {
            let first = *numbers.first()?;
            numbers.iter().all(|number| *number == first).then_some(first)
        }
    }
}
