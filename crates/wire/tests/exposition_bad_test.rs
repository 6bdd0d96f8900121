//! Bad lines, caps, and what is said about them: one bad line costs one line.

mod support;

use wire::exposition::{Limits, Reason, Sample, parse_all, scan};

/// The line is bad for this reason, and its good neighbours are still read.
#[track_caller]
fn check(line: &[u8], reason: Reason) {
    let page = [b"before 1\n", line, b"\nafter 2\n"].concat();
    let (samples, summary) = support::read(&page);
    assert_eq!(samples, ["1: before {} 1.0", "3: after {} 2.0"], "{}", line.escape_ascii());
    let bad: Vec<_> = summary.first_bad.iter().map(|bad| (bad.line, bad.reason)).collect();
    assert_eq!(bad, [(2, reason)], "{}", line.escape_ascii());
}

#[test]
fn names() {
    check(b"1a 1", Reason::Name);
    check(b"a-b 1", Reason::Name);
    check(b"a.b{x=\"y\"} 1", Reason::Name);
    check(b"\"a\" 1", Reason::Name);
    check(b"{} 1", Reason::Name);
    check(b"{x=\"y\"} 1", Reason::Name);
    check("größe 1".as_bytes(), Reason::Name);
    check(b"a\0 1", Reason::Name);
    check(b"<html>", Reason::Name);
    check(b"# TYPE", Reason::Name);
    check(b"# HELP \"open", Reason::Name);
}

#[test]
fn labels() {
    check(b"a{", Reason::Labels);
    check(b"a{x} 1", Reason::Labels);
    check(b"a{x=} 1", Reason::Labels);
    check(b"a{x=y} 1", Reason::Labels);
    check(b"a{x='y'} 1", Reason::Labels);
    check(b"a{x=\"y} 1", Reason::Labels);
    check(b"a{x=\"y\\\"} 1", Reason::Labels);
    check(b"a{x=\"y\" 1", Reason::Labels);
    check(b"a{x=\"y\" z=\"w\"} 1", Reason::Labels);
    check(b"a{,} 1", Reason::Labels);
    check(b"a{x=\"y\",,} 1", Reason::Labels);
    check(b"a{9=\"y\"} 1", Reason::Labels);
    check(b"a{\"b\"} 1", Reason::Labels);
    check(b"{\"a\",\"b\"} 1", Reason::Labels);
    check(b"{\"detail\":\"Not Found\"}", Reason::Labels);
}

#[test]
fn values_and_what_follows() {
    check(b"a", Reason::NoValue);
    check(b"a{x=\"y\"}", Reason::NoValue);
    check(b"a{x=\"y\"}  ", Reason::NoValue);
    check(b"a b", Reason::Value);
    check(b"a 0x1p3", Reason::Value);
    check(b"a 1_000", Reason::Value);
    check(b"a 1,5", Reason::Value);
    check(b"a .", Reason::Value);
    check(b"a 1..2", Reason::Value);
    check(b"a # 1", Reason::Value);
    // A native histogram of OpenMetrics 2.
    check(b"a {count:17,sum:3.2}", Reason::Labels);
    check(b"a 1 soon", Reason::Timestamp);
    check(b"a 1 NaN", Reason::Timestamp);
    check(b"a 1 1e300", Reason::Timestamp);
    check(b"a 1 99999999999999999999", Reason::Timestamp);
    check(b"a 1 2 3", Reason::Trailing);
}

#[test]
fn not_utf8() {
    check(b"a{x=\"\xFF\"} 1", Reason::NotUtf8);
    check(b"a 1 \xC3", Reason::NotUtf8);
    check(b"# HELP a \xFF", Reason::NotUtf8);
}

#[test]
fn a_line_of_ten_megabytes_costs_that_line() {
    check(&b"x".repeat(10_000_000), Reason::TooLong);
    check(&[b"# HELP a ".to_vec(), b"x".repeat(70_000)].concat(), Reason::TooLong);
    check(&[b"a{x=\"".to_vec(), b"\\\"".repeat(5_000_000), b"\"} 1".to_vec()].concat(), Reason::TooLong);
    let limits = Limits { max_line: 3, ..Limits::default() };
    assert_eq!(parse_all(b"a 1\r\n", &limits).1.bad, 0, "the line end does not count");
    assert_eq!(parse_all(b"a 12\n", &limits).1.bad, 1);
}

