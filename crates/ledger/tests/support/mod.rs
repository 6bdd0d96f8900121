//! What the tests share: a plain list of everything that was given to a ledger, and what must come back of it.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Event, Key, Ledger, Options, Point, Query, Reader, Sample, Series};

/// A moment to begin at, milliseconds since 1970; a multiple of an hour.
pub(crate) const BEGIN: i64 = 1_780_002_000_000;

pub(crate) fn key(part: &str) -> Key {
    Key::new(["dp0", "full", "device", part])
}

/// Small chunks and segments, so that a short test has many. Nothing is thinned.
pub(crate) fn small() -> Options {
    Options {
        bytes: 64 << 20,
        log_bytes: 256 << 10,
        chunk_looks: 8,
        segment_ms: 100_000,
        thin: Vec::new(),
        ..Options::default()
    }
}

/// One look that was given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) target: String,
    pub(crate) time: i64,
    pub(crate) samples: Vec<(Key, Sample)>,
}

/// Gives the look to the ledger.
pub(crate) fn give(ledger: &mut Ledger, look: &Given) -> Result<(), ledger::Error> {
    let (keys, samples): (Vec<Key>, Vec<Sample>) = look.samples.iter().cloned().unzip();
    let shape = ledger.shape(&look.target, keys).expect("a shape");
    ledger.append(&shape, look.time, &samples)
}

/// What must be read of these looks, of which none is thinned: every series from its first to its last look, absent where a
/// look of its target does not have it, in the order of time.
pub(crate) fn expected(looks: &[Given]) -> Vec<Series> {
    let mut all = Vec::new();
    let targets: BTreeSet<&str> = looks.iter().map(|look| look.target.as_str()).collect();
    for target in targets {
        let mut mine: Vec<&Given> = looks.iter().filter(|look| look.target == target).collect();
        mine.sort_by_key(|look| look.time);
        let keys: BTreeSet<&Key> = mine.iter().flat_map(|look| look.samples.iter().map(|(key, _)| key)).collect();
        for key in keys {
            let of = |look: &&Given| {
                let found = look.samples.iter().find(|(other, _)| other == key);
                (look.time, found.map_or(Sample::Absent, |(_, sample)| *sample))
            };
            let samples: Vec<(i64, Sample)> = mine.iter().map(of).collect();
            let there = |(_, sample): &(i64, Sample)| *sample != Sample::Absent;
            let Some(first) = samples.iter().position(there) else { continue };
            let last = samples.iter().rposition(there).expect("there is a first");
            let points =
                samples[first..=last].iter().map(|(time, sample)| Point::Look { time: *time, sample: *sample });
            all.push(Series { target: target.into(), key: key.clone(), points: points.collect() });
        }
    }
    all
}

/// Everything that is kept.
pub(crate) fn everything(reader: &Reader) -> Vec<Series> {
    let history = reader.history(&Query::default());
    assert_eq!(history.notes, []);
    history.series
}

/// All events, without the ledger's own.
pub(crate) fn events(reader: &Reader) -> Vec<Event> {
    let (mut events, notes) = reader.events(i64::MIN, i64::MAX);
    assert_eq!(notes, []);
    events.retain(|event| event.kind != "clock");
    events
}

/// Opens the ledger and expects nothing to be said of it.
pub(crate) fn open(folder: &std::path::Path, options: Options) -> Ledger {
    let (ledger, notes) = Ledger::open(folder, options).expect("a ledger");
    assert_eq!(notes, []);
    ledger
}

/// Does all that is due.
pub(crate) fn tidy(ledger: &mut Ledger, now: i64) {
    while ledger.tidy(now).expect("tidied") {}
}

/// A small generator of numbers that need not be good.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// How many points a series has, by target and last part of its key.
pub(crate) fn lengths(series: &[Series]) -> BTreeMap<(String, String), usize> {
    let name = |series: &Series| (series.target.to_string(), series.key.parts().last().cloned().unwrap_or_default());
    series.iter().map(|series| (name(series), series.points.len())).collect()
}
