//! `plimsoll serve` on servers that are given by name, while the name server has a bad day: what it says no more, or nothing, or
//! something else. The system's own way to names is taken, in a network of the test's own.
#![allow(clippy::print_stdout, reason = "a test's own output")]

use std::time::{Duration, Instant};

use testkit::names::{Names, Says};
use testkit::real::wait_until;
use testkit::{Answer, Replay, Serve, pages};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Names that nobody answers for.
const SILENT: usize = 12;

fn page(used: u32) -> Answer {
    pages::page(1000, used, 0)
}

/// Tokens in use that a card shows as fresh.
fn used(serve: &Serve, url: &str) -> Option<f64> {
    let card = serve.card(url)?;
    card["pools"][0]["used"][0].as_f64().filter(|_| card["pools"][0]["used"][1] == "reported")
}

/// Waits until the server shows what its page says by now, several times over.
fn is_watched(serve: &Serve, server: &Replay) {
    for number in [501, 502, 503] {
        server.set("/metrics", page(number));
        wait_until("the steady server's newest number", || used(serve, &server.url()) == Some(f64::from(number)));
    }
}

/// Waits until no number of the server is shown as fresh, and gives why.
fn gone(serve: &Serve, url: &str) -> String {
    let why = || serve.card(url).and_then(|card| card["unreachable"].as_str().map(str::to_owned));
    wait_until("it to be seen as gone", || why().is_some());
    let server = serve.json("/api/v1/snapshot")["servers"]
        .as_array()
        .expect("servers")
        .iter()
        .find(|server| server["url"] == url)
        .cloned();
    let reading = server.expect("the server")["ranks"][0]["pools"][0]["used"].clone();
    // The last value stays, as old as it is, and says why.
    assert_eq!(reading["state"], "stale", "{reading}");
    assert!(reading["age_s"].as_f64().is_some_and(|age| age > 0.0), "{reading}");
    assert_eq!(reading["reason"].as_str().map(str::to_owned), why(), "{reading}");
    why().expect("why")
}

fn threads(serve: &Serve) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", serve.pid())).expect("its threads").count()
}

#[test]
fn names_that_blink_are_told_and_never_lead_to_another_server() {
    Names::run("watched_while_names_blink");
}

#[test]
#[ignore = "names_that_blink_are_told_and_never_lead_to_another_server runs it in its network"]
fn watched_while_names_blink() {
    let (names, folder) = (Names::start(), tempfile::tempdir().expect("a folder"));
    let old = Replay::start_on("127.0.0.2").with("/metrics", page(100));
    let new = Replay::start_at("127.0.0.3", old.port()).with("/metrics", page(200));
    let steady = Replay::start().with("/metrics", page(500));
    let (at_old, at_new) = (Says::Address([127, 0, 0, 2].into()), Says::Address([127, 0, 0, 3].into()));
    names.say("worker.test", at_old);
    let url = format!("http://worker.test:{}", old.port());
    let silent: Vec<String> = (0..SILENT).map(|number| format!("http://silent{number}.test:1")).collect();
    for number in 0..SILENT {
        names.say(&format!("silent{number}.test"), Says::Silence);
    }
    let steady_url = steady.url();
    let targets: Vec<&str> = [&url, &steady_url].into_iter().chain(&silent).map(String::as_str).collect();
    let serve = Serve::start(PROGRAM, folder.path(), &[&["--every", "300ms"], &targets[..]].concat());
    wait_until("the server by its name", || used(&serve, &url) == Some(100.0));

    // Nobody answers for the other names: each is looked up once at a time, and the others are looked at meanwhile.
    let begun = Instant::now();
    let mut most = threads(&serve);
    for (says, reason) in [(Says::Trouble, "does not resolve"), (Says::Nothing, "does not resolve")] {
        names.say("worker.test", says);
        let why = gone(&serve, &url);
        println!("{says:?}: {why}");
        assert!(why.contains("the name worker.test") && why.contains(reason), "{why}");
        let asked = old.asked().len();
        is_watched(&serve, &steady);
        assert_eq!(old.asked().len(), asked, "asked while nothing leads there");
        names.say("worker.test", at_old);
        wait_until("it to be back", || used(&serve, &url) == Some(100.0));
        most = most.max(threads(&serve));
    }
    while begun.elapsed() < Duration::from_secs(25) {
        is_watched(&serve, &steady);
        most = most.max(threads(&serve));
    }
    println!("{most} threads, {} questions for one silent name", names.asked("silent0.test"));
    // Those of serve itself, that wait for a disk or a visitor or look at the host, and one a name.
    assert!(most <= SILENT + 12, "{most} threads");
    let why = serve.card(&silent[0]).expect("its card")["unreachable"].to_string();
    assert!(why.contains("the name was not resolved"), "{why}");

    // Both answer; the name is the new one's.
    names.say("worker.test", at_new);
    wait_until("the one that has the name now", || used(&serve, &url) == Some(200.0));
    let asked = old.asked().len();
    new.set("/metrics", page(201));
    wait_until("its next number", || used(&serve, &url) == Some(201.0));
    assert_eq!(old.asked().len(), asked, "the one that had the name is still asked");
    let host = format!("host: worker.test:{}", new.port());
    assert!(new.headers().iter().any(|line| line.eq_ignore_ascii_case(&host)), "{:?}", new.headers());

    // Nobody answers for this one either, and then again.
    names.say("worker.test", Says::Silence);
    let why = gone(&serve, &url);
    println!("silence: {why}");
    assert!(why.contains("worker.test") && why.contains("the name was not resolved"), "{why}");
    is_watched(&serve, &steady);
    names.say("worker.test", at_new);
    new.set("/metrics", page(202));
    // The question that is on its way is not asked again at once, and who was silent is asked rarely.
    let begun = Instant::now();
    while used(&serve, &url) != Some(202.0) {
        assert!(begun.elapsed() < Duration::from_mins(3), "it does not come back");
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("back after {:?}", begun.elapsed());
    assert_eq!((old.most_at_once(), new.most_at_once(), old.asked().len()), (1, 1, asked));
    assert_eq!(serve.json("/api/v1/overview")["servers"].as_array().map(Vec::len), Some(2 + SILENT));
    let all = serve.history(&url, "used");
    assert!(
        all.iter().filter_map(|(_, used, _)| *used).all(|used| [100.0, 200.0, 201.0, 202.0].contains(&used)),
        "{all:?}"
    );
}
