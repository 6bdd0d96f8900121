//! A page that is known again gives what its full reading gives, or nothing. The evidence is the full reading.

use proptest::prelude::*;
use wire::exposition::{Limits, Skeleton, Summary, scan};

fn wanted(name: &str) -> bool {
    name.starts_with('w')
}

/// What the scan hands over, but for the numbers; and these.
fn full(page: &[u8], limits: &Limits) -> (Vec<String>, Vec<f64>, Summary, Vec<u32>) {
    let (mut seen, mut numbers, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let summary = scan(page, limits, wanted, |sample| {
        seen.push(format!("{} {:?} {:?} {}", sample.name, sample.labels, sample.timestamp_ms, sample.line));
        numbers.push(sample.value);
        lines.push(sample.line);
    });
    (seen, numbers, summary, lines)
}

fn skeleton(page: &[u8], limits: &Limits) -> Option<Skeleton> {
    let (_, _, summary, lines) = full(page, limits);
    Skeleton::of(page, limits, &summary, &lines)
}

/// Where the second page is known by the first, its full reading is the first one's with these numbers.
fn holds(first: &[u8], second: &[u8], limits: &Limits) -> bool {
    let Some(numbers) = skeleton(first, limits).and_then(|skeleton| skeleton.numbers(second)) else { return false };
    let (one, other) = (full(first, limits), full(second, limits));
    assert_eq!((&one.0, &one.2), (&other.0, &other.2), "{:?}", String::from_utf8_lossy(second));
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&numbers), bits(&other.1));
    true
}

#[test]
fn a_plain_page_with_other_numbers_is_known() {
    let page = "# HELP w_a x\n# TYPE w_a gauge\nw_a{k=\"v w\"} 1\nw_a{k=\"}\"} 2.5e3\n\nother_bucket{le=\"+Inf\"} 4\r\nw_b NaN\n";
    let next = page.replace(" 1\n", " 17.25\n").replace("2.5e3", "-Inf").replace("} 4", "} 4444444");
    assert!(holds(page.as_bytes(), next.as_bytes(), &Limits::whole()));
}

#[test]
fn anything_else_is_not_known() {
    let page = "# TYPE w_a gauge\nw_a{k=\"v\"} 1\nother 2\n";
    for next in [
        "# TYPE w_a gauge\nw_a{k=\"w\"} 1\nother 2\n",
        "# TYPE w_a counter\nw_a{k=\"v\"} 1\nother 2\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} 1\nother 2\nother 3\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} 1\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} 1\nother 2",
        "# TYPE w_a gauge\nw_a{k=\"v\"} 1 1700000000000\nother 2\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} 1 # {} 3\nother 2\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} one\nother 2\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} \nother 2\n",
        "# TYPE w_a gauge\nw_a{k=\"v\"} 1\nother \n",
        "",
    ] {
        assert!(!holds(page.as_bytes(), next.as_bytes(), &Limits::whole()), "{next:?}");
    }
}

#[test]
fn of_a_page_that_is_not_plain_there_is_none() {
    let long = Limits { max_line: 50, ..Limits::whole() };
    for (page, limits) in [
        ("w 1", Limits::whole()),
        ("w one\n", Limits::whole()),
        ("w 1 1700000000000\n", Limits::whole()),
        ("w 1 # {k=\"v\"} 1\n", Limits::whole()),
        ("{\"w\"} 1\n", Limits::whole()),
        ("w  1\n", Limits::whole()),
        ("w {k=\"v\"}1\n", Limits::whole()),
        ("w_and_a_long_name 1\n", long),
        ("w 1\nw 2\n", Limits { max_samples: 1, ..Limits::whole() }),
    ] {
        assert_eq!(skeleton(page.as_bytes(), &limits), None, "{page:?}");
    }
}

/// Lines of a page as they come, and as they do not.
fn line() -> impl Strategy<Value = String> {
    let labels = prop_oneof![
        Just(String::new()),
        "\\{[a-c]=\"[a-z} #\\\\\"]{0,4}\"\\}",
        Just("{k=\"v\",l=\"\\\\\"}".to_owned()),
        Just("{\"w q\"}".to_owned())
    ];
    let number = prop_oneof![4 => "[0-9]{1,18}", 2 => "[0-9.eE+-]{1,8}", 1 => "\\PC{0,6}", 1 => Just("NaN".to_owned())];
    let behind = prop_oneof![8 => Just(String::new()), 1 => " [0-9]{1,13}", 1 => " # \\{\\} [0-9]"];
    let sample = ("[wo ]{1,2}[_a]{0,2}", labels, "[ \t]{0,2}", number, behind)
        .prop_map(|(name, labels, gap, number, behind)| format!("{name}{labels}{gap}{number}{behind}"));
    let plain = ("[wo]", "[0-9]{1,6}").prop_map(|(name, number)| format!("{name} {number}"));
    prop_oneof![4 => plain, 4 => sample, 1 => "# (TYPE|HELP) [wo]{1,2} gauge", 1 => Just(String::new())]
}

/// A page, and another one that is mostly the same with other numbers.
fn pages() -> impl Strategy<Value = (String, String)> {
    let end = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\n\n")];
    prop::collection::vec((line(), end, any::<u16>(), 0_u8..12, line()), 0..8).prop_map(|lines| {
        let mut pages = (String::new(), String::new());
        for (line, end, number, dice, other) in lines {
            pages.0 += &format!("{line}{end}");
            let next = match (dice, line.rsplit_once(' ')) {
                (0, _) => other,
                (1..=8, Some((front, _))) => format!("{front} {number}"),
                _ => line,
            };
            pages.1 += &format!("{next}{end}");
        }
        pages
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn known_or_not_it_is_what_the_full_reading_says((first, second) in pages()) {
        for limits in [Limits::whole(), Limits { max_line: 60, max_samples: 5, ..Limits::default() }] {
            holds(first.as_bytes(), second.as_bytes(), &limits);
        }
    }
}
