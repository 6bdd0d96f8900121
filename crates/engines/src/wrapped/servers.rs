//! The servers on a wrapper's page, and what each has there.

use std::collections::{BTreeMap, BTreeSet};

use model::Note;
use model::text::printable;
use wire::exposition::{Limits, Sample, scan};

use super::layers::Layers;
use super::names::{Meant, Names, Word};
use crate::apart::MOST_SERVERS;
use crate::table::Alias;

/// Servers, or copies of one, that a note names.
const NAMED: usize = 5;
/// Copies of one server that are told apart; of more the first are looked at.
const MOST_COPIES: usize = 16;

/// The servers on a page.
pub(super) struct Servers<'n> {
    /// By what tells them; those that nothing tells are under the empty text.
    by: BTreeMap<String, Server<'n>>,
    /// Samples that nothing tells.
    unnamed: usize,
    /// Servers beyond the cap.
    more: BTreeSet<String>,
}

/// One of them.
#[derive(Default)]
pub(super) struct Server<'n> {
    /// The labels that tell it.
    pub(super) shown: Option<String>,
    /// All of them.
    whole: String,
    /// What each of those who scraped it has of it; the first is the one that is read.
    copies: Vec<Copy<'n>>,
    /// Engines that have such series.
    engines: BTreeSet<&'n str>,
    /// Engines that all its aliases may be of.
    by_alias: Option<BTreeSet<&'n str>>,
    /// It has a series that goes up and down.
    gauge: bool,
    /// It has gone: nothing but counters is left of it.
    pub(super) gone: bool,
}

/// What one of those who scraped a server has of it.
#[derive(Default)]
struct Copy<'n> {
    /// The labels that tell who.
    by: String,
    /// Names, without prefix, of series that stand there themselves.
    has: BTreeSet<&'n str>,
    /// The newest time that stands there, in milliseconds.
    newest: Option<i64>,
}

impl<'n> Servers<'n> {
    /// Those on a page.
    pub(super) fn on(names: &'n Names<'_>, layers: &Layers<'_>, body: &[u8]) -> Servers<'n> {
        let mut servers = Servers { by: BTreeMap::new(), unnamed: 0, more: BTreeSet::new() };
        scan(
            body,
            &Limits::whole(),
            |name| names.know(name),
            |sample| {
                let word = names.get(&sample.name).filter(|word| layers.count(word, &sample));
                if let Some(word) = word {
                    servers.heard(word, layers, &sample);
                }
            },
        );
        let mut called: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for server in servers.by.values() {
            *called.entry(server.shown.clone()).or_default() += 1;
        }
        for server in servers.by.values_mut() {
            server.gone = layers.counters_stay() && !server.gauge;
            if called.get(&server.shown).is_some_and(|several| *several > 1) {
                server.shown = server.shown.is_some().then(|| server.whole.clone());
            }
            server.copies.sort_by_key(|copy| std::cmp::Reverse((copy.has.len(), copy.newest)));
        }
        servers
    }

    fn heard(&mut self, word: &'n Word<'_>, layers: &Layers<'_>, sample: &Sample<'_>) {
        let told = layers.whose(sample);
        self.unnamed += usize::from(told.is_none());
        let (key, named, whole) =
            told.map_or_else(Default::default, |known| (known.key, Some(known.shown), known.whole));
        if self.by.len() >= MOST_SERVERS && !self.by.contains_key(&key) {
            self.more.insert(key);
            return;
        }
        let server = self.by.entry(key).or_insert_with(|| Server { shown: named, whole, ..Server::default() });
        let Some(copy) = server.copy(layers.copy(sample)) else { return };
        copy.newest = copy.newest.max(sample.timestamp_ms);
        if let Meant::Series(series) = &word.meant {
            copy.has.insert(&series.bare);
        }
        match &word.meant {
            Meant::Series(series) => {
                server.engines.extend(series.tables.iter().map(|table| table.engine.name.as_str()));
                server.gauge |= series.gauge;
            }
            Meant::Alias(alias) => {
                let engines = alias.engines.keys().map(String::as_str).collect();
                server.by_alias = Some(match server.by_alias.take() {
                    Some(known) => known.intersection(&engines).copied().collect(),
                    None => engines,
                });
                server.gauge = true;
            }
        }
    }

    /// The server that a sample is of; none where it is of none, of one that has gone, or of a copy that is not read.
    pub(super) fn of(&self, layers: &Layers<'_>, sample: &Sample<'_>) -> Option<(String, &Server<'n>)> {
        let key = layers.whose(sample).map(|whose| whose.key).unwrap_or_default();
        let server = self.by.get(&key).filter(|server| !server.gone)?;
        let read = server.copies.first().is_some_and(|copy| copy.by == layers.copy(sample));
        (read && (!key.is_empty() || self.is_one())).then_some((key, server))
    }

    /// The server that is known so.
    pub(super) fn get(&self, key: &str) -> Option<&Server<'n>> {
        self.by.get(key)
    }

