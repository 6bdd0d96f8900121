//! For the tests that run the entries on stable: spoilt pieces of seeds, some thousand and the same ones each time, or, with
//! `PLIMSOLL_FUZZ_SECONDS`, for so long and other ones each time (`PLIMSOLL_FUZZ_SEED` repeats them).
#![allow(clippy::print_stderr, reason = "a test's own output")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Bytes that mean something to one of the formats, or break it.
const SPICE: &[u8] = b"{}[]()\"'\\,=:;#-+.09eN$% \t\n\r\xFF\0\x80";
/// Longest piece of a seed, in bytes.
const PIECE: usize = 600;

/// A small generator of numbers that need not be good (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    /// A number below `bound`; 0 where that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// A piece of `seed`, or all of it, with a few bytes put in, taken out, doubled or replaced.
    pub(crate) fn spoil(&mut self, seed: &[u8]) -> Vec<u8> {
        let whole = self.below(3) == 0;
        let start = if whole { 0 } else { self.below(seed.len()) };
        let length = if whole { seed.len() } else { self.below(PIECE.min(seed.len() - start) + 1) };
        let mut piece = seed[start..start + length].to_vec();
        for _ in 0..self.below(8) {
            let at = self.below(piece.len());
            let spice = SPICE[self.below(SPICE.len())];
            match self.below(4) {
                0 => piece.insert(at, spice),
                1 if !piece.is_empty() => drop(piece.remove(at)),
                2 if !piece.is_empty() => piece[at] = spice,
                _ => piece.extend_from_within(at..(at + self.below(40)).min(piece.len())),
            }
        }
        piece
    }
}

/// Gives `entry` what `make` makes, `rounds` times or for `PLIMSOLL_FUZZ_SECONDS`. Where it panics, standard error has the
/// bytes that it was given.
pub(crate) fn throw(rounds: usize, mut make: impl FnMut(&mut Dice) -> Vec<u8>, entry: impl Fn(&[u8])) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let until = number("PLIMSOLL_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros() as u64);
    let seed = number("PLIMSOLL_FUZZ_SEED").or_else(|| until.map(|_| clock())).unwrap_or(0x9E37_79B9_7F4A_7C15);
    // Of 0 nothing but 0 comes.
    let mut dice = Dice(seed | 1);
    let mut done = 0;
    while until.map_or(done < rounds, |until| Instant::now() < until) {
        let bytes = make(&mut dice);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| entry(&bytes))) {
            eprintln!("round {done} of PLIMSOLL_FUZZ_SEED={seed}: b\"{}\"", bytes.escape_ascii());
            resume_unwind(panic);
        }
        done += 1;
    }
    eprintln!("{done} rounds");
}
