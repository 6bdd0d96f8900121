//! Who is asked, with what, and how often: identities of servers, credentials, limits of a look, manners towards what a
//! router says. All servers are fakes that replay answers.

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testkit::{Answer, Output, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const SECRET: &str = testkit::canary::CANARY;

fn status(arguments: &[&str]) -> Value {
    let value = plimsoll(PROGRAM, &[&["status", "--json"], arguments].concat()).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    value
}

fn servers(value: &Value) -> &Vec<Value> {
    value["servers"].as_array().expect("servers")
}

fn page() -> Answer {
    let labels = r#"{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"}"#;
    let lines =
        ["max_total_num_tokens 1000", "kv_used_tokens 250", "kv_evictable_tokens 500", "kv_available_tokens 250"];
    Answer::page(lines.iter().fold(String::new(), |page, line| {
        let (name, value) = line.split_once(' ').expect("name and value");
        page + &format!("sglang:{name}{labels} {value}\n")
    }))
}

fn worker_on(address: &str) -> Replay {
    Replay::start_on(address).with("/metrics", page())
}

/// An address of this host that is not loopback; none on a host without a network.
fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // nothing is sent: this only chooses a route
    socket.connect("198.51.100.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

fn asked(server: &Replay, path: &str) -> usize {
    server.asked().iter().filter(|asked| *asked == path).count()
}

fn token(folder: &Path) -> String {
    let file = folder.join("token");
    std::fs::write(&file, SECRET).expect("a file");
    file.to_str().expect("a path").to_owned()
}

fn told(server: &Replay) -> bool {
    server.headers().iter().any(|header| header.contains(SECRET))
}

#[test]
fn a_server_of_two_addresses_is_one() {
    let Some(own) = own_address() else { return };
    let worker = worker_on("0.0.0.0");
    let there = format!("http://{own}:{}", worker.port());
    let value = status(&[&worker.url(), &there, &format!("http://localhost:{}", worker.port())]);
    assert_eq!(servers(&value).len(), 1, "{value:#}");
    assert_eq!(asked(&worker, "/metrics"), 1);
}

#[test]
fn routers_call_local_workers_by_the_hosts_address_or_name() {
    let Some(own) = own_address() else { return };
    let worker = worker_on("0.0.0.0");
    for host in [own.as_str(), "localhost", "127.0.0.1", "0.0.0.0"] {
        let router = Replay::router(&[format!("http://{host}:{}", worker.port())]);
        let value = status(&[&worker.url(), &router.url()]);
        assert_eq!(servers(&value).len(), 2, "{host}: {value:#}");
        // What the router says of it is known to be of this very server.
        let server = servers(&value).iter().find(|server| server["url"] == worker.url()).expect("the worker");
        assert_eq!(server["version"], "0.5.23", "{host}");
    }
    assert_eq!(asked(&worker, "/metrics"), 4, "once a look");
}

#[test]
fn two_sockets_that_share_a_port_are_two() {
    let Some(own) = own_address() else { return };
    let one = worker_on("127.0.0.1");
    let Ok(listener) = TcpListener::bind((own.as_str(), one.port())) else { return };
    drop(listener);
    let other = std::thread::spawn({
        let address = format!("{own}:{}", one.port());
        move || {
            TcpListener::bind(address)
                .map(|listener| listener.accept().map(|_| std::thread::sleep(Duration::from_secs(8))))
        }
    });
    std::thread::sleep(Duration::from_millis(200));
    let value = status(&[&one.url(), &format!("http://{own}:{}", one.port())]);
    assert_eq!(servers(&value).len(), 2, "{value:#}");
    drop(other);
}

#[test]
fn a_credential_goes_to_its_own_address_only() {
    let home = tempfile::tempdir().expect("a folder");
    token(home.path());
    let worker = worker_on("127.0.0.1");
    let router = Replay::router(&[worker.url()]);
    let file = home.path().join("targets.toml");
    let look = |url: &str| {
        let text =
            format!("[[target]]\nurl = {:?}\n[[target]]\nurl = {url:?}\nbearer_file = \"token\"\n", router.url());
        std::fs::write(&file, text).expect("a file");
        status(&["--targets-file", file.to_str().expect("a path"), &router.url()])
    };
    look(&format!("https://127.0.0.1:{}", worker.port()));
    assert!(!told(&worker), "the token of the https address went out in clear");
    look(&format!("http://127.0.0.1:{}/other", worker.port()));
    assert!(!told(&worker), "the token of another path");
    look(&worker.url());
    assert!(told(&worker));
}

#[test]
fn a_workers_secret_in_clear_is_a_note() {
    let Some(own) = own_address() else { return };
    let home = tempfile::tempdir().expect("a folder");
    token(home.path());
    let worker = worker_on("0.0.0.0");
    let url = format!("http://{own}:{}", worker.port());
    let router = Replay::router(std::slice::from_ref(&url));
    let file = home.path().join("targets.toml");
    std::fs::write(&file, format!("[[target]]\nurl = {url:?}\nbearer_file = \"token\"\n")).expect("a file");
    let value = status(&["--targets-file", file.to_str().expect("a path"), &router.url()]);
    assert!(told(&worker));
    assert!(value.to_string().contains("secret-in-clear"), "{value:#}");
}

#[test]
fn a_workers_address_is_shown_without_its_secrets() {
    let worker = worker_on("127.0.0.1");
    let port = worker.port();
    let dirty = [
        format!("http://admin:{SECRET}@127.0.0.1:{port}/?token={SECRET}"),
        format!("grpc://admin:{SECRET}@127.0.0.1:1?token={SECRET}"),
        format!("admin:{SECRET}@[oh"),
    ];
    let router = Replay::router(&dirty);
    for command in [&["status"][..], &["status", "--json"], &["explain"], &["doctor"], &["doctor", "--json"]] {
        let Output { text, errors, .. } = plimsoll(PROGRAM, &[command, &[&router.url()]].concat());
        assert!(!text.contains(SECRET) && !errors.contains(SECRET), "{command:?}: {text}{errors}");
        assert!(!text.contains("admin"), "{command:?}: {text}");
    }
    let value = status(&[&router.url()]);
    assert!(servers(&value).iter().any(|server| server["url"] == worker.url()), "{value:#}");
    assert!(asked(&worker, "/metrics") > 0, "it is asked all the same");
    assert!(!told(&worker), "and gets no credentials from a router");
}

#[test]
fn a_router_chooses_no_paths() {
    let worker = Replay::start().with("/metrics", page());
    let router = Replay::router(&[format!("{}/admin/shutdown", worker.url())]);
    let value = status(&[&router.url()]);
    assert!(worker.asked().iter().all(|path| !path.contains("admin")), "{:?}", worker.asked());
    assert!(value.to_string().contains("path-dropped"), "{value:#}");
    // Unless the operator lists it.
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("targets.toml");
    std::fs::write(&file, format!("[[target]]\nurl = \"{}/admin/shutdown\"\n", worker.url())).expect("a file");
    status(&["--targets-file", file.to_str().expect("a path"), &router.url()]);
    assert!(worker.asked().iter().any(|path| path == "/admin/shutdown/metrics"), "{:?}", worker.asked());
}

#[test]
fn addresses_that_are_no_servers_are_refused() {
    let refused = ["169.254.169.254:80", "[fe80::1]:80", "224.0.0.1:80", "[ff02::1]:80", "[::ffff:169.254.169.254]:80"];
    let router = Replay::router(&refused.map(|address| format!("http://{address}")));
    let value = status(&[&router.url()]);
    assert_eq!(servers(&value).len(), 1, "{value:#}");
    let notes = value["servers"][0]["notes"].as_array().expect("notes");
    assert_eq!(notes.iter().filter(|note| note["id"] == "worker-unread").count(), refused.len(), "{notes:#?}");
}

/// A router's list with what each worker told it a moment ago, in tokens of 1,000.
fn overheard(workers: &[(&str, u32)]) -> Replay {
    let now = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().expect("date").stdout;
    let now = String::from_utf8_lossy(&now).trim().to_owned();
    let row = |(url, used): &(&str, u32)| {
        let share = f64::from(*used) / 1000.0;
        let load = format!(
            r#"{{"dp_rank":0,"num_used_tokens":{used},"max_total_num_tokens":1000,"token_usage":{share},"num_waiting_reqs":3}}"#
        );
        format!(
            r#"{{"url":"{url}","worker_type":"decode","is_healthy":true,"labels":{{"version":"0.5.23"}},
                "engine_load":{{"timestamp":"{now}","loads":[{load}]}}}}"#
        )
    };
    let rows: Vec<String> = workers.iter().map(row).collect();
    Replay::start().with("/workers", Answer::json(format!(r#"{{"workers":[{}]}}"#, rows.join(","))))
}

/// The router's list is the only one that tells of them: 720 of 1,000 tokens with 3 waiting is tight from 70 % on.
#[test]
fn a_worker_that_only_its_router_can_ask_is_shown_by_its_routers_word() {
    let one = overheard(&[("grpc://127.0.0.1:1", 720)]);
    let other = overheard(&[("grpc://localhost:1", 720), ("grpc://127.0.0.1:2", 100)]);
    let value = status(&[&one.url(), &other.url()]);
    let workers: Vec<&Value> = servers(&value).iter().filter(|server| server["role"] == "decode").collect();
    assert_eq!(workers.len(), 2, "two routers speak of one worker: {value:#}");
    assert_eq!(workers[0]["url"], "grpc://127.0.0.1:1");
    assert_eq!(workers[0]["host"], "127.0.0.1");
    assert_eq!(workers[0]["verdict"]["level"], "tight", "{:#}", workers[0]);
    assert!(workers[0]["unreachable"].as_str().is_some_and(|why| why.contains("grpc is not spoken")), "{value:#}");
    assert_eq!(value["fleet"]["in_use_max"]["value"], 0.72);
    let text = plimsoll(PROGRAM, &["status", &one.url()]).text;
    let first = text.lines().next().expect("a line");
    assert!(first.contains("TIGHT") && first.contains("72.0 % in use"), "{text}");
    assert!(first.ends_with("by its router's word"), "{text}");
}

/// What a worker says itself stands, whatever its router heard.
#[test]
fn a_routers_word_is_no_second_server_beside_a_worker_that_tells() {
    let worker = worker_on("127.0.0.1");
    let router = overheard(&[(&worker.url(), 990)]);
    let value = status(&[&router.url()]);
    assert_eq!(servers(&value).len(), 2, "{value:#}");
    // 250 of 1,000 by its own page; the router's 990 is a note.
    assert_eq!(value["fleet"]["in_use_max"]["value"], 0.25);
    assert!(value.to_string().contains("router-view-differs"), "{value:#}");
}

/// Workers that take a connection and never say a word: 64 are asked at once, a question waits for 3 s, whoever lets
/// two pass is given up, and after 10 s nobody is asked any more. So there are no more than four times 64 questions, however slow the machine is, and who was
/// left out is named.
#[test]
fn two_thousand_black_holes_end_in_time() {
    let holes: Vec<TcpListener> = std::iter::from_fn(|| TcpListener::bind("127.0.0.1:0").ok()).take(2000).collect();
    let urls: Vec<String> = holes.iter().map(|hole| format!("http://{}", hole.local_addr().expect("bound"))).collect();
    let router = Replay::router(&urls);
    let value = status(&[&router.url()]);
    assert_eq!(servers(&value).len(), urls.len() + 1);
    let why =
        servers(&value).iter().filter_map(|server| Some((server["url"].as_str()?, server["unreachable"].as_str()?)));
    let why: BTreeMap<&str, &str> = why.collect();
    let left_out = |url: &String| why[url.as_str()].contains("not asked: the time for");
    let mut begun = 0;
    for (hole, url) in holes.iter().zip(&urls) {
        // What was connected to waits to be accepted, also once the other side is gone.
        hole.set_nonblocking(true).expect("a listener");
        let connections = hole.incoming().map_while(Result::ok).count();
        assert!(connections > 0 || left_out(url), "{url} was not asked: {}", why[url.as_str()]);
        assert!(connections <= 2, "{connections} questions to {url}");
        begun += connections;
    }
    assert!((1..=4 * 64).contains(&begun), "{begun} questions: {}", value["self"]);
    assert!(urls.iter().filter(|url| left_out(url)).count() + 4 * 64 >= urls.len());
}

#[test]
fn a_slow_look_says_on_a_terminal_what_it_awaits() {
    let hole = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", hole.local_addr().expect("bound"));
    let run = |command: String| Command::new("script").args(["-qec", &command, "/dev/null"]).output();
    let Ok(output) = run(format!("{PROGRAM} status {url} > /dev/null")) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("\rwaiting for {url} …")), "{text:?}");
    let last = text.rsplit('\r').find(|part| !part.trim().is_empty()).expect("a line");
    assert!(text.ends_with(&format!("\r{}\r", " ".repeat(last.chars().count()))), "erased: {text:?}");
    // Programs read JSON, and a quick look is over before.
    let output = run(format!("{PROGRAM} status --json {url} > /dev/null")).expect("it ran before");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

/// With hidepid, other users' processes are not even listed: that is said. Needs root to set up.
#[test]
fn hidden_processes_are_said() {
    let script = format!(
        "mount -t proc -o hidepid=2 proc /proc && setpriv --reuid 65534 --regid 65534 --clear-groups {PROGRAM} status; true"
    );
    let copy = tempfile::tempdir().expect("a folder");
    let program = copy.path().join("plimsoll");
    std::fs::copy(PROGRAM, &program).expect("a copy");
    open(copy.path());
    let script = script.replace(PROGRAM, program.to_str().expect("a path"));
    let run = |script: &str| {
        Command::new("unshare").args(["--mount", "--pid", "--fork", "sh", "-c", script]).output().expect("unshare")
    };
    if !run("mount -t proc -o hidepid=2 proc /proc").status.success() {
        return;
    }
    let output = run(&script);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("hidepid") && text.contains("not found without their rights"), "{output:?}");
}

fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("rights");
}
