//! Files whose checksums are right and whose contents are not: nothing panics, nothing goes on for ever, and what is allocated stays
//! in proportion. The frames are put together here after docs/history.md. `PLIMSOLL_KILLS=1000` tries 4000 files; `.ci/full` does.
#![allow(clippy::print_stdout, reason = "a test's own output")]

mod support;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ledger::{Event, Ledger, Options, Query, Sample, Thinning};
use support::{BEGIN, Dice, Given, give, key, open, small, tidy};

fn options() -> Options {
    let thin = vec![Thinning { after_ms: 60_000, step_ms: 4000 }];
    Options { thin, segment_ms: 40_000, ..small() }
}

fn write(folder: &Path) {
    let mut ledger = open(folder, options());
    for index in 0..400i64 {
        let time = BEGIN + index * 1000;
        let samples = vec![
            (key("a"), Sample::Value((index * index % 97) as f64)),
            (key("b"), Sample::Value((index * index % 97 + index) as f64)),
            (key("c"), if index % 3 == 0 { Sample::Stale(0.5) } else { Sample::Value(index as f64 / 7.0) }),
            (key("d"), Sample::NotReported),
        ];
        give(&mut ledger, &Given { target: format!("t{}", index % 2), time, samples }).expect("a look");
        if index % 20 == 0 {
            let text = format!("number {index}");
            let event = Event { time, target: "t0".into(), kind: "restart".into(), text, value: Some(1.0) };
            ledger.event(event).expect("an event");
        }
        if index < 390 {
            tidy(&mut ledger, time);
        }
    }
    ledger.sync().expect("synced");
}

/// Kind, head and body of each frame.
fn frames(bytes: &[u8]) -> Vec<(u8, Vec<u8>, Vec<u8>)> {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some((fixed, more)) = rest.split_at_checked(20) {
        let head = usize::from(u16::from_le_bytes([fixed[6], fixed[7]]));
        let body = u32::from_le_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]) as usize;
        frames.push((fixed[4], more[..head].to_vec(), more[head..head + body].to_vec()));
        rest = &more[head + body..];
    }
    frames
}

fn joined(frames: &[(u8, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for (kind, head, body) in frames {
        let at = bytes.len() as u64;
        let mut fixed = [b"\xB7LDG".as_slice(), &[*kind, 0]].concat();
        fixed.extend((head.len() as u16).to_le_bytes());
        fixed.extend((body.len() as u32).to_le_bytes());
        fixed.extend(crc32fast::hash(body).to_le_bytes());
        let sum = crc32fast::hash(&[&at.to_le_bytes(), &fixed[..], head].concat());
        fixed.extend(sum.to_le_bytes());
        bytes.extend([&fixed, &head[..], body].concat());
    }
    bytes
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Changes some bytes, or takes or adds some.
fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len() as u64 + 1) as usize;
        // Numbers that say much or nothing are likelier than others.
        let byte = [0, 1, 0x7F, 0x80, 0xFF, dice.below(256) as u8][dice.below(6) as usize];
        match dice.below(8) {
            0 => bytes.insert(at, byte),
            1 => bytes.truncate(at),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|there| *there = byte),
        }
    }
}

/// Spoils what is deflated at the front of a body, where something is.
fn spoil_table(body: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let mut rest = body;
    let length = varint(&mut rest)?;
    let small = usize::try_from(varint(&mut rest)?).ok()?;
    let (small, rest) = rest.split_at_checked(small)?;
    let mut table = Vec::new();
    flate2::read::DeflateDecoder::new(small).take(1 << 20).read_to_end(&mut table).ok()?;
    if table.len() as u64 != length {
        return None;
    }
    spoil(&mut table, dice);
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(&table).ok()?;
    let small = deflate.finish().ok()?;
    let mut out = Vec::new();
    put_varint(&mut out, table.len() as u64);
    put_varint(&mut out, small.len() as u64);
    out.extend([&small, rest].concat());
    Some(out)
}

fn status(line: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let found = status.lines().find_map(|found| found.strip_prefix(line)).expect("a line");
    found.trim_start_matches(':').trim_end_matches("kB").trim().parse().expect("a number")
}

#[test]
fn contents_that_cannot_be_cost_what_they_are_in() {
    let whole = tempfile::tempdir().expect("a folder");
    write(whole.path());
    let entries = std::fs::read_dir(whole.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_kept = |path: &PathBuf| ["log-", "segment-"].iter().any(|word| path.to_string_lossy().contains(word));
    let files: Vec<(PathBuf, Vec<u8>)> =
        entries.filter(is_kept).map(|path| (path.clone(), std::fs::read(path).expect("read"))).collect();
    for (path, bytes) in &files {
        assert_eq!(joined(&frames(bytes)), *bytes, "{path:?} is not as docs/history.md says");
    }
    let mut dice = Dice(0xD1B5_4A32_D192_ED03);
    let tries = std::env::var("PLIMSOLL_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(40u64) * 4;
    let before = status("VmHWM");
    for _ in 0..tries {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let spoilt = dice.below(files.len() as u64) as usize;
        for (index, (path, bytes)) in files.iter().enumerate() {
            let mut frames = frames(bytes);
            if index == spoilt {
                let frame = dice.below(frames.len() as u64) as usize;
                let (_, head, body) = &mut frames[frame];
                match dice.below(4) {
                    0 => spoil(head, &mut dice),
                    1 => spoil(body, &mut dice),
                    _ => match spoil_table(body, &mut dice) {
                        Some(other) => *body = other,
                        None => spoil(body, &mut dice),
                    },
                }
            }
            std::fs::write(folder.path().join(path.file_name().expect("a name")), joined(&frames)).expect("written");
        }
        let (mut ledger, _) = Ledger::open(folder.path(), options()).expect("it always opens");
        let reader = ledger.reader();
        for most in [10, usize::MAX] {
            reader.history(&Query { most, ..Query::default() });
        }
        let (_, _) = (reader.series(), reader.events(i64::MIN, i64::MAX));
        // It is thinned and dropped like all others.
        for _ in 0..100 {
            if !ledger.tidy(BEGIN + 100_000_000).expect("tidied") {
                break;
            }
        }
        reader.history(&Query::default());
    }
    let held = status("VmHWM") - before;
    println!("{tries} files, {held} kB");
    // A few hundred looks, and what a chunk of some kilobytes may claim.
    assert!(held < 64 << 10, "{held} kB");
}
