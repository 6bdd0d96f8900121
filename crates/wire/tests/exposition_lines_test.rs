//! One sample line at a time: what the formats allow.

mod support;

use wire::exposition::{Limits, scan};

/// One line with its end added gives one sample, shown without its line number.
#[track_caller]
fn check(line: &str, expected: &str) {
    let page = format!("{line}\n");
    let (samples, summary) = support::read(page.as_bytes());
    assert_eq!(samples, [format!("1: {expected}")], "{line:?}: {:?}", summary.first_bad);
    assert_eq!((summary.samples, summary.wanted, summary.bad), (1, 1, 0), "{line:?}");
}

#[test]
fn names() {
    check("a 1", "a {} 1.0");
    check("engine:kv_used_tokens 1", "engine:kv_used_tokens {} 1.0");
    check("_ 1", "_ {} 1.0");
    check(":a 1", ":a {} 1.0");
    check("A9 1", "A9 {} 1.0");
}

#[test]
fn blanks() {
    check("  a  1  ", "a {} 1.0");
    check("\ta\t1\t", "a {} 1.0");
    check("a{} 1", "a {} 1.0");
    check("a { } 1", "a {} 1.0");
    check("a{x=\"y\"}1", "a {x=y} 1.0");
    check("a \t{ x = \"y\" , z = \"w\" , } 1 ", "a {x=y|z=w} 1.0");
    check("a 1\r", "a {} 1.0");
    check("a{x=\"y\"} 1 7\r", "a {x=y} 1.0 @7");
}

#[test]
fn labels() {
    check("a{x=\"y\"} 1", "a {x=y} 1.0");
    check("a{x=\"y\",} 1", "a {x=y} 1.0");
    check("a{x=\"\"} 1", "a {x=} 1.0");
    // What would end the labels outside of quotes is text inside of them.
    check(r#"a{x="a,b=\"c\"} 2",y="{}"} 1"#, r#"a {x=a,b="c"} 2|y={}} 1.0"#);
    check(r##"a{x="# not a comment",y=" # "} 1"##, "a {x=# not a comment|y= # } 1.0");
    // Twice the same key is not judged here.
    check(r#"a{x="1",x="2"} 1"#, "a {x=1|x=2} 1.0");
    check("a{x=\"größe 大\"} 1", "a {x=größe 大} 1.0");
    check("a{x=\"nul\0\"} 1", "a {x=nul\0} 1.0");
}

#[test]
fn escapes() {
    check(r#"a{x="C:\\dir"} 1"#, r"a {x=C:\dir} 1.0");
    check(r#"a{x="two\nlines"} 1"#, "a {x=two\nlines} 1.0");
    // A backslash before the closing quote, itself escaped, does not escape the quote.
    check(r#"a{x="end\\"} 1"#, r"a {x=end\} 1.0");
    check(r#"a{x="\\n"} 1"#, r"a {x=\n} 1.0");
    // Not an escape of the format: kept as it stands.
    check(r#"a{x="\d\ü"} 1"#, r"a {x=\d\ü} 1.0");
}

#[test]
fn quoted_names() {
    check(r#"{"a.b"} 1"#, "a.b {} 1.0");
    check(r#"{"a.b", x="y"} 1"#, "a.b {x=y} 1.0");
    check(r#"{ "a.b" , "k.v" = "y" , } 1"#, "a.b {k.v=y} 1.0");
    check(r#"{x="y","a.b"} 1"#, "a.b {x=y} 1.0");
    check(r#"a{"k.v"="y"} 1"#, "a {k.v=y} 1.0");
    check(r#"{"say \"hi\"",x="y"} 1"#, r#"say "hi" {x=y} 1.0"#);
}

#[test]
fn values() {
    check("a 0", "a {} 0.0");
    check("a -0.0", "a {} -0.0");
    check("a +1", "a {} 1.0");
    check("a .5", "a {} 0.5");
    check("a 5.", "a {} 5.0");
    check("a 4.716326912e+09", "a {} 4716326912.0");
    check("a 1E-3", "a {} 0.001");
    // Seventeen digits, of which a float keeps what it can: the same as std.
    check("a 40.200915527999996", "a {} 40.200915527999996");
    check("a 1e999", "a {} inf");
    for word in ["NaN", "nan", "NAN", "-nan", "+NaN"] {
        check(&format!("a {word}"), "a {} NaN");
    }
    for word in ["Inf", "+Inf", "inf", "+INF", "Infinity", "+infinity"] {
        check(&format!("a {word}"), "a {} inf");
    }
    check("a -Inf", "a {} -inf");
}

#[test]
fn timestamps() {
    check("a 1 1520879607789", "a {} 1.0 @1520879607789");
    check("a 1 -3", "a {} 1.0 @-3");
    // A fraction or an exponent is OpenMetrics, so seconds.
    check("a 1 1520879607.789", "a {} 1.0 @1520879607789");
    check("a 1 1.5e9", "a {} 1.0 @1500000000000");
}

/// Whole numbers are milliseconds, except on a page that ends as only an `OpenMetrics` page does.
#[test]
fn whole_seconds_on_an_openmetrics_page() {
    assert_eq!(support::read(b"a 1 15\n# EOF\n").0, ["1: a {} 1.0 @15000"]);
    assert_eq!(support::read(b"a 1 15\n# EOF").0, ["1: a {} 1.0 @15000"]);
    assert_eq!(support::read(b"a 1 15\n# not # EOF\n").0, ["1: a {} 1.0 @15"]);
}

#[test]
fn exemplars_are_passed_over() {
    check(r#"a_bucket{le="1"} 17 # {trace_id="o"} 0.67"#, "a_bucket {le=1} 17.0");
    check(r#"a_bucket{le="1"} 17 5 # {trace_id="} 9"} 0.67 1520879607.789"#, "a_bucket {le=1} 17.0 @5");
    check("a 1 # said by hand", "a {} 1.0");
}

#[test]
fn get_finds_a_label_and_resolves_its_escapes() {
    let page = br#"a{dp_rank="1","k.v"="x\ny",le="+Inf",dp_rank="2"} 1
"#;
    let mut seen = 0;
    scan(
        page,
        &Limits::default(),
        |_| true,
        |sample| {
            seen += 1;
            assert_eq!(sample.labels.get("dp_rank").as_deref(), Some("1"));
            assert_eq!(sample.labels.get("k.v").as_deref(), Some("x\ny"));
            assert_eq!(sample.labels.get("le").as_deref(), Some("+Inf"));
            assert_eq!(sample.labels.get("rank"), None);
            assert!(!sample.labels.is_empty());
            assert_eq!(sample.labels.into_iter().count(), 4);
        },
    );
    assert_eq!(seen, 1);
}
