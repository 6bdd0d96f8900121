//! The log that the speed of walking backwards is measured on, and the walks.

use std::fmt::Write;
use std::hint::black_box;

use wire::log::{Anchors, line, newest_first, pairs};

/// Bytes of the log.
const SIZE: usize = 256 << 20;
/// One line in so many is relevant.
const ONE_IN: usize = 1000;

/// What makes a line relevant: as many words as an engine's table of wordings has.
pub const WORDS: [&str; 12] = [
    "Prefill batch",
    "Decode batch",
    "KV cache pool is full",
    "Decode out of memory happened",
    "KV Cache is allocated",
    "max_total_num_tokens=",
    "pool leak detected",
    "memory leak detected",
    "Memory pool end",
    "#running-req: ",
    "server_args=",
    "out of memory",
];

/// An access log's lines, with a scheduler's between them.
pub fn made() -> String {
    let mut log = String::with_capacity(SIZE + 512);
    for count in 0.. {
        let (second, request) = (count / 97 % 60, count * 7919 % 60_000);
        write!(log, "[2026-11-29 16:{:02}:{second:02}", count / 5820 % 60).expect("a String takes everything");
        if count % ONE_IN == ONE_IN / 2 {
            write!(
                log,
                " TP0] Decode batch, #running-req: 6, #token: {request}, token usage: 0.76, cpu graph: False, \
                 gen throughput (token/s): 2557.24, #queue-req: 0"
            )
        } else {
            write!(log, "] INFO:     127.0.0.1:{request} - \"POST /v1/chat/completions HTTP/1.1\" 200 OK")
        }
        .expect("a String takes everything");
        log.push('\n');
        if log.len() >= SIZE {
            break;
        }
    }
    log
}

/// Ours: the newest `most` relevant lines, as they stand.
pub fn wire_newest(log: &[u8], anchors: &Anchors, most: usize) -> usize {
    newest_first(log, anchors, true).take(most).map(black_box).count()
}

/// Ours: the same, with what stands around taken off and all pairs read.
pub fn wire_read(log: &[u8], anchors: &Anchors, most: usize) -> usize {
    let read = |raw| {
        let line = line(raw, &[("DP", "dp"), ("TP", "tp"), ("PP", "pp")]);
        black_box(pairs(&line.message).map(|pair| pair.value).sum::<f64>());
        black_box(line);
    };
    newest_first(log, anchors, true).take(most).map(|(_, raw)| read(raw)).count()
}

/// The floor: where lines end, by memchr, backwards, without a look at them.
pub fn line_ends(log: &[u8], most: usize) -> usize {
    memchr::memrchr_iter(b'\n', log).take(most).map(black_box).count()
}

/// The plain way: lines by memchr, backwards, each asked for each word by the standard library.
pub fn contains(log: &str, most: usize) -> usize {
    let mut end = log.len();
    let ends = memchr::memrchr_iter(b'\n', log.as_bytes()).map(Some).chain([None]);
    let lines = ends.map(|feed| {
        let start = feed.map_or(0, |at| at + 1);
        let line = &log[start..end];
        end = feed.unwrap_or(0);
        line
    });
    lines.filter(|line| WORDS.iter().any(|word| line.contains(word))).take(most).map(black_box).count()
}

/// The plain way with the searcher of `memchr` for each word.
pub fn finders(log: &[u8], most: usize) -> usize {
    let finders = WORDS.map(memchr::memmem::Finder::new);
    let mut end = log.len();
    let ends = memchr::memrchr_iter(b'\n', log).map(Some).chain([None]);
    let lines = ends.map(|feed| {
        let start = feed.map_or(0, |at| at + 1);
        let line = &log[start..end];
        end = feed.unwrap_or(0);
        line
    });
    lines.filter(|line| finders.iter().any(|word| word.find(line).is_some())).take(most).map(black_box).count()
}
