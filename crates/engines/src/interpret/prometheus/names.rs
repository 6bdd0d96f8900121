//! What a page is and whose its series are.

use wire::exposition::{self, Limits};

use crate::table::Table;

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
