//! A disk that is full takes nothing from what was kept: reading goes on, writing goes on when there is room again, and what
//! was lost meanwhile is said.
//!
//! The disk is a small file system in memory, in a namespace of the test's own; skipped with a line where that is not allowed.
#![allow(clippy::print_stdout, reason = "a test's own output")]

mod support;

use std::process::Command;

use ledger::{Error, Options, Sample};
use support::{BEGIN, Dice, Given, everything, expected, give, key, open, small};

fn look(index: i64) -> Given {
    // Numbers that nothing makes small.
    let mut dice = Dice((index + 1).cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut noise = || Sample::Value(dice.below(1 << 52) as f64 / 3.0);
    let samples = (0..40).map(|part| (key(&part.to_string()), noise())).collect();
    Given { target: "t".to_owned(), time: BEGIN + index * 1000, samples }
}

/// What runs in the namespace, where LEDGER_DISK is a disk of 1 MB.
#[test]
fn within_the_small_disk() {
    let Ok(disk) = std::env::var("LEDGER_DISK") else { return };
    let disk = std::path::Path::new(&disk);
    let folder = disk.join("ledger");
    let options = || Options { chunk_looks: 50, ..small() };
    let mut ledger = open(&folder, options());
    let reader = ledger.reader();
    let mut taken = Vec::new();
    let mut refused = 0;
    for index in 0..3000 {
        match give(&mut ledger, &look(index)) {
            Ok(()) => taken.push(look(index)),
            Err(Error::Full { lost }) => {
                refused += 1;
                assert_eq!(lost, refused);
            }
            Err(other) => panic!("{other}"),
        }
        // Each try on a full disk makes a chunk in vain, so there are not many.
        if index % 5 == 0 {
            let _ = ledger.sync();
            let _ = ledger.tidy(BEGIN);
        }
        if refused == 40 {
            break;
        }
    }
    assert_eq!(refused, 40, "{} looks were taken", taken.len());
    // Reading goes on, and so it does in the next process, for all that a sync had promised.
    assert_eq!(everything(&reader), expected(&taken));
    std::fs::remove_file(disk.join("room")).expect("removed");
    ledger.sync().expect("there is room again");
    for index in 3000..3010 {
        give(&mut ledger, &look(index)).expect("taken");
        taken.push(look(index));
        ledger.sync().expect("synced");
    }
    assert_eq!(everything(&reader), expected(&taken));
    let (events, _) = reader.events(i64::MIN, i64::MAX);
    let gaps: Vec<_> = events.iter().filter(|event| event.kind == "gap").collect();
    assert_eq!((gaps.len(), gaps[0].value, gaps[0].time), (1, Some(40.0), BEGIN + 3_000_000));
    drop(ledger);
    let ledger = open(&folder, options());
    assert_eq!(everything(&ledger.reader()), expected(&taken));
}

#[test]
fn a_full_disk_loses_nothing_that_was_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let me = std::env::current_exe().expect("this test");
    // Half of the disk is taken by something else, which goes away later.
    let script = format!(
        "mount -t tmpfs -o size=1m none {disk} || exit 75; head -c 500000 /dev/zero > {disk}/room; \\
         LEDGER_DISK={disk} {me} --exact within_the_small_disk --nocapture",
        disk = folder.path().display(),
        me = me.display()
    );
    let run = Command::new("unshare").args(["-m", "sh", "-c", &script]).output();
    match run {
        Ok(run) if run.status.success() => (),
        Ok(run) if run.status.code() == Some(101) => panic!("{}", String::from_utf8_lossy(&run.stderr)),
        other => println!("skipped: no small disk can be mounted here ({:?})", other.map(|run| run.status)),
    }
}
