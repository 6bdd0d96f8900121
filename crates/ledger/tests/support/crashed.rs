//! What the tests of crashes write, and what must be there afterwards.

use ledger::{Ledger, Note, Options, Point, Query, Sample, Thinning};

use crate::support::{BEGIN, key};

/// Milliseconds between looks; look `n` is at target `n % 3` and says `n`.
pub(crate) const STEP: i64 = 1000;

/// Chunks, segments and thinning many times a second.
pub(crate) fn options(at: fn(&'static str, &str) -> std::io::Result<()>) -> Options {
    let thin = [(60_000, 4000), (300_000, 20_000)].map(|(after_ms, step_ms)| Thinning { after_ms, step_ms });
    Options { log_bytes: 64 << 10, chunk_looks: 8, segment_ms: 40_000, thin: thin.to_vec(), at, ..Options::default() }
}

/// Holds what was left against what look `n` must have said, and gives how many looks are there.
pub(crate) fn check(ledger: &Ledger, notes: &[Note], promised: i64, steps: &mut u64) -> i64 {
    for note in notes {
        assert!(note.text.contains("torn"), "{note:?}");
    }
    let wanted = key("n");
    let history = ledger.reader().history(&Query { wanted: &|key| *key == wanted, ..Query::default() });
    assert_eq!(history.notes, []);
    let looks = |point: &Point| match point {
        Point::Look { .. } => 1,
        Point::Step { summary, .. } => summary.counts.values.cast_signed(),
    };
    let there: i64 = history.series.iter().flat_map(|series| &series.points).map(looks).sum();
    assert!(there >= promised, "{promised} looks were promised, {there} are there");
    for series in &history.series {
        let target: i64 = series.target[1..].parse().expect("a number");
        let mut next = target;
        for point in &series.points {
            match point {
                Point::Look { time, sample } => {
                    assert_eq!((*time, *sample), (BEGIN + next * STEP, Sample::Value(next as f64)));
                    next += 3;
                }
                Point::Step { time, step_ms, summary } => {
                    // Those that follow, all within the step; where the segment ended, some of it are still to come.
                    let count = summary.counts.values as usize;
                    let mine: Vec<i64> = (next..there).step_by(3).take(count).collect();
                    let within = |look: &i64| (*time..time + step_ms).contains(&(BEGIN + look * STEP));
                    assert!(mine.len() == count && mine.iter().all(within), "{point:?} from {next} on");
                    *steps += 1;
                    let figures = summary.figures.expect("figures");
                    let ends = (mine[0] as f64, mine[mine.len() - 1] as f64);
                    assert_eq!((figures.min, figures.max, figures.last), (ends.0, ends.1, ends.1));
                    assert!((figures.mean - f64::midpoint(ends.0, ends.1)).abs() < 1e-6);
                    next += 3 * summary.counts.values.cast_signed();
                }
            }
        }
        // No look of this target is missing below the number of all.
        assert!(next >= there, "{target}: {next} of {there}");
    }
    there
}
