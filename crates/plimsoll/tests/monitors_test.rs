//! `doctor` and monitors: fakes that speak the Prometheus API. Real ones: real_monitors_test.rs.

use std::net::UdpSocket;

use serde_json::Value;
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const TARGETS: &str = "/api/v1/targets?state=active";

fn doctor(arguments: &[&str]) -> Value {
    let value = plimsoll(PROGRAM, &[&["doctor", "--json"], arguments].concat()).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    value
}

fn server_on(address: &str, prefix: &str) -> Replay {
    let labels = r#"{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"}"#;
    let lines =
        ["max_total_num_tokens 1000", "kv_used_tokens 250", "kv_evictable_tokens 500", "kv_available_tokens 250"];
    let page = lines.iter().fold(String::new(), |page, line| {
        let (name, value) = line.split_once(' ').expect("name and value");
        page + &format!("sglang:{name}{labels} {value}\n")
    });
    Replay::start_on(address).with(&format!("{prefix}/metrics"), Answer::page(page))
}

/// A scraper that fetches these addresses, each with the rest of its entry.
fn scraper(targets: &[(String, &str)]) -> Replay {
    let rows: Vec<String> = targets
        .iter()
        .map(|(url, rest)| {
            format!(r#"{{"scrapeUrl":"{url}","labels":{{"instance":"it"}},"health":"up","lastError":""{rest}}}"#)
        })
        .collect();
    let body = format!(r#"{{"status":"success","data":{{"activeTargets":[{}]}}}}"#, rows.join(","));
    Replay::start().with(TARGETS, Answer::json(body))
}

/// The states of all servers at the one monitor.
fn states(value: &Value) -> Vec<&str> {
    let servers = value["monitors"][0]["servers"].as_array().expect("servers");
    servers.iter().map(|server| server["state"].as_str().expect("a state")).collect()
}

fn gaps(value: &Value) -> Vec<&Value> {
    value["gaps"].as_array().expect("gaps").iter().filter(|gap| gap["id"] == "not-scraped").collect()
}

fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // nothing is sent: this only chooses a route
    socket.connect("198.51.100.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs_f64()
}

/// What the scraper is asked beyond its targets.
fn query(monitor: &Replay) -> String {
    monitor.asked().into_iter().find(|path| path.starts_with("/api/v1/query?")).expect("a query")
}

#[test]
fn a_scraper_may_call_the_server_by_any_of_its_addresses() {
    let Some(own) = own_address() else { return };
    let server = server_on("0.0.0.0", "");
    for host in [own.as_str(), "localhost", "127.0.0.1"] {
        let monitor = scraper(&[(format!("http://{host}:{}/metrics", server.port()), "")]);
        let value = doctor(&[&server.url(), "--prometheus", &monitor.url()]);
        assert_ne!(states(&value), ["not_scraped"], "{host}");
    }
    let there = format!("http://{own}:{}", server.port());
    let monitor = scraper(&[(format!("{}/metrics", server.url()), "")]);
    let value = doctor(&[&there, "--prometheus", &monitor.url()]);
    assert_ne!(states(&value), ["not_scraped"], "the other way round");
    // Another page of the same port is another page.
    let monitor = scraper(&[(format!("{}/other/metrics", server.url()), ""), (server.url(), "")]);
    assert_eq!(states(&doctor(&[&server.url(), "--prometheus", &monitor.url()])), ["not_scraped"]);
}

#[test]
fn fresh_is_three_of_the_targets_own_intervals() {
    let server = server_on("127.0.0.1", "");
    let url = format!("{}/metrics", server.url());
    for (rest, age, state) in [
        (r#","scrapeInterval":"1m","scrapeTimeout":"10s""#, 100.0, "fresh"),
        (r#","scrapeInterval":"1m30s""#, 250.0, "fresh"),
        (r#","scrapeInterval":"15s""#, 100.0, "stale"),
        (r#","scrapeInterval":"1m""#, 190.0, "stale"),
        ("", 100.0, "fresh"),
        ("", 190.0, "stale"),
    ] {
        let monitor = scraper(&[(url.clone(), rest)]);
        doctor(&[&server.url(), "--prometheus", &monitor.url()]);
        let asked = query(&monitor);
        assert!(asked.contains("kv_used_tokens"), "{asked}");
        assert!(!asked.contains("max_total_num_tokens"), "a capacity does not tell how full it is: {asked}");
        let body = format!(r#"{{"data":{{"result":[{{"metric":{{}},"value":[{},"{}"]}}]}}}}"#, now(), now() - age);
        monitor.set(&asked, Answer::json(body));
        let value = doctor(&[&server.url(), "--prometheus", &monitor.url()]);
        assert_eq!(states(&value), [state], "{rest} {age}");
        assert_eq!(gaps(&value).is_empty(), state == "fresh");
    }
}

#[test]
fn what_answers_no_queries_scrapes_and_is_not_called_fresh() {
    let server = server_on("127.0.0.1", "");
    let monitor = scraper(&[(format!("{}/metrics", server.url()), "")]);
    doctor(&[&server.url(), "--prometheus", &monitor.url()]);
    monitor.set(&query(&monitor), Answer::page("unsupported path requested").status(400));
    let value = doctor(&[&server.url(), "--prometheus", &monitor.url()]);
    assert_eq!(states(&value), ["scraped"]);
    assert!(gaps(&value).is_empty());
}

#[test]
fn a_monitor_that_cannot_be_asked_is_not_a_missing_one() {
    let server = server_on("127.0.0.1", "");
    let value = doctor(&[&server.url(), "--prometheus", "http://127.0.0.1:1"]);
    let [gap] = gaps(&value)[..] else { panic!("{value:#}") };
    let evidence = gap["evidence"].as_str().expect("evidence");
    assert!(evidence.contains("could not be asked") && !evidence.contains("was found"), "{evidence}");
    assert_eq!(gap["fix"]["flag"], Value::Null, "nothing to add while nobody knows what is there");
}

#[test]
fn all_missing_servers_are_one_piece_of_advice() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("token"), "canary-4711").expect("a file");
    let (one, two) = (server_on("127.0.0.1", ""), server_on("127.0.0.1", ""));
    let (prefixed, closed) = (server_on("127.0.0.1", "/gpu7"), server_on("127.0.0.1", ""));
    let file = home.path().join("targets.toml");
    std::fs::write(&file, format!("[[target]]\nurl = {:?}\nbearer_file = \"token\"\n", closed.url())).expect("a file");
    let monitor = scraper(&[]);
    let value = doctor(&[
        &one.url(),
        &two.url(),
        &format!("{}/gpu7", prefixed.url()),
        &closed.url(),
        "--targets-file",
        file.to_str().expect("a path"),
        "--prometheus",
        &monitor.url(),
    ]);
    let [gap] = gaps(&value)[..] else { panic!("{value:#}") };
    assert_eq!(gap["server"], Value::Null);
    for server in [&one, &two, &prefixed, &closed] {
        assert!(gap["what"].as_str().expect("what").contains(&server.url()), "{gap}");
    }
    let lines: Vec<&str> = gap["fix"]["flag"].as_str().expect("lines").lines().collect();
    assert_eq!(lines.iter().filter(|line| **line == "scrape_configs:").count(), 1, "{lines:#?}");
    let names: Vec<&&str> = lines.iter().filter(|line| line.contains("job_name")).collect();
    assert_eq!(
        names,
        [&"  - job_name: plimsoll-sglang", &"  - job_name: plimsoll-sglang-2", &"  - job_name: plimsoll-sglang-3"]
    );
    let text = lines.join("\n");
    let target = |server: &Replay| format!("127.0.0.1:{}", server.port());
    assert!(lines.iter().any(|line| line.contains(&target(&one)) && line.contains(&target(&two))), "{text}");
    assert!(text.contains("metrics_path: \"/gpu7/metrics\""), "{text}");
    assert_eq!(text.matches("credentials_file").count(), 1, "{text}");
    assert!(gap["fix"]["where"].as_str().expect("where").contains("items"), "{gap}");
    assert!(!text.contains("canary"));
}

#[test]
fn a_monitor_is_opened_by_its_row_and_is_no_server() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("token"), "canary-4711").expect("a file");
    let server = server_on("127.0.0.1", "");
    let monitor = scraper(&[]);
    let file = home.path().join("targets.toml");
    let text = format!(
        "[[target]]\nurl = {:?}\n[[target]]\nurl = {:?}\nbearer_file = \"token\"\n",
        server.url(),
        monitor.url()
    );
    std::fs::write(&file, text).expect("a file");
    let value = doctor(&["--targets-file", file.to_str().expect("a path"), "--prometheus", &monitor.url()]);
    assert_eq!(value["servers"].as_array().expect("servers").len(), 1, "{value:#}");
    assert!(monitor.headers().iter().any(|header| header.contains("canary-4711")));
    assert!(!server.headers().iter().any(|header| header.contains("canary-4711")));
}

/// The page of a capture at a URL of its own, with the other answers that it holds.
fn replayed(capture: &str) -> Replay {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").join(capture);
    let text = std::fs::read_to_string(folder.join("capture.toml")).expect("a capture");
    let parsed: toml::Table = toml::from_str(&text).expect("a capture");
    let mut replay = Replay::start();
    for answer in parsed["answer"].as_array().expect("answers") {
        let (Some(get), Some(file)) = (answer["get"].as_str(), answer.get("file").and_then(|file| file.as_str()))
        else {
            continue;
        };
        let status = answer["status"].as_integer().expect("a status") as u16;
        let body = std::fs::read(folder.join(file)).expect("a file");
        let answer =
            if body.starts_with(b"{") || body.starts_with(b"[") { Answer::json(body) } else { Answer::page(body) };
        replay = replay.with(get, answer.status(status));
    }
    replay
}

#[test]
fn stores_and_pages_of_whatever_name_are_looked_for() {
    let prometheus = scraper(&[]);
    // Their needs are called otherwise, or have no signals that must be there.
    for (capture, series) in [
        ("lmcache/captures/0.5.6-load", "l1_memory_usage_bytes"),
        ("mooncake/captures/0.3.13-full-evicts-nothing", "master_allocated_bytes"),
        ("lmdeploy/captures/0.18.0-no-prefix", "gpu_cache_usage_perc"),
    ] {
        let server = replayed(capture);
        let value = doctor(&["--prometheus", &prometheus.url(), &server.url()]);
        assert_eq!(states(&value), ["not_scraped"], "{capture}: {:#}", value["monitors"]);
        let gap = gaps(&value);
        assert_eq!(gap.len(), 1, "{capture}");
        assert!(gap[0]["fix"]["series"].to_string().contains(series), "{capture}: {}", gap[0]["fix"]);
    }
}

#[test]
fn a_page_without_fullness_is_not_proposed() {
    let prometheus = scraper(&[]);
    // llama.cpp took its series out in May 2025; a mistral.rs on a CPU has no blocks.
    for capture in ["llamacpp/captures/b11434-split-load", "dynamo-worker/captures/1.6.1-sglang-load"] {
        let server = replayed(capture);
        let value = doctor(&["--prometheus", &prometheus.url(), &server.url()]);
        assert_eq!(gaps(&value), Vec::<&Value>::new(), "{capture}");
        assert!(
            value["notes"].to_string().contains("not worth scraping for the cache"),
            "{capture}: {}",
            value["notes"]
        );
    }
}

#[test]
fn what_is_off_is_said_before_the_job() {
    let prometheus = scraper(&[]);
    // The three requests of a server without --enable-metrics: its page answers 404.
    let server = replayed("sglang/captures/0.5.23-off-idle");
    let value = doctor(&["--prometheus", &prometheus.url(), &server.url()]);
    let evidence = gaps(&value)[0]["evidence"].as_str().expect("evidence");
    assert!(evidence.contains("so first --enable-metrics"), "{evidence}");
}
