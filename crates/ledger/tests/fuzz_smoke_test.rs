//! The entry of the fuzz target `history`, on stable: the seeds, and some hundred spoilt ones, the same each time.

mod support;

use std::io::Read as _;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/entries/dice.rs"]
mod dice;
#[path = "../../../fuzz/entries/history.rs"]
mod history;

use ledger::{Event, Options, Sample, Thinning};
use support::{BEGIN, Given, give, key, open, tidy};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/history")
}

fn look(index: i64) -> Given {
    let value = (index * 7919 % 1009) as f64;
    let samples = vec![
        (key("whole"), Sample::Value(value)),
        (key("beside"), Sample::Value(value + 5.0)),
        (key("any"), if index % 3 == 0 { Sample::Stale(value / 7.0) } else { Sample::Value(value / 7.0) }),
        (key("none"), if index % 5 == 0 { Sample::Unreachable } else { Sample::NotReported }),
    ];
    Given { target: format!("t{}", index % 2), time: BEGIN + index * 5000, samples }
}

fn varint(bytes: &mut &[u8]) -> usize {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= usize::from(byte & 127) << shift;
        if byte < 128 {
            break;
        }
    }
    value
}

/// The pieces of a file's frames, as `history::run` puts them together.
fn pieces(file: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let kind = file[at + 4];
        let head_bytes = usize::from(file[at + 6]);
        let body_bytes = usize::from(file[at + 8]) | usize::from(file[at + 9]) << 8;
        let head = &file[at + 20..at + 20 + head_bytes];
        let mut body = &file[at + 20 + head_bytes..at + 20 + head_bytes + body_bytes];
        at += 20 + head_bytes + body_bytes;
        let mut table = Vec::new();
        let packed = matches!(kind, 2..=4);
        if packed {
            let (length, small) = (varint(&mut body), varint(&mut body));
            let mut inflate = flate2::read::DeflateDecoder::new(&body[..small]);
            assert_eq!(inflate.read_to_end(&mut table).expect("deflated"), length);
            body = &body[small..];
        }
        out.extend([kind | if packed { 128 } else { 0 }, head_bytes as u8]);
        out.extend((table.len() as u16).to_le_bytes());
        out.extend((body.len() as u16).to_le_bytes());
        out.extend([head, &table, body].concat());
    }
    out
}

/// Makes the seeds anew: each file of a small history, as it is and in pieces.
fn bless() {
    let place = tempfile::tempdir().expect("a folder");
    let thin = vec![Thinning { after_ms: 60_000, step_ms: 10_000 }];
    let options = || Options { chunk_looks: 12, segment_ms: 40_000, thin: thin.clone(), ..support::small() };
    let mut ledger = open(place.path(), options());
    for index in 0..70 {
        give(&mut ledger, &look(index)).expect("a look");
        let (time, text) = (BEGIN + index * 5000, format!("number {index}"));
        if index % 9 == 0 {
            let event = Event { time, target: "t0".into(), kind: "restart".into(), text, value: Some(1.5) };
            ledger.event(event).expect("an event");
        }
        tidy(&mut ledger, time);
        ledger.sync().expect("synced");
    }
    drop(ledger);
    let _ = std::fs::remove_dir_all(folder());
    std::fs::create_dir_all(folder()).expect("a folder");
    let mut seen = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(place.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let segment = name.starts_with("segment-");
        // One of each kind is enough.
        let kind = if segment { format!("segment-{}", name.ends_with("-1")) } else { name[..3].to_owned() };
        if !segment && !name.starts_with("log-") || !seen.insert(kind) {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        let choice = u8::from(segment) | if name.ends_with("-1") { 8 } else { 0 };
        let write = |name: String, bytes: Vec<u8>| std::fs::write(folder().join(name), bytes).expect("written");
        write(format!("{name}-pieces"), [vec![choice | 2], pieces(&bytes)].concat());
        write(name, [vec![choice], bytes].concat());
    }
}

/// Most that this process ever held, KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

#[test]
fn histories_survive() {
    if std::env::var_os("BLESS").is_some() {
        bless();
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("seeds").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
    assert_eq!(seeds.len(), 6, "a log, a segment and a thinned one, each as it is and in pieces");
    for seed in &seeds {
        history::run(seed);
    }
    dice::throw(
        400,
        |dice| {
            let seed = &seeds[dice.below(seeds.len())];
            let choice = seed[0] | if dice.below(3) == 0 { 4 } else { 0 };
            // From the front, or no frame stands where it says; of pieces any few.
            let mut bytes = dice.spoil(&seed[1..]);
            if choice & 2 == 0 && dice.below(4) > 0 {
                bytes = seed[1..].to_vec();
                for _ in 0..=dice.below(5) {
                    let at = dice.below(bytes.len());
                    bytes[at] ^= 1 << dice.below(8);
                }
            } else if choice & 2 != 0 && dice.below(2) > 0 {
                bytes = seed[1..].to_vec();
                for _ in 0..=dice.below(3) {
                    let at = dice.below(bytes.len());
                    bytes[at] = [0, 1, 127, 128, 255, dice.below(256) as u8][dice.below(6)];
                }
            }
            [vec![choice], bytes].concat()
        },
        history::run,
    );
    // Some MB, whatever lengths they claim.
    assert!(peak_kib() < 512 << 10, "{} KiB", peak_kib());
}
