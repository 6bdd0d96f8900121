//! `plimsoll serve` on a disk that hangs: what is shown goes on, says so, and the history has afterwards what was looked at
//! meanwhile, or a gap.
#![allow(clippy::print_stdout, reason = "a test's own output")]

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::disk::Disk;
use testkit::real::wait_until;
use testkit::{Answer, Replay, Serve, pages};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// The longest that anybody waits for an answer of the live view; it takes some ms.
const PROMPT: Duration = Duration::from_secs(2);

fn page(used: u32) -> Answer {
    pages::page(1_000_000, used, 0)
}

/// The numbers of tokens in use that the history has, with their times.
fn kept(serve: &Serve, url: &str) -> Vec<(f64, f64)> {
    serve.history(url, "used").into_iter().filter_map(|(at, value, _)| Some((at, value?))).collect()
}

fn series(serve: &Serve, name: &str) -> Option<f64> {
    let page = serve.get("/metrics").1;
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn history(serve: &Serve) -> Value {
    serve.json("/api/v1/overview")["watch"]["history"].clone()
}

fn on(disk: &Disk, server: &Replay) -> Serve {
    let data = disk.path("data");
    let data = data.to_str().expect("a path");
    Serve::start(PROGRAM, disk.beside(), &["--every", "300ms", "--data", data, &server.url()])
}

#[test]
fn a_disk_that_hangs_holds_up_nobody_and_nothing_is_made_up() {
    Disk::run("watched_on_a_disk_that_hangs");
}

#[test]
#[ignore = "a_disk_that_hangs_holds_up_nobody_and_nothing_is_made_up runs it on its disk"]
fn watched_on_a_disk_that_hangs() {
    let disk = Disk::given();
    let server = Replay::start().with("/metrics", page(1));
    let serve = on(&disk, &server);
    wait_until("a look that is kept", || kept(&serve, &server.url()).len() > 2);
    assert_eq!((history(&serve)["state"].as_str(), series(&serve, "plimsoll_history_up")), (Some("kept"), Some(1.0)));
    let hanging = disk.hang();
    let begun = Instant::now();
    let (mut number, mut longest, mut oldest, mut said) = (1, Duration::ZERO, Duration::ZERO, None);
    // When each number was given to the server.
    let mut given = vec![Instant::now()];
    while begun.elapsed() < Duration::from_secs(12) {
        number += 1;
        given.push(Instant::now());
        server.set("/metrics", page(number));
        for path in ["/", "/api/v1/snapshot", "/api/v1/overview", "/metrics", "/api/v1/events"] {
            let asked = Instant::now();
            let (status, _) = serve.get(path);
            assert_eq!(status, 200, "{path}");
            longest = longest.max(asked.elapsed());
        }
        let card = serve.card(&server.url()).expect("its card");
        let reading = &card["pools"][0]["used"];
        assert_eq!(reading[1], "reported", "{card}");
        let shown = reading[0].as_f64().expect("a number") as usize;
        // From when on it could have shown the next one.
        oldest = oldest.max(given.get(shown).map_or(Duration::ZERO, Instant::elapsed));
        if said.is_none() && history(&serve)["state"] == "failing" {
            said = Some((begun.elapsed(), history(&serve)["why"].clone(), series(&serve, "plimsoll_history_up")));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let within = kept(&serve, &server.url()).len();
    drop(hanging);
    println!("longest answer {longest:?}, oldest number shown {oldest:?}, said: {said:?}, {number} numbers");
    assert!(longest < PROMPT, "{longest:?}");
    assert!(oldest < Duration::from_secs(8), "a number that was {oldest:?} old");
    let (_, why, up) = said.expect("that the disk is too slow");
    assert!(why.as_str().is_some_and(|why| why.contains("the disk is too slow")), "{why}");
    assert_eq!(up, Some(0.0));
    wait_until("the history to go on", || history(&serve)["state"] == "kept");
    assert_eq!(series(&serve, "plimsoll_history_up"), Some(1.0));
    wait_until("the last number", || {
        kept(&serve, &server.url()).last().is_some_and(|(_, used)| *used == f64::from(number))
    });
    // There was room for what was looked at meanwhile: it is there, at its own times, and none is between what was said.
    assert_eq!(series(&serve, "plimsoll_history_lost_looks_total"), Some(0.0));
    assert!(serve.events("gap").is_empty());
    serve.signal("TERM");
    let (status, _) = serve.ended();
    assert!(status.success(), "{status}");
    // In the next process, from the disk alone.
    let serve = on(&disk, &server);
    let all = kept(&serve, &server.url());
    assert!(all.len() >= within && all.len() > 8, "{all:?}");
    assert!(all.iter().all(|(_, used)| used.fract() == 0.0 && *used <= f64::from(number)), "{all:?}");
    assert!(all.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1), "in their order: {all:?}");
}

#[test]
fn a_stop_does_not_wait_for_a_disk_that_hangs() {
    Disk::run("stopped_on_a_disk_that_hangs");
}

#[test]
#[ignore = "a_stop_does_not_wait_for_a_disk_that_hangs runs it on its disk"]
fn stopped_on_a_disk_that_hangs() {
    let disk = Disk::given();
    let server = Replay::start().with("/metrics", page(1));
    let serve = on(&disk, &server);
    wait_until("a look that is kept", || kept(&serve, &server.url()).len() > 2);
    // All of it is promised.
    std::thread::sleep(Duration::from_secs(3));
    let promised = kept(&serve, &server.url());
    let hanging = disk.hang();
    server.set("/metrics", page(2));
    wait_until("that to be said", || history(&serve)["state"] == "failing");
    let begun = Instant::now();
    serve.signal("TERM");
    // Its threads at the disk are the kernel's, who lets no process end before them. All that is ours is over.
    let closed = || TcpStream::connect(("127.0.0.1", serve.port())).is_err();
    let over =
        || std::fs::read_to_string(format!("/proc/{}/stat", serve.pid())).is_ok_and(|stat| stat.contains(") Z "));
    wait_until("its end", || closed() && over());
    let took = begun.elapsed();
    let log = serve.log();
    println!("over after {took:?}: {}", log.lines().last().unwrap_or_default());
    assert!(took < Duration::from_secs(6), "{took:?}");
    let last = log.lines().last().unwrap_or_default();
    assert!(last.starts_with("history: the disk ") && last.contains("may be lost"), "{log}");
    drop(hanging);
    let (status, _) = serve.ended();
    assert!(status.success(), "{status}");
    let serve = on(&disk, &server);
    let all = kept(&serve, &server.url());
    assert_eq!(all[..promised.len()], promised);
    assert!(all.iter().all(|(_, used)| [1.0, 2.0].contains(used)), "{all:?}");
}
