//! What a build's own source says its page will have, held against the rows of the table.

use std::collections::BTreeSet;

use model::{Account, Signal};
use wire::python::{Kind, Metric};

use crate::missing::offered;
use crate::table::condition::Holds;
use crate::table::{Format, PackageRule, Read, Table};

/// Most definitions without a row that are compared with rows without a definition.
const COMPARED: usize = 1000;

/// The installed source behind a server, as far as doctor needs it.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// What it is in words, e.g. `the installed source (x 1.2)`.
    pub said: String,
    /// All of it was read: what is not in it is not there.
    pub whole: bool,
    /// What it defines.
    pub offered: Offered,
}

/// The series that a build will have with its page switched on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offered {
    /// All that it defines, in the files' order.
    pub series: Vec<OfferedSeries>,
    /// Names of the table that hold for this version and role and that the source does not define.
    pub missing: Vec<String>,
    /// Series that are probably those of the table by another name.
    pub renamed: Vec<Renamed>,
}

/// One series that a build defines.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedSeries {
    /// Its name on the page, or the first of its names.
    pub name: String,
    /// The table's row for it, by the row's own name.
    pub row: Option<String>,
    /// What that row means.
    pub signal: Option<Signal>,
    /// The row holds for this version.
    pub since_table: bool,
    /// The file below the package's folder.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What must hold for it to be defined, as the source has it.
    pub when: Vec<String>,
    /// The flag that this takes.
    pub with: Option<String>,
    /// Nothing known of this server speaks against it.
    pub here: bool,
}

/// A series that has another name in this build than in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The table's name, prefix and all.
    pub old: String,
    /// The build's name.
    pub new: String,
}

impl Offered {
    /// The series that is this row's.
    pub(crate) fn of(&self, row: &Read) -> Option<&OfferedSeries> {
        self.series.iter().find(|series| series.here && series.row.as_ref() == Some(&row.name))
    }
}

/// Holds what the files of a build define against the rows of `table` for this server. `files`: paths below the
/// package's folder with what each defines.
pub fn offered_by_source<'a>(
    table: &Table,
    account: &Account,
    files: impl IntoIterator<Item = (String, &'a [Metric])>,
) -> Offered {
    let rows = rows(table);
    let mut out = Offered::default();
    let mut sources: Vec<&Metric> = Vec::new();
    for (file, metrics) in files {
        for metric in metrics {
            // Of several rows of one name, that of this version.
            let its = || rows.iter().filter_map(|row| Some((*row, page_name(table, row, metric)?)));
            let found = its().find(|(row, _)| offered(row, account)).or_else(|| its().next());
            let rule = rule(table, metric);
            let when = rule.and_then(|rule| rule.when.as_ref());
            out.series.push(OfferedSeries {
                name: match &found {
                    Some((_, name)) => name.clone(),
                    None => metric.exposed().into_iter().next().unwrap_or_default(),
                },
                row: found.as_ref().map(|(row, _)| row.name.clone()),
                signal: found.as_ref().map(|(row, _)| row.signal),
                since_table: found.as_ref().is_some_and(|(row, _)| offered(row, account)),
                file: file.clone(),
                line: metric.line,
                when: metric.when.clone(),
                with: rule.and_then(|rule| rule.with.clone()),
                here: when.is_none_or(|when| when.holds(|name| account.fact(name)) != Holds::No),
            });
            sources.push(metric);
        }
    }
    let mut names = BTreeSet::new();
    let absent: Vec<&Read> = rows
        .iter()
        .filter(|row| offered(row, account) && names.insert(row.name.as_str()))
        .filter(|row| !out.series.iter().any(|series| series.row.as_ref() == Some(&row.name)))
        .copied()
        .collect();
    let prefix = table.engine.prefixes.first().map_or("", String::as_str);
    for (row, at) in renamed(table, &absent, &out.series, &sources) {
        let series = &mut out.series[at];
        series.row = Some(row.name.clone());
        series.signal = Some(row.signal);
        out.renamed.push(Renamed { old: format!("{prefix}{}", row.name), new: series.name.clone() });
    }
    let known = |row: &Read| out.series.iter().any(|series| series.row.as_ref() == Some(&row.name));
    out.missing = absent.iter().filter(|row| !known(row)).map(|row| format!("{prefix}{}", row.name)).collect();
    out
}

