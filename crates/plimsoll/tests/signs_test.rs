//! Signs as `status` tells them: of one look, of the window of a capture, in text and JSON.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// A line of the recorded page.
const GENERATED: &str =
    "sglang:generation_tokens_total{engine_type=\"unified\",is_streaming=\"false\",model_name=\"model\"} ";

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/sglang/captures/0.5.23-on-load/metrics.prom");
    std::fs::read_to_string(path).expect("a page")
}

fn with_generated(tokens: u32) -> Answer {
    let page = page();
    let was = format!("{GENERATED}2768.0");
    assert!(page.contains(&was));
    Answer::page(page.replace(&was, &format!("{GENERATED}{tokens}")))
}

fn json(words: &[&str]) -> Value {
    let value = plimsoll(PROGRAM, &[&["status", "--json"], words].concat()).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    value
}

/// The ids of all signs of all servers.
fn ids(value: &Value) -> Vec<String> {
    let servers = value["servers"].as_array().expect("servers");
    let signs = servers.iter().flat_map(|server| server["signs"].as_array().expect("signs of every server"));
    signs.map(|sign| sign["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn one_look_says_what_one_look_shows() {
    let used = "sglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} ";
    let page = page();
    assert!(page.contains(&format!("{used}1364.0")));
    let server =
        Replay::start().with("/metrics", Answer::page(page.replace(&format!("{used}1364.0"), &format!("{used}-39"))));
    let value = json(&[&server.url()]);
    assert_eq!(ids(&value), ["impossible-values"]);
    let text = plimsoll(PROGRAM, &["status", &server.url()]).text;
    let line = |start: &str| text.lines().position(|line| line.trim_start().starts_with(start));
    assert!(line("sign ") < line("note ") || line("note ").is_none(), "{text}");
    assert!(line("sign ").is_some() && text.contains("-39"), "{text}");
    // A sign changes no verdict.
    assert_eq!(value["servers"][0]["verdict"]["level"], "calm");
}

#[test]
fn the_window_of_a_capture_shows_what_one_look_cannot() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("two.capture").to_string_lossy().into_owned();
    let server = Replay::start().with("/metrics", with_generated(52_000));
    let url = server.url();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(2500));
            server.set("/metrics", with_generated(12));
        });
        plimsoll(PROGRAM, &["capture", "-o", &file, "--for", "5s", "--every", "1s", &url]);
    });
    assert_eq!(ids(&json(&["--capture", &file])), ["restarted"]);
    assert_eq!(ids(&json(&["--capture", &file, "--at", "0"])), Vec::<String>::new());
    assert_eq!(ids(&json(&[&url])), Vec::<String>::new());
    let text = plimsoll(PROGRAM, &["status", "--capture", &file]).text;
    assert!(text.contains("it restarted") && text.contains("52,000 → 12"), "{text}");
}

/// A recorded run of the reference deployment, through loads and full pools: nothing in it is one of the known troubles.
#[test]
fn a_healthy_run_is_silent_all_the_way() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.jsonl.zst").to_string_lossy().into_owned();
    for at in (6..99).step_by(8) {
        let found = json(&["--capture", &file, "--at", &at.to_string()]);
        assert_eq!(ids(&found), Vec::<String>::new(), "at {at} s: {:#}", found["servers"]);
    }
}
