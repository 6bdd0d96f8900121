//! History on disk: bytes a sample, and CPU time a look.
//!
//! `cargo run --release -- history [FILE]`: FILE has lines `name{instance="…",…} value milliseconds`, one look after another,
//! as VictoriaMetrics imports them. Without it, pages are made up.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use ledger::{Key, Ledger, Options, Query, Sample};

use crate::pages_made::Page;

/// Looks at each target, two hours of one every five seconds.
const LOOKS: usize = 1440;
const STEP_MS: i64 = 5000;
const BEGIN: i64 = 1_780_002_000_000;

/// One target's keys and looks.
struct Target {
    keys: Vec<Key>,
    looks: Vec<Vec<Sample>>,
}

/// Prints both tables.
pub fn run(file: Option<&str>, cpu_seconds: fn() -> f64) {
    let targets = file.map_or_else(made, read);
    let series: usize = targets.iter().map(|target| target.keys.len()).sum();
    println!("{} targets, {series} series, {} looks each", targets.len(), targets[0].looks.len());
    let (bytes, samples, seconds) = keep(&targets, targets.len(), cpu_seconds);
    println!("ours                        {bytes:>10} bytes  {:.3} bytes a sample", bytes as f64 / samples as f64);
    println!("the same page of 553 series, 5 targets, 1440 looks, measured with their own tools (docs/history.md):");
    println!("VictoriaMetrics 1.79           2790408 bytes  0.70 bytes a sample");
    println!("Prometheus 2.42                7635296 bytes  1.92 bytes a sample");
    println!("CPU, kept and chunked: {:.4} s per 1,000 looks", seconds / (samples as f64 / 553.0) * 1000.0);
    let (bytes, samples, seconds) = keep(&targets, 200, cpu_seconds);
    println!(
        "200 targets: {:.3} bytes a sample, CPU {:.4} s per 1,000 looks",
        bytes as f64 / samples as f64,
        seconds / (samples as f64 / 553.0) * 1000.0
    );
}

/// Gives the looks to a ledger as they come, syncs after each round, and tidies. Gives bytes without the log, samples, CPU seconds.
fn keep(targets: &[Target], count: usize, cpu_seconds: fn() -> f64) -> (u64, usize, f64) {
    let folder = std::env::temp_dir().join(format!("ledger-bench-{}", std::process::id()));
    let options = Options { bytes: 8 << 30, ..Options::default() };
    let (mut ledger, _) = Ledger::open(&folder, options).expect("a ledger");
    let shapes: Vec<_> = (0..count)
        .map(|index| {
            let keys = targets[index % targets.len()].keys.clone();
            ledger.shape(&format!("t{index:03}"), keys).expect("a shape")
        })
        .collect();
    let start = cpu_seconds();
    let mut samples = 0;
    let (mut waited, mut longest) = (0, std::time::Duration::ZERO);
    let looks = targets[0].looks.len();
    for look in 0..looks {
        let now = BEGIN + look as i64 * STEP_MS;
        for (index, shape) in shapes.iter().enumerate() {
            let look = &targets[index % targets.len()].looks[look];
            samples += look.len();
            ledger.append(shape, now, look).expect("a look");
        }
        ledger.sync().expect("synced");
        loop {
            let begin = std::time::Instant::now();
            let more = ledger.tidy(now).expect("tidied");
            longest = longest.max(begin.elapsed());
            waited += usize::from(more);
            if !more {
                break;
            }
        }
    }
    let seconds = cpu_seconds() - start;
    let last = BEGIN + 3 * LOOKS as i64 * STEP_MS;
    while ledger.tidy(last).expect("tidied") {}
    println!("{waited} pieces of tidying, the longest took {} ms", longest.as_millis());
    let begin = std::time::Instant::now();
    let wanted = targets[0].keys[targets[0].keys.len() / 2].clone();
    let query = Query { target: Some("t000"), wanted: &|key| *key == wanted, most: 300, ..Query::default() };
    let points = ledger.reader().history(&query).series[0].points.len();
    println!("one series of two hours as {points} steps: {} us", begin.elapsed().as_micros());
    drop(ledger);
    let bytes = bytes(&folder);
    std::fs::remove_dir_all(&folder).expect("removed");
    (bytes, samples, seconds)
}

fn bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let kept = files.filter(|entry| !entry.file_name().to_string_lossy().starts_with("log-"));
    kept.map(|entry| entry.metadata().expect("a file").len()).sum()
}

fn made() -> Vec<Target> {
    let target = |seed| {
        let mut page = Page::new(seed);
        Target { keys: Page::keys(), looks: (0..LOOKS).map(|_| page.step()).collect() }
    };
    (1..6).map(target).collect()
}

fn read(file: &str) -> Vec<Target> {
    let lines = std::io::BufReader::new(std::fs::File::open(file).expect("the file")).lines();
    let mut order: HashMap<String, usize> = HashMap::new();
    let mut targets: Vec<Target> = Vec::new();
    let mut times: Vec<i64> = Vec::new();
    for line in lines.map(|line| line.expect("a line")) {
        let [time, value, head] = line.rsplitn(3, ' ').collect::<Vec<_>>()[..] else { continue };
        let time: i64 = time.parse().expect("milliseconds");
        let instance = head.split("instance=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an instance");
        let place = *order.entry(instance.to_owned()).or_insert(targets.len());
        if place == targets.len() {
            targets.push(Target { keys: Vec::new(), looks: Vec::new() });
            times.push(i64::MIN);
        }
        let target = &mut targets[place];
        if times[place] != time {
            times[place] = time;
            target.looks.push(Vec::new());
        }
        if target.looks.len() == 1 {
            let (name, labels) = head.split_once('{').unwrap_or((head, ""));
            target.keys.push(Key::new([name, labels]));
        }
        let look = target.looks.last_mut().expect("a look");
        look.push(Sample::Value(value.parse().expect("a number")));
    }
    targets
}
