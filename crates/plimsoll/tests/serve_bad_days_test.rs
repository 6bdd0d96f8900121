//! `plimsoll serve` on bad days: fakes that hang, drip, break off, flood and are slow. One bad server costs the others nothing.

use std::time::Duration;

use serde_json::Value;
use testkit::real::wait_until;
use testkit::{Answer, Manner, Replay, Serve, pages};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// So soon after SIGTERM it has ended, whatever hangs: the promise of docs/serve.md.
const STOPPED: Duration = Duration::from_secs(2);

/// A page of a server with 1,000 tokens, of which these are used.
fn page(used: u32) -> Answer {
    pages::page(1000, used, 0)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn used(card: &Value) -> Option<f64> {
    card["pools"][0]["used"][0].as_f64().filter(|_| card["pools"][0]["used"][1] == "reported")
}

/// Waits until the server at `url` shows what its page says by now, several times over: it is being looked at.
fn is_watched(serve: &Serve, server: &Replay) {
    for number in [101, 102, 103] {
        server.set("/metrics", page(number));
        let shows = || serve.card(&server.url()).is_some_and(|card| used(&card) == Some(f64::from(number)));
        wait_until("the good server's newest number", shows);
    }
}

/// Peak of what a process held in memory, KiB.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

#[test]
fn servers_that_hang_drip_and_break_off_cost_the_others_nothing() {
    let folder = folder();
    let good = Replay::start().with("/metrics", page(100));
    let bad = [Manner::Never, Manner::Drip(Duration::from_millis(500)), Manner::Half]
        .map(|manner| Replay::start().with("/metrics", page(100).sent(manner)));
    let urls: Vec<String> = bad.iter().chain([&good]).map(Replay::url).collect();
    let targets: Vec<&str> = urls.iter().map(String::as_str).collect();
    let serve = Serve::start(PROGRAM, folder.path(), &[&["--every", "300ms"], &targets[..]].concat());
    is_watched(&serve, &good);
    for server in &bad {
        let card = serve.card(&server.url());
        // What did not come whole is no number.
        assert!(card.is_none_or(|card| used(&card).is_none()));
    }
    // Never two at once. (What hangs and drips sees only late that a connection is closed, and counts it as open until then.)
    assert_eq!(bad[2].most_at_once(), 1);
    // Back to its senses it is seen again.
    bad[0].set("/metrics", page(555));
    bad[0].kill();
    bad[0].revive();
    wait_until("the one that hung", || serve.card(&bad[0].url()).is_some_and(|card| used(&card) == Some(555.0)));
}

#[test]
fn a_server_that_suffers_is_asked_rarely_and_the_page_says_why() {
    let folder = folder();
    // 300 ms for the page: at one hundredth of its time that is every 30 s at most.
    let server = Replay::start().with("/metrics", page(100).sent(Manner::After(Duration::from_millis(300))));
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &server.url()]);
    let slow = || serve.card(&server.url()).and_then(|card| card["slow"].as_str().map(str::to_owned));
    wait_until("why it is asked rarely", || slow().is_some());
    let why = slow().expect("why");
    assert!(why.contains("at most 1 % of its time"), "{why}");
    let card = serve.card(&server.url()).expect("its card");
    let (every, took) = (card["every_s"].as_f64().expect("seconds"), card["took_s"].as_f64().expect("seconds"));
    assert!(took >= 0.3 && took / every <= 0.01 + 1e-9, "every {every} s, takes {took} s");
    let before = server.asked().len();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(server.asked().len(), before, "nothing is asked meanwhile");
    assert_eq!(server.most_at_once(), 1);
    // Three of its own intervals long it is fresh.
    let card = serve.card(&server.url()).expect("its card");
    assert_eq!(used(&card), Some(100.0));
}

#[test]
fn a_page_of_a_million_series_is_read_within_bounds() {
    let folder = folder();
    let good = Replay::start().with("/metrics", page(100));
    // 70 MB: more than is taken in of any answer.
    let mut flood = pages::text(None, 1000, 100, 0);
    for number in 0..1_000_000 {
        flood += &format!("sglang:other_series_{number}{{engine_type=\"unified\",model_name=\"m\"}} {number}\n");
    }
    let bad = Replay::start().with("/metrics", Answer::page(flood));
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &bad.url(), &good.url()]);
    is_watched(&serve, &good);
    wait_until("it to be asked", || bad.asked().iter().any(|path| path == "/metrics"));
    let card = serve.card(&bad.url());
    assert!(card.is_none_or(|card| used(&card).is_none()), "a page that is too large is not read in part");
    let peak = peak_kib(serve.pid());
    assert!(peak < 200 << 10, "{peak} KiB");
}

