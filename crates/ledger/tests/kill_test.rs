//! A process that is killed at any moment loses nothing that a sync had promised, and its ledger always opens.
//!
//! `PLIMSOLL_KILLS=1000` kills so often; `.ci/full` does.
#![allow(clippy::print_stdout, reason = "a test's own output")]

#[path = "support/crashed.rs"]
mod crashed;
mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crashed::{STEP, check, options};
use ledger::{Ledger, Sample};
use support::{BEGIN, Dice, key};

/// The steps on the disk, before, while and after which a process may end.
const POINTS: [&str; 13] = [
    "before creating",
    "after creating",
    "before writing",
    "while writing",
    "after writing",
    "before syncing",
    "after syncing",
    "before syncing names",
    "after syncing names",
    "before removing",
    "after removing",
    "before renaming",
    "after renaming",
];
static DIES_AT: OnceLock<(String, u64)> = OnceLock::new();
static REACHED: AtomicU64 = AtomicU64::new(0);

fn die_there(point: &'static str, _: &str) -> std::io::Result<()> {
    if let Some((name, count)) = DIES_AT.get()
        && name == point
        && REACHED.fetch_add(1, Ordering::Relaxed) + 1 == *count
    {
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::KILL)?;
    }
    Ok(())
}

/// The process that is killed: nothing unless it is told to be that.
#[test]
fn writes_until_it_is_killed() {
    let Ok(folder) = std::env::var("LEDGER_FOLDER") else { return };
    let number = |name: &str| std::env::var(name).expect("given").parse::<i64>().expect("a number");
    let point = std::env::var("LEDGER_POINT").expect("given");
    DIES_AT.set((point, number("LEDGER_COUNT").cast_unsigned())).expect("set once");
    let folder = Path::new(&folder);
    let mut promised = std::fs::File::options().append(true).open(folder.join("promised")).expect("opened");
    let (mut ledger, _) = Ledger::open(&folder.join("ledger"), options(die_there)).expect("a ledger");
    for look in number("LEDGER_FROM").. {
        let shape = ledger.shape(&format!("t{}", look % 3), vec![key("n"), key("same")]).expect("a shape");
        let now = BEGIN + look * STEP;
        ledger.append(&shape, now, &[Sample::Value(look as f64), Sample::NotReported]).expect("taken");
        if look % 5 == 0 {
            ledger.sync().expect("synced");
            promised.write_all(format!("{}\n", look + 1).as_bytes()).expect("written");
            promised.sync_data().expect("synced");
            while ledger.tidy(now).expect("tidied") {}
        }
    }
}

/// Runs the process until it ends at the point or at the moment; true where it ended at the point.
fn run(folder: &Path, from: i64, point: &str, count: u64, moment: Duration) -> bool {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "writes_until_it_is_killed", "--test-threads=1"])
        .env("LEDGER_FOLDER", folder)
        .env("LEDGER_FROM", from.to_string())
        .env("LEDGER_POINT", point)
        .env("LEDGER_COUNT", count.to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("started");
    let end = Instant::now() + moment;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().expect("asked") {
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "it ended by itself");
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    false
}

#[test]
fn killed_at_any_moment_it_loses_nothing_that_was_promised() {
    let kills = std::env::var("PLIMSOLL_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(40u64);
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    let mut at_point = std::collections::BTreeSet::new();
    let mut folder = tempfile::tempdir().expect("a folder");
    let mut there = 0;
    let mut all = 0;
    let mut steps = 0;
    for kill in 0..kills {
        if kill % 50 == 0 {
            folder = tempfile::tempdir().expect("a folder");
            all += there;
            there = 0;
            std::fs::write(folder.path().join("promised"), "").expect("written");
        }
        // The first runs try each point, two in three of the others too, and the rest a random moment.
        let point = if kill < 13 { Some(POINTS[kill as usize]) } else { None };
        let point = point.or_else(|| (dice.below(3) > 0).then(|| POINTS[dice.below(13) as usize]));
        let rare = point.is_some_and(|point| {
            ["renaming", "removing", "creating", "names"].iter().any(|word| point.ends_with(word))
        });
        let count = 1 + dice.below(if rare { 4 } else { 60 });
        let moment = if point.is_some() { 5000 } else { 20 + dice.below(150) };
        if run(folder.path(), there, point.unwrap_or_default(), count, Duration::from_millis(moment)) {
            at_point.insert(point.expect("a point"));
        }
        let promised = std::fs::read_to_string(folder.path().join("promised")).expect("read");
        let promised = promised.lines().last().and_then(|line| line.parse().ok()).unwrap_or(0);
        let (ledger, notes) =
            Ledger::open(&folder.path().join("ledger"), options(|_, _| Ok(()))).expect("it always opens");
        there = check(&ledger, &notes, promised, &mut steps);
    }
    all += there;
    println!("{kills} kills, {all} looks");
    assert!(steps > 0, "nothing was thinned meanwhile");
    assert_eq!(at_point.len(), POINTS.len(), "{at_point:?}");
}
