//! The tree of files by which servers of one kind find each other, and the events that a process publishes where the tree
//! says so. Read only where the process is one of this host's own; listened to only where it listens itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engines::table::{Format, Hear, Source, Table, Tree};
use engines::tree::{claims, folders, named, root};
use model::{Answer, Blind, BlindKind, Facts, Observation, Time};
use sense::{Ends, Heard, Keep, Process, Publisher, Wanted};
use serde_json::{Value, json};

use crate::look::Eye;

/// Files of one folder that are looked at.
const FILES: usize = 512;
/// Bytes of one file; longer ones are passed over.
const FILE: usize = 64 << 10;
/// Seconds for which a process is listened to.
const LISTEN_S: f64 = 1.0;
/// The same where something else told how full it is.
const MOMENT_S: f64 = 0.25;
/// Sockets of one process that are listened to.
const SOCKETS: usize = 4;

/// What the tree tells of a process, and what the process publishes: an observation of each source of such a kind.
pub(in crate::look) async fn of(
    eye: &Eye,
    table: &Table,
    home: &Process,
    flags: &Facts,
    told: bool,
) -> Vec<Observation> {
    let Some(tree) = &table.tree else { return Vec::new() };
    let began = eye.place.now();
    let seconds = if told { MOMENT_S } else { LISTEN_S };
    match found(eye, table, tree, home, flags, seconds).await {
        Ok(observations) => observations,
        Err(blind) => {
            let sources = table.sources.iter().filter(|source| source.leaf.is_some());
            sources.map(|source| unseen(eye, source, began, blind.clone())).collect()
        }
    }
}

async fn found(
    eye: &Eye,
    table: &Table,
    tree: &Tree,
    home: &Process,
    flags: &Facts,
    seconds: f64,
) -> Result<Vec<Observation>, Blind> {
    let gone = |why: String| Blind::new(BlindKind::Gone, why);
    if home.container.is_some() {
        return Err(gone(
            "it is in a container, and what servers there find each other by is not looked into".to_owned(),
        ));
    }
    let began = eye.place.now();
    let root = root(table, tree, flags).map_err(gone)?;
    let root = home.cwd.as_ref().map_or_else(|| root.clone(), |folder| folder.join(&root));
    if !root.is_absolute() {
        return Err(gone(format!("{} is no whole path, and from where it goes is not known", root.display())));
    }
    let files = files(eye, table, tree, home, &root).await?;
    let values: Vec<(&str, Value)> = files.iter().map(|file| (file.folder, file.value.clone())).collect();
    let ports: Vec<u16> = home.listening_itself.iter().map(std::net::SocketAddr::port).collect();
    let (name, claims) = claims(table, tree, &values, &ports).map_err(gone)?;
    let mut observations = Vec::new();
    for claim in claims.iter().filter(|claim| claim.source.format == Format::Leaf) {
        let (file, at) = (&files[claim.file], eye.place.now());
        let answer = Answer { status: 200, body: file.bytes.clone(), ..Answer::default() };
        let (get, url) = (claim.source.get.clone(), file.path.display().to_string());
        observations.push(Observation { get, url, at, took: at.since(began), outcome: Ok(answer) });
    }
    let mut heard = Vec::new();
    for source in table.sources.iter().filter(|source| source.leaf.is_some()) {
        let own = claims.iter().filter(|claim| claim.source.id == source.id);
        match (source.format, &source.hear) {
            (Format::Events, Some(hear)) => {
                let doors = own.filter_map(|claim| Publisher::of(home, claim.port?)).take(SOCKETS).collect();
                let known = engines::interpret(table, &observations, &[], flags);
                let ranks = hear.ranks.as_ref().and_then(|fact| known.fact(fact)?.parse().ok());
                let wish = Wish { source, hear, ranks, name: name.as_deref(), seconds };
                heard.push(wish.of(eye, doors).await);
            }
            _ if own.count() == 0 => {
                let why = format!("no file below {} is of pid {}", root.display(), home.pid);
                heard.push(unseen(eye, source, began, gone(why)));
            }
            _ => {}
        }
    }
    observations.extend(heard);
    Ok(observations)
}

/// A file of the tree.
struct File<'a> {
    folder: &'a str,
    path: PathBuf,
    bytes: Vec<u8>,
    value: Value,
}

