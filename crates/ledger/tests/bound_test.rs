//! The directory never has more bytes than it may; what is oldest goes first, whole, with its events.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ledger::{Event, Ledger, Options, Point, Sample, Thinning};
use support::{BEGIN, Dice, events, everything, key, open, small};

const BOUND: u64 = 1 << 20;

fn options() -> Options {
    let thin = vec![Thinning { after_ms: 600_000, step_ms: 10_000 }];
    Options { bytes: BOUND, log_bytes: 128 << 10, chunk_looks: 64, segment_ms: 120_000, thin, ..Options::default() }
}

fn bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries.map(|entry| entry.metadata().expect("a file").len()).sum()
}

/// One look at three targets a second: 20 series of noise, which nothing makes small, and one that counts.
fn round(ledger: &mut Ledger, dice: &mut Dice, now: i64) {
    for target in 0..3 {
        let keys = (0..21).map(|index| key(&index.to_string())).collect();
        let shape = ledger.shape(&format!("t{target}"), keys).expect("a shape");
        let mut samples = vec![Sample::Value(((now - BEGIN) / 1000) as f64)];
        samples.extend((0..20).map(|_| Sample::Value(dice.below(1 << 50) as f64 / 3.0)));
        ledger.append(&shape, now, &samples).expect("a look");
    }
}

/// Everything from some look on is there, and nothing before; gives that look.
fn check(ledger: &Ledger, last: i64) -> i64 {
    let mut first = i64::MAX;
    for series in everything(&ledger.reader()).iter().filter(|series| series.key == key("0")) {
        let mut next = None;
        for point in &series.points {
            let (begin, count) = match point {
                Point::Look { sample: Sample::Value(value), .. } => (*value as i64, 1),
                Point::Step { summary, .. } => {
                    (summary.figures.expect("figures").min as i64, summary.counts.values.cast_signed())
                }
                Point::Look { .. } => panic!("{point:?}"),
            };
            assert_eq!(next.unwrap_or(begin), begin, "a look is missing or there twice");
            next = Some(begin + count);
            first = first.min(begin);
        }
        assert_eq!(next, Some(last + 1));
    }
    first
}

#[test]
fn the_bound_holds_at_every_moment_and_the_oldest_goes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), options());
    let mut dice = Dice(99);
    let mut firsts = Vec::new();
    for second in 0..2500 {
        let now = BEGIN + second * 1000;
        round(&mut ledger, &mut dice, now);
        if second % 100 == 0 {
            let event =
                Event { time: now, target: "t0".into(), kind: "restart".into(), text: String::new(), value: None };
            ledger.event(event).expect("an event");
        }
        ledger.sync().expect("synced");
        while ledger.tidy(now).expect("tidied") {
            assert!(bytes(folder.path()) <= BOUND);
        }
        assert!(bytes(folder.path()) <= BOUND);
        if second % 250 == 249 {
            firsts.push(check(&ledger, second));
        }
        if second % 800 == 799 {
            drop(ledger);
            ledger = open(folder.path(), options());
        }
    }
    // 2500 looks of 63 numbers of 8 bytes are 1.2 MB: some had to go, and most of what fits is there.
    assert!(firsts.is_sorted() && firsts.last().is_some_and(|first| *first > 0), "{firsts:?}");
    assert!(bytes(folder.path()) > BOUND / 3, "{} bytes are left", bytes(folder.path()));
    let told = events(&ledger.reader());
    let first = told.first().map(|event| (event.time - BEGIN) / 1000).expect("the last events");
    assert!(first > 0 && told.last().is_some_and(|event| event.time == BEGIN + 2_400_000), "{first}");
}

