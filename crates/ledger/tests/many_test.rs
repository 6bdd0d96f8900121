//! More series than one chunk has: what was taken is there, whichever names came and went.

mod support;

use ledger::{Key, Ledger, Options, Point, Query, Sample, Thinning};
use support::{BEGIN, open, small, tidy};

/// So many that two looks of other names are more than the most series of one.
const MANY: usize = ledger::MOST_SERIES / 2 + 1;

#[test]
fn series_that_come_and_go_are_read_whatever_their_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let thin = vec![Thinning { after_ms: 60_000, step_ms: 4000 }];
    let options = || Options { thin: thin.clone(), log_bytes: 16 << 20, ..small() };
    let mut ledger = open(folder.path(), options());
    for look in 0..4i64 {
        let keys = (0..MANY).map(|index| Key::new([format!("{look}"), format!("{index}")])).collect();
        let shape = ledger.shape("t", keys).expect("a shape");
        ledger.append(&shape, BEGIN + look * 4000, &vec![Sample::Value(look as f64); MANY]).expect("a look");
    }
    ledger.sync().expect("synced");
    let count = |ledger: &Ledger| {
        let history = ledger.reader().history(&Query { wanted: &|key| key.parts()[1] == "7", ..Query::default() });
        assert_eq!(history.notes, []);
        let values = |point: &Point| match point {
            Point::Look { sample: Sample::Value(value), .. } => Some(*value),
            Point::Step { summary, .. } => summary.figures.map(|figures| figures.last),
            Point::Look { .. } => None,
        };
        history.series.iter().map(|series| series.points.iter().filter_map(values).collect()).collect::<Vec<Vec<f64>>>()
    };
    let should = vec![vec![0.0], vec![1.0], vec![2.0], vec![3.0]];
    assert_eq!(count(&ledger), should);
    // Long after they are in chunks, and thinned.
    tidy(&mut ledger, BEGIN + 100_000_000_000);
    assert_eq!(count(&ledger), should);
    drop(ledger);
    assert_eq!(count(&open(folder.path(), options())), should);
}
