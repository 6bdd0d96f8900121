//! Workers without a page that publish: fake ones, stand-ins that send what a real one sent (recorded, see
//! `crates/wire/tests/events`), found by a tree of files that the test wrote.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::{Value, json};
use testkit::plimsoll;
use testkit::real::free_port;
use testkit::standin::{self, PUBLISHES, REQUESTS, Standin};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Eight messages of the worker of this name, the last of which says 7 blocks: another listener got the same.
const RECORDED: &[u8] = include_bytes!("../../wire/tests/events/kv-metrics.zmtp");
const NAME: u64 = 15_268_843_087_089_180_697;

fn main() -> ExitCode {
    standin::run(&[
        ("what a fake publisher sends is told, in tokens of the card's blocks", told),
        ("a capture holds it, and an anonymised one as well", captured),
        ("what was published long ago is stale", stale),
        ("nobody is listened to but the process itself", only_itself),
        ("links in the tree lead nowhere, and files of others are not opened", links_and_others),
        ("what is published in another's name is not told", another_name),
        ("a socket that says nothing of ZMQ is named", mute),
        ("discovery that is not by files is said", no_files),
    ])
}

/// A fake worker with its tree; ended, and its folder gone, when dropped.
struct Fake {
    standin: Standin,
    home: tempfile::TempDir,
}

/// How a fake worker differs from a plain one.
#[derive(Default)]
struct Odd {
    /// Its tree names this port as the one on which it publishes.
    port: Option<u16>,
    /// Its name in the tree.
    name: Option<u64>,
    /// It publishes nothing.
    mute: bool,
    /// Its command line says so.
    discovery: Option<&'static str>,
}

fn put(folder: &Path, name: &str, value: &Value) {
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join(name), value.to_string()).expect("a file");
}

/// The recorded messages, published `at`.
fn published(at: u64) -> Vec<u8> {
    const FIELD: &[u8] = b"published_at\xcf";
    let mut bytes = RECORDED.to_vec();
    let places: Vec<usize> =
        bytes.windows(FIELD.len()).enumerate().filter(|(_, part)| *part == FIELD).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 8);
    for place in places {
        let from = place + FIELD.len();
        bytes[from..from + 8].copy_from_slice(&at.to_be_bytes());
    }
    bytes
}

fn now() -> u64 {
    jiff::Timestamp::now().as_millisecond().unsigned_abs()
}

fn fake(odd: &Odd) -> Fake {
    let home = tempfile::tempdir().expect("a folder");
    standin::links(home.path(), &["python3"]);
    let (port, tree) = (free_port(), home.path().join("found/v1"));
    let name = odd.name.unwrap_or(NAME);
    put(
        &tree.join("instances"),
        "a%2Fb",
        &json!({ "instance_id": name, "transport": { "tcp": format!("127.0.0.1:{port}/b") } }),
    );
    let card =
        json!({ "kv_cache_block_size": 16, "display_name": "tiny", "runtime_config": { "total_kv_blocks": 256 } });
    put(&tree.join("mdc"), "a%2Fb", &json!({ "instance_id": name, "card_json": card }));
    put(&tree.join("mdc"), "others", &json!({ "instance_id": name - 1, "card_json": { "kv_cache_block_size": 1 } }));
    put(&tree.join("mdc"), "torn", &json!("{"));
    // The address is another host's, as one behind a name may be: its port alone counts, where the process listens on it.
    let at = format!("tcp://192.0.2.2:{}", odd.port.unwrap_or(port));
    let transport = json!({ "kind": "Zmq", "config": { "endpoint": at } });
    put(&tree.join("event_channels"), "k", &json!({ "topic": "kv_metrics", "transport": transport }));
    let other = json!({ "kind": "Zmq", "config": { "endpoint": format!("tcp://192.0.2.2:{}", free_port()) } });
    put(&tree.join("event_channels"), "o", &json!({ "topic": "kv-events", "transport": other }));
    if !odd.mute {
        std::fs::write(home.path().join(PUBLISHES), published(now())).expect("a file");
    }
    let argv = ["env", "-u", "DYN_SYSTEM_PORT", &format!("DYN_FILE_KV={}", home.path().join("found").display())];
    let argv = argv.into_iter().chain(["python3", "-m", "dynamo.mocker", "--model-path", "m"]);
    let argv = argv.chain(["--discovery-backend", odd.discovery.unwrap_or("file")]);
    let argv: Vec<String> = argv.map(str::to_owned).collect();
    let standin = Standin::start(home.path(), &argv, None, &port.to_string());
    testkit::real::wait_for_port(port);
    Fake { standin, home }
}

