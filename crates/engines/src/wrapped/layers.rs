//! The wrappers around a page: mostly one; two where a collector has read another wrapper's page.

use std::borrow::Cow;

use model::{Note, Passed};
use wire::exposition::{Limits, Sample, scan};

use super::names::{Meant, Names, Word};
use crate::Tables;
use crate::table::Wrapper;

/// The wrappers around a page, those first of which names on it are.
pub(super) struct Layers<'t>(Vec<&'t Wrapper>);

/// How the samples of one server say whose they are.
pub(super) struct Whose {
    /// The values of the labels that tell it.
    pub(super) key: String,
    /// The first of each wrapper with its label's name: enough to name the server, where no other is called so.
    pub(super) shown: String,
    /// All of them with their labels' names.
    pub(super) whole: String,
    /// The address is none, or one that every host has: who scraped it says whose it is.
    pub(super) local: bool,
}

/// Who scraped a sample, by the labels that tell it.
pub(super) type Copied<'t> = Vec<(&'t str, String)>;

impl<'t> Layers<'t> {
    /// Those around a page; none where it is an engine's own.
    pub(super) fn around(tables: &'t Tables, names: &Names<'_>, body: &[u8]) -> Option<Layers<'t>> {
        let wrappers = &tables.wrappers().wrapper;
        let mut needed: Vec<usize> = Vec::new();
        let (mut samples, mut told) = (0, vec![0; wrappers.len()]);
        scan(
            body,
            &Limits::whole(),
            |name| names.know(name),
            |sample| {
                let Some(word) = names.get(&sample.name) else { return };
                let tells = |wrapper: &Wrapper| wrapper.told_by.iter().any(|label| said(word, &sample, label));
                if let Some(by) = word.by {
                    if !needed.contains(&by) && (is_plain(word) || tells(&wrappers[by])) {
                        needed.push(by);
                    }
                    if !is_plain(word) && !tells(&wrappers[by]) {
                        return;
                    }
                }
                samples += 1;
                for (count, wrapper) in told.iter_mut().zip(wrappers) {
                    *count += usize::from(tells(wrapper));
                }
            },
        );
        let mut layers: Vec<&Wrapper> = needed.iter().map(|by| &wrappers[*by]).collect();
        for (count, wrapper) in told.into_iter().zip(wrappers) {
            // A label on some samples is the engine's own; one that another wrapper adds as well tells nothing more.
            let explained = |label: &String| layers.iter().any(|layer| layer.own.contains(label));
            if count == samples && samples > 0 && !wrapper.told_by.iter().any(explained) {
                layers.push(wrapper);
            }
        }
        // Where labels tell more, nothing is left to be said of a name that merely stands in front.
        if layers.len() > 1 {
            layers.retain(|layer| !layer.before_colon);
        }
        (!layers.is_empty()).then_some(Layers(layers))
    }

    /// What it is called.
    pub(super) fn title(&self) -> String {
        self.0.iter().map(|layer| layer.title.as_str()).collect::<Vec<_>>().join(", behind ")
    }

    /// The wrapper that tells what it thinks of servers.
    pub(super) fn opinion(&self) -> Option<&'t Wrapper> {
        self.0.iter().copied().find(|layer| layer.opinion)
    }

    /// Whether counters of servers that have gone stay on the page.
    pub(super) fn counters_stay(&self) -> bool {
        self.0.iter().any(|layer| layer.counters_stay)
    }

    /// Whether a sample counts: of names that stand for themselves always, of others beside a label that tells the wrapper.
    pub(super) fn count(&self, word: &Word<'_>, sample: &Sample<'_>) -> bool {
        let told = |layer: &&Wrapper| layer.told_by.iter().any(|label| said(word, sample, label));
        is_plain(word) || self.0.iter().any(told)
    }

    /// Whose a sample is; none where it has none of the labels that tell it.
    pub(super) fn whose(&self, sample: &Sample<'_>) -> Option<Whose> {
        let said = |label: &'t String| {
            let value = sample.labels.get(label)?;
            (!value.is_empty()).then_some((label.as_str(), value))
        };
        let mut parts: Vec<(&str, Cow<'_, str>)> = Vec::new();
        for layer in &self.0 {
            let first = layer.server.iter().find_map(said);
            parts.extend(first.filter(|(label, _)| !parts.iter().any(|(known, _)| known == label)));
        }
        let named = parts.len();
        for part in self.0.iter().flat_map(|layer| &layer.beside).filter_map(said) {
            if !parts.iter().any(|(known, _)| *known == part.0) {
                parts.push(part);
            }
        }
        let copied = self.0.iter().any(|layer| !layer.copies.is_empty());
        let local = copied && (named == 0 || parts.iter().any(|(_, value)| is_of_every_host(value)));
        let words = |parts: &[(&str, Cow<'_, str>)]| {
            let words = parts.iter().map(|(label, value)| format!("{label}={}", model::text::printable(value)));
            words.collect::<Vec<_>>().join(",")
        };
        let whole = words(&parts);
        let shown = if named == 0 { whole.clone() } else { words(&parts[..named]) };
        // With its label: the same word may be a pod in one place and a namespace in another.
        let key = parts.iter().map(|(label, value)| format!("{label}\0{value}")).collect::<Vec<_>>().join("\0");
        (!parts.is_empty()).then_some(Whose { key, shown, whole, local })
    }

    /// Who scraped a sample, by the labels that tell it; empty where none does.
    pub(super) fn copy(&self, sample: &Sample<'_>) -> Copied<'t> {
        let labels = self.0.iter().flat_map(|layer| &layer.copies);
        labels.filter_map(|label| Some((label.as_str(), sample.labels.get(label)?.into_owned()))).collect()
    }

    /// The engine that a sample names.
    pub(super) fn engine(&self, sample: &Sample<'_>) -> Option<&'t str> {
        let labels = self.0.iter().filter_map(|layer| layer.engine.as_ref());
        let mut said = labels.filter_map(|engine| engine.is.get(sample.labels.get(&engine.label)?.as_ref()));
        said.next().map(String::as_str)
    }

    /// Whether a label is the wrappers' and not the engine's.
    pub(super) fn own(&self, label: &str) -> bool {
        self.0.iter().any(|layer| layer.own.iter().any(|own| own == label))
    }

    /// Who passes the page on, and how much older than it its numbers may be.
    pub(super) fn passed(&self) -> Passed {
        let lags = self.0.iter().map(|layer| layer.lag()).filter(|lag| !lag.is_empty());
        Passed { by: self.title(), lag: lags.collect::<Vec<_>>().join("; ") }
    }

    /// What is to be said of everything that is read from a server's part of the page; `copied`: who scraped it, too.
    pub(super) fn note(&self, copied: Option<&str>) -> Note {
        let notes: Vec<&str> = self.0.iter().map(|layer| layer.note.as_str()).chain(copied).collect();
        Note::new("wrapped", format!("read from a page of {}: {}", self.title(), notes.join("; ")))
    }
}

/// Whether an address means the host itself, whichever that is.
fn is_of_every_host(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or(rest);
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => rest.split_once(':').filter(|(_, port)| !port.contains(':')).map_or(rest, |(host, _)| host),
    };
    let ip = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Whether a name needs no label beside it.
fn is_plain(word: &Word<'_>) -> bool {
    match &word.meant {
        Meant::Series(_) => true,
        Meant::Alias(alias) => alias.name.contains(':'),
    }
}

/// Whether a sample has a label that its engine's table does not read itself.
fn said(word: &Word<'_>, sample: &Sample<'_>, label: &str) -> bool {
    let read = || match &word.meant {
        Meant::Series(series) => series.reads(label),
        Meant::Alias(_) => false,
    };
    sample.labels.get(label).is_some() && !read()
}
