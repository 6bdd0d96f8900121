//! Text that nobody meant to write: every parser of what the host says gets some thousand spoilt pieces of good text, the
//! same ones each time, and gives what it can.

use std::path::Path;

use sense::gpu::{gpu_apps, gpus};
use sense::process::{journal_stream, matches, numbers};

/// Numbers that need not be good, only the same each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// `seed` with some bytes changed, taken out, doubled or put in.
    fn spoil(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len());
            match self.below(4) {
                0 if !bytes.is_empty() => bytes[at] = self.below(256) as u8,
                1 if !bytes.is_empty() => drop(bytes.drain(at..(at + 1 + self.below(9)).min(bytes.len()))),
                2 => bytes.extend_from_within(at..),
                _ => bytes.insert(at, b",-*/: \n\0[9"[self.below(10)]),
            }
            bytes.truncate(4096);
        }
        bytes
    }
}

#[test]
fn spoilt_text() {
    let seeds: [&[u8]; 5] = [
        b"4242, GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77, 83000\n18, GPU-b, [N/A]\n",
        b"0, GPU-0, 97871, 83000, 00000000:1B:00.0\n1, GPU-1, [N/A], 5 MiB, [N/A]\n",
        b"A=1\0JOURNAL_STREAM=8:12345\0B=2\0",
        b"0-3,8,10-11\n",
        b"/dev/shm/x_*_*.shm\0/dev/shm/x_1_a.shm",
    ];
    let mut dice = Dice(0x0123_4567_89AB_CDEF);
    for turn in 0..5000 {
        let bytes = dice.spoil(seeds[turn % seeds.len()]);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().count();
        // one line is one thing at most, and what is given is safe to show
        let apps = gpu_apps(&text);
        assert!(apps.len() <= lines && apps.iter().all(|app| app.gpu_uuid.is_ascii() && app.gpu_uuid.len() <= 96));
        let cards = gpus(&text);
        assert!(cards.len() <= lines && cards.iter().all(|gpu| !gpu.uuid.is_empty() && gpu.bus_id.len() <= 32));
        assert!(numbers(&text).iter().all(|number| *number <= 8192));
        let stream = journal_stream(&bytes);
        assert!(stream.is_none_or(|inode| text.contains(&inode.to_string())), "{text:?}");
        let (pattern, path) = text.split_once('\0').unwrap_or((&text, "/dev/shm/x_1_a.shm"));
        if matches(pattern, Path::new(path)) {
            // a match never leaves the pattern's folder
            assert_eq!(
                pattern.rsplit_once('/').map(|(folder, _)| folder),
                path.rsplit_once('/').map(|(folder, _)| folder)
            );
        }
    }
}