/// The rows of the engine's own pages.
fn rows(table: &Table) -> Vec<&Read> {
    let own = table
        .sources
        .iter()
        .filter(|source| source.format == Format::Prometheus && source.relay.is_none() && source.worker.is_none());
    own.flat_map(|source| &source.read).collect()
}

/// The name under which `metric` is the series of `row` on the page.
fn page_name(table: &Table, row: &Read, metric: &Metric) -> Option<String> {
    // A hole that can be anything is no evidence of this very name, unless most of the name is there.
    let written = metric.name.split('{').next().unwrap_or_default().len();
    let mut names = table.engine.prefixes.iter().map(|prefix| (prefix.len(), format!("{prefix}{}", row.name)));
    let (_, name) = names.find(|(prefix, name)| {
        metric.is_exposed_as(name) && (metric.is_whole() || written >= prefix + row.name.len() / 2)
    })?;
    Some(name)
}

fn rule<'a>(table: &'a Table, metric: &Metric) -> Option<&'a PackageRule> {
    let rules = table.engine.package.as_ref().map_or(&[][..], |package| &package.rule);
    rules.iter().find(|rule| {
        let class = rule.class.as_ref().is_none_or(|class| metric.class.as_ref() == Some(class));
        let test = rule.test.as_ref().is_none_or(|test| metric.when.iter().any(|when| when.contains(test.as_str())));
        class && test
    })
}

/// Which series that no row knows are those of rows that no series has: the same variable holds them, the name differs
/// only in its prefix, or by little; and nothing else comes as close.
fn renamed<'a>(
    table: &Table,
    absent: &[&'a Read],
    series: &[OfferedSeries],
    sources: &[&Metric],
) -> Vec<(&'a Read, usize)> {
    let strange: Vec<usize> = (0..series.len()).filter(|at| series[*at].row.is_none()).take(COMPARED).collect();
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (index, row) in absent.iter().enumerate() {
        for &at in &strange {
            pairs.extend(distance(table, row, sources[at], &series[at].name).map(|distance| (distance, index, at)));
        }
    }
    pairs.sort_unstable();
    let (mut rows, mut taken, mut found) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for &(distance, index, at) in &pairs {
        if rows.contains(&index) || taken.contains(&at) {
            continue;
        }
        let as_close = pairs.iter().any(|other| {
            let shares = (other.1 == index) != (other.2 == at);
            other.0 == distance && shares && !rows.contains(&other.1) && !taken.contains(&other.2)
        });
        rows.insert(index);
        if distance > 0 && as_close {
            continue;
        }
        taken.insert(at);
        found.push((absent[index], at));
    }
    found
}

/// How far a definition is from being the row's: 0 for the same variable or the same name with another prefix, else the
/// letters that differ; `None` when it is another one.
fn distance(table: &Table, row: &Read, metric: &Metric, name: &str) -> Option<usize> {
    let kind = if row.name.ends_with("_total") { Kind::Counter } else { Kind::Gauge };
    if metric.kind != kind || !metric.is_whole() {
        return None;
    }
    let stem = row.name.strip_suffix("_total").unwrap_or(&row.name);
    let own = metric.attribute.as_deref().map(|own| own.strip_suffix("_total").unwrap_or(own));
    let bare = table.engine.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()));
    let bare = bare.or_else(|| name.split_once(':').map(|(_, bare)| bare)).unwrap_or(name);
    if own == Some(stem) || bare == row.name {
        return Some(0);
    }
    let letters = edits(bare.as_bytes(), row.name.as_bytes());
    (letters * 5 <= row.name.len()).then_some(letters)
}

/// Letters to put in, take out or change between two names.
fn edits(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (up, first) in one.iter().take(200).enumerate() {
        let mut corner = row[0];
        row[0] = up + 1;
        for (left, second) in other.iter().enumerate() {
            let changed = corner + usize::from(first != second);
            corner = row[left + 1];
            row[left + 1] = changed.min(row[left] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}
