//! One server that serves several models, each with a cache of its own: each is read as a server, and no number of one meets
//! another's.

use std::path::Path;

use serde_json::Value;
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

fn page(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/several").join(name).to_str().expect("a path").to_owned()
}

/// By what tells it behind the target: blocks used, capacity, requests running.
fn told(target: &str) -> Vec<(String, f64, f64, f64)> {
    let value = plimsoll(PROGRAM, &["status", "--json", target]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new(), "{target}");
    let number = |server: &Value, path: &str| server.pointer(path).and_then(Value::as_f64).unwrap_or(-1.0);
    let servers = value["servers"].as_array().expect("servers").iter();
    let mut told: Vec<_> = servers
        .map(|server| {
            let url = server["url"].as_str().expect("an address").strip_prefix(target).expect("the target");
            let at = |name: &str| number(server, &format!("/ranks/0/{name}/value"));
            (url.to_owned(), at("pools/0/used"), at("pools/0/capacity"), at("running"))
        })
        .collect();
    told.sort_by(|one, other| one.0.cmp(&other.0));
    told
}

/// The lines `used`, `max` and `active` of each model.
fn wanted(front: &str, end: &str) -> Vec<(String, f64, f64, f64)> {
    let a = (format!("{front}model=a,version=1{end}"), 900.0, 1000.0, 3.0);
    let b = (format!("{front}model=b,version=1{end}"), 10.0, 5000.0, 1.0);
    vec![a, b]
}

#[test]
fn models_of_one_triton_are_servers_of_their_own() {
    let file = page("triton.prom");
    assert_eq!(told(&file), wanted(" (", ")"));
    let replay = Replay::start().with("/metrics", Answer::page(std::fs::read(&file).expect("a page")));
    assert_eq!(told(&replay.url()), wanted("#", ""));
    assert_eq!(told(&page("triton-federate.prom")), wanted(" (instance=10.0.0.7:8002,", ")"));
}

/// A router that answers, and whose list of workers does not come: what another page names is no list.
#[test]
fn an_unread_list_of_workers_is_said() {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/smg/captures/1.13.0-pd");
    let body = |name: &str| std::fs::read(capture.join(name)).expect("a body");
    let router = Replay::start()
        .with("/get_loads", Answer::json(body("get_loads.json")))
        .with("/get_server_info", Answer::json(body("get_server_info.json")))
        .with("/workers", Answer { status: 500, ..Answer::json(b"{}".to_vec()) });
    let output = plimsoll(PROGRAM, &["status", &router.url()]);
    let text = output.text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("2 workers known of, and its list of them could not be read"), "{}", output.text);
    assert!(text.contains("GET /workers: ") && text.contains("which workers it has is not known"), "{}", output.text);
}
