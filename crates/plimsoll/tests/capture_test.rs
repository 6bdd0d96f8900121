//! Captures: what was seen is seen again, offline, by every command; and nothing is in one that must not leave the host.
//! Servers replay recorded answers (fakes: the recordings are real, the sockets are ours); processes are stand-ins.
#![allow(clippy::unnecessary_wraps)] // all tests have one type

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;
use testkit::canary::{found, planted_in};
use testkit::real::free_port;
use testkit::standin::{self, Leaves, Standin};
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Every way to be told something.
const WAYS: [&str; 3] = ["status", "doctor", "explain"];

fn main() -> ExitCode {
    standin::run(&[
        ("every command says of a capture what it said then", as_it_was),
        ("a moment is chosen", moments),
        ("what could not be seen then cannot be seen later", unseen),
        ("a host that was searched is searched again", searched),
        ("saved files can be captured", saved),
        ("no secret, no prompt, nothing of other processes", safe),
        ("names and addresses are replaced, and still belong together", anonymous),
        ("names of hosts over ssh are replaced", anonymous_way),
        ("a server that is slow is asked less often", slow),
        ("what is inside is listed", listed),
        ("a capture that was ended in the middle is read as far as it goes", ended),
        ("what cannot be used is told", refused),
        ("captures of earlier versions are read", earlier),
    ])
}

fn page(name: &str) -> Vec<u8> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/sglang/captures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The decode server of the reference deployment, metrics off, under load.
fn decode() -> Replay {
    Replay::start()
        .with("/server_info", Answer::json(page("0.5.23-pd-decode-load/server_info.json")))
        .with("/v1/loads", Answer::json(page("0.5.23-pd-decode-load/loads.json")))
}

/// A server with metrics on, under load.
fn unified() -> Replay {
    Replay::start()
        .with("/server_info", Answer::json(page("0.5.23-on-load/server_info.json")))
        .with("/v1/loads", Answer::json(page("0.5.23-on-load/loads.json")))
        .with("/metrics", Answer::page(page("0.5.23-on-load/metrics.prom")))
}

/// A folder, and the name of a capture in it.
fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.capture").to_str().expect("a path").to_owned();
    (folder, file)
}

/// Takes a capture.
fn capture(file: &str, words: &[&str]) -> String {
    let output = plimsoll(PROGRAM, &[&["capture", "-o", file], words].concat());
    assert_eq!(output.code, 0, "{output:?}");
    output.text
}

fn json(words: &[&str]) -> Value {
    let value = plimsoll(PROGRAM, &[words, &["--json"]].concat()).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    value
}

/// What is in a capture, as text.
fn text(file: &str) -> String {
    let mut text = Vec::new();
    let bytes = std::fs::read(file).expect("the capture");
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text).expect("gzip");
    String::from_utf8(text).expect("JSON lines are text")
}

/// What does not depend on the moment at which it was asked.
fn lasting(value: &Value) -> Value {
    const FLEETING: [&str; 6] = ["age_s", "at", "took", "took_s", "taken_at", "self"];
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !FLEETING.contains(&name.as_str()));
            kept.map(|(name, field)| (name.clone(), lasting(field))).collect()
        }
        Value::Array(items) => items.iter().map(lasting).collect(),
        other => other.clone(),
    }
}

fn used(value: &Value, server: usize) -> &Value {
    &value["servers"][server]["ranks"][0]["pools"][0]["used"]["value"]
}

fn as_it_was() -> Result<(), Failed> {
    let (_folder, file) = folder();
    let (decode, unified) = (decode(), unified());
    let router = Replay::router(&[decode.url(), unified.url()]);
    let urls = [router.url(), unified.url()];
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let live: Vec<Value> = WAYS.iter().map(|way| json(&[&[*way], urls.as_slice()].concat())).collect();
    capture(&file, &urls);
    let mode = std::fs::metadata(&file)?.permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "for nobody else");
    // Nothing of them is there any more.
    drop((router, decode, unified));
    for (way, live) in WAYS.iter().zip(&live) {
        let later = json(&[way, "--capture", &file]);
        let notes = |value: &Value| value["notes"].as_array().cloned().unwrap_or_default();
        // Doctor's own remark that targets were given is the same.
        assert_eq!(notes(&later), notes(live), "{way}");
        assert_eq!(lasting(&later), lasting(live), "{way}");
    }
    // Ages are as of then, however late it is.
    let before = json(&["status", "--capture", &file]);
    std::thread::sleep(Duration::from_millis(1100));
    let after = json(&["status", "--capture", &file]);
    assert_eq!(before["servers"], after["servers"]);
    assert_eq!(before["taken_at"], after["taken_at"]);
    let shown = plimsoll(PROGRAM, &["status", "--capture", &file]).text;
    assert!(shown.starts_with("from the capture "), "that it is old is said first: {shown}");
    Ok(())
}

