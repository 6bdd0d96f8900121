//! What a file is, by its content.

use anyhow::{Result, anyhow};
use engines::table::Table;
use engines::{Whereabouts, saved};
use model::{Facts, Log, Note, Passed, Time};
use wire::launch::{self, Looks};
use wire::transcript::{self, Part};

use super::read::Content;
use super::sizes::{Bounds, capacity};
use super::{logs, shape, starts, times};
use crate::look::wrapped::not_read;
use crate::look::{Eye, replay};

/// What one file, or one command or answer in it, tells of one server.
pub(super) struct Piece {
    /// The file.
    pub(super) name: String,
    /// On a page of several servers: the one that it is of. In a log of several programs: the one that wrote it.
    pub(super) worker: Option<String>,
    /// The engine.
    pub(super) engine: String,
    /// What it is.
    pub(super) matter: Matter,
    /// What it says of the server: its port, its role.
    pub(super) facts: Facts,
    /// The least and the most that the pool of a rank may hold by it, tokens.
    pub(super) capacity: Option<Bounds>,
    /// The same, read by what is known from the other files of its engine.
    pub(super) informed: Option<Bounds>,
}

pub(super) enum Matter {
    /// An answer.
    Answer(Answer),
    /// A log.
    Log(Written),
    /// How it is started.
    Start { place: Box<Whereabouts>, notes: Vec<Note> },
}

/// A log that was saved.
pub(super) struct Written {
    pub(super) log: Log,
    /// Its newest and its oldest time.
    pub(super) span: Option<(Time, Time)>,
    /// Its times say their zone; looked at only where there are others to compare with.
    pub(super) zoned: bool,
    /// Its times do not compare with now.
    pub(super) apart: bool,
    /// Engines that print the same lines are beside it, so that it may be of any of their servers.
    pub(super) unsure: bool,
}

/// An answer that was saved.
pub(super) struct Answer {
    /// The path that it answers.
    pub(super) get: String,
    /// What was answered.
    pub(super) body: Vec<u8>,
    /// The line of the file on which that begins.
    pub(super) first_line: u32,
    /// When, as far as the file says it.
    pub(super) at: Option<Time>,
    /// Who gave it, where that was not the server itself.
    pub(super) passed: Option<Passed>,
    /// What is to be said of it.
    pub(super) notes: Vec<Note>,
}

/// The pieces of a file. The error says what it looks like.
pub(super) fn of(eye: &Eye, content: &Content) -> Result<(Vec<Piece>, Vec<Note>)> {
    if replay::is_capture(content.beginning()) {
        let text = format!(
            "{0} is a capture that plimsoll made: see what it holds with `plimsoll status --capture {0}`",
            content.name
        );
        return Err(crate::wrong_usage(anyhow!(text)));
    }
    if let Some(shape) = shape::no_text(content.beginning()) {
        return Err(refused(content, shape));
    }
    let Some(whole) = content.whole() else {
        let (logs, cut) = logs::pieces(eye, content, None);
        if logs.is_empty() {
            return Err(refused(content, "a long file with no line of a log that is known here"));
        }
        return Ok((logs, cut.into_iter().collect()));
    };
    let plain = transcript::unquoted(whole);
    let Answers { found, notes, refused: why } = answers(eye, content, &plain);
    if !found.is_empty() {
        return Ok((found, notes));
    }
    if let Some(why) = why {
        return Err(crate::wrong_usage(anyhow!("{}: {why}", content.name)));
    }
    let inner = transcript::unfenced(&plain);
    let text = String::from_utf8_lossy(&inner);
    let looks = launch::looks_like(&text);
    match looks {
        Looks::Unit => return starts::pieces(eye, content, launch::unit(&text)),
        Looks::Compose | Looks::Kubernetes => return starts::pieces(eye, content, launch::yaml(&text)),
        Looks::Shell | Looks::Dump | Looks::No => {}
    }
    let (logs, cut) = logs::pieces(eye, content, Some(&plain));
    if !logs.is_empty() {
        return Ok((logs, cut.into_iter().collect()));
    }
    match looks {
        Looks::Shell => starts::pieces(eye, content, launch::shell(&text)),
        Looks::Dump => starts::dump(eye, content, &text),
        _ => Err(refused(content, &shape::of(&plain))),
    }
}

