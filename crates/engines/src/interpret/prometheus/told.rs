//! What the labels of a page tell, in one walk that ends as soon as all is known.

use std::ops::ControlFlow;

use wire::exposition::{self, Limits, Sample};

use super::names::{found_name, is_own};
use crate::table::{Source, Table};

/// What stands for a sample's own value in the place of a label.
const VALUE: &str = "value";

/// What a page tells beside its numbers.
pub(in crate::interpret) struct Told {
    /// For each fact of the source, in its order, the first value of its label.
    pub(in crate::interpret) labels: Vec<Option<String>>,
    /// The page has a sample of a series that proves the source on.
    pub(in crate::interpret) own: bool,
}

/// A label on any of the engine's series; `series.label` is one on that series, `series.value` that series' own,
/// `series{a=b}.value` that of the sample with such a label.
struct Asked<'a> {
    series: Option<&'a str>,
    only: Option<(&'a str, &'a str)>,
    label: &'a str,
}

impl Told {
    /// What this page tells to the table's source.
    pub(in crate::interpret) fn of(table: &Table, source: &Source, page: &[u8]) -> Told {
        let asked: Vec<Asked<'_>> = source.facts.keys().map(|text| Asked::of(text)).collect();
        let mut told = Told { labels: vec![None; asked.len()], own: false };
        // What stands nowhere on the page is no reason to walk on.
        let mut open: Vec<usize> = (0..asked.len()).filter(|at| asked[*at].may_be_on(page)).collect();
        let sought = open.clone();
        let wanted = |name: &str| {
            let bare = found_name(table, name);
            sought.iter().any(|at| asked[*at].is_of(bare)) || is_own(table, source, name)
        };
        exposition::scan_until(page, &Limits::whole(), wanted, |sample| {
            let bare = found_name(table, &sample.name);
            told.own = told.own || is_own(table, source, &sample.name);
            open.retain(|at| {
                if asked[*at].is_of(bare) {
                    told.labels[*at] = asked[*at].found(&sample);
                }
                told.labels[*at].is_none()
            });
            if told.own && open.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        told
    }
}

impl<'a> Asked<'a> {
    fn of(text: &'a str) -> Asked<'a> {
        let (series, label) = text.rsplit_once('.').map_or((None, text), |(series, label)| (Some(series), label));
        // `series{label=value}`: only samples with that label.
        match series.and_then(|series| series.strip_suffix('}')?.split_once('{')) {
            Some((series, only)) => Asked { series: Some(series), only: only.split_once('='), label },
            None => Asked { series, only: None, label },
        }
    }

    /// Whether samples of this name without the engine's prefix may tell it; of a name without one that is nothing.
    fn is_of(&self, bare: &str) -> bool {
        self.series.map_or(!bare.is_empty(), |series| series == bare)
    }

    fn is_value(&self) -> bool {
        self.series.is_some() && self.label == VALUE
    }

    /// Whether the label stands anywhere on the page. However a page quotes it, such letters stand for themselves.
    fn may_be_on(&self, page: &[u8]) -> bool {
        let plain = self.label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        !plain || self.is_value() || memchr::memmem::find(page, self.label.as_bytes()).is_some()
    }

    fn found(&self, sample: &Sample<'_>) -> Option<String> {
        if self.only.is_some_and(|(label, value)| sample.labels.get(label).as_deref() != Some(value)) {
            return None;
        }
        let value = || self.is_value().then(|| sample.value.to_string());
        sample.labels.get(self.label).map(std::borrow::Cow::into_owned).or_else(value)
    }
}
