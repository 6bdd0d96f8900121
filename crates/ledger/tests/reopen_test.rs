//! What is on the disk, and what comes back of it.

mod support;

use ledger::{Error, Event, Ledger, Options, Query, Sample};
use support::{BEGIN, Given, everything, expected, give, key, open, small, tidy};

fn looks(count: i64) -> Vec<Given> {
    let look = |step: i64| Given {
        target: "server".to_owned(),
        time: BEGIN + step * 5000,
        samples: vec![
            (key("kv.used"), Sample::Value((1000 + step * 7 % 64) as f64)),
            (key("kv.ratio"), if step % 5 == 0 { Sample::NotReported } else { Sample::Value(0.67) }),
        ],
    };
    (0..count).map(look).collect()
}

#[test]
fn what_was_synced_is_there_after_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let looks = looks(20);
    let mut ledger = open(folder.path(), small());
    for look in &looks {
        give(&mut ledger, look).expect("a look");
    }
    // Seen at once, by readers that were made before too.
    let reader = ledger.reader();
    assert_eq!(everything(&reader), expected(&looks));
    ledger.sync().expect("synced");
    drop(ledger);
    let mut ledger = open(folder.path(), small());
    assert_eq!(everything(&ledger.reader()), expected(&looks));
    tidy(&mut ledger, BEGIN);
    assert_eq!(everything(&ledger.reader()), expected(&looks));
    drop(ledger);
    assert_eq!(everything(&open(folder.path(), small()).reader()), expected(&looks));
}

#[test]
fn what_was_not_synced_is_lost_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let looks = looks(7);
    let mut ledger = open(folder.path(), small());
    looks[..6].iter().for_each(|look| give(&mut ledger, look).expect("a look"));
    ledger.sync().expect("synced");
    give(&mut ledger, &looks[6]).expect("a look");
    drop(ledger);
    assert_eq!(everything(&open(folder.path(), small()).reader()), expected(&looks[..6]));
}

#[test]
fn the_log_goes_when_its_looks_are_in_segments() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), Options { log_bytes: 64 << 10, ..small() });
    let looks = looks(5000);
    for (index, look) in looks.iter().enumerate() {
        give(&mut ledger, look).expect("a look");
        if index % 10 == 0 {
            ledger.sync().expect("synced");
            tidy(&mut ledger, look.time);
        }
        let log = |name: &str| name.starts_with("log-");
        let files = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
        let logs = files.filter(|entry| log(&entry.file_name().to_string_lossy()));
        let bytes: u64 = logs.map(|entry| entry.metadata().expect("a file").len()).sum();
        assert!(bytes <= 64 << 10, "{bytes} bytes of log after {index} looks");
    }
    assert_eq!(everything(&ledger.reader()), expected(&looks));
}

#[test]
fn a_reader_keeps_to_one_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), small());
    let looks = looks(2000);
    let reader = ledger.reader();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut before = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let series = everything(&reader);
                // Always a beginning of what was given: never a look twice, none missing, and none less than before.
                let count = series.first().map_or(0, |series| series.points.len());
                assert!(count >= before);
                before = count;
                if let Some(series) = series.iter().find(|series| series.key == key("kv.used")) {
                    let times: Vec<i64> = series.points.iter().map(ledger::Point::time).collect();
                    let should: Vec<i64> = looks.iter().map(|look| look.time).take(times.len()).collect();
                    assert_eq!(times, should);
                }
            }
        });
        for look in &looks {
            give(&mut ledger, look).expect("a look");
            tidy(&mut ledger, look.time);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        reading.join().expect("read");
    });
    assert_eq!(everything(&reader), expected(&looks));
}

#[test]
fn clocks_that_go_back_lose_nothing_and_are_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), small());
    let mut looks = looks(12);
    // One minute back in the middle.
    looks[6..].iter_mut().for_each(|look| look.time -= 60_000);
    for look in &looks {
        give(&mut ledger, look).expect("a look");
        tidy(&mut ledger, look.time);
    }
    let series = everything(&ledger.reader());
    assert_eq!(series, expected(&looks));
    assert!(series.iter().all(|series| series.points.is_sorted_by_key(ledger::Point::time)));
    let (events, _) = ledger.reader().events(i64::MIN, i64::MAX);
    // The sixth look was at 25 s, the seventh is at 30 - 60 s: 55 s back.
    let [Event { time, kind, value, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((*time, kind.as_str(), *value), (BEGIN - 30_000, "clock", Some(55_000.0)));
}

#[test]
fn queries_ask_for_targets_series_and_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), small());
    let mut looks = looks(30);
    looks.iter_mut().skip(1).step_by(2).for_each(|look| "other".clone_into(&mut look.target));
    for look in &looks {
        give(&mut ledger, look).expect("a look");
    }
    tidy(&mut ledger, BEGIN);
    let used = key("kv.used");
    let (from, to) = (BEGIN + 20_000, BEGIN + 100_000);
    let query = Query { target: Some("other"), wanted: &|key| *key == used, from, to, most: 1000 };
    let history = ledger.reader().history(&query);
    let mine: Vec<Given> = looks
        .iter()
        .filter(|look| look.target == "other" && (from..=to).contains(&look.time))
        .map(|look| Given { samples: look.samples[..1].to_vec(), ..look.clone() })
        .collect();
    assert_eq!((history.series, history.notes), (expected(&mine), vec![]));
    let (series, _) = ledger.reader().series();
    let all: std::collections::BTreeSet<_> = [key("kv.used"), key("kv.ratio")].into();
    assert_eq!(series, [("server".into(), all.clone()), ("other".into(), all)].into());
    assert_eq!(ledger.reader().span(), Some((BEGIN, BEGIN + 29 * 5000)));
}

#[test]
fn a_second_ledger_is_refused_with_the_first_ones_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = open(folder.path(), small());
    match Ledger::open(folder.path(), small()) {
        Err(Error::Locked { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{:?}", other.map(|(_, notes)| notes)),
    }
    drop(first);
    open(folder.path(), small());
}

#[test]
fn a_later_format_is_refused_and_a_damaged_number_is_written_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(open(folder.path(), small()));
    let file = folder.path().join("format");
    std::fs::write(&file, "plimsoll history 2\n").expect("written");
    assert!(matches!(Ledger::open(folder.path(), small()), Err(Error::Format { found: 2, .. })));
    std::fs::write(&file, "plimsxll").expect("written");
    let (ledger, notes) = Ledger::open(folder.path(), small()).expect("a ledger");
    assert_eq!(notes.len(), 1, "{notes:?}");
    drop(ledger);
    open(folder.path(), small());
}

#[test]
fn what_does_not_fit_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), small());
    assert!(matches!(ledger.shape("server", vec![key("a"), key("a")]), Err(Error::Unfit(_))));
    assert!(matches!(ledger.shape(&"x".repeat(2000), vec![]), Err(Error::Unfit(_))));
    let shape = ledger.shape("server", vec![key("a")]).expect("a shape");
    assert!(matches!(ledger.append(&shape, BEGIN, &[]), Err(Error::Unfit(_))));
    let event = Event { time: 0, target: String::new(), kind: "x".into(), text: "x".repeat(20_000), value: None };
    assert!(matches!(ledger.event(event), Err(Error::Unfit(_))));
    drop(ledger);
    for options in [Options { bytes: 1000, ..small() }, Options { log_bytes: 32 << 20, ..small() }] {
        assert!(matches!(Ledger::open(folder.path(), options), Err(Error::Unfit(_))));
    }
}
