//! What servers leave beside their answers: logs behind their outputs and shared memory. Stand-ins that sleep, listen and
//! answer 404; what they leave is recorded or made for the case.
#![allow(clippy::unnecessary_wraps)] // all tests have one type

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;
use testkit::real::free_port;
use testkit::standin::{self, Leaves, Standin};
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

fn main() -> ExitCode {
    standin::run(&[
        ("the file behind a process's output is its log", log_of_output),
        ("a log that was deleted or rotated away is still read", deleted_log),
        ("what stands before the process started is another server's", earlier_run),
        ("a log behind tee is found", behind_tee),
        ("logs of one who reads the output of several servers are read for none", supervised),
        ("a log that two servers write is read for neither", shared_log),
        ("a log that is silent for long is stale, and never fresh", silent_log),
        ("shared memory is read while its writer lives, and never after", slab_of_the_living),
        ("a slab that is being written is looked at again, and never half", half_written),
        ("a log that is given belongs to the server that is asked", given_log),
        ("a log that is given belongs to the fork that is looked at, and not to the original", log_of_a_fork),
        ("a log of another program is refused", foreign_log),
        ("pipes and devices are no logs", tricks),
        ("a process on another node is told, and where its server answers", other_node),
    ])
}

/// A stand-in for a decode server on a port of its own.
struct Server {
    standin: Standin,
    _home: tempfile::TempDir,
}

impl Server {
    fn start(output: Stdio, held: Option<PathBuf>) -> Server {
        Server::with(output, held, "")
    }

    fn with(output: Stdio, held: Option<PathBuf>, more: &str) -> Server {
        Server::of(output, held, &format!("sglang.launch_server --disaggregation-mode decode {more}"))
    }

    fn of(output: Stdio, held: Option<PathBuf>, module: &str) -> Server {
        let home = tempfile::tempdir().expect("a folder");
        standin::links(home.path(), &["python"]);
        let port = free_port().to_string();
        let line = format!("python -m {module} --port {port}");
        let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let standin = Standin::leaving(home.path(), &argv, None, &port, Leaves { output, held });
        Server { standin, _home: home }
    }

    /// As status tells it, once `ready` says so; the last look when it never does.
    fn seen(&self, ready: impl Fn(&Value) -> bool) -> Value {
        self.looked(&[], ready)
    }

    /// The same with more arguments.
    fn looked(&self, more: &[&str], ready: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let value = plimsoll(PROGRAM, &[&["status", "--json"], more].concat()).json();
            assert_eq!(schema_faults(&value), Vec::<String>::new());
            let pids = self.standin.pids();
            let servers = value["servers"].as_array().expect("servers");
            let ours = servers.iter().find(|server| pids.iter().any(|pid| server["pid"] == *pid));
            if let Some(server) = ours.filter(|server| ready(server) || begun.elapsed() > Duration::from_secs(8)) {
                return server.clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "not found: {value:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn number<'a>(server: &'a Value, name: &str) -> &'a Value {
    &server["ranks"][0]["pools"][0][name]
}

fn has_used(server: &Value) -> bool {
    number(server, "used")["value"].is_number()
}

/// Now, `back` seconds ago, as the engine writes times: local (here UTC), without a zone.
fn stamp(back: i64) -> String {
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(back);
    at.to_string()[..19].replace('T', " ")
}

fn decode_line(back: i64, tokens: u32, usage: &str) -> String {
    format!(
        "[{}] Decode batch, #running-req: 3, #token: {tokens}, token usage: {usage}, pre-allocated usage: 0.00, \
         #prealloc-req: 0, #transfer-req: 0, #retracted-req: 0, cuda graph: True, gen throughput (token/s): 90.00, #queue-req: 0\n",
        stamp(back)
    )
}

fn capacity_line(back: i64, tokens: u32) -> String {
    format!(
        "[{}] max_total_num_tokens={tokens}, chunked_prefill_size=8192, max_running_requests=48, context_len=8192\n",
        stamp(back)
    )
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a log");
    file.write_all(text.as_bytes()).expect("written");
}

fn log_of_output() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("decode.log");
    let server = Server::start(File::create(&path)?.into(), None);
    append(&path, &(capacity_line(0, 2_581_504) + &decode_line(0, 1_935_000, "0.75")));
    let seen = server.seen(has_used);
    // By the lines themselves: 1,935,000 of 2,581,504 is 74.96 %.
    assert_eq!(number(&seen, "used")["value"], 1_935_000.0);
    assert_eq!(number(&seen, "used")["state"], "reported");
    assert_eq!(number(&seen, "capacity")["value"], 2_581_504.0);
    let source = number(&seen, "used")["source"].as_str().expect("a source");
    assert!(source.contains("decode.log:2"), "the second line of the log: {source}");
    assert_eq!(number(&seen, "headroom")["value"], 646_504.0);
    assert_eq!(seen["ranks"][0]["retracted_recent"]["value"], Value::Null, "the log does not reach a minute back");
    Ok(())
}

fn deleted_log() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("decode.log");
    let server = Server::start(File::create(&path)?.into(), None);
    append(&path, &decode_line(0, 500, "0.25"));
    std::fs::remove_file(&path)?;
    let seen = server.seen(has_used);
    assert_eq!(number(&seen, "used")["value"], 500.0);
    drop(server);

