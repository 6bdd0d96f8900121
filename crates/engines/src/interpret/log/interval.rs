//! A capacity from lines that say both tokens and a rounded ratio: each pair bounds it, all of them together closely.

use std::collections::BTreeMap;

use model::{Account, Note, Reading, Signal, Unit};

use super::{Home, Scanned, Seen, counts, ranks};
use crate::table::{Read, Table};

/// The capacities that fit everything said so far, in the pool's unit.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    least: f64,
    most: f64,
    pairs: usize,
    unit: Unit,
}

/// Adds the capacity to sets that lack it, as an interval: the middle, right within ± half its width.
pub(super) fn add(
    table: &Table,
    scanned: &Scanned,
    told: &[&Seen],
    account: &mut Account,
    sets: &mut BTreeMap<Home, model::PoolSet>,
) {
    let mut found: BTreeMap<Home, Bounds> = BTreeMap::new();
    for seen in told {
        let row = &table.lines[seen.row];
        if row.lasting {
            continue;
        }
        let rank = ranks::rank(&seen.said(), account);
        let plain = |read: &&Read| !read.percent && read.times.is_empty() && read.floor.is_none();
        let ratio = |read: &&Read| read.signal == Signal::KV_IN_USE && plain(read) && counts(read, account);
        for ratio in row.read.iter().filter(ratio) {
            let tokens = |read: &&Read| {
                let same = read.pool == ratio.pool && read.tier == ratio.tier;
                read.signal == Signal::KV_USED && same && plain(read)
            };
            let mut tokens = row.read.iter().filter(tokens);
            let (Some(pool), Some(round), Some(share)) = (&ratio.pool, ratio.round, seen.number(&ratio.name)) else {
                continue;
            };
            // One pool has several names, of which a line has one.
            let tokens = tokens.find_map(|read| Some((seen.number(&read.name)?, read.unit.unwrap_or(Unit::Tokens))));
            let Some((tokens, unit)) = tokens else { continue };
            // A share that may be 0 bounds nothing from above.
            if tokens <= 0.0 || share <= round || !share.is_finite() || !tokens.is_finite() {
                continue;
            }
            let tier = ratio.tier.clone().unwrap_or_else(|| model::DEVICE.to_owned());
            let home = Home { rank, pool: pool.clone(), tier, lasting: false };
            let (least, most) = (tokens / (share + round), tokens / (share - round));
            let bounds = found.entry(home).or_insert(Bounds { least, most, pairs: 0, unit });
            bounds.least = bounds.least.max(least);
            bounds.most = bounds.most.min(most);
            bounds.pairs += 1;
        }
    }
    for (home, bounds) in found {
        let told = Home { lasting: true, ..home.clone() };
        if sets.get(&told).is_some_and(|set| set.readings.contains_key(&Signal::KV_CAPACITY)) {
            continue;
        }
        // Tokens are whole, and so is what is said of them.
        let (least, most) = (bounds.least.ceil(), bounds.most.floor());
        if least > most {
            let text = format!("{}: tokens and ratios of pool {} fit no one capacity", scanned.name, home.pool);
            account.notes.push(Note::new("capacity-unclear", text));
            continue;
        }
        let Some(set) = sets.get_mut(&home) else { continue };
        let unit = bounds.unit.name();
        let input =
            format!("{} pairs of {unit} and rounded ratio in {}: {least} to {most} {unit}", bounds.pairs, scanned.name);
        let middle = f64::midpoint(least, most).floor();
        let reading = Reading::inferred(middle, bounds.unit, input, Some(set.at)).within(Some(most - middle));
        set.readings.entry(Signal::KV_CAPACITY).or_insert(reading);
    }
}