#[test]
fn a_server_that_becomes_another_is_known_anew() {
    let folder = folder();
    let server = Replay::start().with("/metrics", page(100));
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &server.url()]);
    wait_until("the first", || serve.card(&server.url()).is_some_and(|card| card["engine"] == "sglang"));
    let other = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\n\
                 # TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.5\n";
    server.set("/metrics", Answer::page(other));
    server.set("/version", Answer::json(r#"{"version":"0.32.0"}"#));
    wait_until("the other", || serve.card(&server.url()).is_some_and(|card| card["engine"] == "vllm"));
    let card = serve.card(&server.url()).expect("its card");
    assert_eq!(card["pools"][0]["in_use"][0], 0.5);
    // Nothing of the one before is left.
    assert_eq!(used(&card), None);
    assert!(serve.events("version").iter().any(|event| event["text"] == "sglang → vllm"));
}

#[test]
fn a_history_that_cannot_be_written_leaves_the_page_up_and_is_said() {
    let folder = folder();
    let server = Replay::start().with("/metrics", page(100));
    // A file where the folder should be: nothing can be kept there.
    let nowhere = folder.path().join("file");
    std::fs::write(&nowhere, "").expect("a file");
    let data = nowhere.join("data");
    let serve = Serve::start(
        PROGRAM,
        folder.path(),
        &["--every", "300ms", "--data", data.to_str().expect("a path"), &server.url()],
    );
    is_watched(&serve, &server);
    let watch = serve.json("/api/v1/overview")["watch"].clone();
    assert_eq!(watch["history"]["state"], "off");
    assert!(watch["notes"].to_string().contains("no history is kept"), "{watch}");
    let (status, said) = serve.get("/api/v1/history");
    assert_eq!(status, 503, "{said}");
}

#[test]
fn a_socket_that_cannot_be_had_leaves_the_page_up_and_is_said() {
    let folder = folder();
    let server = Replay::start().with("/metrics", page(100));
    // A file where its folder should be.
    std::fs::create_dir(folder.path().join("run")).expect("a folder");
    std::fs::write(folder.path().join("run/plimsoll"), "").expect("a file");
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &server.url()]);
    is_watched(&serve, &server);
    let notes = serve.json("/api/v1/overview")["watch"]["notes"].clone();
    assert_eq!(notes[0]["id"], "no-socket", "{notes}");
    assert!(notes[0]["text"].as_str().is_some_and(|text| text.contains("run/plimsoll")), "{notes}");
    assert!(serve.log().contains("on this host look for themselves"), "{}", serve.log());
}

#[test]
fn a_stop_while_servers_hang_and_visitors_stay_is_quick() {
    use std::io::Write as _;
    let folder = folder();
    let server = Replay::start().with("/metrics", page(100).sent(Manner::Never));
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &server.url()]);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", serve.port())).expect("a connection");
    stream.write_all(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    wait_until("it to be asked", || !server.asked().is_empty());
    serve.signal("TERM");
    let (status, took) = serve.ended();
    assert!(status.success(), "{status}");
    assert!(took < STOPPED, "{took:?}");
}

#[test]
fn a_stranger_is_asked_rarely() {
    let folder = folder();
    // It answers, as nothing that is known: each look asks all that could tell what it is.
    let stranger = Replay::start().with("/metrics", Answer::page("go_goroutines 7\n"));
    let good = Replay::start().with("/metrics", page(100));
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &stranger.url(), &good.url()]);
    is_watched(&serve, &good);
    let asked = stranger.asked().iter().filter(|path| *path == "/metrics").count();
    assert!(asked <= 2, "{asked} looks while the other was looked at many times");
}

/// Its own pages take no time; that of its workers' pages makes it ask them all.
#[test]
fn a_router_that_asks_its_workers_for_long_is_asked_rarely() {
    let folder = folder();
    let worker = Replay::start();
    let copies = format!("sglang:num_used_tokens{{worker_addr=\"{}\",tp_rank=\"0\"}} 100\n", worker.url());
    let copies = Answer::page(copies).sent(Manner::After(Duration::from_millis(300)));
    let router = Replay::router(&[worker.url()])
        .with("/metrics", Answer::page("smg_worker_pool_size{worker_type=\"decode\"} 1\n"))
        .with("/engine_metrics", copies);
    let serve = Serve::start(PROGRAM, folder.path(), &["--every", "300ms", &router.url()]);
    let card = || serve.card(&router.url()).unwrap_or_default();
    wait_until("how long it took in all", || card()["took_s"].as_f64() >= Some(0.3));
    let (card, slow) = (card(), card()["slow"].clone());
    assert!(card["every_s"].as_f64() >= Some(30.0), "{card}");
    assert!(slow.as_str().is_some_and(|why| why.contains("at most 1 % of its time")), "{slow}");
    let asked = || router.asked().iter().filter(|path| *path == "/engine_metrics").count();
    let before = asked();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(asked(), before, "ten times as long as between looks at others");
}