    // Rotated by a rename: what the process writes goes to the file of the new name; the old name is another file.
    let server = Server::start(File::create(&path)?.into(), None);
    append(&path, &decode_line(0, 600, "0.30"));
    let rotated = folder.path().join("decode.log.1");
    std::fs::rename(&path, &rotated)?;
    append(&path, &decode_line(0, 1, "0.00"));
    assert_eq!(number(&server.seen(has_used), "used")["value"], 600.0);
    // Truncated in place, as copytruncate does: what is there now counts, and nothing panics.
    File::options().write(true).open(&rotated)?.set_len(0)?;
    let seen = server.seen(|server| !has_used(server));
    assert!(!has_used(&seen), "{seen}");
    Ok(())
}

fn earlier_run() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("decode.log");
    append(&path, &(capacity_line(400, 9999) + &decode_line(300, 9000, "0.90")));
    let server = Server::start(OpenOptions::new().append(true).open(&path)?.into(), None);
    let seen = server.seen(|_| true);
    assert_eq!(number(&seen, "used")["value"], Value::Null, "{seen}");
    assert_eq!(number(&seen, "capacity")["value"], Value::Null, "a server that is gone had it");
    Ok(())
}

fn behind_tee() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tee.log");
    let mut tee = Command::new("tee").arg(&path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let pipe = tee.stdin.take().expect("its input");
    let server = Server::start(pipe.into(), None);
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    append(&path, &decode_line(0, 700, "0.35"));
    let seen = server.seen(has_used);
    assert_eq!(number(&seen, "used")["value"], 700.0);
    drop(server);
    tee.wait()?;
    Ok(())
}

/// One process reads both outputs and writes two files, as supervisors do.
fn supervised() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (first, second) = (folder.path().join("first.log"), folder.path().join("second.log"));
    let ((reads, writes), (reads_too, writes_too)) = (std::io::pipe()?, std::io::pipe()?);
    // Its own output is the second pipe's reading end, which it moves out of the way.
    let script = r#"exec 3<&1 5>>"$1" 6>>"$2" >/dev/null; exec cat"#;
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).args([&first, &second]).stdin(reads).stdout(reads_too);
    let mut supervisor = command.spawn()?;
    drop(command);
    let one = Server::start(writes.into(), None);
    let other = Server::start(writes_too.into(), None);
    append(&first, &decode_line(0, 700, "0.35"));
    append(&second, &decode_line(0, 20, "0.01"));
    let shared = |server: &Value| server["notes"].to_string().contains("log-shared");
    for server in [&one, &other] {
        let seen = server.seen(shared);
        assert!(shared(&seen), "{seen}");
        assert_eq!(number(&seen, "used")["value"], Value::Null, "{seen}");
    }
    // Alone, too: whose the other pipe is, nothing tells.
    drop(other);
    append(&second, &decode_line(0, 21, "0.01"));
    let seen = one.seen(|server| server["notes"].to_string().contains("reads other pipes too"));
    assert!(seen["notes"].to_string().contains("reads other pipes too"), "{seen}");
    assert_eq!(number(&seen, "used")["value"], Value::Null, "{seen}");
    drop(one);
    supervisor.wait()?;
    Ok(())
}

fn shared_log() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("both.log");
    let open = || OpenOptions::new().create(true).append(true).open(&path);
    let one = Server::start(open()?.into(), None);
    let other = Server::start(open()?.into(), None);
    append(&path, &decode_line(0, 700, "0.35"));
    for server in [&one, &other] {
        let seen = server.seen(|server| server["notes"].to_string().contains("log-shared"));
        assert!(seen["notes"].to_string().contains("log-shared"), "{seen}");
        assert_eq!(number(&seen, "used")["value"], Value::Null, "{seen}");
    }
    Ok(())
}

