//! Steps on the disk that fail once, and what is there afterwards.

mod support;

use std::cell::Cell;
use std::io;

use ledger::{Ledger, Options, Point, Sample, Thinning};
use support::{BEGIN, Given, everything, give, key, open, small, tidy};

const STEP: i64 = 1000;

thread_local! {
    /// Which step on files of which name fails, and how often.
    static FAILS: Cell<(&'static str, &'static str, &'static str, u32)> = const { Cell::new(("", "", "", 0)) };
}

/// Lets a step fail on files whose name begins and ends so.
fn fail(step: &'static str, begins: &'static str, ends: &'static str, times: u32) {
    FAILS.set((step, begins, ends, times));
}

fn left() -> u32 {
    FAILS.get().3
}

fn hook(step: &'static str, file: &str) -> io::Result<()> {
    let (fails, begins, ends, times) = FAILS.get();
    if times == 0 || step != fails || !file.starts_with(begins) || !file.ends_with(ends) {
        return Ok(());
    }
    FAILS.set((fails, begins, ends, times - 1));
    Err(io::Error::other("told to fail"))
}

fn options() -> Options {
    let thin = [(60_000, 4000), (300_000, 20_000)].map(|(after_ms, step_ms)| Thinning { after_ms, step_ms });
    Options { thin: thin.to_vec(), segment_ms: 40_000, at: hook, ..small() }
}

fn look(index: i64) -> Given {
    Given { target: "t".into(), time: BEGIN + index * STEP, samples: vec![(key("a"), Sample::Value(index as f64))] }
}

/// How many looks all points together are of.
fn looks(ledger: &Ledger) -> u64 {
    let count = |point: &Point| match point {
        Point::Look { .. } => 1,
        Point::Step { summary, .. } => summary.counts.values,
    };
    everything(&ledger.reader())[0].points.iter().map(count).sum()
}

/// Takes looks and does all that is due, whatever fails; gives how often something did.
fn run(ledger: &mut Ledger, indices: std::ops::Range<i64>) -> usize {
    let mut failed = 0;
    for index in indices {
        give(ledger, &look(index)).expect("a look");
        while ledger.tidy(BEGIN + index * STEP).unwrap_or_else(|_| {
            failed += 1;
            false
        }) {}
    }
    failed
}

#[test]
fn a_replaced_segment_that_could_not_be_removed_never_comes_back() {
    for step in ["before removing", "before syncing names"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = open(folder.path(), options());
        // The first thinning is after more than 240 s; segments begin at other names.
        let begins = if step == "before removing" { "segment-" } else { "" };
        run(&mut ledger, 0..240);
        fail(step, begins, if step == "before removing" { "-0" } else { "" }, 1);
        assert!(run(&mut ledger, 240..500) >= 1 && left() == 0, "{step} did not fail");
        // Long after, the segment that stood for it is itself thinned, and is there no more.
        tidy(&mut ledger, BEGIN + 100_000_000);
        ledger.sync().expect("synced");
        assert_eq!(looks(&ledger), 500, "{step}");
        drop(ledger);
        let ledger = open(folder.path(), options());
        assert_eq!(looks(&ledger), 500, "{step}, opened again");
    }
}

#[test]
fn a_replaced_segment_that_cannot_be_removed_is_no_reason_not_to_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), options());
    fail("before removing", "segment-", "-0", u32::MAX);
    assert!(run(&mut ledger, 0..500) > 0);
    ledger.sync().expect("synced");
    drop(ledger);
    let mut ledger = open(folder.path(), options());
    assert_eq!(looks(&ledger), 500);
    // It counts as a part of the whole, and goes as soon as it can.
    let names =
        || std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let old = || names().filter(|name| name.to_string_lossy().ends_with("-0")).count();
    let before = (old(), ledger.bytes());
    fail("", "", "", 0);
    ledger.tidy(BEGIN + 500 * STEP).expect("tidied");
    assert!(old() < before.0 && ledger.bytes() < before.1, "{before:?}, {} {}", old(), ledger.bytes());
    assert_eq!(looks(&ledger), 500);
}

#[test]
fn damage_is_told_once_whatever_fails_while_it_is_thinned() {
    for (step, begins) in [("before creating", "log-"), ("before writing", "thin.new"), ("before renaming", "thin.new")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = open(folder.path(), options());
        run(&mut ledger, 0..150);
        ledger.sync().expect("synced");
        drop(ledger);
        // Eight looks make a chunk, so the last byte is of a chunk of eight.
        let file = folder.path().join("segment-0000000001-0");
        let mut bytes = std::fs::read(&file).expect("read");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&file, bytes).expect("written");
        let mut ledger = open(folder.path(), options());
        let now = BEGIN + 100_000_000;
        // So often that one of them is in the midst of the segment with the damage.
        fail(step, begins, "", 5);
        let failed = (0..1000).filter(|_| ledger.tidy(now).is_err()).count();
        assert!(failed > 0 && left() == 0, "{step} failed {failed} times, {} are left", left());
        tidy(&mut ledger, now);
        let (events, _) = ledger.reader().events(i64::MIN, i64::MAX);
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        // And nothing is called lost that is told later.
        assert_eq!(kinds, ["damaged"], "{step}");
        assert_eq!(looks(&ledger), 142, "{step}");
    }
}

#[test]
fn what_a_sync_did_not_bring_to_the_disk_is_written_elsewhere_whoever_asked_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let still = || Options { log_bytes: 64 << 10, chunk_looks: 10_000, ..options() };
    let mut ledger = open(folder.path(), still());
    (0..400).for_each(|index| give(&mut ledger, &look(index)).expect("a look"));
    ledger.sync().expect("synced");
    give(&mut ledger, &look(400)).expect("a look");
    // The log is turned at 8 KiB, and what waits is synced for it. No later sync says that this one did not succeed (fsync(2)).
    fail("before syncing", "log-", "", 1);
    assert!(ledger.tidy(BEGIN).is_err() && left() == 0);
    ledger.sync().expect("synced");
    drop(ledger);
    let entries = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("log-")) {
        std::fs::remove_file(entry.path()).expect("removed");
    }
    assert_eq!(looks(&open(folder.path(), still())), 401);
}