/// The piece that a file of no known kind is beside others of one engine: an answer so small that it names none.
pub(super) fn beside(eye: &Eye, content: &Content, others: &[Piece]) -> Option<Piece> {
    let first = others.first().filter(|first| others.iter().all(|other| other.engine == first.engine))?;
    let table = eye.tables.get(&first.engine)?;
    let plain = transcript::unquoted(content.whole()?);
    let part = transcript::parts(&plain).into_iter().next()?;
    let get = saved::small_answer(table, &part.body)?;
    Some(answer(eye, content, &part, (table, get)))
}

/// What a text holds of answers.
#[derive(Default)]
struct Answers {
    found: Vec<Piece>,
    notes: Vec<Note>,
    /// It is a page that no server's word stands on, and this says why.
    refused: Option<String>,
}

/// The answers in a text: the whole of it, or what commands in it printed.
fn answers(eye: &Eye, content: &Content, text: &[u8]) -> Answers {
    let mut all = Answers::default();
    for part in transcript::parts(text) {
        let Some(apart) = engines::apart(&eye.tables, &part.body) else {
            let of = |part: &Part<'_>| Some(answer(eye, content, part, saved::answer(&eye.tables, &part.body)?));
            all.found.extend(of(&part).or_else(|| of(&part.json()?)));
            continue;
        };
        if apart.pages.is_empty() {
            all.refused = apart.notes.first().map(|note| note.text.clone());
        }
        let remarks = apart.notes.iter().map(|note| Note::new(note.id, format!("{}: {}", content.name, note.text)));
        all.notes.extend(remarks.chain(left_out(&content.name, &apart)));
        for page in apart.pages {
            let Some(known) = saved::part(&eye.tables, &page) else { continue };
            let first_line = part.first_line.saturating_add(page.first_line - 1);
            let own = Part { first_line, body: page.body.into(), date: part.date.clone() };
            let mut piece = answer(eye, content, &own, known);
            if let Matter::Answer(answer) = &mut piece.matter {
                answer.passed = page.passed;
                answer.notes.splice(0..0, page.note);
            }
            all.found.push(Piece { worker: page.server, ..piece });
        }
    }
    all
}

/// What of a page that several servers share is read for none of them.
fn left_out(name: &str, page: &engines::Apart) -> Vec<Note> {
    let read = page.pages.len();
    let workers = (page.servers > read && read > 0)
        .then(|| format!("{name}: it names {} servers; only {read} of them were read", page.servers));
    let unnamed = (page.unnamed > 0)
        .then(|| format!("{name}: {} of its samples name no server, and were read for none", page.unnamed));
    workers.into_iter().chain(unnamed).map(|text| Note::new("cut", text)).collect()
}

fn answer(eye: &Eye, content: &Content, part: &Part<'_>, (table, get): (&Table, &str)) -> Piece {
    let dated = part.date.as_deref().and_then(times::of_header);
    let others = not_read(eye, table, &part.body);
    let notes = others.map(|text| Note::new("cut", format!("{}: {text}", content.name))).into_iter().collect();
    let answer = Answer {
        get: get.to_owned(),
        body: part.body.to_vec(),
        first_line: part.first_line,
        at: saved::said_at(table, get, &part.body).or(dated),
        passed: None,
        notes,
    };
    let observation = answer.observed(&content.name, sense::clock::now());
    let account = engines::interpret(table, &[observation], &[], &Facts::new());
    let engine = table.engine.name.clone();
    let (name, capacity) = (content.name.clone(), capacity(&account));
    Piece {
        name,
        worker: None,
        engine,
        matter: Matter::Answer(answer),
        facts: account.facts,
        capacity,
        informed: capacity,
    }
}

impl Answer {
    /// The answer as if it had been asked for at `now`, where it does not say when it was given.
    pub(super) fn observed(&self, name: &str, now: Time) -> model::Observation {
        let answer = model::Answer {
            status: 200,
            body: self.body.clone(),
            first_line: Some(self.first_line),
            passed: self.passed.clone(),
            ..model::Answer::default()
        };
        model::Observation {
            get: self.get.clone(),
            url: name.to_owned(),
            at: self.at.unwrap_or(now),
            took: 0.0,
            outcome: Ok(answer),
        }
    }
}

/// The error about a file of no known kind.
pub(super) fn refused(content: &Content, looks: &str) -> anyhow::Error {
    crate::wrong_usage(anyhow!("{}{KINDS}: it looks like {looks}", content.name))
}

/// What files may be.
const KINDS: &str =
    " is no metrics page, answer, log, unit, compose file, manifest or command of a server that is known here";

/// That error in as many words as do beside files that are known.
pub(super) fn in_short(error: &anyhow::Error) -> String {
    format!("{error:#}").replace(KINDS, " was not read")
}
