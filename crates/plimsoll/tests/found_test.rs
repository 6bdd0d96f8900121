//! What is found on this host and what is told of it: real processes, stand-ins that only sleep and listen.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;
use testkit::plimsoll;
use testkit::real::free_port;
use testkit::standin::{self, REQUESTS, Standin};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const SECRET: &str = testkit::canary::CANARY;

fn main() -> ExitCode {
    standin::run(&[
        ("a wrapper that still sleeps is no server, and its script no text", sleeping_wrapper),
        ("where a flag goes is told without arguments", no_arguments),
        ("flags that may hold secrets are only set", secret_flags),
        ("the command line's credentials open what is found", credentials),
        ("a server with a certificate is asked by HTTPS", https),
        ("a process that lost its arguments is asked on its own sockets, and not on many", own_sockets),
        ("a gRPC worker is asked on the port after its own", grpc_worker),
        ("a server that does not listen yet may still load its model", loads_its_model),
        ("a monitor is asked where it listens, behind its own path", monitor),
    ])
}

/// A stand-in for `argv` (words separated by `|`) on a port of its own.
fn start(argv: &str) -> (Standin, u16, tempfile::TempDir) {
    let home = tempfile::tempdir().expect("a folder");
    standin::links(home.path(), &["python", "smg", "prometheus"]);
    let port = free_port();
    let argv: Vec<String> =
        argv.split('|').map(|word| word.replace("{port}", &port.to_string()).replace("{secret}", SECRET)).collect();
    (Standin::start(home.path(), &argv, None, &port.to_string()), port, home)
}

/// The stand-in's server as `arguments` tell it, once it is found.
fn found(standin: &Standin, arguments: &[&str]) -> Result<Value, Failed> {
    let begun = Instant::now();
    loop {
        let seen = plimsoll(PROGRAM, arguments);
        let value = seen.json();
        let pids = standin.pids();
        let servers = value["servers"].as_array().cloned().unwrap_or_default();
        let ours = servers.into_iter().find(|server| pids.iter().any(|pid| server["pid"] == *pid));
        match ours.filter(|server| server["unreachable"].is_null() || begun.elapsed() > Duration::from_secs(5)) {
            Some(server) => return Ok(server),
            None if begun.elapsed() > Duration::from_secs(10) => return Err(format!("not found: {value:#}").into()),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn keeps_the_secret() {
    for command in [&["status"][..], &["status", "--json"], &["doctor"], &["doctor", "--json"], &["explain"]] {
        let seen = plimsoll(PROGRAM, command);
        assert!(!seen.text.contains(SECRET) && !seen.errors.contains(SECRET), "{command:?}: {}", seen.text);
    }
}

fn sleeping_wrapper() -> Result<(), Failed> {
    let script = "bash|-c|sleep 300; python -m sglang.launch_server --port 1 --api-key {secret}";
    let (standin, _, _home) = start(script);
    let begun = Instant::now();
    let pid = standin.pids()[0];
    let note = format!("pid {pid} is to run SGLang (python -m sglang.launch_server): not started yet");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    while !words(&plimsoll(PROGRAM, &["status"]).text).contains(&note) {
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(format!("{note:?} is not in {}", plimsoll(PROGRAM, &["status"]).text).into());
        }
    }
    let value = plimsoll(PROGRAM, &["status", "--json"]).json();
    let servers = value["servers"].as_array().expect("servers");
    assert!(servers.iter().all(|server| server["pid"] != pid), "{value:#}");
    keeps_the_secret();
    Ok(())
}

fn no_arguments() -> Result<(), Failed> {
    let script = "bash|-c|cd . && python -m sglang.launch_server --port {port} --api-key {secret}; true";
    let (standin, _, _home) = start(script);
    let server = found(&standin, &["doctor", "--json"])?;
    keeps_the_secret();
    let places: Vec<&str> =
        server["gaps"].as_array().expect("gaps").iter().filter_map(|gap| gap["fix"]["where"].as_str()).collect();
    assert!(places.iter().all(|place| !place.contains("cd .")), "{places:?}");
    Ok(())
}

fn secret_flags() -> Result<(), Failed> {
    let urls = "http://admin:{secret}@127.0.0.1:1/?token={secret}";
    let (standin, _, _home) = start(&format!("smg|launch|--port|{{port}}|--worker-urls|{urls}"));
    found(&standin, &["status", "--json"])?;
    keeps_the_secret();
    let config = r#"{"publisher":"zmq","endpoint":"tcp://*:5557","token":"{secret}"}"#;
    let (standin, _, _home) = start(&format!(
        "python|-m|sglang.launch_server|--port|{{port}}|--kv-events-config|{config}|--model-path|s3://me:{{secret}}@store/m"
    ));
    found(&standin, &["status", "--json"])?;
    keeps_the_secret();
    assert!(plimsoll(PROGRAM, &["explain"]).text.contains("s3://store/m"), "what is no secret stays");
    Ok(())
}

fn credentials() -> Result<(), Failed> {
    let (standin, _, home) = start("python|-m|sglang.launch_server|--port|{port}");
    found(&standin, &["status", "--json"])?;
    assert!(!requests(home.path()).contains(SECRET));
    let file = home.path().join("token");
    std::fs::write(&file, SECRET)?;
    found(&standin, &["status", "--json", "--bearer-file", file.to_str().expect("a path")])?;
    assert!(requests(home.path()).contains(SECRET), "{}", requests(home.path()));
    Ok(())
}

fn requests(folder: &Path) -> String {
    std::fs::read_to_string(folder.join(REQUESTS)).unwrap_or_default()
}

/// Sixteen sockets: eight are asked.
fn own_sockets() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    standin::links(home.path(), &["python"]);
    let ports: Vec<String> = (0..16).map(|_| free_port().to_string()).collect();
    let standin = Standin::start(home.path(), &["python".to_owned()], Some("smg::router"), &ports.join(","));
    found(&standin, &["status", "--json"])?;
    std::fs::write(home.path().join(REQUESTS), "")?;
    found(&standin, &["status", "--json"])?;
    let asked = requests(home.path());
    let hosts: std::collections::BTreeSet<&str> =
        asked.lines().filter(|line| line.to_lowercase().starts_with("host:")).collect();
    assert!((1..=8).contains(&hosts.len()), "{hosts:?}");
    Ok(())
}

/// A process that is there and opens no port: what a large model's first minutes look like.
fn loads_its_model() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    standin::links(home.path(), &["python"]);
    let argv = format!("python|-m|sglang.launch_server|--model-path|m|--port|{}", free_port());
    let argv: Vec<String> = argv.split('|').map(str::to_owned).collect();
    let standin = Standin::start(home.path(), &argv, None, "");
    let server = found(&standin, &["status", "--json"])?;
    let notes = server["notes"].as_array().expect("notes");
    let said = notes.iter().find(|note| note["id"] == "not-listening").expect("a note")["text"].as_str();
    assert!(said.is_some_and(|text| text.ends_with("does not listen yet: it may still load its model")), "{server:#}");
    assert_eq!(server["verdict"]["level"], "unknown");
    Ok(())
}

