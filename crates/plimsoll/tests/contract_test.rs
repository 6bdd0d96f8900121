//! The contract of the output: schemas, exit codes, states, manners. Against servers that replay recorded answers
//! (fakes: the recordings are real, the sockets are ours).

use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

fn page(name: &str) -> Vec<u8> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The decode server of the reference deployment, metrics off, under load.
fn decode() -> Replay {
    Replay::start()
        .with("/server_info", Answer::json(page("sglang/captures/0.5.23-pd-decode-load/server_info.json")))
        .with("/v1/loads", Answer::json(page("sglang/captures/0.5.23-pd-decode-load/loads.json")))
}

/// A server with metrics on, under load.
fn unified() -> Replay {
    Replay::start()
        .with("/server_info", Answer::json(page("sglang/captures/0.5.23-on-load/server_info.json")))
        .with("/v1/loads", Answer::json(page("sglang/captures/0.5.23-on-load/loads.json")))
        .with("/metrics", Answer::page(page("sglang/captures/0.5.23-on-load/metrics.prom")))
}

fn status(targets: &[&str]) -> (i32, Value) {
    let output = plimsoll(PROGRAM, &[&["status", "--json"], targets].concat());
    let value = output.json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    (output.code, value)
}

fn reading<'a>(value: &'a Value, server: usize, name: &str) -> &'a Value {
    &value["servers"][server]["ranks"][0]["pools"][0][name]
}

#[test]
fn metrics_off_is_answered_by_loads() {
    let server = decode();
    let (code, value) = status(&[&server.url()]);
    assert_eq!(code, 0);
    // The recorded /v1/loads says num_used_tokens 580 of max_total_num_tokens 2,048: 28.3 %.
    assert_eq!(reading(&value, 0, "used")["value"], 580.0);
    assert_eq!(reading(&value, 0, "capacity")["value"], 2048.0);
    assert_eq!(reading(&value, 0, "headroom")["value"], 1468.0);
    assert_eq!(reading(&value, 0, "in_use")["value"], 580.0 / 2048.0);
    // server_info of the recording says disable_radix_cache: nothing is evictable, which is a conclusion.
    assert_eq!(reading(&value, 0, "evictable")["value"], 0.0);
    assert_eq!(reading(&value, 0, "evictable")["state"], "inferred");
    assert_eq!(value["servers"][0]["role"], "decode");
    assert_eq!(value["servers"][0]["ranks"][0]["retracted_total"]["state"], "not_reported");
    let gap = value["gaps"].as_array().expect("gaps").iter().find(|gap| gap["id"] == "kv-series").expect("the gap");
    assert_eq!(gap["fix"]["flag"], "--enable-metrics");
    assert!(gap["fix"]["series"].as_array().expect("series").iter().any(|name| name == "sglang:kv_used_tokens"));
}

#[test]
fn metrics_on_splits_used_and_evictable() {
    let server = unified();
    let (code, value) = status(&[&server.url()]);
    assert_eq!(code, 0);
    // kv_used 1,364 + kv_evictable 662 + kv_available 22 on the recorded page come to max_total_num_tokens 2,048.
    for (name, expected) in [("used", 1364.0), ("evictable", 662.0), ("available", 22.0), ("capacity", 2048.0)] {
        assert_eq!(reading(&value, 0, name)["value"], expected, "{name}");
        assert_eq!(reading(&value, 0, name)["state"], "reported", "{name}");
    }
    assert_eq!(reading(&value, 0, "in_use")["value"], 1364.0 / 2048.0);
    assert_eq!(reading(&value, 0, "occupied")["value"], 2026.0 / 2048.0);
    // 1,484 used by /v1/loads half a second later is another moment and must not be mixed in.
    assert!(reading(&value, 0, "used")["source"].as_str().expect("a source").contains("/metrics"));
}

#[test]
fn every_asked_target_is_there_and_worst_comes_first() {
    let (low, high) = (decode(), unified());
    let dead = "http://127.0.0.1:1";
    let (code, value) = status(&[&low.url(), dead, &high.url()]);
    assert_eq!(code, 0);
    let urls: Vec<&str> = value["servers"]
        .as_array()
        .expect("servers")
        .iter()
        .map(|server| server["url"].as_str().expect("url"))
        .collect();
    assert_eq!(urls.len(), 3);
    // What cannot be judged stands before what is calm; of two calm ones the fuller first.
    assert_eq!(urls, [dead, &high.url(), &low.url()]);
    assert_eq!(value["servers"][0]["ranks"][0]["pools"][0]["used"]["state"], "unreachable");
    assert_eq!(value["servers"][0]["ranks"][0]["pools"][0]["used"]["value"], Value::Null);
    // Fleet: the fullest pool, and (1,364 + 580) of (2,048 + 2,048), never a sum of ratios.
    assert_eq!(value["fleet"]["in_use_max"]["value"], 1364.0 / 2048.0);
    assert_eq!(value["fleet"]["in_use_weighted"]["value"], 1944.0 / 4096.0);
}

