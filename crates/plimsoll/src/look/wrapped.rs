//! A target that serves other servers' pages: a cluster's agent, a collector, a time-series store. One page of it may be
//! several servers; nothing else is asked of it, as nothing else there is theirs. And a server whose own page tells of
//! several that have a cache each.

use std::collections::BTreeMap;

use engines::table::{Source, Table};
use engines::{Apart, Page, saved};
use model::{Account, Answer, Note, Observation};
use sense::Target;

use super::candidate::{Candidate, Looked};
use super::{Eye, ask, named};

/// A page on which servers stand that it names.
pub(super) struct Shared {
    target: Target,
    observation: Observation,
    apart: Apart,
}

/// Takes the page apart that a target gave. That of one server which it does not name takes its place; of servers that it
/// names, and of none, it is given back. A process that is known serves its own page.
pub(super) fn read(
    eye: &Eye,
    candidate: &mut Candidate,
    target: &Target,
    observation: &mut Observation,
) -> Option<Shared> {
    let answer = observation.outcome.as_mut().ok().filter(|answer| answer.status == 200)?;
    let alone = candidate.process.is_none();
    let theirs = |apart: &Apart| apart.several || apart.wrapper.is_some() && alone;
    let apart = engines::apart(&eye.tables, &answer.body).filter(theirs)?;
    if let [page @ Page { server: None, body, passed, note, .. }] = apart.pages.as_slice() {
        // Its lines are those of the page, which may begin further down.
        (answer.body, answer.passed) = (body.clone(), passed.clone());
        candidate.notes.extend(note.iter().chain(&apart.notes).cloned());
        let others = saved::part(&eye.tables, page).and_then(|(table, _)| not_read(eye, table, body));
        candidate.notes.extend(others.map(|text| Note::new("cut", format!("GET {}: {text}", observation.get))));
        return None;
    }
    Some(Shared { target: target.clone(), observation: observation.clone(), apart })
}

/// What is to be said where series of other engines stand on a page that is read as this one's.
pub(super) fn not_read(eye: &Eye, table: &Table, body: &[u8]) -> Option<String> {
    let others = saved::others(&eye.tables, table, body);
    (!others.is_empty()).then(|| format!("series of {} stand in it, too, and were not read", others.join(" and ")))
}

/// Takes a page of a known engine apart that tells of several.
pub(super) fn several(
    eye: &Eye,
    table: &Table,
    candidate: &mut Candidate,
    observations: &mut [Observation],
) -> Option<Shared> {
    let of_several: Vec<&Source> = table.sources.iter().filter(|source| !source.servers.is_empty()).collect();
    of_several.into_iter().find_map(|source| {
        let target = candidate.ports.get(&source.on)?.clone();
        let seen = observations.iter_mut().find(|seen| ask::is_of(seen, &target, &source.get))?;
        read(eye, candidate, &target, seen).filter(|shared| shared.apart.several)
    })
}

impl Shared {
    /// The servers on the page; where there is none, the target with `unknown`, and why.
    pub(super) fn told(self, eye: &Eye, candidate: Candidate, unknown: impl FnOnce() -> Account) -> Vec<Looked> {
        let Shared { target, observation, apart } = self;
        let mut notes = apart.notes;
        if apart.servers > apart.pages.len() && !apart.pages.is_empty() {
            let text = format!("{} servers stand on the page; only {} were read", apart.servers, apart.pages.len());
            notes.push(Note::new("cut", text));
        }
        if apart.unnamed > 0 {
            let text = format!("{} samples of the page name no server, and were read for none", apart.unnamed);
            notes.push(Note::new("cut", text));
        }
        if apart.pages.len() > 1 && !candidate.logs.is_empty() {
            let text = "a log that was given could be that of any server on the page: it was not read";
            notes.push(Note::new("log-unplaced", text));
        }
        let alone = apart.pages.len() == 1;
        let own = |page| one(eye, &candidate, &target, &observation, page, alone);
        let mut looked: Vec<Looked> = apart.pages.into_iter().filter_map(own).collect();
        if looked.is_empty() {
            looked.push(Looked::of(candidate, unknown()));
        }
        // What is to be said of the page is said once.
        looked[0].account.notes.extend(notes);
        looked
    }
}

/// One server of a page.
fn one(
    eye: &Eye,
    candidate: &Candidate,
    target: &Target,
    seen: &Observation,
    page: Page,
    alone: bool,
) -> Option<Looked> {
    let (table, get) = saved::part(&eye.tables, &page)?;
    let others = not_read(eye, table, &page.body).map(|text| Note::new("cut", format!("GET {}: {text}", seen.get)));
    let open_ended = seen.outcome.as_ref().is_ok_and(|answer| answer.open_ended);
    let answer = Answer { status: 200, body: page.body, passed: page.passed, open_ended, ..Answer::default() };
    let mut observation = Observation { get: get.to_owned(), outcome: Ok(answer), ..seen.clone() };
    let logs = if alone { candidate.logs.as_slice() } else { &[] };
    let mut account = engines::interpret(table, std::slice::from_ref(&observation), logs, &candidate.flags);
    account.notes.extend(candidate.notes.iter().cloned().chain(page.note).chain(others));
    // Workers that it names are addresses on another host than that of the page.
    named::settle(&mut account);
    ask::forget(&mut observation);
    let on = table.sources.iter().find(|source| source.get == get).map(|source| source.on.clone());
    let candidate = Candidate {
        engine: Some(table.engine.name.clone()),
        ports: BTreeMap::from([(on.unwrap_or_default(), target.clone())]),
        unsorted: Vec::new(),
        part: page.server,
        ..candidate.clone()
    };
    Some(Looked { observations: vec![observation], ..Looked::of(candidate, account) })
}
