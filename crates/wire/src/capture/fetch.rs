//! The second pass: the lines of one look, and those that they refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::{Note, Time};

use super::Limits;
use super::index::{Index, Look};
use super::line;
use super::unpack::Lines;

/// A question and the line that holds its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The question's words.
    pub ask: Vec<String>,
    /// When it was answered.
    pub at: Time,
    /// The line with the answer, whose own question and time may be other ones.
    pub line: Arc<[u8]>,
}

/// A question whose answer may stand elsewhere.
struct Entry {
    ask: Vec<String>,
    at: Time,
    number: u32,
    /// The line of its answer; none where it names one that cannot be.
    holder: Option<u32>,
}

/// What was passed over.
#[derive(Default)]
struct Lost {
    unread: usize,
    nowhere: usize,
    costly: usize,
}

impl Index {
    /// The answers of `look`, in their order. `file` is what the index was read from.
    pub fn answers(&self, file: &[u8], look: &Look) -> (Vec<Answer>, Vec<Note>) {
        let mut walker = Walker { index: self, file: self.within(file), lines: None };
        let mut lost = Lost::default();
        let answers = match &self.rounds {
            Some(rounds) => {
                let newest = rounds.newest(look.lines.end as usize);
                let wanted = newest.iter().map(|(_, seen)| seen.line).collect();
                let held = walker.hold(&wanted, self.limits.look, &|_| true);
                let answer = |(pair, seen): (&(String, String), super::rounds::Seen)| {
                    let ask = vec!["get".to_owned(), String::new(), format!("{}{}", pair.0, pair.1)];
                    Some(Answer { ask, at: seen.at, line: Arc::clone(held.get(&seen.line)?) })
                };
                let answers: Vec<Answer> = newest.into_iter().filter_map(answer).collect();
                lost.costly = wanted.len() - answers.len();
                answers
            }
            None => self.joined(&mut walker, look, &mut lost),
        };
        (answers, lost.notes(self.limits))
    }

    /// The answers of version 2, each with the line that holds it.
    fn joined(&self, walker: &mut Walker<'_>, look: &Look, lost: &mut Lost) -> Vec<Answer> {
        let mut left = self.limits.look;
        let mut entries: Vec<Entry> = Vec::new();
        let mut held: HashMap<u32, Arc<[u8]>> = HashMap::new();
        for number in look.lines.clone() {
            let Some(bytes) = walker.get(number) else { continue };
            let Some(asked) = line::asked(bytes) else {
                lost.unread += usize::from(!bytes.trim_ascii().is_empty());
                continue;
            };
            if asked.ask.is_empty() {
                continue;
            }
            let Some(at) = asked.at else {
                lost.unread += 1;
                continue;
            };
            let Some(rest) = left.checked_sub(Limits::cost(bytes)) else {
                lost.costly += 1;
                continue;
            };
            left = rest;
            let holder = match asked.same {
                None => {
                    held.insert(number, bytes.into());
                    Some(number)
                }
                Some(same) => u32::try_from(same).ok().filter(|same| *same < number),
            };
            entries.push(Entry { ask: asked.ask, at, number, holder });
        }
        let elsewhere = entries.iter().filter_map(|entry| entry.holder).filter(|holder| !held.contains_key(holder));
        let elsewhere: BTreeSet<u32> = elsewhere.collect();
        // A line that refers to another one, too, holds no answer: so there are no chains.
        let holds =
            |bytes: &[u8]| line::asked(bytes).is_some_and(|asked| !asked.ask.is_empty() && asked.same.is_none());
        held.extend(walker.hold(&elsewhere, left, &holds));
        let mut answers = Vec::with_capacity(entries.len());
        // What a line costs is counted once, however many refer to it.
        let costs: HashMap<u32, usize> = held.iter().map(|(number, line)| (*number, Limits::cost(line))).collect();
        for Entry { ask, at, number, holder } in entries {
            let Some((line, cost)) = holder.and_then(|holder| Some((held.get(&holder)?, costs.get(&holder)?))) else {
                lost.nowhere += 1;
                continue;
            };
            if holder != Some(number) {
                let Some(rest) = left.checked_sub(*cost) else {
                    lost.costly += 1;
                    continue;
                };
                left = rest;
            }
            answers.push(Answer { ask, at, line: Arc::clone(line) });
        }
        answers
    }
}

/// Goes through a file line by line, and over what lies between where it can.
struct Walker<'a> {
    index: &'a Index,
    file: &'a [u8],
    lines: Option<Lines<'a>>,
}

impl Walker<'_> {
    /// The line of this number; numbers must grow, or the walk begins anew with [`Walker::hold`].
    fn get(&mut self, number: u32) -> Option<&[u8]> {
        let points = &self.index.points;
        let point = points[..points.partition_point(|point| point.before < number)].last();
        let far = |lines: &Lines<'_>| point.is_some_and(|point| point.before > lines.number());
        if self.lines.as_ref().is_none_or(far) {
            self.lines = Some(Lines::new(self.file, self.index.limits, point.copied()));
        }
        let lines = self.lines.as_mut()?;
        while lines.number() + 1 < number {
            lines.next()?;
        }
        if lines.number() + 1 == number { lines.next()?.bytes } else { None }
    }

    /// Those of the lines `wanted` that `fit`, at most as many as cost `most`.
    fn hold(&mut self, wanted: &BTreeSet<u32>, most: usize, fit: &dyn Fn(&[u8]) -> bool) -> BTreeMap<u32, Arc<[u8]>> {
        self.lines = None;
        let mut left = most;
        let mut held = BTreeMap::new();
        for &number in wanted {
            let Some(bytes) = self.get(number).filter(|bytes| fit(bytes)) else { continue };
            let Some(rest) = left.checked_sub(Limits::cost(bytes)) else { continue };
            left = rest;
            held.insert(number, bytes.into());
        }
        held
    }
}

impl Lost {
    fn notes(&self, limits: Limits) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.unread > 0 {
            let text = format!("{} answers of the look could not be read", self.unread);
            notes.push(Note::new("answers-unread", text));
        }
        if self.nowhere > 0 {
            let text = format!("{} answers of the look refer to lines that hold none", self.nowhere);
            notes.push(Note::new("answers-nowhere", text));
        }
        if self.costly > 0 {
            let text = format!(
                "the answers of the look take more than {} MiB: {} of them were not read",
                limits.look >> 20,
                self.costly
            );
            notes.push(Note::new("answers-large", text));
        }
        notes
    }
}
