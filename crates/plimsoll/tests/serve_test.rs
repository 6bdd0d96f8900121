//! `plimsoll serve` on fakes that replay answers: what it shows and keeps, and its manners.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testkit::real::wait_until;
use testkit::{Answer, Replay, Serve, pages, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Looks follow each other closely, so that tests need not wait.
const OFTEN: [&str; 2] = ["--every", "300ms"];

/// A page of a server with 1,000 tokens, of which these are used and evictable.
fn page(used: u32, evictable: u32) -> Answer {
    pages::page(1000, used, evictable)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn serve(folder: &Path, targets: &[&str]) -> Serve {
    Serve::start(PROGRAM, folder, &[&OFTEN[..], targets].concat())
}

/// In use of the first pool of a card: value and state.
fn in_use(card: &Value) -> (Option<f64>, String) {
    let reading = &card["pools"][0]["in_use"];
    (reading[0].as_f64(), reading[1].as_str().unwrap_or_default().to_owned())
}

#[test]
fn every_document_answers_bare_and_says_its_schema() {
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)));
    let serve = serve(folder.path(), &[&server.url()]);
    let log = serve.log();
    assert!(log.starts_with(&format!("http://127.0.0.1:{}/\n", serve.port())), "{log}");
    let of = |path: &str| serve.json(path)["schema"].as_str().unwrap_or_default().to_owned();
    for (path, schema) in [
        ("/api/v1/overview", "plimsoll.overview/1"),
        ("/api/v1/snapshot", "plimsoll.status/1"),
        ("/api/v1/history", "plimsoll.history/1"),
        ("/api/v1/events", "plimsoll.events/1"),
        ("/api/v1/gaps", "plimsoll.gaps/1"),
    ] {
        assert_eq!(of(path), schema);
    }
    assert_eq!(schema_faults(&serve.json("/api/v1/snapshot")), Vec::<String>::new());
    // 250 of 1,000 used; 750 with what is evictable: in use is not occupied.
    let card = serve.card(&server.url()).expect("its card");
    assert_eq!(in_use(&card), (Some(0.25), "derived".to_owned()));
    assert_eq!(card["pools"][0]["occupied"][0], 0.75);
    assert_eq!(card["level"], "calm");
    let (status, page) = serve.get("/metrics");
    assert_eq!(status, 200);
    let url = server.url();
    let used = format!("plimsoll_kv_used_tokens{{server=\"{url}\",rank=\"dp0\",pool=\"full\",tier=\"device\"}} 250\n");
    assert!(page.contains(&used), "{page}");
    assert!(page.contains(&format!("plimsoll_up{{server=\"{url}\"}} 1\n")), "{page}");
}

#[test]
fn a_server_that_dies_grows_stale_and_unreachable_and_comes_back() {
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)));
    let url = server.url();
    let serve = serve(folder.path(), &[&url]);
    wait_until("a look that is kept", || !serve.history(&url, "in_use").is_empty());
    server.kill();
    wait_until("it to be seen as gone", || serve.card(&url).is_some_and(|card| !card["unreachable"].is_null()));
    let card = serve.card(&url).expect("its card");
    assert_eq!(card["level"], "unknown");
    // Nothing of before is shown as if it were now.
    assert!(in_use(&card).0.is_none() || in_use(&card).1 == "stale", "{card}");
    assert!(serve.get("/metrics").1.contains(&format!("plimsoll_up{{server=\"{url}\"}} 0\n")));
    assert!(!serve.get("/metrics").1.contains("plimsoll_kv_used_tokens{"), "a value that nobody says now");
    wait_until("the gap to be kept", || {
        serve.history(&url, "in_use").iter().any(|(_, value, state)| *state == 'u' && value.is_none())
    });
    server.set("/metrics", page(400, 0));
    server.revive();
    wait_until("it to be back", || serve.card(&url).is_some_and(|card| in_use(&card).0 == Some(0.4)));
    wait_until("both events", || serve.events("unreachable").len() == 1 && serve.events("back").len() == 1);
    assert_eq!(serve.json("/api/v1/overview")["servers"].as_array().expect("servers").len(), 1);
}

