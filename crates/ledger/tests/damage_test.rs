//! Torn ends and flipped bits: the ledger opens, says what it lost, and never shows a wrong value.

mod support;

use std::path::Path;

use ledger::{Event, Key, Ledger, Point, Query, Sample};
use support::{BEGIN, Dice, Given, events, everything, expected, give, key, open, small, tidy};

fn look(index: i64) -> Given {
    let value = (index * 7919 % 1009) as f64;
    let samples = vec![
        (key("a"), Sample::Value(value)),
        (key("b"), if index % 3 == 0 { Sample::Stale(value / 8.0) } else { Sample::Value(value / 8.0) }),
        (key("c"), Sample::NotReported),
    ];
    Given { target: format!("t{}", index % 2), time: BEGIN + index * 5000, samples }
}

fn event(index: i64) -> Event {
    let time = BEGIN + index * 5000;
    Event { time, target: "t0".into(), kind: "restart".into(), text: format!("number {index}"), value: None }
}

fn files(folder: &Path, start: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> =
        entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))).collect();
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    for file in files(from, "") {
        std::fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("copied");
    }
}

/// Opens what is damaged; every point that it gives must be one that was given. Gives how many there are, and all notes.
fn check(folder: &Path, given: &[Given]) -> (usize, usize) {
    let (ledger, mut notes) = Ledger::open(folder, small()).expect("it always opens");
    let history = ledger.reader().history(&Query::default());
    let should = expected(given);
    let mut count = 0;
    for series in &history.series {
        let same = |other: &&ledger::Series| (&other.target, &other.key) == (&series.target, &series.key);
        let whole = should.iter().find(same).expect("a series that was given");
        let mut left = whole.points.iter();
        for point in &series.points {
            assert!(left.any(|other| other == point), "{point:?} of {:?} was never given", series.key);
            count += 1;
        }
    }
    let (told, lost) = ledger.reader().events(i64::MIN, i64::MAX);
    for other in told {
        let index = (other.time - BEGIN) / 5000;
        assert_eq!(other, event(index));
    }
    notes.extend(history.notes);
    notes.extend(lost);
    (count, notes.len())
}

#[test]
fn a_log_that_was_torn_at_any_byte_has_all_looks_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let given: Vec<Given> = (0..6).map(look).collect();
    let mut ledger = open(folder.path(), small());
    for look in &given {
        give(&mut ledger, look).expect("a look");
    }
    ledger.event(event(6)).expect("an event");
    ledger.sync().expect("synced");
    drop(ledger);
    let log = &files(folder.path(), "log-")[0];
    let bytes = std::fs::read(log).expect("read");
    let mut before = usize::MAX;
    for end in (0..bytes.len()).rev() {
        let torn = tempfile::tempdir().expect("a folder");
        copy(folder.path(), torn.path());
        std::fs::write(torn.path().join(log.file_name().expect("a name")), &bytes[..end]).expect("written");
        let (ledger, notes) = Ledger::open(torn.path(), small()).expect("it always opens");
        let series = everything(&ledger.reader());
        // A beginning of what was given, and never more than of a longer piece.
        let count = series.iter().find(|series| series.key == key("a")).map_or(0, |_| {
            series.iter().filter(|series| series.key == key("a")).map(|series| series.points.len()).sum::<usize>()
        });
        assert_eq!(series, expected(&given[..count]));
        assert!(count <= before, "{end}");
        before = count;
        drop(ledger);
        // The rest of a frame was cut off, and is said once.
        assert!(notes.len() <= 1 && notes.iter().all(|note| note.text.contains("torn")), "{notes:?}");
        open(torn.path(), small());
    }
    assert_eq!(before, 0);
}

