//! `plimsoll serve` killed at random moments, while it starts, looks, writes, and writes its history anew. What the server under
//! watch gave out, it wrote down itself: each answer has a number of its own.
#![allow(clippy::print_stdout, reason = "a test's own output")]

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use testkit::{Answer, Replay, Serve, pages};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// How many are killed side by side.
const AT_ONCE: usize = 8;
/// What a crash may cost: a second until the sync, a look, a second until it is shown and kept (1.8 s in all where nothing else
/// runs), and several times as much for a machine that is busy.
const MAY_BE_LOST: Duration = Duration::from_secs(9);
/// The longest life, in milliseconds.
const LIFE_MS: u64 = 15_000;

/// A page of a server with some ranks, each of which says this number.
fn page(number: u32) -> Answer {
    Answer::page((0..8).map(|rank| pages::text(Some(rank), 1_000_000, number, 0)).collect::<String>())
}

/// A small generator of numbers that need not be good.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// One life: how many numbers were given out before it, and when it was killed.
struct Life {
    before: usize,
    killed: SystemTime,
}

/// The numbers that the history has, with their times. All ranks say the same, and looks are kept as a whole.
fn kept(serve: &Serve, url: &str) -> Vec<(f64, u32)> {
    let all = serve.history_of_all(url, "used");
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
    let first = all.into_iter().next().unwrap_or_default();
    first.into_iter().filter_map(|(at, value, _)| Some((at, value? as u32))).collect()
}

/// Holds what is kept against what was given out; gives for how long before a kill nothing was kept, at most.
fn check(all: &[(f64, u32)], had: &[(f64, u32)], lives: &[Life], before: usize, served: &[SystemTime]) -> Duration {
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    assert!(all.windows(2).all(|two| two[0].0 <= two[1].0 && two[0].1 < two[1].1), "each once, in its order: {all:?}");
    for (at, number) in all {
        let given = served.get(*number as usize - 1).unwrap_or_else(|| panic!("{number} was never given out"));
        assert!((seconds(*given) - at).abs() < 10.0, "{number} was given out at {}, not at {at}", seconds(*given));
    }
    for number in had {
        assert!(all.contains(number), "{number:?} was there after an earlier start: {all:?}");
    }
    let mut longest = Duration::ZERO;
    for (index, life) in lives.iter().enumerate() {
        let end = lives.get(index + 1).map_or(before, |next| next.before);
        let newest = all.iter().rev().map(|(_, number)| *number as usize).find(|number| *number <= end);
        // The first that is lost is the next one, unless an earlier life lost it already.
        let lost = newest.unwrap_or_default().max(life.before);
        if let Some(given) = served[..end].get(lost) {
            let age = life.killed.duration_since(*given).unwrap_or_default();
            assert!(age <= MAY_BE_LOST, "{} was given out {age:?} before the kill and is lost: {all:?}", lost + 1);
            longest = longest.max(age);
        }
    }
    longest
}

/// What came of it.
#[derive(Default)]
struct Done {
    served: usize,
    kept: usize,
    torn: usize,
    checks: usize,
    longest: Duration,
}

/// Kills one again and again.
fn killed(folder: &Path, kills: usize, seed: u64) -> Done {
    let server = Replay::start().with_numbers("/metrics", page);
    let (mut dice, mut lives, mut had, mut done) = (Dice(seed), Vec::<Life>::new(), Vec::new(), Done::default());
    for kill in 0..=kills {
        let before = server.served().len();
        let serve = Serve::begin(PROGRAM, folder, &["--every", "200ms", "--keep", "4MiB", &server.url()]);
        // One in four dies before it is there, whatever it does then.
        let most = if kill < kills && dice.below(4) == 0 { 400 } else { LIFE_MS };
        let life = Duration::from_millis(dice.below(most));
        let begun = std::time::Instant::now();
        if life > Duration::from_millis(400) || kill == kills {
            serve.wait_for_page();
            let all = kept(&serve, &server.url());
            done.longest = done.longest.max(check(&all, &had, &lives, before, &server.served()));
            done.checks += 1;
            // What is there after a start was on the disk, and stays.
            had = all.into_iter().filter(|(_, number)| *number as usize <= before).collect();
            lives.clear();
            let notes = serve.json("/api/v1/overview")["watch"]["notes"].clone();
            for note in notes.as_array().expect("notes") {
                assert!(note["text"].as_str().is_some_and(|text| text.contains("torn")), "{note}");
                done.torn += 1;
            }
        }
        std::thread::sleep(life.saturating_sub(begun.elapsed()));
        // SIGKILL.
        drop(serve);
        lives.push(Life { before, killed: SystemTime::now() });
    }
    Done { served: server.served().len(), kept: had.len(), ..done }
}

#[test]
fn killed_at_any_moment_serve_keeps_what_it_promised_and_makes_nothing_up() {
    let kills = std::env::var("PLIMSOLL_SERVE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(16usize);
    let folder = tempfile::tempdir().expect("a folder");
    let each = kills.div_ceil(AT_ONCE);
    let run = |number: usize| {
        let own = folder.path().join(number.to_string());
        std::fs::create_dir(&own).expect("a folder");
        killed(&own, each, 0x9E37_79B9_7F4A_7C15 ^ (number as u64 + 1))
    };
    let done: Vec<Done> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..AT_ONCE).map(|number| scope.spawn(move || run(number))).collect();
        running.into_iter().map(|one| one.join().expect("it holds")).collect()
    });
    let sum = |of: fn(&Done) -> usize| done.iter().map(of).sum::<usize>();
    let longest = done.iter().map(|one| one.longest).max().unwrap_or_default();
    println!(
        "{} kills, {} looks at what was left; {} numbers given out, {} kept; {} torn ends; at most {longest:?} lost by a kill",
        each * AT_ONCE,
        sum(|one| one.checks),
        sum(|one| one.served),
        sum(|one| one.kept),
        sum(|one| one.torn)
    );
    assert!(sum(|one| one.kept) > 0);
}