/// What hardly changes is asked once a minute: its last answer is no sign of life.
#[test]
fn a_server_that_falls_silent_is_told_at_once_and_stays_what_it_was() {
    let info = Answer::json(r#"{"version":"0.5.23","disaggregation_mode":"decode","model_path":"/m/tiny"}"#);
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)).with("/server_info", info));
    let url = server.url();
    let serve = serve(folder.path(), &[&url]);
    wait_until("its figure", || serve.card(&url).is_some_and(|card| in_use(&card).0 == Some(0.25)));
    // Looks that need not ask everything.
    wait_until("more looks", || serve.history(&url, "in_use").len() >= 4);
    let whole = server.asked().iter().filter(|path| *path == "/server_info").count();
    assert_eq!(whole, 1, "asked once a minute");
    server.kill();
    wait_until("it to be seen as gone", || serve.card(&url).is_some_and(|card| !card["unreachable"].is_null()));
    let card = serve.card(&url).expect("its card");
    assert_eq!((card["role"].as_str(), card["version"].as_str()), (Some("decode"), Some("0.5.23")), "{card}");
    assert_eq!((card["level"].as_str(), in_use(&card)), (Some("unknown"), (Some(0.25), "stale".to_owned())), "{card}");
    assert_eq!(schema_faults(&serve.json("/api/v1/snapshot")), Vec::<String>::new());
    // Not one of its pages failed: all of it did, and that is one event.
    assert_eq!((serve.events("unreachable").len(), serve.events("gap-opened").len()), (1, 0));
    // Nothing of before counts in the fleet.
    assert!(serve.json("/api/v1/overview")["fleet"]["in_use_max"][0].is_null());
}

#[test]
fn what_was_kept_is_there_after_a_stop_and_after_a_kill() {
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)));
    let url = server.url();
    let first = serve(folder.path(), &[&url]);
    wait_until("looks", || first.history(&url, "in_use").len() >= 3);
    let kept = first.history(&url, "in_use");
    first.signal("TERM");
    let (status, _) = first.ended();
    assert!(status.success(), "{status}");
    let second = serve(folder.path(), &[&url]);
    let again = second.history(&url, "in_use");
    assert!(kept.iter().all(|look| again.contains(look)), "{kept:?} was kept, and {again:?} is there");
    wait_until("more looks", || second.history(&url, "in_use").len() >= kept.len() + 8);
    let kept = second.history(&url, "in_use");
    // All but what came in the last second is on the disk: the stated window.
    let last = kept.last().expect("looks").0;
    second.signal("KILL");
    let (status, _) = second.ended();
    assert!(!status.success());
    // The lock died with its process.
    let third = serve(folder.path(), &[&url]);
    let again = third.history(&url, "in_use");
    let older: Vec<_> = kept.iter().filter(|look| last - look.0 > 1.5).collect();
    assert!(older.len() >= 3, "{kept:?}");
    assert!(older.iter().all(|look| again.contains(look)), "{older:?} was kept, and {again:?} is there");
}

#[test]
fn two_do_not_write_into_one_history() {
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)));
    let first = serve(folder.path(), &[&server.url()]);
    let second = Serve::begin(PROGRAM, folder.path(), &[&server.url()]);
    let log = folder.path().join(format!("serve-{}.log", second.port()));
    let (status, _) = second.ended();
    let said = std::fs::read_to_string(log).expect("its log");
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("in use by process {}", first.pid())), "{said}");
}

#[test]
fn a_port_that_is_taken_and_an_open_one_without_a_token_are_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    for (listen, why) in [(format!("127.0.0.1:{port}"), "taken"), ("0.0.0.0:0".to_owned(), "token")] {
        let output = plimsoll(PROGRAM, &["serve", "--no-history", "--listen", &listen, "127.0.0.1:9"]);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.errors.contains(why), "{output:?}");
    }
}

#[test]
fn looking_twice_costs_the_server_nothing() {
    // Nothing on this host is watched: only what the socket answers matters here.
    let folder = folder();
    let serve = Serve::start(PROGRAM, folder.path(), &[]);
    let status = |more: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args([&["status"], more].concat()).env("XDG_RUNTIME_DIR", folder.path().join("run"));
        let output = command.output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(status(&[]).contains("as `plimsoll serve` sees it"), "{}", status(&[]));
    assert!(!status(&["--direct"]).contains("as `plimsoll serve` sees it"));
    let json: Value = serde_json::from_str(&status(&["--json"])).expect("JSON");
    assert_eq!(schema_faults(&json), Vec::<String>::new());
    drop(serve);
    // One that is gone is not waited for.
    assert!(!status(&[]).contains("as `plimsoll serve` sees it"));
}

