//! Where the power goes at any moment, whatever a sync had promised is on the disk: what was only written may be gone, what was only
//! named may have no name, and what was only removed may be back. `kill_test` cannot see that, since what a killed process wrote
//! stays in the system's memory.
//!
//! `PLIMSOLL_KILLS=1000` ends it 25 times as often; `.ci/full` does.
#![allow(clippy::print_stdout, reason = "a test's own output")]

#[path = "support/crashed.rs"]
mod crashed;
#[path = "support/power.rs"]
mod power;
mod support;

use std::path::Path;

use crashed::{STEP, check, options};
use ledger::{Event, Ledger, Options, Sample};
use support::{BEGIN, Dice, events, everything, key};

/// How much there is, and how much of it was promised.
#[derive(Default)]
struct Run {
    promised: i64,
    events_promised: i64,
    steps: u64,
    /// Looks that were there when it was opened last.
    there: i64,
}

fn event(number: i64) -> Event {
    let text = format!("number {number}");
    Event { time: BEGIN + number * STEP, target: "t0".into(), kind: "restart".into(), text, value: None }
}

/// One process: opens what is there, checks it, and writes on until it is ended.
fn live(folder: &Path, run: &mut Run) {
    let (mut ledger, notes) = Ledger::open(folder, options(power::watch)).expect("it always opens");
    run.there = check(&ledger, &notes, run.promised, &mut run.steps);
    let told = events(&ledger.reader());
    let mut events = told.len().cast_signed() as i64;
    assert!(told.iter().eq(&(0..events).map(event).collect::<Vec<_>>()), "{told:?}");
    assert!(events >= run.events_promised, "{} events were promised, {events} are there", run.events_promised);
    for look in run.there.. {
        let shape = ledger.shape(&format!("t{}", look % 3), vec![key("n"), key("same")]).expect("a shape");
        let now = BEGIN + look * STEP;
        ledger.append(&shape, now, &[Sample::Value(look as f64), Sample::NotReported]).expect("taken");
        if look % 7 == 0 {
            ledger.event(event(events)).expect("taken");
            events += 1;
        }
        if look % 5 == 0 {
            ledger.sync().expect("synced");
            (run.promised, run.events_promised) = (look + 1, events);
            while ledger.tidy(now).expect("tidied") {}
        }
    }
}

#[test]
fn the_power_may_go_at_any_moment() {
    let kills = std::env::var("PLIMSOLL_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(40u64);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut all = 0;
    let mut steps = 0;
    let runs = kills.div_ceil(4);
    for _ in 0..runs {
        // Where the system has files in memory, since only the model's syncs matter.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let mut run = Run::default();
        let mut disk = folder.path().join("0/of/it");
        power::begin(&disk);
        let mut killed = false;
        for end in 1..=50 {
            // Mostly soon, since opening has few steps, and sometimes late enough for thinning. What was killed leaves what it wrote
            // to the next one, and then the power goes before that has done much.
            let most = if killed { 60 } else { 1 + dice.below(1000) };
            power::until(1 + dice.below(most), || live(&disk, &mut run));
            killed = dice.below(2) == 0;
            if !killed {
                let next = folder.path().join(format!("{end}/of/it"));
                let luck = if dice.below(2) == 0 { Some(&mut dice) } else { None };
                power::off(&next, luck);
                disk = next;
            }
        }
        all += run.there;
        steps += run.steps;
    }
    println!("{} ends, {all} looks", runs * 50);
    assert!(steps > 0, "nothing was thinned meanwhile");
}

#[test]
fn what_waits_while_the_log_is_turned_is_on_the_disk_with_the_next_sync() {
    let folder = tempfile::tempdir().expect("a folder");
    let (disk, next) = (folder.path().join("before"), folder.path().join("after"));
    power::begin(&disk);
    // A file of this log is turned at 8 KiB, and no chunk is made.
    let still = |at| Options { chunk_looks: 10_000, ..options(at) };
    let (mut ledger, _) = Ledger::open(&disk, still(power::watch)).expect("a ledger");
    let shape = ledger.shape("t", vec![key("n")]).expect("a shape");
    let mut looks = 0;
    let mut look = |ledger: &mut Ledger| {
        ledger.append(&shape, BEGIN + looks * STEP, &[Sample::Value(looks as f64)]).expect("taken");
        looks += 1;
    };
    (0..400).for_each(|_| look(&mut ledger));
    ledger.sync().expect("synced");
    look(&mut ledger);
    ledger.tidy(BEGIN).expect("tidied");
    assert!(!disk.join("log-0000000002").exists());
    look(&mut ledger);
    assert!(disk.join("log-0000000002").exists());
    ledger.sync().expect("synced");
    power::off(&next, None);
    let (ledger, _) = Ledger::open(&next, still(|_, _| Ok(()))).expect("a ledger");
    assert_eq!(everything(&ledger.reader())[0].points.len(), 402);
}
