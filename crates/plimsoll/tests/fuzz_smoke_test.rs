//! The entries of the fuzz targets `answers` and `argv`, on stable: the recorded answers, and some thousand spoilt pieces of
//! them, the same ones each time.

use std::path::{Path, PathBuf};

#[path = "../../../fuzz/entries/answers.rs"]
mod answers;
#[path = "../../../fuzz/entries/argv.rs"]
mod argv;

/// Numbers that need not be good, only the same each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// `seed` with a few bytes replaced, taken out or put in.
    fn spoil(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut piece = seed.to_vec();
        for _ in 0..=self.below(6) {
            let at = self.below(piece.len());
            let spice = b"{}[]\"\\,:-09eN\n \0"[self.below(16)];
            match self.below(3) {
                0 => piece.insert(at, spice),
                1 if !piece.is_empty() => drop(piece.remove(at)),
                _ if !piece.is_empty() => piece[at] = spice,
                _ => {}
            }
        }
        piece
    }
}

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
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for turn in 0..4000 {
        let seed = &seeds[turn % seeds.len()];
        let body = if turn < seeds.len() { seed.clone() } else { dice.spoil(seed) };
        let choice = [dice.below(256) as u8, dice.below(6) as u8];
        answers::run(&[&choice[..], &body].concat());
    }
}

#[test]
fn command_lines_survive() {
    let seeds: [&[u8]; 4] = [
        b"python\0-m\0sglang.launch_server\0--port=30000\0--model-path\0m\0--config\0f\0\0port: 1\nenable-metrics: true\n",
        b"bash\0-lc\0cd x && A=b exec numactl -N 0 python -m sglang.launch_server --tp 8 'a b' \\\n --port 1",
        b"smg\0launch\0--worker-urls\0http://a\0http://b\0--prometheus-port\09\0\0a: [b, {c: d}]",
        b"prometheus\0--web.listen-address=:9090\0--config.file\0f",
    ];
    let mut dice = Dice(0x0123_4567_89AB_CDEF);
    for turn in 0..4000 {
        let seed = seeds[turn % seeds.len()];
        argv::run(&if turn < seeds.len() { seed.to_vec() } else { dice.spoil(seed) });
    }
}