#[test]
fn a_smaller_bound_is_kept_to_from_the_next_chunk_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = Options { bytes: 64 << 20, thin: vec![], ..options() };
    let mut ledger = open(folder.path(), large);
    let mut dice = Dice(3);
    for second in 0..2500 {
        round(&mut ledger, &mut dice, BEGIN + second * 1000);
        while ledger.tidy(BEGIN).expect("tidied") {}
    }
    ledger.sync().expect("synced");
    drop(ledger);
    assert!(bytes(folder.path()) > BOUND);
    let mut ledger = open(folder.path(), Options { thin: vec![], ..options() });
    for second in 2500..2600 {
        round(&mut ledger, &mut dice, BEGIN + second * 1000);
        while ledger.tidy(BEGIN).expect("tidied") {}
    }
    assert!(bytes(folder.path()) <= BOUND);
    assert!(check(&ledger, 2599) > 0);
}

/// The ledger whose state is copied when its first segment is gone and its first log is not, and where to.
static COPIED: Mutex<Option<(PathBuf, PathBuf)>> = Mutex::new(None);

fn copy_when_dropped(_: &'static str, _: &str) -> std::io::Result<()> {
    let folders = COPIED.lock().expect("a lock").clone();
    let Some((from, to)) = folders else { return Ok(()) };
    if to.join("format").exists() || from.join("segment-0000000001-0").exists() || !from.join("log-0000000001").exists()
    {
        return Ok(());
    }
    for entry in std::fs::read_dir(&from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

#[test]
fn what_was_dropped_does_not_come_back_from_the_log() {
    let (folder, copy) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    // One target that never fills a chunk keeps the log, which has all looks at the other one too.
    let roomy = || Options {
        bytes: 64 << 20,
        log_bytes: 16 << 20,
        chunk_looks: 100,
        chunk_ms: i64::MAX,
        thin: vec![],
        ..options()
    };
    let mut ledger = open(folder.path(), roomy());
    let mut dice = Dice(5);
    let quiet = ledger.shape("quiet", vec![key("0")]).expect("a shape");
    let loud = ledger.shape("loud", (0..400).map(|index| key(&index.to_string())).collect()).expect("a shape");
    ledger.append(&quiet, BEGIN, &[Sample::Value(0.0)]).expect("a look");
    for second in 0..400 {
        let mut samples = vec![Sample::Value(second as f64)];
        samples.extend((1..400).map(|_| Sample::Value(dice.below(1 << 50) as f64 / 3.0)));
        ledger.append(&loud, BEGIN + second * 1000, &samples).expect("a look");
        ledger.sync().expect("synced");
        while ledger.tidy(BEGIN).expect("tidied") {}
    }
    drop(ledger);
    // The bound becomes a quarter of what is there. The first segment has to go; a crash comes right then.
    let tight = Options { bytes: BOUND, log_bytes: 128 << 10, at: copy_when_dropped, ..roomy() };
    let mut ledger = open(folder.path(), tight);
    *COPIED.lock().expect("a lock") = Some((folder.path().to_owned(), copy.path().to_owned()));
    while ledger.tidy(BEGIN).expect("tidied") {}
    drop(ledger);
    *COPIED.lock().expect("a lock") = None;
    assert!(copy.path().join("format").exists(), "the first segment went while its log was there");
    let ledger = open(copy.path(), roomy());
    let series = everything(&ledger.reader());
    // Its first chunk had the looks 0 to 99.
    let loud = series.iter().find(|series| &*series.target == "loud" && series.key == key("0")).expect("the rest");
    assert_eq!(loud.points[0], Point::Look { time: BEGIN + 100_000, sample: Sample::Value(100.0) });
    assert_eq!(loud.points.len(), 300);
    assert!(series.iter().any(|series| &*series.target == "quiet"));
}

#[test]
fn a_look_that_is_too_large_for_the_log_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), Options { log_bytes: 64 << 10, ..small() });
    let shape = ledger.shape("t", (0..5000).map(|index| key(&index.to_string())).collect()).expect("a shape");
    // 5000 numbers of 9 bytes are more than half of the log.
    let noise: Vec<Sample> = (0..5000).map(|at| Sample::Value(f64::from(at) + 0.1)).collect();
    assert!(matches!(ledger.append(&shape, BEGIN, &noise), Err(ledger::Error::Unfit(_))));
    assert_eq!(everything(&ledger.reader()), vec![]);
}
