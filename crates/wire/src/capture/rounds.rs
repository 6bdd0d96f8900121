//! Version 1 as looks: each round of asking is one, and holds the newest answer to each question until then.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use model::{Note, Time};
use serde::Deserialize;

use super::index::{Index, Look, Lost};
use super::line::{Site, object};
use super::unpack::Lines;

/// Shortest round, seconds: a question that is asked oftener begins no new one.
const SHORTEST: f64 = 1.0;
/// How far back a round ends from where a question is asked again, answers.
const BACK: usize = 4096;
/// Most different questions.
const MOST: usize = 1 << 16;

/// The answers of a version 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    /// Targets and paths, in the order in which they were asked first.
    pub(super) pairs: Vec<(String, String)>,
    /// By time.
    pub(super) seen: Vec<Seen>,
}

/// Where an answer is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) at: Time,
    /// An index into [`Rounds::pairs`].
    pub(super) pair: u32,
    pub(super) line: u32,
}

#[derive(Deserialize)]
struct Raw {
    at: Time,
    target: Option<String>,
    get: Option<String>,
}

/// Reads the lines behind the first.
pub(super) fn read(index: &mut Index, lines: &mut Lines<'_>) {
    let mut rounds = Rounds::default();
    let mut known: HashMap<(String, String), u32> = HashMap::new();
    // Bytes of questions that are kept, and answers to others.
    let (mut held, mut full) = (0, 0);
    let mut lost = Lost::default();
    while let Some(next) = lines.next() {
        let (number, whole) = (next.number, next.whole);
        let Some(bytes) = next.bytes else {
            lost.unread(number, whole);
            continue;
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let Some(raw) = object::<Raw>(bytes) else {
            lost.unread(number, whole);
            continue;
        };
        // Lines of processes are none of an answer.
        let (Some(target), Some(get)) = (raw.target, raw.get) else { continue };
        let key = (target, get);
        let pair = if let Some(&pair) = known.get(&key) {
            pair
        } else {
            held += 2 * (key.0.len() + key.1.len());
            if known.len() == MOST || held > index.limits.sites {
                full += 1;
                continue;
            }
            rounds.pairs.push(key.clone());
            let pair = known.len() as u32;
            known.insert(key, pair);
            pair
        };
        rounds.seen.push(Seen { at: raw.at, pair, line: number });
    }
    index.notes.extend(lost.notes());
    if full > 0 {
        let text = format!("the capture asks more different things than are kept: {full} answers were not read");
        index.notes.push(Note::new("capture-long", text));
    }
    rounds.seen.sort_by(|one, other| one.at.0.total_cmp(&other.at.0));
    let mut targets = HashSet::new();
    let fresh = rounds.pairs.iter().map(|(target, _)| target).filter(|target| targets.insert(*target));
    let targets = fresh.cloned().collect();
    index.sites.push(Site { targets, ..Site::default() });
    index.looks = looks(&rounds, index.limits.looks);
    index.rounds = Some(rounds);
}

/// A round goes on until a question of it is asked again; it ends at the longest silence before that.
fn looks(rounds: &Rounds, most: usize) -> Vec<Look> {
    let seen = &rounds.seen;
    let mut looks: Vec<Look> = Vec::new();
    // In which round each question was asked last; rounds count from 1.
    let mut asked = vec![0; rounds.pairs.len()];
    let (mut begin, mut place) = (0, 0);
    let mut silence = Silence::default();
    let mut look = |range: Range<usize>, number: usize| {
        let (at, now) = (seen[range.start].at, seen[range.end - 1].at);
        looks.push(Look { number: number as u64, site: 0, at, now, lines: 0..range.end as u32 });
    };
    let mut number = 1;
    while place < seen.len() {
        let one = seen[place];
        if place > begin {
            silence.note(one.at.since(seen[place - 1].at), place);
        }
        let again = asked[one.pair as usize] == number && one.at.since(seen[begin].at) >= SHORTEST;
        if again && number < most {
            // Not far back, so that what is odd on purpose takes no time.
            let end = if place - silence.place > BACK { place } else { silence.place };
            look(begin..end, number);
            number += 1;
            (begin, place, silence) = (end, end, Silence::default());
        } else {
            asked[one.pair as usize] = number;
            place += 1;
        }
    }
    if begin < seen.len() {
        look(begin..seen.len(), number);
    }
    looks
}

/// The longest silence of a round so far.
#[derive(Default)]
struct Silence {
    seconds: f64,
    /// What was seen first after it.
    place: usize,
}

impl Silence {
    fn note(&mut self, seconds: f64, place: usize) {
        if seconds >= self.seconds {
            *self = Silence { seconds, place };
        }
    }
}

impl Rounds {
    /// The newest answer to each question among the first `count`, by question: question and line.
    pub(super) fn newest(&self, count: usize) -> Vec<(&(String, String), Seen)> {
        let mut found: Vec<Option<Seen>> = vec![None; self.pairs.len()];
        let mut missing = found.len();
        for seen in self.seen.iter().take(count).rev() {
            let place = &mut found[seen.pair as usize];
            if place.is_none() {
                *place = Some(*seen);
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        self.pairs.iter().zip(found).filter_map(|(pair, seen)| Some((pair, seen?))).collect()
    }
}
