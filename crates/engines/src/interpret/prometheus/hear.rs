//! One walk over a page: what it says to a source's rows, apart from the numbers themselves.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::text::printable;
use model::{Note, Time, Unsaid};
use wire::exposition::{self, Limits, Sample, Summary};

use super::names::{self, found_name};
use super::{Is, Part, Place};
use crate::table::{Source, Table};

/// What a page says but for the numbers of its samples: the next one of the same server mostly says the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    /// The samples that rows count, in the page's order.
    pub(super) met: Vec<Met>,
    /// Rows of which the page has anything, whatever became of it.
    pub(super) named: BTreeSet<usize>,
    /// Series of the table that stand there without a number.
    pub(super) unsaid: Vec<Unsaid>,
    /// What is to be said of lines that could not be read.
    pub(super) notes: Vec<Note>,
    /// The lines whose samples were handed over, as many as there are numbers.
    pub(super) lines: Vec<u32>,
    /// What the walk came to.
    pub(super) summary: Summary,
}

/// One sample as a part of a row, with what its labels say about where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Met {
    pub(super) part: Part,
    worker: Option<String>,
    dp: Option<u32>,
    tp: Option<u32>,
    pp: Option<u32>,
    /// The row's factors that are labels of the sample.
    pub(super) factors: Vec<(String, f64)>,
    pub(super) pid: Option<u64>,
    /// All its labels, as one number.
    pub(super) labels: u64,
    pub(super) name: String,
    number: Number,
    /// The time that the sample carries.
    pub(super) stamp: Option<Time>,
    /// The line of the page.
    pub(super) line: u32,
}

/// Where a sample's number stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    /// In its place: which of all that were read.
    Said(usize),
    /// In a label.
    Label(f64),
}

impl Met {
    /// Where it belongs.
    pub(super) fn place(&self) -> Place<'_> {
        Place { worker: self.worker.as_deref(), dp: self.dp, tp: self.tp, pp: self.pp }
    }

    /// Its number, where these are all that were read.
    pub(super) fn number(&self, numbers: &[f64]) -> f64 {
        match self.number {
            Number::Said(at) => numbers.get(at).copied().unwrap_or(f64::NAN),
            Number::Label(number) => number,
        }
    }
}

/// Walks over `page` for the rows that `count`; with `only`, for the samples whose label of that name has that value. Gives
/// what it says, and the numbers of the samples that were handed over.
pub(super) fn hear<'p>(
    table: &Table,
    source: &Source,
    count: &[bool],
    page: &'p [u8],
    limits: &Limits,
    only: Option<(&str, &str)>,
) -> (Heard, Vec<f64>) {
    let rows = parts(source, count);
    let (mut met, mut numbers, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut bad_labels = 0_usize;
    let mut named = BTreeSet::new();
    let wanted = |name: &str| rows.contains_key(found_name(table, name));
    let mut declared = names::Declared::default();
    // The labels of one sample at a time, each read once.
    let mut all: Vec<(Cow<'p, str>, Cow<'p, str>)> = Vec::new();
    let each = |sample: Sample<'p>| {
        numbers.push(sample.value);
        lines.push(sample.line);
        let Some(parts) = rows.get(found_name(table, &sample.name)) else { return };
        named.extend(parts.iter().filter(|part| part.part == Is::Own).map(|part| part.row));
        all.clear();
        all.extend(sample.labels);
        let said = |label: &str| all.iter().find(|(name, _)| name == label).map(|(_, value)| &**value);
        if source.parts.iter().any(|label| said(label).is_some_and(|part| !part.is_empty())) {
            return;
        }
        if only.is_some_and(|(label, worker)| said(label) != Some(worker)) {
            return;
        }
        let mut unread = false;
        let mut rank = |kind: &str| {
            let text = source.rank.get(kind).and_then(|label| said(label))?;
            text.parse::<u32>().inspect_err(|_| unread |= !text.is_empty()).ok()
        };
        let (dp, tp, pp) = (rank("dp"), rank("tp"), rank("pp"));
        // Of which rank it is cannot be told: it must not stand for the only one.
        if unread {
            bad_labels += 1;
            return;
        }
        let mut labels = DefaultHasher::new();
        for label in &all {
            label.hash(&mut labels);
        }
        let labels = labels.finish();
        let stamp = sample.timestamp_ms.map(|stamp| Time(stamp as f64 / 1000.0));
        let of_label = |label: &String| said(label).and_then(|text| text.parse::<f64>().ok());
        let pid = said("pid").and_then(|pid| pid.parse().ok());
        for part in parts {
            let read = &source.read[part.row];
            if read.with.iter().any(|(name, values)| !values.fit(said(name).unwrap_or_default())) {
                continue;
            }
            let label = read.label.as_ref().filter(|_| part.part == Is::Own);
            let in_place = Some(Number::Said(numbers.len() - 1));
            let number = label.map_or(in_place, |label| of_label(label).map(Number::Label));
            let Some(number) = number else { continue };
            let factors = read.named().filter_map(|name| Some((name.clone(), of_label(name)?))).collect();
            let name = match &read.label {
                Some(label) => format!("{} {label}", sample.name),
                None => sample.name.to_string(),
            };
            let worker = source.worker.as_ref().and_then(|label| said(label)).map(printable);
            let (part, line) = (*part, sample.line);
            met.push(Met { part, worker, dp, tp, pp, factors, pid, labels, name, number, stamp, line });
        }
    };
    let row = |name: &str| rows.get_key_value(name).map(|(name, _)| *name);
    let summary = exposition::scan_declared(page, limits, wanted, each, |declaration| {
        declared.hear(found_name(table, &declaration.name), row);
    });
    let known: BTreeSet<&str> = met.iter().map(|one: &Met| source.read[one.part.row].name.as_str()).collect();
    if summary.truncated {
        // What is declared behind the last sample that was read is declared all the same.
        declared = names::Declared::default();
        for declaration in exposition::metadata(page, limits) {
            declared.hear(found_name(table, &declaration.name), row);
        }
    }
    let cut = names::cut_name(table, page, &summary).and_then(row);
    let unsaid = declared.unsaid(cut, |name| !known.contains(name));
    let one = |(name, how): (&str, _)| Unsaid { source: source.id.clone(), name: name.to_owned(), how };
    let unsaid = unsaid.into_iter().map(one).collect();
    let notes = notes(source, &summary, bad_labels);
    (Heard { met, named, unsaid, notes, lines, summary }, numbers)
}

/// What each name on the page is to the rows that count.
fn parts<'a>(source: &'a Source, count: &[bool]) -> BTreeMap<&'a str, Vec<Part>> {
    let mut parts: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
    for (row, (read, _)) in source.read.iter().zip(count).enumerate().filter(|(_, (_, counts))| **counts) {
        parts.entry(&read.name).or_default().push(Part { row, part: Is::Own });
        if let Some(over) = &read.over {
            parts.entry(over).or_default().push(Part { row, part: Is::Over });
        }
        for (index, name) in read.plus.iter().enumerate() {
            parts.entry(name).or_default().push(Part { row, part: Is::Plus(index) });
        }
    }
    parts
}

fn notes(source: &Source, summary: &Summary, bad_labels: usize) -> Vec<Note> {
    let said = summary.notes().into_iter().map(|note| Note::new(note.id, format!("GET {}: {}", source.get, note.text)));
    let mut notes: Vec<Note> = said.collect();
    if bad_labels > 0 {
        let text = format!("GET {}: {bad_labels} samples carry a rank label that is not a number", source.get);
        notes.push(Note::new("bad-labels", text));
    }
    notes
}