#[test]
fn exit_codes() {
    let server = decode();
    assert_eq!(plimsoll(PROGRAM, &["status", &server.url()]).code, 0);
    assert_eq!(plimsoll(PROGRAM, &["status", "http://127.0.0.1:1"]).code, 1);
    assert_eq!(plimsoll(PROGRAM, &["doctor", &server.url()]).code, 3);
    assert_eq!(plimsoll(PROGRAM, &["doctor", &unified().url()]).code, 0);
    for wrong in
        [&["status", "http://"][..], &["status", "ftp://x:1"], &["frob"], &["status", "--pin", "zz", "127.0.0.1:1"]]
    {
        let output = plimsoll(PROGRAM, wrong);
        assert_eq!(output.code, 2, "{wrong:?}: {output:?}");
        assert!(!output.errors.is_empty(), "{wrong:?}");
    }
}

#[test]
fn manners_one_request_at_a_time_and_only_listed_paths() {
    let server = unified();
    plimsoll(PROGRAM, &["doctor", &server.url()]);
    plimsoll(PROGRAM, &["explain", &server.url()]);
    assert_eq!(server.most_at_once(), 1);
    let asked = server.asked();
    assert!(!asked.is_empty());
    for path in &asked {
        assert!(!path.contains("health") && !path.contains("generate"), "{path}");
    }
    // A single look makes one pass: no path twice. Two looks were made.
    for path in &asked {
        assert_eq!(asked.iter().filter(|other| *other == path).count(), 2, "{path} in {asked:?}");
    }
}

#[test]
fn doctor_report_holds_its_schema() {
    for server in [decode(), unified()] {
        let output = plimsoll(PROGRAM, &["doctor", "--json", &server.url()]);
        let value = output.json();
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        assert_eq!(output.code == 3, !value["gaps"].as_array().expect("gaps").is_empty());
    }
}

#[test]
fn explanation_holds_its_schema_and_names_the_losers() {
    let server = unified();
    let value = plimsoll(PROGRAM, &["explain", "--json", &server.url()]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    let sets = value["servers"][0]["pools"][0]["sets"].as_array().expect("sets");
    // The page and /v1/loads both say used, half a second apart; the page's exact gauges are trusted first.
    assert_eq!(sets[0]["source"], "metrics");
    assert_eq!(sets[0]["not_taken"], Value::Null);
    let loads = sets.iter().find(|set| set["source"] == "loads").expect("the other set");
    assert_eq!(loads["values"]["used"], 1484.0);
    assert!(loads["not_taken"].is_string());
}

#[test]
fn bare_command_is_status() {
    let server = decode();
    let bare = plimsoll(PROGRAM, &["--json", &server.url()]).json();
    assert_eq!(bare["schema"], "plimsoll.status/1");
    assert_eq!(bare["servers"][0]["url"], server.url());
}

#[test]
fn completions_and_manual_come_from_the_command_line() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(plimsoll(PROGRAM, &["completions", shell]).text.contains("doctor"), "{shell}");
    }
    let manual = plimsoll(PROGRAM, &["man"]).text;
    assert!(manual.starts_with(".ie") || manual.contains(".TH"), "{manual}");
}

/// Anybody may choose the name of a file or a unit.
#[test]
fn names_cannot_upset_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = "a\u{1b}]0;pwned\u{7}\u{1b}[31m\nCALM 1 % \u{9b}2J\u{202e}.log";
    let path = folder.path().join(name);
    let line = "[2026-11-29 16:15:23] Decode batch, #running-req: 5, #token: 1189, token usage: 0.58, #queue-req: 0\n";
    std::fs::write(&path, line).expect("a file");
    let path = path.to_str().expect("a path");
    for arguments in [
        &["status", path][..],
        &["status", "--json", path],
        &["doctor", path],
        &["explain", path],
        &["status", &format!("{path}x")],
    ] {
        let output = testkit::plimsoll(PROGRAM, arguments);
        for said in [&output.text, &output.errors] {
            let upsets = |letter: char| letter != '\n' && model::text::upsets(letter);
            assert!(!said.contains(upsets), "{arguments:?}: {said:?}");
            assert!(!said.contains("\nCALM 1 %"), "{arguments:?}: {said:?}");
        }
    }
}