fn silent_log() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("decode.log");
    let server = Server::start(File::create(&path)?.into(), None);
    // A server's log line cannot be older than the server: it must have run for a while.
    std::thread::sleep(Duration::from_secs(18));
    append(&path, &decode_line(17, 800, "0.40"));
    let seen = server.seen(has_used);
    assert_eq!(number(&seen, "used")["state"], "stale");
    assert!(number(&seen, "used")["age_s"].as_f64().expect("an age") > 15.0);
    assert_eq!(seen["verdict"]["level"], "unknown");
    // A time to come is no time.
    append(&path, &decode_line(-600, 801, "0.40"));
    let seen = server.seen(|server| server["notes"].to_string().contains("log-clock"));
    assert_ne!(number(&seen, "used")["value"], 801.0);
    Ok(())
}

/// The recorded slab: 0 tokens used of 2048, taken when the recorded server was idle.
fn recorded() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/slabs/after-load.shm")).expect("a slab")
}

/// A file of shared memory with the bytes, under a name that the engine's table knows; gone when dropped.
struct Memory(PathBuf);

impl Memory {
    fn new(bytes: &[u8]) -> Memory {
        let path = PathBuf::from(format!("/dev/shm/sglang_loads_test{}_{}.shm", std::process::id(), free_port()));
        std::fs::write(&path, bytes).expect("shared memory");
        Memory(path)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A slab of one rank: `used` of 4096 tokens, taken now.
fn slab(used: u16) -> Vec<u8> {
    let mut map = vec![0x84];
    let mut key = |name: &str, value: &[u8]| {
        map.push(0xa0 | u8::try_from(name.len()).expect("a short name") & 0x1f);
        map.extend_from_slice(name.as_bytes());
        map.extend_from_slice(value);
    };
    let taken = jiff::Timestamp::now().as_millisecond() as f64 / 1000.0;
    let float = |number: f64| [&[0xcb][..], &number.to_be_bytes()].concat();
    let int = |number: u16| [&[0xcd][..], &number.to_be_bytes()].concat();
    key("timestamp", &float(taken));
    key("num_used_tokens", &int(used));
    key("max_total_num_tokens", &int(4096));
    key("token_usage", &float(f64::from(used) / 4096.0));
    let mut bytes = b"SLNS".to_vec();
    bytes.extend_from_slice(&2_u16.to_le_bytes());
    bytes.extend_from_slice(&1_u16.to_le_bytes());
    bytes.extend_from_slice(&16384_u32.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(map.len()).expect("small").to_le_bytes());
    bytes.extend_from_slice(&map);
    bytes.resize(12 + 16384, 0);
    bytes
}

fn slab_of_the_living() -> Result<(), Failed> {
    let memory = Memory::new(&slab(1024));
    let server = Server::start(Stdio::null(), Some(memory.0.clone()));
    std::fs::write(&memory.0, slab(1024))?;
    let seen = server.seen(has_used);
    assert_eq!(number(&seen, "used")["value"], 1024.0);
    assert_eq!(number(&seen, "in_use")["value"], 0.25);
    // The stand-in answers 404, so it was not over HTTP.
    assert!(number(&seen, "used")["source"].as_str().expect("a source").starts_with("/dev/shm/"));
    // What nobody is said to hold is not read, whoever left it.
    let pid = server.standin.pids()[0];
    Command::new("kill").args(["-9", &pid.to_string()]).status()?;
    let next = Server::start(Stdio::null(), None);
    let seen = next.seen(|_| true);
    assert_eq!(number(&seen, "used")["value"], Value::Null, "of a dead server: {seen}");
    // One that was never written says nothing.
    let memory = Memory::new(&[&recorded()[..12], &[0; 16384]].concat());
    let server = Server::start(Stdio::null(), Some(memory.0.clone()));
    let seen = server.seen(|_| true);
    assert_eq!(number(&seen, "used")["value"], Value::Null, "{seen}");
    Ok(())
}

fn half_written() -> Result<(), Failed> {
    let memory = Memory::new(&slab(1024));
    let server = Server::start(Stdio::null(), Some(memory.0.clone()));
    let path = memory.0.clone();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stop = std::sync::Arc::clone(&done);
    // As the engine writes: the length is 0 while the rest is being written, and both numbers go up together.
    let writer = std::thread::spawn(move || {
        use std::os::unix::fs::FileExt as _;
        let file = OpenOptions::new().write(true).open(path).expect("shared memory");
        let mut used = 1024;
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            used = if used < 4000 { used + 1 } else { 1024 };
            let whole = slab(used);
            file.write_all_at(&[0; 4], 12).expect("written");
            file.write_all_at(&whole[16..], 16).expect("written");
            file.write_all_at(&whole[12..16], 12).expect("written");
        }
    });
    let mut numbers = 0;
    for _ in 0..20 {
        let seen = server.seen(|_| true);
        if let Some(used) = number(&seen, "used")["value"].as_f64() {
            numbers += 1;
            assert!((1024.0..=4000.0).contains(&used), "{seen}");
            let in_use = number(&seen, "in_use")["value"].as_f64().expect("with used");
            assert!((in_use - used / 4096.0).abs() < 0.0002, "both of one moment: {used} and {in_use}");
        }
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().expect("it ends");
    assert!(numbers >= 10, "a writer that writes without a break leaves gaps between: {numbers} of 20");
    Ok(())
}

fn given_log() -> Result<(), Failed> {
    let replay = Replay::start().with(
        "/server_info",
        Answer::json(
            r#"{"version":"0.5.23","max_total_num_tokens":2048,"model_path":"m","disaggregation_mode":"decode"}"#,
        ),
    );
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.log");
    append(&path, &decode_line(0, 512, "0.25"));
    let output = plimsoll(PROGRAM, &["status", "--json", "--log", path.to_str().expect("a path"), &replay.url()]);
    let value = output.json();
    let server = &value["servers"][0];
    assert_eq!(number(server, "used")["value"], 512.0, "{server}");
    assert_eq!(number(server, "capacity")["value"], 2048.0, "by /server_info");
    // Two servers that may have written it: it is read for neither.
    let other = Replay::start();
    let arguments = ["status", "--json", "--log", path.to_str().expect("a path"), &replay.url(), &other.url()];
    let value = plimsoll(PROGRAM, &arguments).json();
    assert!(value["servers"].as_array().expect("servers").iter().all(|server| !has_used(server)), "{value:#}");
    Ok(())
}

/// Aphrodite prints vLLM's line of figures (engines/aphrodite/captures/0.24.1-log).
fn log_of_a_fork() -> Result<(), Failed> {
    let server = Server::of(Stdio::null(), None, "aphrodite.endpoints.openai.api_server");
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.log");
    let figures = "Running: 7 reqs, Waiting: 0 reqs, GPU KV cache usage: 50.0%, Prefix cache hit rate: 25.0%";
    append(
        &path,
        &format!(
            "INFO {} Engine 000: Avg prompt throughput: 812.5 tokens/s, Avg generation throughput: 301.0 tokens/s, {figures}\n",
            &stamp(0)[5..]
        ),
    );
    let path = path.to_str().expect("a path");
    let ours = server.looked(&["--log", path], |server| number(server, "in_use")["value"].is_number());
    assert_eq!((&ours["engine"], &number(&ours, "in_use")["value"]), (&"aphrodite".into(), &0.5.into()), "{ours}");
    assert!(number(&ours, "in_use")["source"].as_str().is_some_and(|source| source.contains(path)), "{ours}");
    Ok(())
}

fn foreign_log() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.log");
    append(&path, "2026-11-29 12:00:00 nginx: worker process started\n");
    let output = plimsoll(PROGRAM, &["status", "--log", path.to_str().expect("a path"), "127.0.0.1:1"]);
    assert_eq!(output.code, 2);
    assert!(output.errors.contains("no line of a log that is known here"), "{}", output.errors);
    Ok(())
}

fn tricks() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let fifo = folder.path().join("fifo");
    Command::new("mkfifo").arg(&fifo).status()?;
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/dev/zero", &link)?;
    for (path, what) in [
        (fifo.as_path(), "a pipe"),
        (&link, "a device"),
        (folder.path(), "a folder"),
        (Path::new("/proc/self/status"), "kernel"),
    ] {
        let output = plimsoll(PROGRAM, &["status", "--log", path.to_str().expect("a path"), "127.0.0.1:1"]);
        assert_eq!(output.code, 2, "{}", path.display());
        assert!(output.errors.contains(what), "{}: {}", path.display(), output.errors);
    }
    Ok(())
}

fn other_node() -> Result<(), Failed> {
    let more = "--nnodes 2 --node-rank 1 --dist-init-addr 127.0.0.1:20000";
    let server = Server::with(Stdio::null(), None, more);
    let begun = Instant::now();
    let gap = loop {
        let value = plimsoll(PROGRAM, &["doctor", "--json"]).json();
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        let pid = format!("pid {} ", server.standin.pids()[0]);
        let gaps = value["gaps"].as_array().expect("gaps").clone();
        let ours = gaps.into_iter().find(|gap| gap["evidence"].as_str().is_some_and(|text| text.starts_with(&pid)));
        if let Some(gap) = ours {
            break gap;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{value:#}");
    };
    assert_eq!(gap["id"], "other-node");
    assert!(gap["fix"]["where"].as_str().expect("where").contains("127.0.0.1:20000"), "{gap}");
    drop(server);
    Ok(())
}
