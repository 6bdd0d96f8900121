//! The servers on a wrapper's page, and what each has there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::Note;
use wire::exposition::{Limits, Sample, scan};

use super::copies::{self, Copy, Group};
use super::layers::{Copied, Layers, Whose};
use super::names::{Names, Word};
use crate::apart::MOST_SERVERS;
use crate::table::Alias;

/// Servers, or copies of one, that a note names.
const NAMED: usize = 5;

/// The servers on a page.
pub(super) struct Servers<'t, 'n> {
    /// By what tells them; one that nothing tells is under the empty text.
    by: BTreeMap<String, Server<'t, 'n>>,
    /// By what tells an address and who scraped it: the server that is read there.
    read: HashMap<String, HashMap<Copied<'t>, String>>,
    /// Samples that are of none of them.
    unnamed: usize,
    /// Servers beyond the cap.
    more: usize,
    /// Addresses under which several stand that differ only in who scraped them.
    parted: Vec<String>,
}

/// One of them.
pub(super) struct Server<'t, 'n> {
    /// The labels that tell it.
    pub(super) shown: Option<String>,
    /// All of them.
    whole: String,
    /// What each of those who scraped it has of it; the first is the one that is read.
    copies: Group<'t, 'n>,
    /// It has gone: nothing but counters is left of it.
    pub(super) gone: bool,
}

/// What stands under one address.
struct Found<'t, 'n> {
    whose: Option<Whose>,
    copies: BTreeMap<Copied<'t>, Copy<'n>>,
}

/// Everything under the labels that tell servers, as it is gathered.
#[derive(Default)]
struct Gathered<'t, 'n> {
    by: BTreeMap<String, Found<'t, 'n>>,
    unnamed: usize,
    more: BTreeSet<String>,
}

impl<'t, 'n> Servers<'t, 'n> {
    /// Those on a page.
    pub(super) fn on(names: &'n Names<'_>, layers: &Layers<'t>, body: &[u8]) -> Servers<'t, 'n> {
        let mut all = Gathered::default();
        each(names, layers, body, |word, sample| all.heard(word, layers, sample));
        let compared = |found: &Found<'_, '_>| found.copies.len() > 1 && !found.is_local();
        if all.by.values().any(compared) {
            each(names, layers, body, |word, sample| {
                let key = layers.whose(sample).map(|whose| whose.key).unwrap_or_default();
                let found = all.by.get_mut(&key).filter(|found| compared(found));
                if let Some(copy) = found.and_then(|found| found.copies.get_mut(&layers.copy(sample))) {
                    copy.told.heard(word, layers, sample);
                }
            });
        }
        // What no label tells is a server only where it is the only one.
        let unnamed = if all.by.len() == 1 { 0 } else { all.unnamed };
        if all.by.len() > 1 {
            all.by.remove("");
        }
        let more = all.more.len();
        let mut servers = Servers { by: BTreeMap::new(), read: HashMap::new(), unnamed, more, parted: Vec::new() };
        for (key, found) in all.by {
            servers.add(layers, &key, found);
        }
        let mut called: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for server in servers.by.values() {
            *called.entry(server.shown.clone()).or_default() += 1;
        }
        for server in servers.by.values_mut() {
            if called.get(&server.shown).is_some_and(|several| *several > 1) {
                server.shown = server.shown.is_some().then(|| server.whole.clone());
            }
        }
        servers
    }

    /// What stands under one address, as one server or several.
    fn add(&mut self, layers: &Layers<'t>, key: &str, found: Found<'t, 'n>) {
        let local = found.is_local();
        let copies: Group<'t, 'n> = found.copies.into_iter().collect();
        let (groups, left) =
            if local { (copies.into_iter().map(|copy| vec![copy]).collect(), 0) } else { copies::groups(copies) };
        self.more += left;
        let several = groups.len() > 1;
        let (shown, whole) = found.whose.map_or((None, String::new()), |whose| (Some(whose.shown), whose.whole));
        if several {
            self.parted.push(shown.clone().unwrap_or_else(|| "no address".to_owned()));
        }
        let differing = copies::differing(&groups);
        for (group, differing) in groups.into_iter().zip(differing) {
            let Some((by, copy)) = group.first() else { continue };
            let named = |front: &str| {
                [front, &differing].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
            };
            let (mut own, mut shown, mut whole) = (key.to_owned(), shown.clone(), whole.clone());
            if several {
                own = format!("{key}\0\0{by:?}");
                (shown, whole) = (Some(named(shown.as_deref().unwrap_or_default())), named(&whole));
            }
            self.read.entry(key.to_owned()).or_default().insert(by.clone(), own.clone());
            let gone = layers.counters_stay() && !copy.gauge;
            self.by.insert(own, Server { shown, whole, gone, copies: group });
        }
    }

