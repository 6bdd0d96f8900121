//! The API of a running `serve`, held against its description by questions that a machine makes up (lab/schemathesis).
#![allow(missing_docs)] // a test

use std::path::Path;
use std::process::Command;

use testkit::real::wanted;
use testkit::{Answer, Replay, Serve};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// All kinds of answers are there: of servers with and without figures, of a router, of one that cannot be asked.
#[test]
fn every_answer_is_as_described() {
    if !wanted() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let capture = root.join("engines/sglang/captures/0.5.23-on-load");
    let read = |name: &str| std::fs::read(capture.join(name)).expect("a capture");
    let on = Replay::start()
        .with("/server_info", Answer::json(read("server_info.json")))
        .with("/v1/loads", Answer::json(read("loads.json")))
        .with("/metrics", Answer::page(read("metrics.prom")));
    let off = Replay::start().with("/server_info", Answer::json(read("server_info.json")));
    let router = Replay::router(&["http://127.0.0.1:9"]);
    let gone = Replay::start();
    gone.kill();
    let urls = [on.url(), off.url(), router.url(), gone.url()];
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let serve = Serve::start(PROGRAM, folder.path(), &[&["--every", "500ms"][..], &urls].concat());
    let said = Command::new(root.join("lab/schemathesis/run"))
        .arg(format!("http://127.0.0.1:{}", serve.port()))
        .env("EXAMPLES", "50")
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{}: {text}\n{}", said.status, String::from_utf8_lossy(&said.stderr));
}