#[test]
fn a_serve_that_watches_others_does_not_answer_for_this_host() {
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)));
    let _serve = serve(folder.path(), &[&server.url()]);
    let mut command = Command::new(PROGRAM);
    command.arg("status").env("XDG_RUNTIME_DIR", folder.path().join("run"));
    let said = String::from_utf8_lossy(&command.output().expect("it runs").stdout).into_owned();
    assert!(!said.contains("as `plimsoll serve` sees it"), "{said}");
}

#[test]
fn a_version_that_changes_in_place_is_an_event() {
    let info = |version: &str| Answer::json(format!(r#"{{"version":"{version}","max_total_num_tokens":1000}}"#));
    let (folder, server) =
        (folder(), Replay::start().with("/metrics", page(250, 500)).with("/server_info", info("0.5.9")));
    let url = server.url();
    let serve = serve(folder.path(), &[&url]);
    wait_until("its version", || serve.card(&url).is_some_and(|card| card["version"] == "0.5.9"));
    server.kill();
    wait_until("it to be seen as gone", || serve.card(&url).is_some_and(|card| !card["unreachable"].is_null()));
    server.set("/server_info", info("0.5.23"));
    server.revive();
    wait_until("the event", || serve.events("version").iter().any(|event| event["text"] == "0.5.9 → 0.5.23"));
}

#[test]
fn a_routers_workers_come_and_go() {
    let folder = folder();
    let workers = [Replay::start().with("/metrics", page(100, 0)), Replay::start().with("/metrics", page(200, 0))];
    let list = |urls: &[String]| {
        let row = |url: &String| format!(r#"{{"url":"{url}","worker_type":"decode","is_healthy":true,"labels":{{}}}}"#);
        let rows: Vec<String> = urls.iter().map(row).collect();
        Answer::json(format!(r#"{{"workers":[{}],"total":{}}}"#, rows.join(","), rows.len()))
    };
    let urls: Vec<String> = workers.iter().map(Replay::url).collect();
    let router = Replay::start().with("/workers", list(&urls[..1]));
    let config = folder.path().join("plimsoll.toml");
    std::fs::write(&config, "[watch]\nforget = \"0s\"\n").expect("a file");
    let config = config.to_str().expect("a path");
    let serve = serve(folder.path(), &["--config", config, &router.url()]);
    wait_until("the first worker", || serve.card(&urls[0]).is_some_and(|card| in_use(&card).0 == Some(0.1)));
    assert_eq!(serve.card(&urls[1]), None);
    router.set("/workers", list(&urls));
    wait_until("the second", || serve.card(&urls[1]).is_some_and(|card| in_use(&card).0 == Some(0.2)));
    router.set("/workers", list(&urls[1..]));
    workers[0].kill();
    wait_until("the first to be let go", || serve.card(&urls[0]).is_none());
    wait_until("the event", || serve.events("gone").iter().any(|event| event["server"] == urls[0].as_str()));
    assert!(serve.card(&urls[1]).is_some());
}

#[test]
fn a_broken_configuration_leaves_the_old_in_force() {
    let folder = folder();
    let servers = [Replay::start().with("/metrics", page(100, 0)), Replay::start().with("/metrics", page(200, 0))];
    let urls: Vec<String> = servers.iter().map(Replay::url).collect();
    let config = folder.path().join("plimsoll.toml");
    let write = |text: &str| std::fs::write(&config, text).expect("a file");
    write(&format!("targets = [\"{}\"]\n[watch]\nevery = \"300ms\"\n", urls[0]));
    let path = config.to_str().expect("a path").to_owned();
    let serve = Serve::start(PROGRAM, folder.path(), &["--config", &path]);
    wait_until("the first", || serve.card(&urls[0]).is_some_and(|card| in_use(&card).0 == Some(0.1)));
    write(&format!("targets = [\"{}\"]\n[watch]\nevry = \"300ms\"\n", urls[1]));
    serve.signal("HUP");
    wait_until("the note", || {
        let notes = serve.json("/api/v1/overview")["watch"]["notes"].to_string();
        notes.contains("evry") && notes.contains("not in force")
    });
    assert!(serve.card(&urls[0]).is_some(), "the old is in force");
    assert_eq!(serve.card(&urls[1]), None);
    // Mended, it is taken without a signal.
    write(&format!("targets = [\"{}\", \"{}\"]\n[watch]\nevery = \"300ms\"\n", urls[0], urls[1]));
    wait_until("the second", || serve.card(&urls[1]).is_some_and(|card| in_use(&card).0 == Some(0.2)));
    assert!(serve.card(&urls[0]).is_some(), "what was watched before still is");
    assert!(!serve.json("/api/v1/overview")["watch"]["notes"].to_string().contains("not in force"));
    assert!(serve.events("config").len() >= 2);
}

#[test]
fn config_check_shows_line_and_caret() {
    let folder = folder();
    let config = folder.path().join("plimsoll.toml");
    let check = |text: &str| {
        std::fs::write(&config, text).expect("a file");
        plimsoll(PROGRAM, &["config", "check", config.to_str().expect("a path")])
    };
    let good = check("listen = \"127.0.0.1:7000\"\n[history]\nkeep = \"2GiB\"\n");
    assert_eq!(good.code, 0, "{good:?}");
    assert!(good.text.contains("is sound") && good.text.contains("http://127.0.0.1:7000/"), "{good:?}");
    let unknown = check("listen = \"127.0.0.1:7000\"\nlissen = 1\n");
    assert_eq!(unknown.code, 2, "{unknown:?}");
    let started = plimsoll(PROGRAM, &["serve", "--config", config.to_str().expect("a path")]);
    assert_eq!(started.code, 2, "{started:?}");
    for said in [&unknown.errors, &started.errors] {
        // The mark stands in a line of its own, below the name.
        let lines: Vec<&str> = said.lines().collect();
        let mark = lines.iter().position(|line| line.contains('^')).expect("a mark");
        assert_eq!(lines[mark].find('^'), lines[mark - 1].find("lissen"), "{said}");
        assert!(said.contains("line 2"), "{said}");
    }
    for (text, word) in [
        ("listen = \"0.0.0.0:7000\"\n", "token"),
        ("[watch]\nevery = \"soon\"\n", "every"),
        ("[history]\nkeep = \"some\"\n", "keep"),
        ("token_file = \"/nowhere/at/all\"\n", "token"),
        ("targets = [\"http://\"]\n", "http://"),
    ] {
        let broken = check(text);
        assert_eq!(broken.code, 2, "{broken:?}");
        assert!(broken.errors.contains(word), "{broken:?}");
    }
}

#[test]
fn one_request_at_a_time_and_what_hardly_changes_is_asked_rarely() {
    let info = Answer::json(r#"{"version":"0.5.23","max_total_num_tokens":1000}"#);
    let (folder, server) = (folder(), Replay::start().with("/metrics", page(250, 500)).with("/server_info", info));
    let serve = serve(folder.path(), &[&server.url()]);
    wait_until("ten looks", || server.asked().iter().filter(|path| *path == "/metrics").count() >= 10);
    assert_eq!(server.most_at_once(), 1);
    let infos = server.asked().iter().filter(|path| *path == "/server_info").count();
    assert!(infos <= 2, "{infos} times in ten looks");
    // Each of the looks that are counted asked what moves, also those between two states that are shown.
    let counted = || serve.json("/api/v1/overview")["watch"]["looks"].as_u64().unwrap_or_default();
    wait_until("thirty looks", || counted() >= 30);
    let (looks, asked) = (counted(), server.asked().iter().filter(|path| *path == "/metrics").count() as u64);
    assert!(asked >= looks, "{asked} times in {looks} looks");
}

/// Every series that it had is unreachable for that time, whichever rank and pool; and it has no others.
#[test]
fn of_a_silent_server_every_rank_is_kept_as_unreachable() {
    let folder = folder();
    let rank = |dp: u32| pages::text(Some(dp), 1000, 100, 0);
    let server = Replay::start().with("/metrics", Answer::page(rank(1) + &rank(2)));
    let serve = serve(folder.path(), &[&server.url()]);
    wait_until("both", || {
        serve.card(&server.url()).is_some_and(|card| card["pools"].as_array().is_some_and(|all| all.len() == 2))
    });
    std::thread::sleep(Duration::from_secs(2));
    server.kill();
    let letters = || {
        let past: Value = serve.json(&format!("/api/v1/history?server={}&signal=in_use&points=5000", server.url()));
        let series = past["series"].as_array().cloned().unwrap_or_default();
        let row = |one: &Value| {
            (
                one["rank"].as_str().unwrap_or_default().to_owned(),
                one["looks"]["state"].as_str().unwrap_or_default().to_owned(),
            )
        };
        series.iter().map(row).collect::<Vec<_>>()
    };
    wait_until("the end of both", || {
        letters().iter().filter(|(_, states)| states.starts_with('r') && states.ends_with("uu")).count() == 2
    });
    let ranks: Vec<String> = letters().into_iter().map(|(rank, _)| rank).collect();
    assert_eq!(ranks, ["dp1", "dp2"]);
}

#[test]
fn a_routers_workers_stay_over_a_reload_and_go_with_it() {
    let folder = folder();
    let worker = Replay::start().with("/metrics", page(100, 0));
    let (router, other) = (Replay::router(&[worker.url()]), Replay::start().with("/metrics", page(200, 0)));
    let config = folder.path().join("plimsoll.toml");
    let write = |urls: &[String]| {
        let text = format!("targets = {urls:?}\n[watch]\nevery = \"300ms\"\nsearch = \"1s\"\n");
        std::fs::write(&config, text).expect("a file");
    };
    write(&[router.url()]);
    let serve = Serve::start(PROGRAM, folder.path(), &["--config", config.to_str().expect("a path")]);
    wait_until("the worker", || serve.card(&worker.url()).is_some_and(|card| in_use(&card).0 == Some(0.1)));
    write(&[router.url(), other.url()]);
    wait_until("the other", || serve.card(&other.url()).is_some_and(|card| in_use(&card).0 == Some(0.2)));
    std::thread::sleep(Duration::from_secs(3));
    // It was there all the time.
    assert_eq!(serve.events("gone"), Vec::<Value>::new());
    assert_eq!(serve.events("found").iter().filter(|event| event["server"] == worker.url().as_str()).count(), 1);
    write(&[other.url()]);
    wait_until("both to be let go", || serve.card(&worker.url()).is_none() && serve.card(&router.url()).is_none());
    assert!(serve.card(&other.url()).is_some());
}

/// A prefill server that gathers its page looks dead to decode servers meanwhile: what tells as much for less is asked instead.
#[test]
fn a_prefill_servers_costly_page_is_spared() {
    let folder = folder();
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/sglang/captures/0.5.23-pd-prefill-load");
    let file = |name: &str| std::fs::read_to_string(capture.join(name)).expect("a recording");
    // Of a page above what is kept of others, and taken now.
    let metrics = file("metrics.prom") + &"# nothing\n".repeat(10_000);
    let of_now = |used: u64| {
        let mut loads: Value = serde_json::from_str(&file("loads.json")).expect("an answer");
        let now = jiff::Timestamp::now().to_string();
        (loads["timestamp"], loads["loads"][0]["timestamp"]) = (now.clone().into(), now.into());
        loads["loads"][0]["num_used_tokens"] = used.into();
        loads["loads"][0]["token_usage"] = (used as f64 / 2048.0).into();
        Answer::json(loads.to_string())
    };
    let server = Replay::start()
        .with("/metrics", Answer::page(metrics))
        .with("/server_info", Answer::json(file("server_info.json")))
        .with("/v1/loads", of_now(11));
    let serve = serve(folder.path(), &[&server.url()]);
    let asked = |path: &str| server.asked().iter().filter(|asked| *asked == path).count();
    let shown = || serve.card(&server.url()).map(|card| (card["role"].clone(), card["pools"][0]["used"].clone()));
    wait_until("it to be known", || shown().is_some_and(|(role, used)| role == "prefill" && used[1] == "reported"));
    let before = (asked("/metrics"), asked("/v1/loads"));
    for used in [12, 13, 14] {
        server.set("/v1/loads", of_now(used));
        // Whatever the page said before: this is newer.
        let newest =
            || shown().is_some_and(|(_, shown)| shown[0].as_f64() == Some(used as f64) && shown[1] == "reported");
        wait_until("the newest", newest);
    }
    let more = (asked("/metrics") - before.0, asked("/v1/loads") - before.1);
    assert!(more.0 <= 1 && more.1 >= 3, "{more:?}");
}
