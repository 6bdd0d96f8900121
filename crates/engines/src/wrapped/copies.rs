//! What those who scraped one address have of it: copies of one server, or servers of their own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use model::text::printable;

use super::alike::{LIKE_MS, Told};
use super::layers::Copied;
use super::names::{Meant, Word};

/// Servers of one address that are told apart by what they say: each is held against all others.
const MOST_APART: usize = 16;

/// What one of those who scraped a server has of it.
#[derive(Default)]
pub(super) struct Copy<'n> {
    /// Names, without prefix, of series that stand there themselves.
    pub(super) has: BTreeSet<&'n str>,
    /// Those of them that go up and down.
    gauges: BTreeSet<&'n str>,
    /// Engines that have such series.
    pub(super) engines: BTreeSet<&'n str>,
    /// Engines that all its aliases may be of.
    pub(super) by_alias: Option<BTreeSet<&'n str>>,
    /// It has a series that goes up and down.
    pub(super) gauge: bool,
    /// The newest time that stands there, in milliseconds.
    newest: Option<i64>,
    /// Its numbers, where others scraped the same address.
    pub(super) told: Told<'n>,
}

/// Copies of one server: the first is the one that is read.
pub(super) type Group<'t, 'n> = Vec<(Copied<'t>, Copy<'n>)>;

impl<'n> Copy<'n> {
    /// One more sample.
    pub(super) fn heard(&mut self, word: &'n Word<'_>, stamp: Option<i64>) {
        self.newest = self.newest.max(stamp);
        match &word.meant {
            Meant::Series(series) => {
                self.has.insert(&series.bare);
                self.engines.extend(series.tables.iter().map(|table| table.engine.name.as_str()));
                self.gauge |= series.gauge;
                if series.gauge {
                    self.gauges.insert(&series.bare);
                }
            }
            Meant::Alias(alias) => {
                let engines = alias.engines.keys().map(String::as_str).collect();
                self.by_alias = Some(match self.by_alias.take() {
                    Some(known) => known.intersection(&engines).copied().collect(),
                    None => engines,
                });
                self.gauge = true;
                self.gauges.insert(&alias.name);
            }
        }
    }
}

/// Puts copies of one server together, and how many copies were not looked at.
pub(super) fn groups<'t, 'n>(mut copies: Group<'t, 'n>) -> (Vec<Group<'t, 'n>>, usize) {
    let mut groups = Vec::new();
    while let Some(first) = best(&copies) {
        if groups.len() >= MOST_APART {
            break;
        }
        let read = copies.remove(first);
        let (mut same, others) = copies.into_iter().partition(|(_, copy)| read.1.told.may_be(&copy.told));
        let mut group = vec![read];
        group.append(&mut same);
        groups.push(group);
        copies = others;
    }
    (groups, copies.len())
}

/// The one to be read: of those as fresh as the newest the one with the most series that go up and down (a rule may leave
/// some out), then the newest. Counters that are not there yet make none worse.
fn best(copies: &Group<'_, '_>) -> Option<usize> {
    let newest = copies.iter().map(|(_, copy)| copy.newest).max()?;
    let fresh = |copy: &Copy<'_>| match copy.newest.zip(newest) {
        Some((own, newest)) => newest.saturating_sub(own) <= LIKE_MS,
        None => copy.newest == newest,
    };
    let order = |copy: &Copy<'_>| Reverse((fresh(copy), copy.gauges.len(), copy.newest, copy.has.len()));
    (0..copies.len()).min_by_key(|at| order(&copies[*at].1))
}

/// The labels of each group that not all of them have alike: what they are told apart by.
pub(super) fn differing(groups: &[Group<'_, '_>]) -> Vec<String> {
    let all: Vec<&Copied<'_>> = groups.iter().filter_map(|group| Some(&group.first()?.0)).collect();
    let mut values: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for (label, value) in all.iter().copied().flatten() {
        let (count, seen) = values.entry(label).or_default();
        *count += 1;
        seen.insert(value);
    }
    let differs = |label: &str| values.get(label).is_some_and(|(count, seen)| *count < all.len() || seen.len() > 1);
    let words = |copied: &&Copied<'_>| {
        let own = copied.iter().filter(|(label, _)| differs(label));
        own.map(|(label, value)| format!("{label}={}", printable(value))).collect::<Vec<_>>().join(",")
    };
    all.iter().map(words).collect()
}

/// How a copy is called in a note.
pub(super) fn called(by: &Copied<'_>) -> String {
    let words: Vec<String> = by.iter().map(|(label, value)| format!("{label}={}", printable(value))).collect();
    if words.is_empty() {
        return "that without labels of who scraped it".to_owned();
    }
    format!("that of {}", words.join(","))
}
