//! Files that people saved or pasted: metrics pages, answers, logs, and how servers are started. Recognised by content,
//! those of one server joined, and read as a live server is; now is the newest time inside.

mod absent;
mod logs;
mod pieces;
mod read;
mod servers;
mod shape;
mod sizes;
mod starts;
mod times;
mod writers;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use model::{Note, Time};

use self::pieces::Piece;
use super::Eye;
use super::candidate::Looked;
use crate::cli::LookArgs;

/// What files brought.
pub(super) struct Saved {
    pub(super) looked: Vec<Looked>,
    /// The time that counts as now.
    pub(super) now: Time,
    pub(super) notes: Vec<Note>,
}

/// Endings that no host's name has.
const ENDINGS: [&str; 12] =
    ["log", "json", "jsonl", "prom", "txt", "out", "yaml", "yml", "service", "conf", "gz", "zst"];

/// Whether a target is a file: `-`, or a path that is there or can be nothing else.
pub(crate) fn is_file(word: &str) -> bool {
    if word == "-" {
        return true;
    }
    let plain = !word.contains("://") && !word.bytes().all(|byte| byte.is_ascii_digit());
    let ending = word.rsplit('.').next().filter(|ending| ending.len() < word.len());
    let named = ending.is_some_and(|ending| ENDINGS.contains(&ending));
    let path = word.starts_with(['/', '.', '~']) || word.contains('\\') || named;
    plain && (path || std::path::Path::new(word).exists())
}

/// The files among the targets; all of them, or none. The error says what does not go with files.
pub(super) fn files(args: &LookArgs, monitors: &[String]) -> Result<Vec<String>> {
    let (files, addresses): (Vec<String>, Vec<String>) = args.targets.iter().cloned().partition(|word| is_file(word));
    let Some(first) = files.first() else { return Ok(files) };
    if let Some(address) = addresses.first() {
        bail!(
            "{first} is a file and {address} an address: files are read as of the newest time in them, servers as of now, so give one kind at a time"
        );
    }
    let asks = [
        ("--prometheus", !monitors.is_empty()),
        ("--targets-file", args.access.targets_file.is_some()),
        ("--log", !args.log.is_empty()),
    ];
    if let Some((flag, _)) = asks.into_iter().find(|(_, given)| *given) {
        bail!("{flag} is for servers that are asked, and {first} is a file");
    }
    Ok(files)
}

/// Answers, logs and commands that are held against each other.
const MOST_PIECES: usize = 256;

/// Reads files. Those of no known kind are said with what they look like; where there are no others, that is the error.
pub(super) async fn look(eye: &Eye, files: &[String]) -> Result<Saved> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut notes = Vec::new();
    let mut written: Option<Time> = None;
    let mut seen = BTreeSet::new();
    let mut known = BTreeSet::new();
    let (mut unknown, mut passed) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| seen.insert(*file)) {
        let content = match read::content(eye, file).await {
            Ok(content) => content,
            // Whoever gives all that is in a folder gives the folders in it, too.
            Err(error) if error.is::<read::Folder>() => {
                passed.push(crate::wrong_usage(error));
                continue;
            }
            Err(error) => return Err(error),
        };
        // Given twice, or by two names, it is still one file.
        if content.identity.is_some_and(|identity| !known.insert(identity)) {
            continue;
        }
        written =
            [written, content.written].into_iter().flatten().max_by(|one: &Time, other| one.0.total_cmp(&other.0));
        match pieces::of(eye, &content) {
            Ok((found, remarks)) => {
                pieces.extend(found);
                notes.extend(remarks);
            }
            Err(error) => unknown.push((content, error)),
        }
    }
    logs::place(eye, &mut pieces);
    for (content, error) in unknown {
        match pieces::beside(eye, &content, &pieces) {
            Some(piece) => pieces.push(piece),
            None if pieces.is_empty() => return Err(error),
            None => notes.push(Note::new("file-unknown", pieces::in_short(&error))),
        }
    }
    for error in passed {
        if pieces.is_empty() {
            return Err(error);
        }
        notes.push(Note::new("file-unknown", format!("{error:#}")));
    }
    if pieces.len() > MOST_PIECES {
        let text = format!(
            "these files hold {} answers, logs and commands; only the first {MOST_PIECES} were read",
            pieces.len()
        );
        notes.push(Note::new("cut", text));
        pieces.truncate(MOST_PIECES);
    }
    logs::compare(eye, &mut pieces);
    sizes::compare(eye, &mut pieces);
    let now = times::settle(&mut pieces, written);
    notes.extend(now.notes);
    let servers = servers::join(pieces).into_iter();
    let looked: Vec<Looked> = servers.map(|server| servers::understood(eye, server, now.time)).collect();
    notes.extend(absent::notes(&looked));
    Ok(Saved { looked, now: now.time, notes })
}
