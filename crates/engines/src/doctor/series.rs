//! The series that a need would be told by: of the table, and of the source that a server really runs.

use std::collections::BTreeSet;

use model::Account;

use crate::missing::offered;
use crate::offered::{Build, OfferedSeries};
use crate::table::condition::Holds;
use crate::table::{EngineKind, Format, Need, Read, Source, Table};

/// The series that tell the need called `id` in this version and role.
pub fn series_of(table: &Table, account: &Account, id: &str) -> Vec<String> {
    let need = table.needs.iter().find(|need| need.id == id);
    let source = |need: &Need| table.sources.iter().find(|source| source.id == need.source);
    need.and_then(|need| Some(series(table, source(need)?, account, need))).unwrap_or_default()
}

/// Those that tell how full the cache is: the others (a capacity, a count) say nothing of it by themselves.
pub fn telling_series_of(table: &Table, account: &Account, id: &str) -> Vec<String> {
    let Some(need) = table.needs.iter().find(|need| need.id == id) else { return Vec::new() };
    let Some(source) = table.sources.iter().find(|source| source.id == need.source) else { return Vec::new() };
    let only = Need { signals: need.fullness.clone(), ..need.clone() };
    series(table, source, account, &only)
}

/// The series that the source will have for the need's signals in this version and role.
pub(super) fn series(table: &Table, source: &Source, account: &Account, need: &Need) -> Vec<String> {
    if source.format != Format::Prometheus {
        return Vec::new();
    }
    let prefix = table.engine.prefixes.first().map_or("", String::as_str);
    let tells = |signal| need.signals.contains(&signal) || need.fullness.contains(&signal);
    let rows = source.read.iter().filter(|row| tells(row.signal) && offered(row, account));
    // What a store holds is on other tiers than the device's.
    let main = |row: &Read| row.tier.is_none() || table.engine.kind == EngineKind::Store;
    let plain = rows.filter(|row| row.pool.as_deref().is_none_or(|pool| pool == model::FULL) && main(row));
    let mut names: Vec<String> = plain.map(|row| format!("{prefix}{}", row.name)).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The need's series as the build's own source defines them.
pub(super) fn defined<'a>(table: &Table, build: &'a Build, account: &Account, need: &Need) -> Vec<&'a OfferedSeries> {
    let source = table.sources.iter().find(|source| source.id == need.source);
    let Some(source) = source.filter(|source| source.format == Format::Prometheus) else { return Vec::new() };
    let plain = |row: &&Read| row.pool.as_deref().is_none_or(|pool| pool == model::FULL) && row.tier.is_none();
    let rows = source.read.iter().filter(|row| need.signals.contains(&row.signal)).filter(plain);
    // A row of another version is as good where the build has its series; one of another role is not.
    let fits = |row: &&Read| row.when.as_ref().is_none_or(|when| when.holds(|name| account.fact(name)) != Holds::No);
    let mut found: Vec<&OfferedSeries> = Vec::new();
    for series in rows.filter(fits).filter_map(|row| build.offered.of(row)) {
        if !found.contains(&series) {
            found.push(series);
        }
    }
    // Rows of this version, where there are any: older names that are kept beside them tell no more.
    if found.iter().any(|series| series.since_table) {
        found.retain(|series| {
            series.since_table || build.offered.renamed.iter().any(|renamed| renamed.new == series.name)
        });
    }
    found
}

/// Where a build defines these series.
pub(super) fn places(build: &Build, series: &[&OfferedSeries]) -> String {
    let Some(first) = series.first() else { return String::new() };
    let mut text = format!("series by {}, {}:{}", build.said, first.file, first.line);
    if series.len() > 1 {
        text += &format!(" and {} more", series.len() - 1);
    }
    if let Some(flag) = series.iter().find_map(|series| series.with.as_deref()) {
        text += &format!(", with {flag}");
    }
    for renamed in build.offered.renamed.iter().filter(|renamed| series.iter().any(|one| one.name == renamed.new)) {
        text += &format!("; {} is called {} there", renamed.old, renamed.new);
    }
    text
}