fn moments() -> Result<(), Failed> {
    let (_folder, file) = folder();
    let server = decode();
    let url = server.url();
    let loads = String::from_utf8(page("0.5.23-pd-decode-load/loads.json"))?;
    let mut child =
        Command::new(PROGRAM).args(["capture", "-o", &file, "--for", "5m", "--every", "1s", &url]).spawn()?;
    let asked = || server.asked().iter().filter(|path| *path == "/v1/loads").count();
    testkit::real::wait_until("the first look", || std::fs::metadata(&file).is_ok_and(|meta| meta.len() > 0));
    // The recording says 580 of 2,048 tokens; from now on the server says 7.
    let later =
        loads.replace("_tokens\":580", "_tokens\":7").replace("\"token_usage\":0.2832", "\"token_usage\":0.0034");
    assert_ne!(later, loads);
    server.set("/v1/loads", Answer::json(later));
    // A look that was on its way may have the old answer; when the next but one begins, the next is written.
    let before = asked();
    testkit::real::wait_until("two more looks", || asked() >= before + 3);
    child.kill()?;
    child.wait()?;
    let at = |moment: &str| used(&json(&["status", "--capture", &file, "--at", moment]), 0).as_f64();
    assert_eq!(at("0"), Some(580.0), "the first");
    assert_eq!(at("1h"), Some(7.0), "after its end the last");
    let last = json(&["status", "--capture", &file]);
    assert_eq!(used(&last, 0).as_f64(), Some(7.0), "the last, where nothing is said");
    // The same by the clock.
    let time = last["taken_at"].as_f64().expect("a time");
    assert_eq!(at(&jiff::Timestamp::from_millisecond((time * 1000.0) as i64 + 1)?.to_string()), Some(7.0));
    assert_eq!(at(&jiff::Timestamp::from_second(time as i64 - 3600)?.to_string()), Some(580.0), "before it began");
    Ok(())
}

fn unseen() -> Result<(), Failed> {
    let (_folder, file) = folder();
    let dead = format!("http://127.0.0.1:{}", free_port());
    let server = decode();
    let live = json(&["status", &dead, &server.url()]);
    capture(&file, &[&dead, &server.url()]);
    // Somebody else is there by now.
    let _other = std::net::TcpListener::bind(dead.strip_prefix("http://").expect("an address"))?;
    let later = json(&["status", "--capture", &file]);
    assert_eq!(lasting(&later), lasting(&live));
    let servers = later["servers"].as_array().expect("servers");
    let gone = servers.iter().find(|server| server["url"] == dead.as_str()).expect("told");
    assert!(gone["unreachable"].as_str().is_some_and(|why| why.contains("refused")), "{gone}");
    Ok(())
}

/// A decode server's process, which answers 404 and writes a log.
fn process(home: &Path, words: &str, log: &str) -> (Standin, String) {
    standin::links(home, &["python"]);
    let port = free_port().to_string();
    let line = format!("python -m sglang.launch_server --port {port} --disaggregation-mode decode {words}");
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let path = home.join("decode.log");
    std::fs::write(&path, "").expect("a log");
    let output = std::fs::OpenOptions::new().append(true).open(&path).expect("the log");
    let standin = Standin::leaving(home, &argv, None, &port, Leaves { output: output.into(), held: None });
    std::thread::sleep(Duration::from_millis(300));
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("the log");
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string();
    file.write_all(log.replace("NOW", &now).as_bytes()).expect("lines");
    (standin, port)
}

