//! Two stretches of a journal, and no message in both.

use model::Time;
use sense::Ran;

use super::journal::{NEWEST, STARTING, end_of_start, newest, start};

/// What `journalctl` prints of messages, one a second from second 1000 on.
fn ran(seconds: impl Iterator<Item = u64>, cut: bool) -> Ran {
    let record = |second| format!("{{\"__REALTIME_TIMESTAMP\":\"{second}250000\",\"MESSAGE\":\"m{second}\"}}\n");
    Ran { stdout: seconds.map(record).collect::<String>().into_bytes(), cut, stderr: String::new(), code: Some(0) }
}

/// The first and the last record, and how many there are.
fn shape(bytes: &[u8]) -> (String, String, usize) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let message = |line: &&str| line.split('"').nth(7).unwrap_or_default().to_owned();
    (lines.first().map(message).unwrap_or_default(), lines.last().map(message).unwrap_or_default(), lines.len())
}

#[test]
fn all_of_a_young_journal() {
    let (stretch, oldest) = newest(&ran((1000..1010).rev(), false));
    assert_eq!(shape(&stretch.bytes), ("m1000".into(), "m1009".into(), 10));
    assert!(stretch.from_start && oldest.is_none());
}

/// As many as were asked for: there may be older ones, and where they end is told.
#[test]
fn the_newest_of_many() {
    let many = u64::from(NEWEST);
    let (stretch, oldest) = newest(&ran((5000..5000 + many).rev(), false));
    assert_eq!(shape(&stretch.bytes), ("m5000".into(), format!("m{}", 4999 + many), NEWEST as usize));
    // a stretch that does not begin its log loses what stands before its first line feed
    assert!(!stretch.from_start && stretch.bytes.starts_with(b"\n"));
    assert_eq!(oldest, Some(Time(5000.25)));
    // cut by the cap of output: the oldest one that came may lack its end, and is dropped
    let (stretch, oldest) = newest(&ran((5000..5010).rev(), true));
    assert_eq!((shape(&stretch.bytes).0, stretch.from_start, oldest), ("m5001".into(), false, Some(Time(5001.25))));
}

/// The first messages stay, whatever follows.
#[test]
fn the_start_of_many() {
    let stretch = start(&ran(1000..11_000, true)).expect("there are some");
    assert_eq!(shape(&stretch.bytes), ("m1000".into(), format!("m{}", 999 + STARTING), STARTING));
    assert!(stretch.from_start);
    assert!(start(&ran(0..0, false)).is_none());
}

/// A server of ten minutes whose newest messages reach back five: the start ends before those, by the journal's own tick,
/// however large the numbers; that of an old server ends a quarter of an hour after it began.
#[test]
fn no_message_twice() {
    let since = Time(1_795_968_000.5);
    let oldest = Time(1_795_968_300.250_001);
    assert_eq!(format!("{:.6}", end_of_start(since, oldest).0), "1795968300.250000");
    assert_eq!(end_of_start(since, Time(1_795_990_000.0)), Time(1_795_968_900.5));
}
