//! How large a pool is by each piece: numbers that differ are of two servers. What a number means may stand in another file.

use std::collections::{BTreeMap, BTreeSet};

use model::{Account, FULL, Fact, Facts, Signal, Unit};

use super::pieces::{Matter, Piece};
use super::servers::SAID;
use crate::look::Eye;

/// The least and the most.
pub(super) type Bounds = (f64, f64);

/// The least and the most that the main pool of a rank may hold, over all ranks, in tokens: blocks are no measure beside them.
pub(super) fn capacity(account: &Account) -> Option<Bounds> {
    let main = account.sets.iter().filter(|set| set.pool == FULL && set.tier == model::DEVICE);
    let said = main.filter_map(|set| set.readings.get(&Signal::KV_CAPACITY));
    let bounds = said.filter(|reading| reading.unit == Unit::Tokens).filter_map(|reading| {
        let off = reading.precision.unwrap_or(0.0);
        reading.value.map(|value| (value - off, value + off))
    });
    bounds.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// Reads the sizes once more where pieces of one engine differ in them, by what all files of that engine say and none denies:
/// with some flags a page says one rank's share, and another answer says those flags.
pub(super) fn compare(eye: &Eye, pieces: &mut [Piece]) {
    for engine in pieces.iter().map(|piece| piece.engine.clone()).collect::<BTreeSet<String>>() {
        let Some(table) = eye.tables.get(&engine) else { continue };
        let mut own: Vec<&mut Piece> = pieces.iter_mut().filter(|piece| piece.engine == engine).collect();
        let first = own.iter().find_map(|piece| piece.capacity);
        if !own.iter().any(|piece| differ(first, piece.capacity)) {
            continue;
        }
        let known = agreed(&own);
        for piece in own.iter_mut().filter(|piece| piece.capacity.is_some()) {
            let account = match &piece.matter {
                Matter::Answer(answer) => {
                    let observation = answer.observed(&piece.name, sense::clock::now());
                    engines::interpret(table, &[observation], &[], &known)
                }
                Matter::Log(own) => engines::interpret(table, &[], std::slice::from_ref(&own.log), &known),
                Matter::Start { .. } => continue,
            };
            piece.informed = capacity(&account);
        }
    }
}

/// Whether two pieces say different sizes, however they are read.
pub(super) fn are_two(one: &Piece, other: &Piece) -> bool {
    differ(one.capacity, other.capacity) && differ(one.informed, other.informed)
}

fn differ(one: Option<Bounds>, other: Option<Bounds>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.0 > other.1 || other.0 > one.1)
}

/// What pieces say of their servers, where all that say it say the same.
fn agreed(pieces: &[&mut Piece]) -> Facts {
    let mut all: BTreeMap<&String, Option<&Fact>> = BTreeMap::new();
    for (name, fact) in pieces.iter().flat_map(|piece| &piece.facts).filter(|(_, fact)| fact.weight >= SAID) {
        let known = all.entry(name).or_insert(Some(fact));
        if known.is_some_and(|known| known.value != fact.value) {
            *known = None;
        }
    }
    all.into_iter().filter_map(|(name, fact)| Some((name.clone(), fact?.clone()))).collect()
}
