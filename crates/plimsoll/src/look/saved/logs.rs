//! Logs that were saved or pasted.

use std::collections::BTreeSet;

use engines::saved;
use model::{Facts, Log, LogClock, Note, Stretch, Time};

use super::pieces::{Matter, Piece, Written};
use super::read::Content;
use super::sizes::capacity;
use super::writers;
use crate::look::Eye;

/// Bytes up to which a log may have been pasted, and its lines broken.
const PASTED: usize = 256 << 10;
/// Programs of which the lines in one file are told apart.
const MOST_WRITERS: usize = 16;
/// Bytes of a log's end that tell whose it is.
const END: usize = 64 << 10;
/// 2100 in seconds: a log from a clock that runs ahead of ours is read as of then.
const FAR: Time = Time(4_102_444_800.0);

/// The logs that a file is, one for each that wrote it; `plain` is all of it, freed of quotation marks, where all was read.
pub(super) fn pieces(eye: &Eye, content: &Content, plain: Option<&[u8]>) -> (Vec<Piece>, Option<Note>) {
    let mut stretches = match plain {
        Some(plain) => vec![whole(plain.to_vec())],
        None => content.stretches.clone(),
    };
    if let Some(last) = stretches.last_mut() {
        without_cut_number(&mut last.bytes);
    }
    let anchors = eye.tables.anchors();
    let all = writers::of(&stretches, &anchors);
    if all.len() < 2 {
        if let Some(first) = stretches.first_mut().filter(|first| plain.is_some() && first.bytes.len() <= PASTED) {
            first.bytes = mended(eye, &first.bytes);
        }
        return (piece(eye, content, stretches).into_iter().collect(), None);
    }
    let cut = (all.len() > MOST_WRITERS).then(|| {
        let text =
            format!("{}: {} programs wrote it; only the first {MOST_WRITERS} were read", content.name, all.len());
        Note::new("cut", text)
    });
    let own = |writer: &Vec<u8>| {
        let piece = piece(eye, content, writers::lines(&stretches, writer))?;
        Some(Piece { worker: Some(writers::name(writer)), ..piece })
    };
    (all.iter().take(MOST_WRITERS).filter_map(own).collect(), cut)
}

/// Takes off a number that ends where the file does: its last digits may not have been written yet, or not been copied.
fn without_cut_number(bytes: &mut Vec<u8>) {
    while bytes.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
        bytes.pop();
    }
}

fn piece(eye: &Eye, content: &Content, stretches: Vec<Stretch>) -> Option<Piece> {
    let mut log = Log {
        name: content.name.clone(),
        at: sense::clock::now(),
        took: 0.0,
        since: None,
        clock: LogClock::Unknown,
        written: None,
        outcome: Ok(Vec::new()),
    };
    // Its end tells most often whose log it is, and what is now.
    log.outcome = Ok(stretches.last().map(end).into_iter().collect());
    let end = saved::written(&eye.tables, &log).filter(|end| end.lines > 0 && !end.ahead && end.span.is_some());
    log.outcome = Ok(stretches);
    let known = match end {
        Some(end) => end,
        None => in_all(eye, &mut log)?,
    };
    if let Some((newest, _)) = known.span {
        log.at = newest;
    }
    Some(Piece {
        name: content.name.clone(),
        worker: None,
        engine: known.table.engine.name.clone(),
        matter: Matter::Log(Written { log, span: known.span, zoned: false, apart: false, unsure: false }),
        facts: known.facts,
        capacity: None,
        informed: None,
    })
}

/// What a log says, all of it looked through; `None` where it has no line that is known.
fn in_all<'a>(eye: &'a Eye, log: &mut Log) -> Option<saved::Written<'a>> {
    let mut known = saved::written(&eye.tables, log)?;
    // What lies ahead of us is passed over when it is read as of now; nothing says that the writer's clock is ours.
    if known.ahead {
        let later = Log { at: FAR, ..log.clone() };
        if let Some(more) = saved::written(&eye.tables, &later).filter(|more| more.lines > known.lines) {
            (known, *log) = (more, later);
        }
    }
    (known.lines > 0).then_some(known)
}

/// The last lines of a stretch.
fn end(stretch: &Stretch) -> Stretch {
    let from = stretch.bytes.len().saturating_sub(END);
    Stretch { bytes: stretch.bytes[from..].to_vec(), ..Stretch::default() }
}

/// Puts each log to the engine whose other files are beside it, of those that may have written it: the lines of a fork are
/// those of the original. Where files of several are, it is of neither.
pub(super) fn place(eye: &Eye, pieces: &mut [Piece]) {
    let others = pieces.iter().filter(|piece| !matches!(piece.matter, Matter::Log(_)));
    let beside: BTreeSet<String> = others.map(|piece| piece.engine.clone()).collect();
    if beside.is_empty() {
        return;
    }
    for piece in pieces {
        let Matter::Log(own) = &mut piece.matter else { continue };
        let known = saved::writers(&eye.tables, &own.log);
        let mut fitting = known.iter().filter(|written| beside.contains(&written.table.engine.name));
        if let Some(first) = fitting.next() {
            piece.engine.clone_from(&first.table.engine.name);
        }
        own.unsure = fitting.next().is_some();
    }
}

/// Learns of each log what tells it from what the other files say: its facts, the size of its pool, and whether its times
/// say their zone.
pub(super) fn compare(eye: &Eye, pieces: &mut [Piece]) {
    // What stands alone need not be looked through once more.
    if pieces.len() < 2 {
        return;
    }
    let said = pieces.iter().filter(|piece| !matches!(piece.matter, Matter::Start { .. })).count();
    for piece in pieces {
        let (Matter::Log(own), Some(table)) = (&mut piece.matter, eye.tables.get(&piece.engine)) else { continue };
        if let Some(known) = saved::written_by(table, &own.log).filter(|known| known.lines > 0) {
            (own.span, piece.facts) = (known.span, known.facts);
        }
        if said > 1 {
            own.zoned = own.span.is_some_and(|span| saved::is_zoned(table, &own.log, span));
            let account = engines::interpret(table, &[], std::slice::from_ref(&own.log), &Facts::new());
            piece.capacity = capacity(&account);
            piece.informed = piece.capacity;
        }
    }
}

fn whole(bytes: Vec<u8>) -> Stretch {
    Stretch { bytes, first_line: Some(1), from_start: true, name: None }
}

/// A log that was pasted, those of its lines that a terminal broke made whole; empty lines keep the others' numbers.
fn mended(eye: &Eye, plain: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(plain);
    let anchors = eye.tables.anchors();
    let begins = |line: &str| anchors.are_in(line.as_bytes()) || eye.tables.begins(line);
    let lines = wire::log::unwrap_pasted(&text, &anchors, begins);
    if lines.len() >= text.lines().count() {
        return plain.to_vec();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 1;
    for (number, line) in &lines {
        while at < *number {
            out.push('\n');
            at += 1;
        }
        out.push_str(line);
    }
    out.push('\n');
    out.into_bytes()
}