/// `--smg-grpc-mode --port P`: the page is on P + 1 (SGLang 0.5.19's help of `--smg-http-sidecar-port`).
fn grpc_worker() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    standin::links(home.path(), &["python"]);
    let port = std::iter::repeat_with(free_port)
        .find(|port| std::net::TcpListener::bind(("127.0.0.1", port + 1)).is_ok())
        .expect("two ports side by side");
    let argv = format!("python|-m|sglang.launch_server|--smg-grpc-mode|--port|{port}|--enable-metrics");
    let argv: Vec<String> = argv.split('|').map(str::to_owned).collect();
    let standin = Standin::start(home.path(), &argv, None, &format!("{port},{}", port + 1));
    let server = found(&standin, &["status", "--json"])?;
    assert_eq!(server["url"], format!("http://127.0.0.1:{}", port + 1));
    let asked = requests(home.path());
    let hosts: std::collections::BTreeSet<&str> =
        asked.lines().filter_map(|line| line.strip_prefix("host: ")).map(str::trim).collect();
    assert_eq!(hosts, [format!("127.0.0.1:{}", port + 1).as_str()].into(), "{asked}");
    Ok(())
}

fn monitor() -> Result<(), Failed> {
    let (standin, port, home) =
        start("prometheus|--web.listen-address=:{port}|--web.external-url=https://x.example/prom/|--config.file=p.yml");
    let begun = Instant::now();
    let monitor = loop {
        let value = plimsoll(PROGRAM, &["doctor", "--json"]).json();
        let monitors = value["monitors"].as_array().cloned().unwrap_or_default();
        let pids = standin.pids();
        let ours = monitors.into_iter().find(|monitor| pids.iter().any(|pid| monitor["pid"] == *pid));
        if let Some(monitor) = ours.filter(|_| requests(home.path()).contains("GET ")) {
            break monitor;
        }
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(format!("not found: {value:#}").into());
        }
    };
    assert_eq!(monitor["url"], format!("http://127.0.0.1:{port}/prom"));
    let asked = requests(home.path());
    assert!(asked.contains("GET /prom/api/v1/targets?state=active"), "{asked}");
    Ok(())
}

fn https() -> Result<(), Failed> {
    let (standin, port, _home) =
        start("python|-m|sglang.launch_server|--port|{port}|--ssl-certfile|c.pem|--ssl-keyfile|k.pem");
    let server = found(&standin, &["status", "--json"])?;
    assert_eq!(server["url"], format!("https://127.0.0.1:{port}"));
    Ok(())
}
