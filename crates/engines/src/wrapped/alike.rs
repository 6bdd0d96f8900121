//! Whether two of those who scraped a server can have scraped the same one. Whatever stands under one address and differs
//! only in who scraped it is mostly one server, looked at twice; but addresses repeat (pods of several networks, agents that
//! ask their own host), and a server that is taken for another's copy is not seen at all.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use wire::exposition::Sample;

use super::layers::Layers;
use super::names::{Meant, Moves, Word};

/// Milliseconds within which two looks are of one moment, as far as a pool is concerned: what is older is stale.
pub(super) const LIKE_MS: i64 = 15_000;
/// A busy pool differs between two looks of one moment by up to this share, …
const SHARE: f64 = 0.10;
/// … for each second between them by so much more, …
const SHARE_PER_SECOND: f64 = 0.05;
/// … up to this, which counts also where no time stands.
const MOST_SHARE: f64 = 0.25;
/// A counter that has come this far does not double between two looks.
const FAR: f64 = 1000.0;
/// Twelve digits are printed by some.
const ROUNDED: f64 = 1e-9;

/// What stands there of one who scraped a server.
#[derive(Default)]
pub(super) struct Told<'n> {
    /// By the name and labels of each series.
    numbers: HashMap<u64, Number>,
    /// The values of each label of each series that goes up and down.
    labels: HashMap<(&'n str, String), BTreeSet<String>>,
    /// The largest number of a pool, which is about its size.
    largest: f64,
}

#[derive(Clone, Copy)]
struct Number {
    value: f64,
    at: Option<i64>,
    moves: Moves,
}

impl<'n> Told<'n> {
    /// One more sample.
    pub(super) fn heard(&mut self, word: &'n Word<'_>, layers: &Layers<'_>, sample: &Sample<'_>) {
        let name = match &word.meant {
            Meant::Series(series) => series.bare.as_str(),
            Meant::Alias(alias) => alias.name.as_str(),
        };
        let mut series = DefaultHasher::new();
        name.hash(&mut series);
        for (label, value) in sample.labels.iter().filter(|(label, _)| !layers.own(label)) {
            (&label, &value).hash(&mut series);
            if matches!(word.moves, Moves::Share(_) | Moves::Part | Moves::Stays) {
                self.labels.entry((name, label.into_owned())).or_default().insert(value.into_owned());
            }
        }
        if matches!(word.moves, Moves::Part | Moves::Stays) && sample.value.is_finite() {
            self.largest = self.largest.max(sample.value);
        }
        let number = Number { value: sample.value, at: sample.timestamp_ms, moves: word.moves };
        self.numbers.entry(series.finish()).or_insert(number);
    }

    /// Whether both can be of one server: they have numbers in common, and none contradicts the other.
    pub(super) fn may_be(&self, other: &Told<'_>) -> bool {
        let (few, many) = if self.numbers.len() <= other.numbers.len() { (self, other) } else { (other, self) };
        let mut both = few.numbers.iter().filter_map(|(series, one)| Some((one, many.numbers.get(series)?))).peekable();
        if both.peek().is_none() || few.is_named_otherwise(many) {
            return false;
        }
        let largest = few.largest.max(many.largest);
        // Of two looks at one server one is the later, for all of its counters.
        let (mut later, mut earlier) = (false, false);
        for (one, other) in both {
            match one.order(other) {
                Some(true) => later = true,
                Some(false) => earlier = true,
                None => {}
            }
            if later && earlier || one.contradicts(other, largest) {
                return false;
            }
        }
        true
    }

    /// Whether a label of a series has on the one side none of its values on the other: another model, or another size.
    fn is_named_otherwise(&self, other: &Told<'_>) -> bool {
        let mut both = self.labels.iter().filter_map(|(label, values)| Some((values, other.labels.get(label)?)));
        both.any(|(values, others)| values.is_disjoint(others))
    }
}

impl Number {
    /// Whether this one of a counter is the later by its number; `None` where that does not tell.
    fn order(&self, other: &Number) -> Option<bool> {
        let near = (self.value - other.value).abs() <= ROUNDED * self.value.abs().max(other.value.abs());
        (self.moves == Moves::Up && !near).then_some(self.value > other.value)
    }

    /// Whether no server can have said both.
    fn contradicts(&self, other: &Number, largest: f64) -> bool {
        let apart = self.at.zip(other.at).map(|(one, other)| one.saturating_sub(other));
        let like = apart.is_none_or(|apart| apart.saturating_abs() <= LIKE_MS);
        let seconds = apart.map(|apart| apart.unsigned_abs() as f64 / 1000.0);
        let most = seconds.map_or(MOST_SHARE, |seconds| (SHARE + SHARE_PER_SECOND * seconds).min(MOST_SHARE));
        let moved = (self.value - other.value).abs();
        let (less, more) = (self.value.min(other.value), self.value.max(other.value));
        match self.moves {
            // Not written before the first batch.
            Moves::Stays => moved > ROUNDED * more.abs() && less != 0.0,
            Moves::Share(whole) => like && moved > most * whole,
            Moves::Part => like && moved > most * largest,
            Moves::Up => {
                let is_later = apart.filter(|apart| *apart != 0).map(|apart| apart > 0);
                let back = is_later.zip(self.order(other)).is_some_and(|(by_time, by_number)| by_time != by_number);
                back || like && less >= FAR && more > 2.0 * less
            }
            Moves::Other => false,
        }
    }
}