    /// The server that a sample is of; none where it is of none, of one that has gone, or of a copy that is not read.
    pub(super) fn of(&self, layers: &Layers<'t>, sample: &Sample<'_>) -> Option<(&str, &Server<'t, 'n>)> {
        let key = layers.whose(sample).map(|whose| whose.key).unwrap_or_default();
        let own = self.read.get(&key)?.get(&layers.copy(sample))?;
        let server = self.by.get(own).filter(|server| !server.gone)?;
        Some((own, server))
    }

    /// The server that is known so.
    pub(super) fn get(&self, key: &str) -> Option<&Server<'t, 'n>> {
        self.by.get(key)
    }

    /// How many there are that have not gone.
    pub(super) fn count(&self) -> usize {
        self.by.values().filter(|server| !server.gone).count() + self.more
    }

    /// Samples that are of none of them.
    pub(super) fn unnamed(&self) -> usize {
        self.unnamed
    }

    /// What is to be said of the page as a whole.
    pub(super) fn notes(&self, layers: &Layers<'_>) -> Vec<Note> {
        let gone: Vec<&str> =
            self.by.values().filter(|server| server.gone).filter_map(|server| server.shown.as_deref()).collect();
        let mut notes = Vec::new();
        if !gone.is_empty() {
            let text = format!(
                "of {} only counters are left on the page of {}: a server that has gone is not shown",
                first(&gone),
                layers.title()
            );
            notes.push(Note::new("gone", text));
        }
        if !self.parted.is_empty() {
            let parted: Vec<&str> = self.parted.iter().map(String::as_str).collect();
            let text = format!(
                "several stand under {} that differ only in who scraped them, and nothing shows that they are copies of one server: each is taken for a server of its own",
                first(&parted)
            );
            notes.push(Note::new("wrapped", text));
        }
        notes
    }
}

impl<'t, 'n> Gathered<'t, 'n> {
    fn heard(&mut self, word: &'n Word<'_>, layers: &Layers<'t>, sample: &Sample<'_>) {
        let whose = layers.whose(sample);
        self.unnamed += usize::from(whose.is_none());
        let key = whose.as_ref().map(|whose| whose.key.clone()).unwrap_or_default();
        if self.by.len() >= MOST_SERVERS && !self.by.contains_key(&key) {
            self.more.insert(key);
            return;
        }
        let found = self.by.entry(key).or_insert_with(|| Found { whose, copies: BTreeMap::new() });
        found.copies.entry(layers.copy(sample)).or_default().heard(word, sample.timestamp_ms);
    }
}

impl Found<'_, '_> {
    /// Who scraped it says whose it is.
    fn is_local(&self) -> bool {
        self.whose.as_ref().is_none_or(|whose| whose.local)
    }
}

impl<'n> Server<'_, 'n> {
    fn read(&self) -> Option<&Copy<'n>> {
        self.copies.first().map(|(_, copy)| copy)
    }

    /// That others scraped it, too, where they did.
    pub(super) fn copied(&self) -> Option<String> {
        let ((read, _), others) = self.copies.split_first().filter(|(_, others)| !others.is_empty())?;
        let left: Vec<String> = others.iter().take(NAMED + 1).map(|(by, _)| copies::called(by)).collect();
        let left: Vec<&str> = left.iter().map(String::as_str).collect();
        let (copies, read) = (self.copies.len(), copies::called(read));
        Some(format!("{copies} copies of this server stand there: {read} was read, not {}", first(&left)))
    }

    /// The engine whose series an alias is, where no label says it: the one that fits all that is known of the server.
    pub(super) fn engine<'a>(&self, alias: &'a Alias) -> Option<&'a str> {
        let read = self.read()?;
        let known = if read.engines.is_empty() { read.by_alias.as_ref()? } else { &read.engines };
        let mut fitting = alias.engines.keys().map(String::as_str).filter(|engine| known.contains(engine));
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// The engine, where one alone has any of its series.
    pub(super) fn sole_engine(&self) -> Option<String> {
        let engines = &self.read()?.engines;
        engines.first().filter(|_| engines.len() == 1).map(|engine| (*engine).to_owned())
    }

    /// Whether a series stands there itself, so that a copy of it is not needed.
    pub(super) fn has(&self, bare: &str) -> bool {
        self.read().is_some_and(|copy| copy.has.contains(bare))
    }
}

/// Calls `heard` for each sample that counts.
fn each<'n>(names: &'n Names<'_>, layers: &Layers<'_>, body: &[u8], mut heard: impl FnMut(&'n Word<'_>, &Sample<'_>)) {
    let known = |name: &str| names.know(name);
    scan(body, &Limits::whole(), known, |sample| {
        if let Some(word) = names.get(&sample.name).filter(|word| layers.count(word, &sample)) {
            heard(word, &sample);
        }
    });
}

/// The first few of them.
fn first(all: &[&str]) -> String {
    let more = if all.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", all.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "))
}
