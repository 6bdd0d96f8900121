//! A page that holds the series of several servers, or one server's under other names, becomes one page a server. Numbers of
//! two servers must never meet, and every line keeps its number, so that where a number stands stays true.

use std::collections::{BTreeMap, BTreeSet};

use model::text::printable;
use model::{Note, Passed};
use wire::exposition::{Limits, Sample, scan};

use crate::Tables;
use crate::interpret::looks_wrong;

/// Servers of which the lines are told apart on one page.
pub(crate) const MOST_SERVERS: usize = 256;
/// Bytes of the pages of all servers together: their lines may stand far apart, and each keeps its place.
const MOST_BYTES: usize = 64 << 20;

/// A page, taken apart.
#[derive(Debug, Clone, Default)]
pub struct Apart {
    /// The servers' pages; none where what is on it is no server's word, which a note says.
    pub pages: Vec<Page>,
    /// How many servers have lines on it; more than there are pages where limits cut some off.
    pub servers: usize,
    /// Samples that name no server, where others do: of none of them.
    pub unnamed: usize,
    /// Remarks about the page as a whole.
    pub notes: Vec<Note>,
    /// What served it in the engines' place; a router passes pages on as they are, and is none.
    pub wrapper: Option<String>,
    /// An engine gave it itself: what it serves several of has a cache each.
    pub several: bool,
}

/// The lines of one server, and between them as many empty ones as there are of others.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The server, as the page names it; none on a page of one server that it does not name.
    pub server: Option<String>,
    /// The engine, where one alone has all series on it that are known.
    pub engine: Option<String>,
    /// The number of its first line on the page, from 1.
    pub first_line: u32,
    /// Its lines.
    pub body: Vec<u8>,
    /// Who passes it on, where that may make it older or leave things out.
    pub passed: Option<Passed>,
    /// What is to be said of everything that is read from it.
    pub note: Option<Note>,
}

/// Takes a page apart; `None` for one that a single engine gave itself.
pub fn apart(tables: &Tables, body: &[u8]) -> Option<Apart> {
    // Most pages are an engine's own, and given up after one search for a few dozen texts.
    if !tables.hints().are_in(body) || looks_wrong(body).is_some() {
        return None;
    }
    relayed(tables, body).or_else(|| wrapped(tables, body)).or_else(|| several(tables, body, &mut Room::default()))
}

/// Takes apart a page that something else serves; what stands there of one server may be several, too. There is room for as
/// many in all as on one page.
fn wrapped(tables: &Tables, body: &[u8]) -> Option<Apart> {
    let apart = crate::wrapped::unwrap(tables, body)?;
    let (mut room, mut pages, mut unnamed) = (Room::default(), Vec::new(), apart.unnamed);
    // Those that limits cut off already are not taken apart: each is one, at least.
    let mut servers = apart.servers.saturating_sub(apart.pages.len());
    for page in apart.pages {
        let Some(several) = several(tables, &page.body, &mut room) else {
            servers += 1;
            if room.take_server() {
                pages.push(page);
            }
            continue;
        };
        servers += several.servers;
        unnamed += several.unnamed;
        pages.extend(several.pages.into_iter().map(|part| within(&page, part)));
    }
    Some(Apart { pages, servers, unnamed, ..apart })
}

/// One of several that stand on a server's part of a page.
fn within(page: &Page, part: Page) -> Page {
    let named = |text: &String| page.server.as_ref().map_or(text.clone(), |server| format!("{server},{text}"));
    let notes: Vec<&str> = [&page.note, &part.note].into_iter().flatten().map(|note| note.text.as_str()).collect();
    Page {
        server: part.server.as_ref().map(named),
        first_line: page.first_line.saturating_add(part.first_line - 1),
        passed: page.passed.clone(),
        note: Some(Note::new("wrapped", notes.join("; "))),
        ..part
    }
}

