//! The fuzz targets' entries, on stable: over the recorded pages, and over some thousand spoilt pieces of them, the same
//! ones each time.

mod support;

#[path = "../../../fuzz/entries/exposition.rs"]
mod exposition;

/// Bytes that mean something to one of the formats, or break it.
const SPICE: [u8; 16] = *b"{}\"\\,= \t\n\r#0N-\xFF\0";

/// A small generator of numbers that need not be good, only the same each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// A piece of `seed` with a few bytes put in, taken out, doubled or replaced.
    fn spoil(&mut self, seed: &[u8]) -> Vec<u8> {
        let start = self.below(seed.len());
        let length = self.below(600.min(seed.len() - start) + 1);
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

const ODD: &[u8] =
    b"{\"a.b\",x=\"y\"} 1\n# TYPE \"a.b\" gauge\na{\"k.v\"=\"\\\"\\n\\\\\\x\",} NaN 1.5 # {t=\"}\"} 1 2\n\
    # UNIT a tokens\n a\t{ x = \"y\" , } -Inf 1520879607789\r\n{\"say \\\"hi\\\"\"} .5e3 -1\n\
    a{x=\"gr\xC3\xB6\xC3\x9Fe\"} 1\n# EOF\n";

#[test]
fn exposition_survives_and_agrees_with_itself() {
    let names = [
        "sglang-on-load.prom",
        "smg-load.prom",
        "llamacpp-with-header.prom",
        "smg-unknown-url.json",
        "dynamo-worker.prom",
    ];
    let mut seeds: Vec<Vec<u8>> = names.iter().map(|name| support::page(name)).collect();
    seeds.push(ODD.to_vec());
    for seed in &seeds {
        exposition::run(seed);
    }
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for turn in 0..3000 {
        // Every other piece is of the odd seed, where the rare parts of the format are.
        let seed = if turn % 2 == 0 { ODD } else { &seeds[dice.below(seeds.len())] };
        exposition::run(&dice.spoil(seed));
    }
}
