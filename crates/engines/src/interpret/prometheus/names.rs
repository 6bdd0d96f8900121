//! What a page is and whose its series are.

use std::ops::ControlFlow;

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
    let wanted = |name: &str| {
        !found_name(table, name).is_empty()
            && (names.is_empty() || names.iter().any(|wanted| wanted == found_name(table, name)))
    };
    holds(page, wanted)
}

fn holds(page: &[u8], wanted: impl FnMut(&str) -> bool) -> bool {
    let mut found = false;
    exposition::scan_until(page, &Limits::whole(), wanted, |_| {
        found = true;
        ControlFlow::Break(())
    });
    found
}

/// Whether the page holds a sample of a series that proves the source on: one with a prefix of its own.
pub(crate) fn holds_own(table: &Table, source: &Source, page: &[u8]) -> bool {
    holds(page, |name| is_own(table, source, name))
}

/// Whether the page declares such a family, whether or not it has a sample.
pub(crate) fn declares_own(table: &Table, source: &Source, page: &[u8]) -> bool {
    exposition::metadata(page, &Limits::whole()).any(|declared| is_own(table, source, &declared.name))
}

pub(super) fn is_own(table: &Table, source: &Source, name: &str) -> bool {
    let prefixes = if source.own.is_empty() { &table.engine.prefixes } else { &source.own };
    prefixes.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix.as_str()))
}

/// Names of rows that are declared on a page, in its order.
#[derive(Default)]
pub(super) struct Declared<'r> {
    /// The row that is called as the family, and the one that is called as its counter.
    rows: Vec<[Option<&'r str>; 2]>,
    /// The last name that was heard, as a counter.
    counter: String,
}

/// What the name of a counter ends with, which that of its family may lack.
const COUNTER: &str = "_total";

impl<'r> Declared<'r> {
    /// One more declaration, by its name without the engine's prefix; `row` knows the names of rows.
    pub(super) fn hear(&mut self, name: &str, row: impl Fn(&str) -> Option<&'r str>) {
        // A family is mostly declared in several lines.
        if self.counter.strip_suffix(COUNTER) == Some(name) {
            return;
        }
        self.counter.clear();
        self.counter.push_str(name);
        self.counter.push_str(COUNTER);
        let rows = [row(name), row(&self.counter)];
        if rows != [None, None] {
            self.rows.push(rows);
        }
    }

    /// Those that are silent: declared ones, and that of a last line without an end, where that was not read. Each once,
    /// however often the page has it, and the cut one as that.
    pub(super) fn unsaid(self, cut: Option<&'r str>, silent: impl Fn(&str) -> bool) -> Vec<(&'r str, Silence)> {
        let cut = cut.filter(|name| silent(name));
        let mut found: Vec<(&str, Silence)> = Vec::new();
        for rows in self.rows {
            let name = rows.into_iter().flatten().find(|name| silent(name));
            let Some(name) = name.filter(|name| cut != Some(*name)) else { continue };
            if found.iter().all(|(known, _)| *known != name) {
                found.push((name, Silence::Declared));
            }
        }
        found.extend(cut.map(|name| (name, Silence::Cut)));
        found
    }
}

/// The name on a last line that has no end, and was therefore not read.
pub(super) fn cut_name<'a>(table: &Table, page: &'a [u8], summary: &exposition::Summary) -> Option<&'a str> {
    summary.first_bad.iter().find(|bad| bad.reason == exposition::Reason::Unterminated)?;
    let last = page.rsplit(|byte| *byte == b'\n').next()?.trim_ascii_start();
    let end = last.iter().position(|byte| matches!(byte, b'{' | b' ' | b'\t')).unwrap_or(last.len());
    std::str::from_utf8(&last[..end]).ok().map(|name| found_name(table, name))
}

/// The name with the engine's prefix taken off, or nothing.
pub(super) fn found_name<'a>(table: &Table, name: &'a str) -> &'a str {
    table.engine.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str())).unwrap_or_default()
}