/// As 0.5.23 writes them: two of the server's lines, and what requests made it say.
const LOG: &str = "[NOW] max_total_num_tokens=2048, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=64, context_len=8192, available_gpu_mem=1.00 GB\n\
[NOW] Receive: obj=GenerateReqInput(text='tell me about the CANARY of the mine')\n\
[NOW] Decode batch, #running-req: 3, #token: 1178, token usage: 0.58, gen throughput (token/s): 50.00, #queue-req: 0,\n\
[NOW] INFO: finish: out={'text': 'Decode batch, #running-req: 9, #token: 2000, token usage: 0.98, CANARY'}\n";

fn server<'a>(value: &'a Value, port: &str) -> &'a Value {
    let servers = value["servers"].as_array().expect("servers");
    let own =
        servers.iter().find(|server| server["url"].as_str().is_some_and(|url| url.ends_with(&format!(":{port}"))));
    own.unwrap_or_else(|| panic!("no server at {port}: {value}"))
}

fn searched() -> Result<(), Failed> {
    let (folder, file) = folder();
    let (standin, port) = process(folder.path(), "--max-running-requests 64", LOG);
    let live = json(&["status"]);
    assert_eq!(server(&live, &port)["ranks"][0]["pools"][0]["used"]["value"], 1178.0, "by its log: {live}");
    capture(&file, &[]);
    let pid = standin.pids()[0];
    drop(standin);
    let later = json(&["status", "--capture", &file]);
    let (then, now) = (server(&live, &port), server(&later, &port));
    assert_eq!(now["pid"], pid);
    assert_eq!(lasting(now), lasting(then), "{now}");
    let doctor = plimsoll(PROGRAM, &["doctor", "--capture", &file]);
    assert_eq!(doctor.code, 3, "{doctor:?}");
    assert!(doctor.text.contains("--enable-metrics"), "{doctor:?}");
    Ok(())
}

fn saved() -> Result<(), Failed> {
    let (folder, file) = folder();
    let log = folder.path().join("decode.log");
    std::fs::write(&log, LOG.replace("NOW", "2026-11-29 12:00:00"))?;
    let log = log.to_str().expect("a path");
    let live = json(&["status", log]);
    capture(&file, &[log]);
    std::fs::remove_file(log)?;
    assert_eq!(lasting(&json(&["status", "--capture", &file])), lasting(&live));
    assert_eq!(used(&live, 0).as_f64(), Some(1178.0));

    // Named as seen from the folder that it is in, and looked at from another one.
    std::fs::write(log, LOG.replace("NOW", "2026-11-29 12:00:00"))?;
    let other = folder.path().join("other.capture");
    let run = Command::new(PROGRAM)
        .args(["capture", "-o", "other.capture", "decode.log"])
        .current_dir(folder.path())
        .output()?;
    assert!(run.status.success(), "{run:?}");
    std::fs::remove_file(log)?;
    let other = other.to_str().expect("a path");
    assert_eq!(lasting(&json(&["status", "--capture", other])), lasting(&live));
    Ok(())
}

fn safe() -> Result<(), Failed> {
    let (folder, file) = folder();
    let log = LOG.replace("CANARY", &planted_in("prompt"));
    let secret = planted_in("argv");
    let (_standin, port) = process(folder.path(), &format!("--api-key {secret} --model-path /models/m"), &log);
    // Somebody else's process, with an argument that concerns nobody.
    let mut other = Command::new("sleep").arg("60").env("SECRET", planted_in("other-environment")).spawn()?;
    let server = unified().with("/server_info", {
        let info = String::from_utf8(page("0.5.23-on-load/server_info.json"))?;
        let key = format!("\"api_key\": \"{}\"", planted_in("json"));
        Answer::json(info.replacen('{', &format!("{{{key}, \"prompt\": \"{}\",", planted_in("text")), 1))
    });
    capture(&file, &[]);
    let whole = text(&file);
    other.kill()?;
    other.wait()?;
    assert!(
        whole.contains(&format!("--port\\u0000{port}")) || whole.contains(&port),
        "the server's command line is in it"
    );
    assert!(whole.contains("Decode batch, #running-req: 3, #token: 1178"), "its telling line is in it");
    assert_eq!(found(&whole).map(|at| &whole[at.saturating_sub(200)..at]), None, "a secret, a prompt");
    assert!(!whole.contains("GenerateReqInput"), "a line of a request");
    assert!(!whole.contains("sleep\\u000060"), "another process");
    assert_eq!(
        std::fs::read_dir(folder.path())?
            .filter(|entry| entry
                .as_ref()
                .is_ok_and(|entry| entry.path().extension().is_some_and(|ending| ending == "capture")))
            .count(),
        1
    );
    // The same of addresses that were given.
    let (_folder, file) = self::folder();
    let address = server.url().replace("http://", &format!("http://me:{}@", planted_in("url")));
    capture(&file, &[&address]);
    let whole = text(&file);
    assert!(whole.contains("max_total_num_tokens"), "{whole}");
    assert_eq!(found(&whole).map(|at| &whole[at.saturating_sub(200)..at]), None);
    assert!(whole.contains("# HELP sglang:num_running_reqs -"), "help texts go");
    Ok(())
}