#[test]
fn a_segment_that_was_torn_at_any_byte_has_all_chunks_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let given: Vec<Given> = (0..32).map(look).collect();
    let mut ledger = open(folder.path(), small());
    for look in &given {
        give(&mut ledger, look).expect("a look");
        tidy(&mut ledger, look.time);
    }
    drop(ledger);
    let segments = files(folder.path(), "segment-");
    let last = segments.last().expect("a segment");
    let bytes = std::fs::read(last).expect("read");
    for end in 0..bytes.len() {
        let torn = tempfile::tempdir().expect("a folder");
        copy(folder.path(), torn.path());
        // Without its log, as if the disk had lied about the segment.
        for file in files(torn.path(), "log-") {
            std::fs::remove_file(file).expect("removed");
        }
        std::fs::write(torn.path().join(last.file_name().expect("a name")), &bytes[..end]).expect("written");
        let (count, _) = check(torn.path(), &given);
        assert!(count >= (segments.len() - 1) * 16, "{count} points of {} segments", segments.len());
        open(torn.path(), small());
    }
}

#[test]
fn a_flipped_bit_anywhere_costs_what_it_is_in_and_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let given: Vec<Given> = (0..45).map(look).collect();
    let mut ledger = open(folder.path(), small());
    for (index, look) in (0i64..).zip(&given) {
        give(&mut ledger, look).expect("a look");
        if index % 10 == 0 {
            ledger.event(event(index)).expect("an event");
        }
        if index < 40 {
            tidy(&mut ledger, look.time);
        }
    }
    ledger.sync().expect("synced");
    let whole: usize = everything(&ledger.reader()).iter().map(|series| series.points.len()).sum();
    assert_eq!(events(&ledger.reader()).len(), 5);
    drop(ledger);
    let mut dice = Dice(7);
    let all: Vec<_> = [files(folder.path(), "segment-"), files(folder.path(), "log-")].concat();
    assert!(all.len() >= 3, "{all:?}");
    for file in all {
        let bytes = std::fs::read(&file).expect("read");
        let is_log = file.to_string_lossy().contains("log-");
        for at in 0..bytes.len() {
            // One bit of it; every byte of small files, some of others.
            if bytes.len() > 250 && dice.below(bytes.len() as u64) > 250 {
                continue;
            }
            let spoilt = tempfile::tempdir().expect("a folder");
            copy(folder.path(), spoilt.path());
            let mut changed = bytes.clone();
            changed[at] ^= 1 << dice.below(8);
            std::fs::write(spoilt.path().join(file.file_name().expect("a name")), changed).expect("written");
            let (count, notes) = check(spoilt.path(), &given);
            // A chunk has eight looks of three series; of the log one look is lost, or nothing where it is in a chunk too.
            let most = if is_log { 3 } else { 24 };
            assert!(whole - count <= most, "{file:?} at {at}: {count} of {whole}");
            assert!(notes > 0, "{file:?} at {at}: nothing was said");
        }
    }
}

#[test]
fn bytes_that_look_like_a_frame_within_one_are_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), small());
    let real = look(0);
    give(&mut ledger, &real).expect("a look");
    ledger.sync().expect("synced");
    drop(ledger);
    let log = &files(folder.path(), "log-")[0];
    let bytes = std::fs::read(log).expect("read");
    // The same file, moved by one byte: every frame is whole, and none stands where it says.
    std::fs::write(log, [&[0][..], &bytes].concat()).expect("written");
    let (ledger, notes) = Ledger::open(folder.path(), small()).expect("it always opens");
    assert_eq!((everything(&ledger.reader()), notes.len()), (vec![], 1));
}

#[test]
fn absent_is_no_zero() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), small());
    for index in 0..20 {
        let mut look = look(index);
        look.target = "t".to_owned();
        if index % 4 == 1 {
            look.samples.truncate(2);
        }
        give(&mut ledger, &look).expect("a look");
    }
    tidy(&mut ledger, BEGIN);
    let wanted = key("c");
    let query = Query { wanted: &|other: &Key| *other == wanted, ..Query::default() };
    let points = ledger.reader().history(&query).series[0].points.clone();
    let sample = |index: i64| if index % 4 == 1 { Sample::Absent } else { Sample::NotReported };
    let should: Vec<Point> =
        (0..20).map(|index| Point::Look { time: BEGIN + index * 5000, sample: sample(index) }).collect();
    assert_eq!(points, should);
}