impl Fake {
    /// The worker as `arguments` tell it.
    fn seen(&self, arguments: &[&str]) -> Result<Value, Failed> {
        let begun = Instant::now();
        loop {
            let value = plimsoll(PROGRAM, arguments).json();
            let (pids, servers) = (self.standin.pids(), value["servers"].as_array().cloned().unwrap_or_default());
            match servers.into_iter().find(|server| pids.iter().any(|pid| server["pid"] == *pid)) {
                Some(server) => return Ok(server),
                None if begun.elapsed() > Duration::from_secs(10) => return Err(format!("not found: {value:#}").into()),
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn pool(&self) -> Result<Value, Failed> {
        Ok(self.seen(&["status", "--json"])?["ranks"][0]["pools"][0].clone())
    }

    /// The pool once it is told: another test's look at this host may have the publisher's ear for the second that is waited.
    fn told(&self, at: Option<u64>, mut look: impl FnMut() -> Result<Value, Failed>) -> Result<Value, Failed> {
        let begun = Instant::now();
        loop {
            // What is published is of now, however long the look before took.
            std::fs::write(self.home.path().join(PUBLISHES), published(at.unwrap_or_else(now)))?;
            let pool = look()?;
            if !pool["used"]["value"].is_null() || begun.elapsed() > Duration::from_secs(20) {
                return Ok(pool);
            }
        }
    }

    /// What it was asked, in bytes.
    fn asked(&self) -> Vec<u8> {
        std::fs::read(self.home.path().join(REQUESTS)).unwrap_or_default()
    }
}

/// 7 of 256 blocks of 16 tokens.
fn is_told(pool: &Value) {
    assert_eq!(
        (&pool["used"]["value"], &pool["used"]["unit"], &pool["used"]["state"]),
        (&json!(112.0), &json!("tokens"), &json!("derived")),
        "{pool:#}"
    );
    assert_eq!((&pool["capacity"]["value"], &pool["headroom"]["value"]), (&json!(4096.0), &json!(3984.0)), "{pool:#}");
}

fn told() -> Result<(), Failed> {
    let fake = fake(&Odd::default());
    let pool = fake.told(None, || fake.pool())?;
    is_told(&pool);
    assert!(pool["used"]["source"].as_str().is_some_and(|source| source.starts_with("tcp://127.0.0.1:")), "{pool:#}");
    // It has no page, and says so: nothing was asked of it but that.
    let asked = fake.asked();
    assert!(asked.starts_with(b"\xff") && !asked.windows(4).any(|part| part == b"GET "), "{}", asked.escape_ascii());
    Ok(())
}

fn captured() -> Result<(), Failed> {
    let fake = fake(&Odd::default());
    for (file, how) in [("plain", &[][..]), ("other", &["--anonymise"])] {
        let file = fake.home.path().join(file).display().to_string();
        is_told(&fake.told(None, || {
            let _ = std::fs::remove_file(&file);
            let seen = plimsoll(PROGRAM, &[&["capture", "-o", &file], how].concat());
            assert_eq!(seen.code, 0, "{}", seen.errors);
            Ok(fake.seen(&["status", "--json", "--capture", &file])?["ranks"][0]["pools"][0].clone())
        })?);
    }
    Ok(())
}

fn stale() -> Result<(), Failed> {
    let fake = fake(&Odd::default());
    let pool = fake.told(Some(now() - 60_000), || fake.pool())?;
    assert_eq!((&pool["used"]["state"], &pool["used"]["value"]), (&json!("stale"), &json!(112.0)), "{pool:#}");
    assert!(pool["used"]["age_s"].as_f64().is_some_and(|age| (60.0..75.0).contains(&age)), "{pool:#}");
    Ok(())
}

fn is_silent(pool: &Value, why: &str) {
    assert_eq!((&pool["used"]["state"], pool["used"]["value"].is_null()), (&json!("not_reported"), true), "{pool:#}");
    assert!(pool["used"]["reason"].as_str().is_some_and(|reason| reason.contains(why)), "{pool:#}");
}

fn only_itself() -> Result<(), Failed> {
    let other = std::net::TcpListener::bind("127.0.0.1:0")?;
    other.set_nonblocking(true)?;
    let fake = fake(&Odd { port: Some(other.local_addr()?.port()), ..Odd::default() });
    is_silent(&fake.pool()?, "no socket of its own is one of those that publish kv_metrics");
    assert!(other.accept().is_err(), "somebody else was asked");
    Ok(())
}

fn links_and_others() -> Result<(), Failed> {
    use std::os::unix::fs::{chown, symlink};
    let fake = fake(&Odd::default());
    let tree = fake.home.path().join("found/v1");
    std::fs::rename(tree.join("mdc"), fake.home.path().join("elsewhere"))?;
    symlink(fake.home.path().join("elsewhere"), tree.join("mdc"))?;
    is_silent(&fake.pool()?, "lies behind a link");
    std::fs::remove_file(tree.join("mdc"))?;
    std::fs::rename(fake.home.path().join("elsewhere"), tree.join("mdc"))?;
    is_told(&fake.told(None, || fake.pool())?);
    let card = tree.join("mdc/a%2Fb");
    let away = fake.home.path().join("away");
    std::fs::rename(&card, &away)?;
    symlink(&away, &card)?;
    assert!(fake.pool()?["capacity"]["value"].is_null(), "read behind a link");
    std::fs::remove_file(&card)?;
    std::fs::rename(&away, &card)?;
    // Only root can give a file away.
    if chown(&card, Some(65_534), None).is_ok() {
        assert!(fake.pool()?["capacity"]["value"].is_null(), "read, though another user's");
    }
    Ok(())
}

fn another_name() -> Result<(), Failed> {
    let fake = fake(&Odd { name: Some(NAME - 5), ..Odd::default() });
    is_silent(&fake.pool()?, "kv_metrics there is not of this server");
    Ok(())
}

fn mute() -> Result<(), Failed> {
    let fake = fake(&Odd { mute: true, ..Odd::default() });
    is_silent(&fake.pool()?, "it does not greet as ZMQ does");
    Ok(())
}

fn no_files() -> Result<(), Failed> {
    let fake = fake(&Odd { discovery: Some("etcd"), ..Odd::default() });
    is_silent(&fake.pool()?, "is found where discovery=file, and here it is etcd");
    assert_eq!(fake.asked(), b"");
    Ok(())
}
