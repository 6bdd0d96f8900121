//! The fuzz targets' entries, on stable: over the recorded pages, and over some thousand spoilt pieces of them, the same
//! ones each time.

mod support;

#[path = "../../../fuzz/entries/dice.rs"]
mod dice;
#[path = "../../../fuzz/entries/events.rs"]
mod events;
#[path = "../../../fuzz/entries/exposition.rs"]
mod exposition;
#[path = "../../../fuzz/entries/log.rs"]
mod log;
#[path = "../../../fuzz/entries/manifests.rs"]
mod manifests;
#[path = "../../../fuzz/entries/python.rs"]
mod python;
#[path = "../../../fuzz/entries/slab.rs"]
mod slab;
#[path = "../../../fuzz/entries/units.rs"]
mod units;

use dice::throw;

/// The seeds as they are, then spoilt.
fn each(seeds: &[&[u8]], rounds: usize, entry: impl Fn(&[u8])) {
    for seed in seeds {
        entry(seed);
    }
    throw(
        rounds,
        |dice| {
            let seed = seeds[dice.below(seeds.len())];
            dice.spoil(seed)
        },
        entry,
    );
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
    // Every other piece is of the odd seed, where the rare parts of the format are.
    throw(
        3000,
        |dice| {
            let seed = if dice.below(2) == 0 { ODD } else { &seeds[dice.below(seeds.len())] };
            dice.spoil(seed)
        },
        exposition::run,
    );
}

/// Lines in many wrappings, whole, broken and within each other.
const LINES: &str = "[2026-11-29 16:15:23 DP0 TP3] Decode batch, #token: 796, token usage: 0.39, #queue-req: 0\n\
    \u{1b}[32m[2026-11-29 16:15:23,860 TP3]\u{1b}[0m batch. #t: 1,234, a=5 GB\r\n\
    {\"log\":\"INFO 11-29 16:15:23 [x.py:12] batch a=1e9\\n\",\"stream\":\"stderr\",\"time\":\"2026-11-29T16:15:23Z\"}\n\
    {\"MESSAGE\":[27,91,109,98,97],\"__REALTIME_TIMESTAMP\":\"1795968923000000\"}\n\
    2026-11-29T16:15:23.1Z stderr P [gpu=1] batch #t: -0.5, usage: 0.\n\
    <14>1 2026-11-29T16:15:23+01:00 h p 1 - [a b=\"]\"] Rank 0: usage: nan\n\
    Nov 29 16:15:23 h u[1]: (Actor pid=3) > on.log:3:16:15:23 batch, token us\nage: 0.3\n9, #t: 7\n\
    worker-1  | #033[1mI1129 16:15:23.5 7 x.cc:1] a=0.1 -> 0.8\n\0\n50%|#\r100%|##[2026-11-29 16:15:23] a=inf\n";

/// Records as `journalctl --output=json` prints them.
const JOURNAL: &[u8] = include_bytes!("../../../fuzz/seeds/log/journal.json");

#[test]
fn log_survives_and_agrees_with_a_naive_reading() {
    each(&[LINES.as_bytes(), JOURNAL], 3000, log::run);
}

#[test]
fn slab_survives_and_keeps_its_caps() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slabs");
    let mut seed = std::fs::read(folder.join("after-load.shm")).expect("a recorded slab");
    slab::run(&seed);
    seed.truncate(420);
    each(&[&seed], 3000, slab::run);
}

#[test]
fn events_survive_and_keep_their_caps() {
    // What a mocker of Dynamo 1.6.1 sent to a subscriber, from its greeting on.
    let seed = include_bytes!("events/kv-metrics.zmtp");
    events::run(seed);
    each(&[seed], 4000, events::run);
}

const SHELL: &str = "$ export A=b\nuser@h:~$ docker run -e K=v --name n i bash -c \"x --y $A ${B:-c}\" \\\n> --z <<E\nE\n\
    A=(a b)\nsrun -n 2 nohup x \"${A[@]}\" 2>&1 & # c\n";
const DUMP: &str = "args: Namespace(a='x\\'y', b=1, c=[1, {'d': (2,)}], e=<F.G: 1>, h=None)\n";

#[test]
fn starts_survive() {
    let units_text = include_str!("launch/units.txt").as_bytes();
    let seeds = [units_text, SHELL.as_bytes(), DUMP.as_bytes(), include_str!("launch/rendered.yaml").as_bytes()];
    each(&seeds, 4000, units::run);
}

#[test]
fn manifests_survive() {
    let seeds = [include_str!("launch/compose.yaml").as_bytes(), include_str!("launch/rendered.yaml").as_bytes()];
    each(&seeds, 4000, manifests::run);
}

/// A beginning and an end of everything that a piece of ordinary source rarely has.
const ODD_SOURCE: &[u8] = include_bytes!("sources/odd.py");

#[test]
fn python_survives_and_agrees_with_itself() {
    let seeds = [include_bytes!("sources/collector.py").as_slice(), ODD_SOURCE];
    each(&seeds, 6000, python::run);
}