/// The files of the tree that belong to the process's user. Who else writes there says nothing of it; and since that user
/// chose where the tree is, no link in it is followed out of it, and nothing of others is opened.
async fn files<'a>(
    eye: &Eye,
    table: &'a Table,
    tree: &'a Tree,
    home: &Process,
    root: &Path,
) -> Result<Vec<File<'a>>, Blind> {
    let mut files = Vec::new();
    for folder in folders(table, tree) {
        let whole = root.join(folder);
        let above = Path::new(folder).ancestors().filter(|part| !part.as_os_str().is_empty());
        if eye.place.link_each(above.map(|part| root.join(part)).collect()).await.iter().any(Result::is_ok) {
            return Err(Blind::new(BlindKind::Denied, format!("{} lies behind a link", whole.display())));
        }
        let mut names = match eye.place.list(&whole, FILES).await {
            Ok(listing) => listing.names,
            // One that nobody made yet holds nothing.
            Err(blind) if blind.kind == BlindKind::Gone && !files.is_empty() => continue,
            Err(blind) => return Err(blind),
        };
        names.sort();
        let wanted = |name: &OsString| Wanted::Below { folder: root.to_path_buf(), path: Path::new(folder).join(name) };
        // What lies there, before anything is opened.
        let looked = eye.place.ends_each(names.iter().map(wanted).collect(), 0, 0).await;
        let own = |looked: &Result<Ends, Blind>| {
            looked.as_ref().is_ok_and(|ends| ends.owner == home.uid && ends.size <= FILE as u64)
        };
        names = names.into_iter().zip(&looked).filter(|(_, looked)| own(looked)).map(|(name, _)| name).collect();
        let read = eye.place.ends_each(names.iter().map(wanted).collect(), FILE, 0).await;
        for (name, ends) in names.iter().zip(read).filter(|(_, ends)| own(ends)) {
            let Ok(ends) = ends else { continue };
            if let Ok(value) = serde_json::from_slice(&ends.head) {
                files.push(File { folder, path: whole.join(name), bytes: ends.head, value });
            }
        }
    }
    Ok(files)
}

/// What is to be heard of one server.
struct Wish<'a> {
    source: &'a Source,
    hear: &'a Hear,
    /// How many ranks speak.
    ranks: Option<usize>,
    /// The server's own name.
    name: Option<&'a str>,
    /// For how long it is listened to.
    seconds: f64,
}

impl Wish<'_> {
    async fn of(&self, eye: &Eye, doors: Vec<Publisher>) -> Observation {
        let began = eye.place.now();
        let topic = &self.source.get;
        let Some(first) = doors.first().map(Publisher::url) else {
            let why = format!("no socket of its own is one of those that publish {topic}");
            return unseen(eye, self.source, began, Blind::new(BlindKind::Gone, why));
        };
        let mut heard = Heard::default();
        let patience = Duration::from_secs_f64(self.seconds / doors.len() as f64);
        for door in &doors {
            match eye.listen(door, topic, &self.keep(), patience).await {
                Ok(more) => {
                    heard.took += more.took;
                    heard.events.extend(more.events);
                }
                Err(blind) => return unseen(eye, self.source, began, blind),
            }
        }
        let at = eye.place.now();
        let outcome = self.checked(&heard).map(|()| {
            let root = json!({ "took": heard.took, "ranks": self.ranks, "events": heard.events });
            Answer { status: 200, body: root.to_string().into_bytes(), ..Answer::default() }
        });
        // Waiting for it to speak is no work of the server's.
        let took = (at.since(began) - heard.took).max(0.0);
        Observation { get: topic.clone(), url: first, at, took, outcome }
    }

    fn keep(&self) -> Keep {
        let pointer = |path: &String| format!("/{}", path.replace('.', "/"));
        let apart = self.source.rank.values().chain([&self.hear.id]).map(pointer).collect();
        Keep { has: pointer(&self.hear.has), apart, enough: self.ranks }
    }

    /// All events are of one server, and of the one that the tree names.
    fn checked(&self, heard: &Heard) -> Result<(), Blind> {
        let mut own = heard.events.iter().map(|event| named(event, &self.hear.id));
        let first = self.name.map(str::to_owned).or_else(|| own.clone().next().flatten());
        if own.all(|name| name.is_some() && name == first) {
            return Ok(());
        }
        let why = format!("{} there is not of this server, or of several", self.source.get);
        Err(Blind::new(BlindKind::Gone, why))
    }
}

fn unseen(eye: &Eye, source: &Source, began: Time, blind: Blind) -> Observation {
    let (get, url, at) = (source.get.clone(), source.get.clone(), eye.place.now());
    Observation { get, url, at, took: at.since(began), outcome: Err(blind) }
}
