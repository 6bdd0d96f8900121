//! A journal that is read on: nothing missed, nothing twice, and never more than is kept.

use model::{Stretch, Time};
use sense::Ran;

use super::follow::Read;
use super::journal::{NEWEST, joined};

const SINCE: Time = Time(900.0);

/// What `journalctl` prints of messages, `each` of them in a second, from second `from` on.
fn said(from: u64, until: u64, each: u64) -> Vec<String> {
    let record = |second: u64, n: u64| {
        let micros = second * 1_000_000 + n * 1_000_000 / each;
        format!("{{\"__REALTIME_TIMESTAMP\":\"{micros}\",\"MESSAGE\":\"m{second}.{n}\"}}")
    };
    (from..until).flat_map(|second| (0..each).map(move |n| record(second, n))).collect()
}

fn ran(records: &[String], cut: bool) -> Ran {
    let stdout = records.iter().flat_map(|record| [record.as_bytes(), b"\n"].concat()).collect();
    Ran { stdout, cut, stderr: String::new(), code: Some(0) }
}

fn stretch(records: &[String], from_start: bool) -> Stretch {
    let records: Vec<&[u8]> = records.iter().map(String::as_bytes).collect();
    let first: &[u8] = if from_start { b"" } else { b"\n" };
    Stretch { bytes: joined(first, &records), from_start, ..Stretch::default() }
}

fn records(stretch: &Stretch) -> Vec<String> {
    String::from_utf8_lossy(&stretch.bytes).lines().filter(|line| !line.is_empty()).map(String::from).collect()
}

#[test]
fn what_came_since_is_added_once() {
    let read = Read::of(vec![stretch(&said(1000, 1010, 2), true)]).expect("messages");
    // The last message is of 1009.5: from a tick before it on.
    assert_eq!(format!("{:.6}", read.until().0), "1009.499999");
    let on = read.on(SINCE, Time(1012.0), &ran(&said(1009, 1012, 2)[1..], false)).expect("nothing is missing");
    let [only] = on.as_slice() else { panic!("{} stretches", on.len()) };
    assert_eq!((records(only), only.from_start), (said(1000, 1012, 2), true));
}

/// A thousand messages of a server that says a hundred a second are ten seconds: followed for a minute and a half they are
/// ninety, and its start is still there.
#[test]
fn of_a_talkative_server_a_minute_and_a_half_is_kept() {
    let mut stretches = vec![stretch(&said(1000, 1010, 100), true)];
    for second in 1010..1200 {
        let ran = ran(&said(second - 1, second + 1, 100)[99..], false);
        let read = Read::of(stretches).expect("messages");
        stretches = read.on(SINCE, Time(second as f64 + 1.0), &ran).expect("nothing is missing");
    }
    let [start, newest] = stretches.as_slice() else { panic!("{} stretches", stretches.len()) };
    assert!(start.from_start && !newest.from_start && newest.bytes.starts_with(b"\n"));
    assert_eq!(records(start), said(1000, 1001, 100)[..records(start).len()]);
    assert_eq!(records(newest), said(1110, 1200, 100));
}

/// However old they are, as many stay as are asked for at first.
#[test]
fn of_a_silent_server_the_newest_thousand_stay() {
    let many = u64::from(NEWEST);
    let read = Read::of(vec![stretch(&said(1000, 1000 + many, 1), false)]).expect("messages");
    let ran = ran(&said(999 + many, 1010 + many, 1), false);
    let on = read.on(SINCE, Time(100_000.0), &ran).expect("nothing is missing");
    assert_eq!(records(&on[0]), said(1010, 1010 + many, 1));
}

#[test]
fn where_messages_may_be_missing_it_is_read_afresh() {
    let read = || Read::of(vec![stretch(&said(1000, 1010, 1), true)]).expect("messages");
    // More than a program may print.
    assert!(read().on(SINCE, Time(1030.0), &ran(&said(1009, 1030, 1), true)).is_none());
    // The journal was rotated away meanwhile.
    assert!(read().on(SINCE, Time(1030.0), &ran(&said(1015, 1030, 1), false)).is_none());
    assert!(read().on(SINCE, Time(1030.0), &ran(&[], false)).is_none());
    // Nothing was read before.
    assert!(Read::of(vec![stretch(&[], true)]).is_none() && Read::of(Vec::new()).is_none());
}

/// Two stretches stay two: what lies between them was never read.
#[test]
fn the_start_stays_the_start() {
    let start = stretch(&said(900, 905, 1), true);
    let read = Read::of(vec![start.clone(), stretch(&said(1000, 1010, 1), false)]).expect("messages");
    let on = read.on(SINCE, Time(1012.0), &ran(&said(1009, 1012, 1), false)).expect("nothing is missing");
    assert_eq!((records(&on[0]), records(&on[1])), (records(&start), said(1000, 1012, 1)));
}
