//! Every usual way of starting a server or router is found: a real process for each, a stand-in that only sleeps and
//! listens. Nothing is given on plimsoll's command line.

use std::net::TcpListener;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::plimsoll;
use testkit::standin::{self, Standin};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Named after the interpreters and commands that real servers run under.
const NAMES: &[&str] =
    &["python", "python3", "python3.11", "sglang", "smg", "sglang-router", "venv/bin/python", "venv/bin/sglang"];

/// A way of starting, with `{port}` for the port of its API; what must be found.
struct Case {
    /// The words, separated by `|` because words hold spaces.
    argv: &'static str,
    engine: &'static str,
    role: &'static str,
}

const fn case(argv: &'static str, engine: &'static str, role: &'static str) -> Case {
    Case { argv, engine, role }
}

const CASES: &[Case] = &[
    case("python|-m|sglang.launch_server|--model-path|m|--port|{port}", "sglang", "unified"),
    case("python3|-m|sglang.launch_server|--model-path=m|--port={port}", "sglang", "unified"),
    case("python3.11|-u|-X|dev|-m|sglang.launch_server|--port|{port}|--host|0.0.0.0", "sglang", "unified"),
    case("venv/bin/python|venv/lib/sglang/launch_server.py|--port|{port}", "sglang", "unified"),
    case("python|-m|sglang.cli.main|serve|--port|{port}", "sglang", "unified"),
    case("sglang|serve|--model-path|m|--port|{port}|--disaggregation-mode|prefill", "sglang", "prefill"),
    case("python|venv/bin/sglang|serve|m|--port|{port}|--disaggregation-mode=decode", "sglang", "decode"),
    case("python|-m|sglang.launch_server|--config|server.yaml", "sglang", "decode"),
    case("python|-m|sglang.launch_server|--config|server.yaml|--disaggregation-mode|prefill", "sglang", "prefill"),
    case("smg|launch|--worker-urls|http://127.0.0.1:1|--port|{port}", "smg", "router"),
    case("python|-m|smg|launch|--port|{port}", "smg", "router"),
    case("python|-m|smg.launch_router|--port|{port}", "smg", "router"),
    case("python|-m|sglang_router.launch_router|--port|{port}", "sglang-router", "router"),
    case("sglang-router|launch|--port|{port}", "sglang-router", "router"),
    // Wrapped, with the wrapper gone or staying around it.
    case("env|A=b|python|-m|sglang.launch_server|--port|{port}", "sglang", "unified"),
    case("nice|-n|1|python|-m|sglang.launch_server|--port|{port}", "sglang", "unified"),
    case("setsid|python|-m|sglang.launch_server|--port|{port}", "sglang", "unified"),
    case("timeout|60|python|-m|sglang.launch_server|--port|{port}", "sglang", "unified"),
    case("bash|-c|exec python -m sglang.launch_server --port {port}", "sglang", "unified"),
    case(
        "bash|-c|cd . && A=b python -m sglang.launch_server --port {port} --disaggregation-mode 'decode'; true",
        "sglang",
        "decode",
    ),
    // A shell's background gets no standard input of its own, and a login shell its own search path: both are helped, so
    // that the server really runs.
    case("sh|-c|exec 3<&0; env A=b nice python -m sglang.launch_server --port={port} <&3 & wait", "sglang", "unified"),
    case("bash|-lc|./smg launch --port {port} --worker-urls http://127.0.0.1:1; true", "smg", "router"),
];

/// What must not be taken for a server.
const OTHERS: &[&str] = &[
    "python|-m|sglang.bench_serving|--port|{port}",
    "python|-c|import sglang.launch_server|--port|{port}",
    "python|edit.py|sglang/launch_server.py|--port|{port}",
    "bash|-c|grep -r sglang.launch_server --port {port} . ; sleep 3",
    "smg|--help",
];

fn main() -> ExitCode {
    if standin::acts() {
        return ExitCode::SUCCESS;
    }
    let mut trials: Vec<Trial> = CASES.iter().map(|case| Trial::test(case.argv, || found(case))).collect();
    trials.extend(OTHERS.iter().map(|argv| Trial::test(format!("not a server: {argv}"), || not_found(argv))));
    trials.push(Trial::test("a title in place of the arguments", title));
    // Entering a namespace needs root.
    trials.push(Trial::test("a namespace of its own", namespace).with_ignored_flag(!is_root()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn start(argv: &str, title: Option<&str>) -> (Standin, u16, tempfile::TempDir) {
    let home = tempfile::tempdir().expect("a folder");
    standin::links(home.path(), NAMES);
    let port = free_port();
    let settings = format!("port: {port}\ndisaggregation-mode: decode\nenable-metrics: true\n");
    std::fs::write(home.path().join("server.yaml"), settings).expect("a file");
    let argv: Vec<String> = argv.split('|').map(|word| word.replace("{port}", &port.to_string())).collect();
    let standin = Standin::start(home.path(), &argv, title, &port.to_string());
    (standin, port, home)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// The one server that plimsoll finds in the stand-in's processes; waited for until `done`.
fn seek(standin: &Standin, done: impl Fn(&Value) -> bool) -> Result<Value, Failed> {
    let begun = Instant::now();
    loop {
        let seen = plimsoll(PROGRAM, &["status", "--json"]).json();
        let pids = standin.pids();
        let servers = seen["servers"].as_array().cloned().unwrap_or_default();
        let ours: Vec<Value> =
            servers.into_iter().filter(|server| pids.iter().any(|pid| server["pid"] == *pid)).collect();
        if let [server] = ours.as_slice()
            && done(server)
        {
            return Ok(server.clone());
        }
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(format!("found in {pids:?}: {ours:#?}").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn found(case: &Case) -> Result<(), Failed> {
    let (standin, port, _home) = start(case.argv, None);
    let url = format!("http://127.0.0.1:{port}");
    seek(&standin, |server| server["url"] == url && server["engine"] == case.engine && server["role"] == case.role)?;
    Ok(())
}

fn not_found(argv: &str) -> Result<(), Failed> {
    let (standin, _, _home) = start(argv, None);
    let seen = plimsoll(PROGRAM, &["status", "--json"]).json();
    let pids = standin.pids();
    let ours = seen["servers"]
        .as_array()
        .expect("servers")
        .iter()
        .filter(|server| pids.iter().any(|pid| server["pid"] == *pid))
        .count();
    if ours == 0 { Ok(()) } else { Err(format!("taken for a server: {seen:#}").into()) }
}

/// A router overwrites its command line; its port comes from its sockets.
fn title() -> Result<(), Failed> {
    let (standin, port, _home) = start("python", Some("smg::router"));
    let url = format!("http://127.0.0.1:{port}");
    seek(&standin, |server| server["url"] == url && server["engine"] == "smg" && server["role"] == "router")?;
    Ok(())
}

/// A server in a network namespace of its own is found, and reached by root.
fn namespace() -> Result<(), Failed> {
    let argv = "unshare|--net|bash|-c|ip link set lo up; python -m sglang.launch_server --port {port}; true";
    let (standin, port, _home) = start(argv, None);
    let url = format!("http://127.0.0.1:{port}");
    // It was reached when it answered, be it with 404: a refused connection would leave a text in `unreachable`.
    seek(&standin, |server| server["url"] == url && server["unreachable"].is_null() && server["engine"] == "sglang")?;
    Ok(())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}