#[test]
fn labels_have_a_cap() {
    let with = |count: usize| {
        let labels: Vec<String> = (0..count).map(|index| format!("l{index}=\"v\"")).collect();
        format!("a{{{}}} 1", labels.join(","))
    };
    let (samples, summary) = support::read(format!("{}\n", with(64)).as_bytes());
    assert_eq!((samples.len(), summary.bad), (1, 0));
    check(with(65).as_bytes(), Reason::TooManyLabels);
}

#[test]
fn samples_have_a_cap() {
    let limits = Limits { max_samples: 2, ..Limits::default() };
    let (samples, summary) = parse_all(b"a 1\n# HELP b -\nb 2\n\n", &limits);
    assert_eq!((samples.len(), summary.truncated), (2, false), "as many as allowed");
    let (samples, summary) = parse_all(b"a 1\nb 2\nc 3\nd 4\n", &limits);
    assert_eq!((samples.len(), summary.truncated, summary.lines), (2, true, 3));
    assert_eq!(summary.notes()[0].id, "page-truncated");
    // Bad lines and lines passed over count as well: the cap bounds the work, not the answer.
    assert_eq!(parse_all(b"!\n!\na 1\n", &limits).0.len(), 0);
    let mut found = 0;
    assert!(scan(b"a 1\nb 2\nc 3\n", &limits, |name| name == "c", |_| found += 1).truncated);
    assert_eq!(found, 0);
}

/// `a 25` may be what is left of `a 2581504`: no number is better than a wrong one.
#[test]
fn a_last_line_without_an_end_may_have_been_cut() {
    let (samples, summary) = support::read(b"a 1\na 25");
    assert_eq!(samples, ["1: a {} 1.0"]);
    assert_eq!(summary.first_bad[0].reason, Reason::Unterminated);
    assert_eq!(
        summary.notes()[0].text,
        "1 of 2 lines could not be read: line 2 (no line end, so it may have been cut)"
    );
    for complete in [&b"a 1\n# EOF"[..], b"a 1\n  ", b"a 1\n# TYPE b ga"] {
        assert_eq!(support::read(complete).1.bad, 0, "{}", complete.escape_ascii());
    }
    // An unwanted line is not judged.
    assert_eq!(scan(b"a 25", &Limits::default(), |_| false, |_| ()).bad, 0);
}

#[test]
fn notes_name_the_first_few_lines() {
    let summary = support::read(b"good 1\n!\n!\n!\n!\n!\n!\n").1;
    let notes = summary.notes();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].id, "lines-unread");
    let text = "6 of 7 lines could not be read: line 2 (no valid name), line 3 (no valid name), line 4 (no valid name), \
                line 5 (no valid name), line 6 (no valid name), …";
    assert_eq!(notes[0].text, text);
    assert!(support::read(b"good 1\n").1.notes().is_empty());
}

/// Only lines whose name is wanted are read to their end, so only these can be found bad.
#[test]
fn unwanted_lines_are_not_judged() {
    let mut found = Vec::new();
    let page = b"a{ 1\nb 2\na nothing\nb 3\n";
    let summary = scan(page, &Limits::default(), |name| name == "b", |sample: Sample<'_>| found.push(sample.line));
    assert_eq!(found, [2, 4]);
    assert_eq!((summary.samples, summary.wanted, summary.bad), (4, 2, 0));
}

#[test]
fn wanted_is_asked_once_for_a_run_of_lines() {
    let mut asked = Vec::new();
    let page = b"a 1\na{x=\"y\"} 2\na_total 3\na 4\n{\"a\"} 5\n";
    scan(page, &Limits::default(), |name| (asked.push(name.to_owned()), true).1, |_| ());
    assert_eq!(asked, ["a", "a_total", "a", "a"]);
}
