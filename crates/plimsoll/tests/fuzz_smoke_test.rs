//! The entries of the fuzz targets `answers`, `argv`, `capture`, `saved` and `wrapped`, on stable: the recorded answers, and some thousand spoilt pieces of
//! them, the same ones each time.

use std::path::{Path, PathBuf};

#[path = "../../../fuzz/entries/answers.rs"]
mod answers;
#[path = "../../../fuzz/entries/argv.rs"]
mod argv;
#[path = "../../../fuzz/entries/capture.rs"]
mod capture;
#[path = "../../../fuzz/entries/dice.rs"]
mod dice;
#[path = "../../../fuzz/entries/saved.rs"]
mod saved;
#[path = "../../../fuzz/entries/wrapped.rs"]
mod wrapped;

/// Every recorded answer that is not too large to be spoilt often.
fn recorded() -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let ending = entry.extension().and_then(|ending| ending.to_str());
            if entry.is_dir() {
                folders.push(entry);
            } else if matches!(ending, Some("json" | "prom")) {
                files.push(entry);
            }
        }
    }
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).expect("a file")).filter(|body| body.len() < 12_000).collect()
}

#[test]
fn answers_survive() {
    let seeds = recorded();
    assert!(seeds.len() > 20, "{} recorded answers", seeds.len());
    let with_choice = |dice: &mut dice::Dice, body: Vec<u8>| {
        let choice = [dice.below(256) as u8, dice.below(6) as u8];
        [&choice[..], &body].concat()
    };
    // As they are, of every engine and path; then spoilt.
    let mut turn = 0;
    dice::throw(
        4000,
        |dice| {
            turn += 1;
            let body = if let Some(seed) = seeds.get(turn - 1) {
                seed.clone()
            } else {
                let seed = &seeds[dice.below(seeds.len())];
                dice.spoil(seed)
            };
            with_choice(dice, body)
        },
        answers::run,
    );
}

#[test]
fn command_lines_survive() {
    let seeds: [&[u8]; 4] = [
        include_bytes!("../../../fuzz/seeds/argv/with-config"),
        include_bytes!("../../../fuzz/seeds/argv/script"),
        b"smg\0launch\0--worker-urls\0http://a\0http://b\0--prometheus-port\09\0\0a: [b, {c: d}]",
        b"prometheus\0--web.listen-address=:9090\0--config.file\0f",
    ];
    for seed in seeds {
        argv::run(seed);
    }
    dice::throw(
        4000,
        |dice| {
            let seed = seeds[dice.below(seeds.len())];
            dice.spoil(seed)
        },
        argv::run,
    );
}

/// Captures, plain and packed; those that are spoilt are plain, or nothing but the sum of a packed one would be tested.
#[test]
fn captures_survive() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/capture");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
    assert_eq!(seeds.len(), 3);
    for seed in &seeds {
        capture::run(seed);
    }
    // The first two lines stay as they are in most, or little would be read.
    let kept = |seed: &[u8]| seed.split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum::<usize>();
    dice::throw(
        2000,
        |dice| {
            let seed = &seeds[dice.below(seeds.len())];
            let (front, rest) = seed.split_at(if dice.below(8) == 0 { 0 } else { kept(seed) });
            let mut lines: Vec<&[u8]> = rest.split_inclusive(|byte| *byte == b'\n').collect();
            let mut spoilt = front.to_vec();
            while !lines.is_empty() {
                let line = lines.remove(dice.below(lines.len().min(2)));
                if dice.below(4) == 0 { spoilt.extend(dice.spoil(line)) } else { spoilt.extend_from_slice(line) }
            }
            spoilt
        },
        capture::run,
    );
}

/// Saved files, each alone, spoilt, and with what chats and terminals put around them.
#[test]
fn saved_files_survive() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_none_or(|ending| ending != "rs")).collect();
    files.sort();
    let mut seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
    seeds.extend(recorded().into_iter().filter(|body| body.len() < 4000));
    let around: [(&[u8], &[u8]); 4] = [
        (b"", b""),
        (b"> ", b""),
        (b"$ curl x\n", b"user@h:~$ "),
        (b"HTTP/1.1 200 OK\r\nDate: x\r\n\r\n```\n", b"\n```"),
    ];
    for seed in &seeds {
        saved::run(seed);
    }
    dice::throw(
        250,
        |dice| {
            let seed = dice.below(seeds.len());
            let body = dice.spoil(&seeds[seed]);
            let (before, behind) = around[dice.below(4)];
            [before, &body, behind].concat()
        },
        saved::run,
    );
}

/// Pages that something else serves, and pieces of two of them together.
#[test]
fn wrapped_pages_survive() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrapped");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "prom")).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
    assert!(seeds.len() > 20, "{} pages", seeds.len());
    for seed in &seeds {
        wrapped::run(seed);
    }
    dice::throw(
        2000,
        |dice| {
            let (one, other) = (dice.below(seeds.len()), dice.below(seeds.len()));
            let spoilt = dice.spoil(&seeds[one]);
            if dice.below(3) == 0 { [spoilt, dice.spoil(&seeds[other])].concat() } else { spoilt }
        },
        wrapped::run,
    );
}
