//! Two tables: how fast our reader of the Prometheus text format is, beside the floor and its packaged peers; and, with
//! `-- logs`, how fast a log is walked from its end, beside plain ways to do it.
//!
//! `cargo run --release` in this folder. With `-- ours` only our rows; with `-- best` the best of many runs of ours, to
//! compare two versions of the code on a busy machine; with `-- wanted` or `-- all` one call on the small page, for
//! `valgrind --tool=callgrind`. `cargo test` proves that no sample costs an allocation.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Duration;

use benches::{history, logs, pages, parsers, source};
use rustix::time::{ClockId, clock_gettime};

const RUNS: usize = 5;
const RUN: Duration = Duration::from_millis(500);

fn main() {
    let recorded = pages::recorded();
    let wanted: HashSet<&str> = parsers::WANTED.into();
    match std::env::args().nth(1).as_deref() {
        None => {
            table(&recorded, &wanted);
            source::run();
        }
        Some("source") => source::run(),
        Some("wanted") => println!("{}", parsers::wire_wanted(&recorded, &wanted)),
        Some("all") => println!("{}", parsers::wire_all(&recorded)),
        Some("ours") => ours(&recorded, &wanted),
        Some("logs") => walks(),
        Some("history") => history::run(std::env::args().nth(2).as_deref(), cpu_seconds),
        Some("best") => {
            best(&recorded, &wanted);
            best(&pages::merged(), &wanted);
        }
        Some(other) => eprintln!("no such run: {other}; there are: wanted, all, ours, best, logs, source, history"),
    }
}

fn table(recorded: &str, wanted: &HashSet<&str>) {
    let merged = pages::merged();
    let renamed = [recorded.replace("sglang:", "sglang_"), merged.replace("sglang:", "sglang_")];
    println!("median of {RUNS} runs of at least {} ms each, CPU time of one thread", RUN.as_millis());
    println!("74 KB: {} bytes; 5 MB: {} bytes", recorded.len(), merged.len());
    header();
    for (title, page, renamed) in [("74 KB", recorded, &renamed[0]), ("5 MB", &*merged, &renamed[1])] {
        rows_of_ours(title, page, wanted);
        row("floor: lines, last field to f64", title, page, parsers::floor);
        row("prometheus-parse 0.2.5, page as it is [1]", title, page, parsers::prometheus_parse);
        row("prometheus-parse 0.2.5, `:` made `_` [2]", title, renamed, parsers::prometheus_parse);
        row("openmetrics-parser 0.5.1 [2]", title, page, parsers::openmetrics_parser);
    }
    println!("[1] finds no sample and says no error: its names cannot hold a colon. The speed of skipping.");
    println!("[2] counts a histogram or a summary as one sample; ns/sample is over the page's own samples.");
}

/// The best of many short runs, which a busy machine disturbs least: for comparing two versions of the code.
fn best(page: &str, wanted: &HashSet<&str>) {
    let fastest = |name: &str, run: &dyn Fn(&str) -> usize| {
        let of_one = |_| {
            let start = cpu_seconds();
            black_box(run(black_box(page)));
            cpu_seconds() - start
        };
        let seconds = (0..(3_000_000_000 / page.len())).map(of_one).fold(f64::INFINITY, f64::min);
        println!("{name:<8} {:>9.1} us {:>6.0} MB/s", seconds * 1e6, page.len() as f64 / seconds / 1e6);
    };
    fastest("wanted", &|page| parsers::wire_wanted(page, wanted));
    fastest("all", &parsers::wire_all);
    fastest("vector", &parsers::wire_vector);
    fastest("floor", &parsers::floor);
}

/// Over a log of 256 MB with one relevant line in a thousand: to its beginning, and to its newest 20 relevant lines.
fn walks() {
    let log = logs::made();
    let bytes = log.as_bytes();
    let anchors = wire::log::Anchors::new(&logs::WORDS);
    println!(
        "{} MB, {} words; median of {RUNS} runs of at least {} ms each",
        bytes.len() >> 20,
        logs::WORDS.len(),
        RUN.as_millis()
    );
    println!("{:<42} {:>10} {:>9} {:>9}", "", "us", "MB/s", "lines");
    let row = |name: &str, most: usize, run: &dyn Fn(usize) -> usize| {
        let found = run(most);
        let seconds = median_seconds(|| run(black_box(most)));
        let whole =
            if most == usize::MAX { format!("{:.0}", bytes.len() as f64 / seconds / 1e6) } else { "-".to_owned() };
        println!("{name:<42} {:>10.1} {whole:>9} {found:>9}", seconds * 1e6);
    };
    for most in [usize::MAX, 20] {
        row("wire: relevant lines, newest first", most, &|most| logs::wire_newest(bytes, &anchors, most));
        row("wire: the same, taken apart, all pairs", most, &|most| logs::wire_read(bytes, &anchors, most));
        row("memchr: line ends alone", most, &|most| logs::line_ends(bytes, most));
        row("memchr's lines, std's contains", most, &|most| logs::contains(&log, most));
        row("memchr's lines, its searcher for each word", most, &|most| logs::finders(bytes, most));
    }
}

fn ours(recorded: &str, wanted: &HashSet<&str>) {
    header();
    rows_of_ours("74 KB", recorded, wanted);
    rows_of_ours("5 MB", &pages::merged(), wanted);
}

fn rows_of_ours(title: &str, page: &str, wanted: &HashSet<&str>) {
    row("wire: 30 wanted names, their labels", title, page, |page| parsers::wire_wanted(page, wanted));
    row("wire: all samples, all labels decoded", title, page, parsers::wire_all);
    row("wire: all samples to a Vec, labels lazy", title, page, parsers::wire_vector);
}

fn header() {
    println!("{:<42} {:>6} {:>9} {:>9} {:>10} {:>8}", "", "page", "us", "MB/s", "ns/sample", "samples");
}

fn row(name: &str, title: &str, page: &str, run: impl Fn(&str) -> usize) {
    let samples = page.lines().filter(|line| !line.starts_with('#')).count();
    let found = run(page);
    let seconds = median_seconds(|| run(black_box(page)));
    println!(
        "{name:<42} {title:>6} {:>9.1} {:>9.0} {:>10.1} {found:>8}",
        seconds * 1e6,
        page.len() as f64 / seconds / 1e6,
        seconds * 1e9 / samples as f64,
    );
}

/// Seconds of one call: the median over runs that each repeat it for a while.
fn median_seconds(call: impl Fn() -> usize) -> f64 {
    let mut runs: Vec<f64> = (0..RUNS).map(|_| seconds_of_one(&call)).collect();
    runs.sort_by(f64::total_cmp);
    runs[RUNS / 2]
}

fn seconds_of_one(call: &impl Fn() -> usize) -> f64 {
    let (start, mut calls) = (cpu_seconds(), 0_u32);
    while cpu_seconds() - start < RUN.as_secs_f64() {
        black_box(call());
        calls += 1;
    }
    (cpu_seconds() - start) / f64::from(calls)
}

/// CPU time of this thread, which does not count the turns that a busy machine gives to others.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
