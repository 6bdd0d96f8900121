//! Whole pages: recorded ones against a count made in another way, and small ones for what a page declares.

mod support;

use std::ops::ControlFlow;

use wire::exposition::{Kind, Limits, Word, looks_like, metadata, parse_all, scan, scan_declared, scan_until};

/// Samples and families by another road than the parser's: non-blank lines that are no comments, and `# TYPE` lines.
fn count(page: &[u8]) -> (usize, usize) {
    let text = String::from_utf8(page.to_vec()).expect("recorded pages are UTF-8");
    let lines: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    let samples = lines.iter().filter(|line| !line.starts_with('#')).count();
    (samples, lines.iter().filter(|line| line.starts_with("# TYPE")).count())
}

#[track_caller]
fn check(name: &str, samples: usize, families: usize) {
    let page = support::page(name);
    assert_eq!(count(&page), (samples, families), "{name}: the other count");
    let (read, summary) = parse_all(&page, &Limits::default());
    assert_eq!(read.len(), samples, "{name}: {:?}", summary.first_bad);
    assert_eq!(summary.samples as usize, samples, "{name}");
    assert_eq!(summary.families as usize, families, "{name}");
    assert_eq!(summary.bad, 0, "{name}");
    assert!(!summary.truncated && summary.notes().is_empty(), "{name}");
    assert_eq!(looks_like(&page), Kind::Exposition, "{name}");
    // Each name, value and label as a plain split of its line finds them; no label of these pages needs more.
    let text = String::from_utf8(page.clone()).expect("checked above");
    for (sample, line) in read.iter().zip(text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())) {
        let (series, value) = line.rsplit_once(' ').expect("a sample has a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        assert_eq!(sample.name, name, "{line}");
        assert_eq!(sample.value.to_bits(), value.parse::<f64>().expect("a number").to_bits(), "{line}");
        let written: Vec<String> = sample.labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        assert_eq!(written.join(","), labels.trim_end_matches('}').trim_end_matches(','), "{line}");
    }
}

#[test]
fn recorded_pages() {
    check("sglang-on-load.prom", 553, 86);
    check("sglang-loads.prom", 32, 32);
    check("vllm-loaded.prom", 470, 92);
    check("smg-load.prom", 321, 57);
    check("lmcache-loaded.prom", 127, 40);
    check("dynamo-worker.prom", 183, 28);
}

#[test]
fn values_of_the_page_of_a_loaded_server() {
    let page = support::page("sglang-on-load.prom");
    let wanted = ["sglang:fwd_occupancy", "sglang:max_total_num_tokens", "sglang:startup_time_seconds"];
    let mut seen = Vec::new();
    let summary =
        scan(&page, &Limits::default(), |name| wanted.contains(&name), |sample| seen.push(support::show(&sample)));
    let labels = "engine_type=unified|model_name=model|moe_ep_rank=0|pp_rank=0|tp_rank=0";
    let find = |name: &str| {
        let found: Vec<&String> = seen.iter().filter(|shown| shown.contains(name)).collect();
        found.iter().map(|shown| shown.split_once(": ").expect("a line number").1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(find("fwd_occupancy"), [format!("sglang:fwd_occupancy {{{labels}}} NaN")]);
    assert_eq!(find("max_total"), [format!("sglang:max_total_num_tokens {{{labels}}} 2048.0")]);
    assert_eq!(find("startup_time").len(), 4);
    assert_eq!((summary.samples, summary.wanted, summary.bad), (553, 6, 0));
}

/// As `curl -i` saves it: the header's seven lines cost seven lines, and the page behind it is read.
#[test]
fn a_page_saved_with_its_http_header() {
    let page = support::page("llamacpp-with-header.prom");
    assert_eq!(looks_like(&page), Kind::Exposition);
    let (samples, summary) = support::read(&page);
    assert_eq!((samples.len(), summary.bad, summary.families), (15, 7, 15));
    assert_eq!(samples[0], "11: llamacpp:prompt_tokens_total {} 4998.0");
    assert!(summary.notes()[0].text.starts_with("7 of "));
}

#[test]
fn families_without_samples() {
    let page = b"# HELP a -\n# TYPE a counter\na_total 1\n\
        # HELP b -\n# TYPE b gauge\n\
        # TYPE c histogram\nc_bucket{le=\"+Inf\"} 0\nc_sum 0\n\
        # TYPE \"d.e\" gauge\n{\"d.e\",x=\"y\"} 1\n# a remark\n# TYPE f gauge\nstray 1\n# EOF\n";
    let (samples, summary) = support::read(page);
    assert_eq!(samples.len(), 5);
    // b and f; the stray sample belongs to neither.
    assert_eq!((summary.families, summary.silent, summary.bad), (5, 2, 0));
    // The samples that nobody wants are heard of all the same.
    assert_eq!(scan(page, &Limits::default(), |_| false, |_| ()).silent, 2);
    let types: Vec<_> = metadata(page, &Limits::default()).filter(|declared| declared.word == Word::Type).collect();
    let shown: Vec<String> = types.iter().map(|declared| format!("{} {}", declared.name, declared.text)).collect();
    assert_eq!(shown, ["a counter", "b gauge", "c histogram", "d.e gauge", "f gauge"]);
    assert_eq!((types[0].line, types[4].line), (2, 12));
}

#[test]
fn declarations_as_they_are_written() {
    let page =
        b"\xEF\xBB\xBF# HELP a Two  words. \r\n  #TYPE\ta\tgauge\n# UNIT a tokens\n# HELP b\n# TYPES a b\n#\n##\n";
    let declared: Vec<_> = metadata(page, &Limits::default()).collect();
    let shown: Vec<_> = declared.iter().map(|line| (line.line, line.word, &*line.name, line.text)).collect();
    let expected = [
        (1, Word::Help, "a", "Two  words."),
        (2, Word::Type, "a", "gauge"),
        (3, Word::Unit, "a", "tokens"),
        (4, Word::Help, "b", ""),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn an_empty_page() {
    for page in [&b""[..], b"\n", b"\r\n\n  \n", b"\xEF\xBB\xBF"] {
        let (samples, summary) = support::read(page);
        assert_eq!((samples.len(), summary.samples, summary.bad), (0, 0, 0));
    }
}

#[test]
fn a_walk_hears_what_is_declared_and_ends_when_it_is_told_to() {
    let page = support::page("sglang-on-load.prom");
    let (all, whole) = parse_all(&page, &Limits::default());
    let (mut heard, mut met) = (Vec::new(), 0);
    let summary = scan_declared(&page, &Limits::default(), |_| true, |_| met += 1, |word| heard.push(word.clone()));
    assert_eq!((met, &summary), (all.len(), &whole));
    assert_eq!(heard, metadata(&page, &Limits::default()).collect::<Vec<_>>());
    let mut begun = Vec::new();
    scan_until(
        &page,
        &Limits::default(),
        |_| true,
        |sample| {
            begun.push(sample.line);
            if begun.len() < 7 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    assert_eq!(begun, all[..7].iter().map(|sample| sample.line).collect::<Vec<_>>());
    // Told to end by nothing it comes to the end.
    let mut met = 0;
    scan_until(
        &page,
        &Limits::default(),
        |_| true,
        |_| {
            met += 1;
            ControlFlow::Continue(())
        },
    );
    assert_eq!(met, all.len());
}