fn anonymous() -> Result<(), Failed> {
    let (_folder, file) = folder();
    // An address of this host that is not loopback, so that there is something to replace.
    let worker = Replay::start_on("0.0.0.0")
        .with("/server_info", Answer::json(page("0.5.23-pd-decode-load/server_info.json")))
        .with("/v1/loads", Answer::json(page("0.5.23-pd-decode-load/loads.json")));
    let own = Command::new("hostname").arg("-I").output()?;
    let own = String::from_utf8(own.stdout)?;
    let Some(address) = own.split_whitespace().find(|address| address.contains('.')) else {
        // Nothing to replace.
        return Ok(());
    };
    let url = format!("http://{address}:{}", worker.port());
    let router = Replay::router(std::slice::from_ref(&url));
    let live = json(&["status", &router.url()]);
    assert_eq!(live["servers"].as_array().map(Vec::len), Some(2), "{live}");
    capture(&file, &["--anonymise", &router.url()]);
    let whole = text(&file);
    assert!(!whole.contains(address), "{address} is in it");
    let later = json(&["status", "--capture", &file]);
    let servers = later["servers"].as_array().expect("servers");
    assert_eq!(servers.len(), 2, "the router still leads to its worker: {later}");
    // The recording says 580 of 2,048 tokens, whatever the host is called.
    assert_eq!(
        servers.iter().filter(|one| one["ranks"][0]["pools"][0]["used"]["value"] == 580.0).count(),
        1,
        "{later}"
    );
    let named = servers.iter().find(|one| one["role"] == "router").expect("the router");
    let worker = named["router_view"][0]["worker"].as_str().expect("its worker");
    assert!(servers.iter().any(|one| one["url"] == worker), "by one name: {worker}");
    Ok(())
}

/// The same of a host over ssh, also of what ssh says of it.
fn anonymous_way() -> Result<(), Failed> {
    let (_folder, file) = folder();
    let server = decode();
    capture(&file, &["--anonymise", "ssh://alice@gpu-secret.invalid", "ssh://nosuchalias", &server.url()]);
    let whole = text(&file);
    for word in ["alice", "gpu-secret", "nosuchalias"] {
        assert!(!whole.contains(word), "{word} is in it: {whole}");
    }
    let later = json(&["status", "--capture", &file]);
    let hosts = later["hosts"].as_array().expect("hosts");
    assert!(hosts.len() == 2 && hosts.iter().all(|host| host["unreachable"].is_string()), "{later}");
    Ok(())
}

fn slow() -> Result<(), Failed> {
    let (_folder, file) = folder();
    let server = decode();
    let url = server.url();
    let said = capture(&file, &["--for", "2s", "--every", "50ms", &url]);
    let looks = server.asked().iter().filter(|path| path.as_str() == "/v1/loads").count();
    // 1 % of its time: a look of some milliseconds is worth some tenths of a second.
    assert!(looks >= 1, "{said}");
    let spent: f64 = json(&["explain", "--capture", &file])["servers"][0]["asked"]
        .as_array()
        .expect("asked")
        .iter()
        .filter_map(|asked| asked["took_s"].as_f64())
        .sum();
    let most = 2.0 / (spent * 100.0).max(0.05);
    assert!(looks as f64 <= most * 3.0 + 2.0, "{looks} looks of {spent} s in 2 s: {said}");
    if looks < 30 {
        assert!(said.contains("1 % of its time"), "{said}");
    }
    Ok(())
}

