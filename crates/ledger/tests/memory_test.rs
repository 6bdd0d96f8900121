//! What reading and thinning hold in memory follows from what is asked, not from how much is kept.
//!
//! The peak is the process's (VmHWM of proc_pid_status(5)), so there is one test here.
#![allow(clippy::print_stdout, reason = "a test's own output")]

mod support;

use ledger::{Ledger, Options, Point, Query, Sample, Thinning};
use support::{BEGIN, key, open, tidy};

const SERIES: u32 = 100;
/// Twelve chunks.
const LOOKS: i64 = 12 * 1440;
const EVERY: i64 = 5000;

fn options() -> Options {
    let thin = vec![Thinning { after_ms: 86_400_000, step_ms: 2 * EVERY }];
    Options { segment_ms: 2 * 3_600_000, log_bytes: 16 << 20, thin, ..Options::default() }
}

fn status(line: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let found = status.lines().find_map(|found| found.strip_prefix(line)).expect("a line");
    found.trim_start_matches(':').trim_end_matches("kB").trim().parse().expect("a number")
}

/// By how many kB the process grew at most meanwhile.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    // proc_pid_clear_refs(5): 5 sets the peak back to what is held now.
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak is set back");
    let before = status("VmRSS");
    let done = work();
    (done, status("VmHWM").saturating_sub(before))
}

/// Asks for ten points of everything, and gives how many looks they are of.
fn ask(ledger: &Ledger) -> u64 {
    let query = Query { target: Some("t"), most: 10, ..Query::default() };
    let history = ledger.reader().history(&query);
    assert_eq!((history.series.len(), history.notes.len()), (SERIES as usize, 0));
    let looks = |point: &Point| match point {
        Point::Step { summary, .. } => summary.counts.values,
        Point::Look { .. } => panic!("{point:?}"),
    };
    assert!(history.series.iter().all(|series| series.points.len() <= 10));
    history.series[0].points.iter().map(looks).sum()
}

#[test]
fn memory_follows_from_what_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), options());
    let shape = ledger.shape("t", (0..SERIES).map(|index| key(&index.to_string())).collect()).expect("a shape");
    for look in 0..LOOKS {
        let samples: Vec<Sample> =
            (0..SERIES).map(|index| Sample::Value((look / 60) as f64 * f64::from(index))).collect();
        ledger.append(&shape, BEGIN + look * EVERY, &samples).expect("a look");
        if look % 1440 == 1439 {
            tidy(&mut ledger, BEGIN + look * EVERY);
        }
    }
    // A sample is 16 bytes: all at once are 27 MB.
    let (looks, held) = peak(|| ask(&ledger));
    assert_eq!(looks, LOOKS.cast_unsigned());
    println!("whole looks: {held} kB");
    assert!(held < 4 << 10, "{held} kB for 1000 points of whole looks");
    // A step of a series is 96 bytes: those of half a day, of which one segment is made, are 41 MB.
    let ((), held) = peak(|| tidy(&mut ledger, BEGIN + 4 * 86_400_000));
    println!("thinning: {held} kB");
    assert!(held < 32 << 10, "{held} kB for thinning");
    // All at once are 83 MB.
    let (looks, held) = peak(|| ask(&ledger));
    assert_eq!(looks, LOOKS.cast_unsigned());
    println!("steps: {held} kB");
    assert!(held < 4 << 10, "{held} kB for 1000 points of steps");
}