/// Takes apart a page on which an engine tells of several that it serves, each with a cache of its own.
fn several(tables: &Tables, body: &[u8], room: &mut Room) -> Option<Apart> {
    let sources = tables.iter().flat_map(|table| table.sources.iter().map(move |source| (table, source)));
    sources.filter(|(_, source)| !source.servers.is_empty()).find_map(|(table, source)| {
        let own = |name: &str| table.engine.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()));
        let key = |sample: &Sample<'_>| {
            let said = |label: &String| Some(format!("{label}={}", printable(&sample.labels.get(label)?)));
            source.servers.iter().filter_map(said).collect::<Vec<_>>().join(",")
        };
        let (mut keys, mut unnamed) = (BTreeSet::new(), 0);
        scan(body, &Limits::whole(), own, |sample| {
            let key = key(&sample);
            if key.is_empty() {
                unnamed += 1;
            } else if !keys.contains(&key) {
                keys.insert(key);
            }
        });
        let servers = keys.len();
        if servers < 2 {
            return None;
        }
        let lines: Vec<&[u8]> = body.split_inclusive(|byte| *byte == b'\n').collect();
        let mut pages = Pages::within(*room);
        scan(body, &Limits::whole(), own, |sample| {
            let key = key(&sample);
            if !key.is_empty() {
                let line = lines.get(sample.line as usize - 1).copied().unwrap_or_default();
                pages.line(&key, sample.line, line);
            }
        });
        *room = pages.room;
        let text = format!("one of {servers} on the page of {}: each has a cache of its own", table.engine.title);
        let page = |(server, page): (String, Page)| Page {
            server: Some(server),
            engine: Some(table.engine.name.clone()),
            note: Some(Note::new("one-of-several", text.clone())),
            ..page
        };
        let pages = pages.finished().map(page).collect();
        Some(Apart { pages, servers, unnamed, several: true, ..Apart::default() })
    })
}

/// Takes apart a page on which a router passes on its workers' own pages.
fn relayed(tables: &Tables, body: &[u8]) -> Option<Apart> {
    let sources = tables.iter().flat_map(|table| &table.sources);
    let mut labels: Vec<&str> = sources.filter_map(|source| source.relay.as_deref()).collect();
    labels.dedup();
    let lines: Vec<&[u8]> = body.split_inclusive(|byte| *byte == b'\n').collect();
    let (mut pages, mut unnamed) = (Pages::default(), 0);
    scan(
        body,
        &Limits::whole(),
        |_| true,
        |sample| match labels.iter().find_map(|label| sample.labels.get(label)) {
            Some(worker) => {
                let line = lines.get(sample.line as usize - 1).copied().unwrap_or_default();
                pages.line(&worker, sample.line, line);
            }
            None => unnamed += 1,
        },
    );
    let servers = pages.servers();
    let page = |(worker, page): (String, Page)| Page { server: Some(printable(&worker)), ..page };
    let pages = pages.finished().map(page).collect();
    (servers > 0).then_some(Apart { pages, servers, unnamed, ..Apart::default() })
}

/// What is left for pages that are taken apart.
#[derive(Debug, Clone, Copy)]
struct Room {
    servers: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { servers: MOST_SERVERS, bytes: MOST_BYTES }
    }
}

impl Room {
    /// Takes the place of one server; whether there was one.
    fn take_server(&mut self) -> bool {
        let there = self.servers > 0;
        self.servers -= usize::from(there);
        there
    }
}

/// Pages that grow line by line.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    by: BTreeMap<String, Growing>,
    /// What is left for all of them.
    room: Room,
}

#[derive(Debug, Default)]
struct Growing {
    page: Page,
    /// The number of the line behind its last one.
    next: u32,
    /// It needs too much room, or there were too many others before.
    cut: bool,
}

impl Pages {
    /// Pages for which so much room is left.
    fn within(room: Room) -> Pages {
        Pages { by: BTreeMap::new(), room }
    }

    /// One more line of a server, with its end; numbers ascend.
    pub(crate) fn line(&mut self, server: &str, number: u32, line: &[u8]) {
        if !self.by.contains_key(server) {
            let cut = !self.room.take_server();
            let page = Page { first_line: number, ..Page::default() };
            self.by.insert(server.to_owned(), Growing { page, next: number, cut });
        }
        let Some(own) = self.by.get_mut(server).filter(|own| !own.cut) else { return };
        let between = number.saturating_sub(own.next) as usize;
        if between + line.len() > self.room.bytes {
            self.room.bytes += own.page.body.len();
            *own = Growing { cut: true, ..Growing::default() };
            return;
        }
        self.room.bytes -= between + line.len();
        own.page.body.resize(own.page.body.len() + between, b'\n');
        own.page.body.extend_from_slice(line);
        own.next = number.saturating_add(1);
    }

    /// How many servers have lines.
    pub(crate) fn servers(&self) -> usize {
        self.by.len()
    }

    /// The whole pages, by server.
    pub(crate) fn finished(self) -> impl Iterator<Item = (String, Page)> {
        self.by.into_iter().filter(|(_, own)| !own.cut).map(|(server, own)| (server, own.page))
    }
}