    /// Whether nothing on the page tells servers: then it is one.
    fn is_one(&self) -> bool {
        self.by.len() == 1
    }

    /// How many there are that have not gone.
    pub(super) fn count(&self) -> usize {
        let there = self.by.iter().filter(|(key, server)| !server.gone && (self.is_one() || !key.is_empty()));
        there.count() + self.more.len()
    }

    /// Samples that are of none of them.
    pub(super) fn unnamed(&self) -> usize {
        if self.is_one() { 0 } else { self.unnamed }
    }

    /// What is to be said of the page as a whole.
    pub(super) fn notes(&self, layers: &Layers<'_>) -> Option<Note> {
        let gone: Vec<&str> =
            self.by.values().filter(|server| server.gone).filter_map(|server| server.shown.as_deref()).collect();
        let more = if gone.len() > NAMED { ", …" } else { "" };
        let first = gone.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let text = format!(
            "of {first}{more} only counters are left on the page of {}: a server that has gone is not shown",
            layers.title()
        );
        (!gone.is_empty()).then(|| Note::new("gone", text))
    }
}

impl<'n> Server<'n> {
    /// What the one who is told by these labels has of it; none of more than are told apart.
    fn copy(&mut self, by: String) -> Option<&mut Copy<'n>> {
        if let Some(at) = self.copies.iter().position(|copy| copy.by == by) {
            return self.copies.get_mut(at);
        }
        if self.copies.len() >= MOST_COPIES {
            return None;
        }
        self.copies.push(Copy { by, ..Copy::default() });
        self.copies.last_mut()
    }

    /// That others scraped it, too, where they did.
    pub(super) fn copied(&self) -> Option<String> {
        let (read, others) = self.copies.split_first().filter(|(_, others)| !others.is_empty())?;
        let more = if others.len() > NAMED { ", …" } else { "" };
        let by = |copy: &Copy<'_>| match copy.by.as_str() {
            "" => "that without labels of who scraped it".to_owned(),
            by => format!("that of {}", printable(by)),
        };
        let left: Vec<String> = others.iter().take(NAMED).map(by).collect();
        let copies = self.copies.len();
        Some(format!(
            "{copies} copies of this server stand there: {} was read, not {}{more}",
            by(read),
            left.join(", ")
        ))
    }

    /// The engine whose series an alias is, where no label says it: the one that fits all that is known of the server.
    pub(super) fn engine<'a>(&self, alias: &'a Alias) -> Option<&'a str> {
        let known = if self.engines.is_empty() { self.by_alias.as_ref()? } else { &self.engines };
        let mut fitting = alias.engines.keys().map(String::as_str).filter(|engine| known.contains(engine));
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// The engine, where one alone has any of its series.
    pub(super) fn sole_engine(&self) -> Option<String> {
        self.engines.first().filter(|_| self.engines.len() == 1).map(|engine| (*engine).to_owned())
    }

    /// Whether a series stands there itself, so that a copy of it is not needed.
    pub(super) fn has(&self, bare: &str) -> bool {
        self.copies.first().is_some_and(|copy| copy.has.contains(bare))
    }
}
