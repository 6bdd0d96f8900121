//! What it costs to find the metrics of an installed engine: the lab's SGLang 0.5.23, run by its own Python.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sense::installed::{Bounds, Stamps, Wanted, installed};
use sense::{AllowList, Client, Host, Limits, Place};

const RUNS: usize = 11;

/// Prints wall times of the whole search, with nothing known of the files and with everything.
pub fn run() {
    let cache = || std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let own = || cache().unwrap_or_else(home).join("plimsoll/lab");
    let lab = std::env::var_os("PLIMSOLL_LAB").map_or_else(own, PathBuf::from);
    let program = lab.join("sglang-0.5.23/bin/python");
    if !program.exists() {
        println!("installed source: skipped, the lab is not installed");
        return;
    }
    let mut python = Command::new(program)
        .args(["-c", "import sys; print('up', flush=True); sys.stdin.read()"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(python.stdout.take().expect("its output")), &mut line)
        .expect("its line");
    measure(python.id());
    drop(python.stdin.take());
    let _ = python.wait();
    beside(&lab.join("sglang-0.5.23/lib"));
}

/// The plain way, which finds files and no metrics: `grep -rl` over the same package.
fn beside(libraries: &Path) {
    let mut folders = std::fs::read_dir(libraries).into_iter().flatten().filter_map(Result::ok);
    let package =
        folders.find_map(|python| Some(python.path().join("site-packages/sglang")).filter(|path| path.exists()));
    let Some(package) = package else { return };
    let timed = |_| {
        let start = Instant::now();
        let mut grep = Command::new("grep");
        grep.args(["-rl", "--include=*.py", "sglang:"]).arg(&package).stdout(Stdio::null());
        grep.status().map(|_| start.elapsed())
    };
    match (0..RUNS).map(timed).collect::<Result<Vec<_>, _>>() {
        Ok(mut times) => print(&mut times, "grep -rl sglang:"),
        Err(error) => println!("  grep -rl: skipped, {error}"),
    }
}

fn print(times: &mut [Duration], name: &str) {
    times.sort();
    let ms = |at: usize| times[at].as_secs_f64() * 1e3;
    println!("  {name:<17} {:>6.1} ms median, {:>6.1} best, {:>6.1} worst", ms(RUNS / 2), ms(0), ms(RUNS - 1));
}

fn measure(pid: u32) {
    let wanted = Wanted {
        package: "sglang".into(),
        folders: vec!["srt".into()],
        needles: vec!["sglang:".into(), "prometheus_client".into()],
    };
    let place = Place::from(Host::new(Client::new(AllowList::default(), Limits::default())));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let timed = |stamps: &mut Stamps| {
        let start = Instant::now();
        let root = std::path::PathBuf::from(format!("/proc/{pid}/root"));
        let found = runtime.block_on(installed(&place, pid, &root, &wanted, Bounds::default(), stamps)).expect("the package");
        (start.elapsed(), found)
    };
    let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    let mut shape = (0, 0);
    for _ in 0..RUNS {
        let mut stamps = Stamps::default();
        for times in &mut times {
            let (took, found) = timed(&mut stamps);
            times.push(took);
            shape = (found.seen, found.files.iter().map(|file| file.metrics.len()).sum());
        }
    }
    println!("installed source: {} files, {} metrics; wall time, page cache warm, {RUNS} runs", shape.0, shape.1);
    for (name, times) in ["no stamps", "all stamps known"].iter().zip(&mut times) {
        print(times, name);
    }
}
