//! What a page is and whose its series are.

use std::collections::BTreeSet;

use model::Silence;
use wire::exposition::{self, Limits};

use crate::table::{Source, Table};

/// Why a body is not Prometheus text, if it is not.
pub(crate) fn looks_wrong(body: &[u8]) -> Option<&'static str> {
    match exposition::looks_like(body) {
        exposition::Kind::Exposition => None,
        exposition::Kind::Html => Some("with HTML (a proxy or a login page?)"),
        exposition::Kind::Json => Some("with JSON, not with Prometheus text"),
        exposition::Kind::Empty => Some("with an empty body"),
        exposition::Kind::Binary => Some("with bytes that are no text"),
        exposition::Kind::Text => Some("with text that is no Prometheus text"),
    }
}

/// Whether the page holds a series with one of the engine's prefixes (and, if any are given, one of these names).
pub(crate) fn holds_series(table: &Table, page: &[u8], names: &[String]) -> bool {
    let mut found = false;
    let wanted = |name: &str| {
        !found_name(table, name).is_empty()
            && (names.is_empty() || names.iter().any(|wanted| wanted == found_name(table, name)))
    };
    exposition::scan(page, &Limits::whole(), wanted, |_| found = true);
    found
}

/// Whether the page holds a sample of a series that proves the source on: one with a prefix of its own.
pub(crate) fn holds_own(table: &Table, source: &Source, page: &[u8]) -> bool {
    let mut found = false;
    exposition::scan(page, &Limits::whole(), |name| is_own(table, source, name), |_| found = true);
    found
}

/// Whether the page declares such a family, whether or not it has a sample.
pub(crate) fn declares_own(table: &Table, source: &Source, page: &[u8]) -> bool {
    exposition::metadata(page, &Limits::whole()).any(|declared| is_own(table, source, &declared.name))
}

fn is_own(table: &Table, source: &Source, name: &str) -> bool {
    let prefixes = if source.own.is_empty() { &table.engine.prefixes } else { &source.own };
    prefixes.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix.as_str()))
}

/// Of `names`, those that stand on the page and have no sample that could be read: declared ones, and that of a last line
/// without an end, where that was not read. Each once, however often the page has it, and the cut one as that.
pub(super) fn unsaid(
    table: &Table,
    page: &[u8],
    summary: &exposition::Summary,
    wanted: impl Fn(&str) -> bool,
) -> Vec<(String, Silence)> {
    let cut = cut_name(table, page, summary).filter(|name| wanted(name));
    let mut known: BTreeSet<String> = cut.iter().map(|name| (*name).to_owned()).collect();
    let mut found = Vec::new();
    for declared in exposition::metadata(page, &Limits::whole()) {
        let name = found_name(table, &declared.name);
        // The family of a counter may be called without its ending.
        let of_counter = format!("{name}_total");
        let name = [name, &of_counter].into_iter().find(|name| wanted(name));
        if let Some(name) = name.filter(|name| !known.contains(*name)) {
            known.insert(name.to_owned());
            found.push((name.to_owned(), Silence::Declared));
        }
    }
    found.extend(cut.map(|name| (name.to_owned(), Silence::Cut)));
    found
}

/// The name on a last line that has no end, and was therefore not read.
fn cut_name<'a>(table: &Table, page: &'a [u8], summary: &exposition::Summary) -> Option<&'a str> {
    summary.first_bad.iter().find(|bad| bad.reason == exposition::Reason::Unterminated)?;
    let last = page.rsplit(|byte| *byte == b'\n').next()?.trim_ascii_start();
    let end = last.iter().position(|byte| matches!(byte, b'{' | b' ' | b'\t')).unwrap_or(last.len());
    std::str::from_utf8(&last[..end]).ok().map(|name| found_name(table, name))
}

/// What stands for a sample's own value in the place of a label.
const VALUE: &str = "value";

/// The first value of a label on any of the engine's series; `series.label` is one on that series, `series.value` that
/// series' own, `series{a=b}.value` that of the sample with such a label.
pub(crate) fn label(table: &Table, page: &[u8], label: &str) -> Option<String> {
    let (series, label) = label.rsplit_once('.').map_or((None, label), |(series, label)| (Some(series), label));
    // `series{label=value}`: only samples with that label.
    let (series, only) = match series.and_then(|series| series.strip_suffix('}')?.split_once('{')) {
        Some((series, only)) => (Some(series), only.split_once('=')),
        None => (series, None),
    };
    let mut found = None;
    exposition::scan(
        page,
        &Limits::whole(),
        |name| series.map_or_else(|| !found_name(table, name).is_empty(), |series| found_name(table, name) == series),
        |sample| {
            let other = only.is_some_and(|(label, value)| sample.labels.get(label).as_deref() != Some(value));
            if found.is_none() && !other {
                let value = || (series.is_some() && label == VALUE).then(|| sample.value.to_string());
                found = sample.labels.get(label).map(std::borrow::Cow::into_owned).or_else(value);
            }
        },
    );
    found
}

/// The name with the engine's prefix taken off, or nothing.
pub(super) fn found_name<'a>(table: &Table, name: &'a str) -> &'a str {
    table.engine.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str())).unwrap_or_default()
}