fn listed() -> Result<(), Failed> {
    let (_folder, file) = folder();
    let server = unified();
    capture(&file, &[&server.url()]);
    let shown = plimsoll(PROGRAM, &["capture", "show", &file]);
    assert_eq!(shown.code, 0);
    for words in ["a capture of version 2", &format!("{}/metrics", server.url()), "HTTP pages", "1 look"] {
        assert!(shown.text.contains(words), "{words}: {}", shown.text);
    }
    Ok(())
}

fn ended() -> Result<(), Failed> {
    let (folder, file) = folder();
    let server = unified();
    let mut child = Command::new(PROGRAM)
        .args(["capture", "-o", &file, "--for", "1m", "--every", "500ms", &server.url()])
        .spawn()?;
    // One look is in it as soon as it is over.
    let begun = std::time::Instant::now();
    while std::fs::metadata(&file).map_or(0, |meta| meta.len()) == 0 && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    assert!(used(&json(&["status", "--capture", &file]), 0).is_f64(), "after kill -9");
    // Cut anywhere: what is whole is read, or it is said that nothing is.
    let bytes = std::fs::read(&file)?;
    let half = folder.path().join("half").to_str().expect("a path").to_owned();
    for part in 1..8 {
        std::fs::write(&half, &bytes[..bytes.len() * part / 8])?;
        let output = plimsoll(PROGRAM, &["status", "--capture", &half]);
        assert!([0, 1, 2].contains(&output.code), "{output:?}");
        assert!(!output.errors.contains("panicked"), "{output:?}");
    }
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let (folder, file) = folder();
    let server = unified();
    capture(&file, &[&server.url()]);
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    std::fs::write(path("page.prom"), page("0.5.23-on-load/metrics.prom"))?;
    std::fs::write(path("garbage"), [0_u8, 255, 3])?;
    let again = plimsoll(PROGRAM, &["capture", "-o", &file, &server.url()]);
    assert!(again.code == 2 && again.errors.contains("is there already"), "nothing is overwritten: {again:?}");
    let nothing = path("nothing.capture");
    assert_eq!(plimsoll(PROGRAM, &["capture", "-o", &nothing, &path("gone.log")]).code, 2);
    assert!(!Path::new(&nothing).exists(), "a capture of nothing leaves no file");
    for (words, said) in [
        (vec!["status", "--capture", &path("none")], "No such file"),
        (vec!["status", "--capture", &path("page.prom")], "no capture"),
        (vec!["status", "--capture", &path("garbage")], "no capture"),
        (vec!["status", "--capture", &file, "127.0.0.1:1"], "does not go with --capture"),
        (vec!["status", "--capture", &file, "--at", "yesterday"], "neither a time"),
        (vec!["status", "--at", "1"], "--capture"),
        (vec!["doctor", "--capture", &file, "--prometheus", "http://127.0.0.1:1"], "does not go with --capture"),
        (vec!["capture", "--capture", &file], "not of another capture"),
        (vec!["capture", "--every", "1s", "127.0.0.1:1"], "--for"),
        (vec!["capture", "--for", "1y", "127.0.0.1:1"], "no length of time"),
        (vec!["capture", "--for", "1000h", "127.0.0.1:1"], "out of range"),
        (vec!["capture", "-"], "standard input"),
    ] {
        let output = plimsoll(PROGRAM, &words);
        assert_eq!(output.code, 2, "{words:?}: {output:?}");
        assert!(output.errors.contains(said), "{words:?}: {output:?}");
    }
    Ok(())
}

/// A file of each released version, and what it must say.
fn earlier() -> Result<(), Failed> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    let file = kept.join("0.1.0.capture").to_str().expect("a path").to_owned();
    let value = json(&["status", "--capture", &file]);
    // The recorded pages say 580 of 2,048 tokens.
    assert_eq!(used(&value, 0).as_f64(), Some(580.0), "{value}");
    // The demo is one of version 1. Seconds into it, decode has 62,486 tokens in use, as its own recording says.
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.jsonl.zst");
    let value = json(&["status", "--capture", demo.to_str().expect("a path"), "--at", "28.2"]);
    let decode = server(&value, "30002");
    assert_eq!(decode["ranks"][0]["pools"][0]["used"]["value"], 62_486.0, "{decode}");
    Ok(())
}
