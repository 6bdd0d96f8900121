//! Sizes and fractions, in the forms that messages of recorded logs and published releases write them.

use std::time::Instant;

use wire::log::{Size, sizes};

/// 2^20 and 2^30.
const M: f64 = 1_048_576.0;
const G: f64 = 1_073_741_824.0;

/// A number in bytes, or as a count, and how far off it may be.
type Told = Option<(f64, f64)>;

/// Heading, name, first and second number.
fn of(message: &str, binary: bool) -> Vec<(&str, &str, Told, Told)> {
    let number = |size: Size<'_>| size.bytes(binary).or_else(|| size.count());
    sizes(message).map(|found| (found.under, found.key, number(found.first), found.second.and_then(number))).collect()
}

#[test]
fn sizes_of_a_store() {
    let line = "Master Metrics: Mem Storage: 236.00 MB / 256.00 MB (92.2%) | SSD Storage: 5.00 GB / infinite | Keys: 236 \
                (soft-pinned: 0) | Requests (Success/Total): PutStart=400/400, Get=250/334, Del=0/0,  | Eviction: \
                Success/Attempts=11/11, keys=168, size=168.00 MB | Mem Eviction: keys=1, size=0 B";
    let requests = "Requests (Success/Total)";
    let wanted = [
        ("", "Mem Storage", Some((236.0 * M, 0.005 * M)), Some((256.0 * M, 0.005 * M))),
        ("", "SSD Storage", Some((5.0 * G, 0.005 * G)), None),
        (requests, "PutStart", Some((400.0, 0.0)), Some((400.0, 0.0))),
        (requests, "Get", Some((250.0, 0.0)), Some((334.0, 0.0))),
        (requests, "Del", Some((0.0, 0.0)), Some((0.0, 0.0))),
        ("Eviction", "Success/Attempts", Some((11.0, 0.0)), Some((11.0, 0.0))),
        ("Eviction", "size", Some((168.0 * M, 0.005 * M)), None),
        ("Mem Eviction", "size", Some((0.0, 0.0)), None),
    ];
    assert_eq!(of(line, true), wanted);
}

#[test]
fn units_and_how_far_off_they_are() {
    let first = |text: &str, binary: bool| of(text, binary).first().and_then(|(_, _, first, _)| *first);
    assert_eq!(first("size: 1.5 MB", true), Some((1.5 * M, 0.05 * M)));
    assert_eq!(first("size: 1.5 MB", false), Some((1.5e6, 0.05e6)));
    assert_eq!(first("size: 1.5MiB,", false), Some((1.5 * M, 0.05 * M)));
    // Whole ones of a larger unit are right within half of it; bytes are whole.
    assert_eq!(first("size: 5 GB", true), Some((5.0 * G, 0.5 * G)));
    assert_eq!(first("size=12 B}", true), Some((12.0, 0.0)));
    // One unit for both.
    let line = "L1 memory usage: 38.40/64.00 GiB (60.0%)";
    let wanted = [("", "L1 memory usage", Some((38.4 * G, 0.005 * G)), Some((64.0 * G, 0.005 * G)))];
    assert_eq!(of(line, false), wanted);
    let usage = sizes(line).next().expect("it can be read");
    assert_eq!(
        (usage.first.text, usage.first.unit, usage.first.bytes(false)),
        ("38.40", Some("GiB"), Some((38.4 * G, 0.005 * G)))
    );
    assert_eq!(usage.first.count(), None, "a size is no count");
}

#[test]
fn what_is_no_size_is_none() {
    for text in [
        "size: 236.00",
        "size: 236.00 M",
        "size: 236.00 MBit",
        "size: -3 MB",
        "size: .5 MB",
        "rate: 10 MB/s",
        "rate: 10MB/sec",
        "a: 1/2/3",
        "a: 1 MB / 2 MB / 3 MB",
        "a: 1 MB / 2",
        "a: 1 MB / 2 parts",
        "a: 1/x",
        "a: 1 / x",
        "date: 11/29/2026",
        "at 16:15/23",
        "a: 250/33.",
        "a: 3 MB.5",
        "a: 1,234 MB",
        ": 5 MB",
        "a = b MB",
        "",
    ] {
        assert_eq!(of(text, true), [], "{text}");
    }
}

/// A line of a megabyte costs what its length costs, whatever it is made of.
#[test]
fn no_line_takes_long() {
    let long = 1 << 20;
    let begun = Instant::now();
    for part in
        [":", "=", "a: ", "a: 1 / ", "a (b/c): 1 / 2 ", "a: 1.", "9", "a:                ", "((((((/:", "a: 1 MB / "]
    {
        let line = part.repeat(long / part.len());
        let _ = sizes(&line).count() + wire::log::pairs(&line).count();
    }
    let digits = format!("size: 0.{} MB", "1".repeat(long));
    assert_eq!(of(&digits, true).len(), 1);
    let took = begun.elapsed().as_secs_f64();
    assert!(took < 20.0, "{took:.1} s");
}
