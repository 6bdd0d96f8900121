//! The reference deployment, real: router, prefill, decode with its metrics off, and a unified server, in a network
//! namespace of their own; plimsoll outside of it, with nothing given. Its figures are held against the engines' own log
//! lines and KV events. The tests share one deployment and run in order.

use std::process::{Child, ExitCode};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::lab::{Batch, Lab};
use testkit::real::wanted;
use testkit::{canary, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Tokens of each pool.
const POOL: f64 = 65536.0;
/// Seconds within which a busy engine publishes what it does.
const OLDEST: f64 = 5.0;
/// How far from the truth's span an answer may lie.
const ALLOWED: f64 = 0.01 * POOL;

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let tests: [(&str, Test); 9] = [
        ("found without configuration, idle", found),
        ("doctor names the flag and the place", doctor),
        ("decode fills with its metrics off", decode_fills),
        ("a router's address leads to its workers", router_leads),
        ("unified: in use and occupied are two things", evicts),
        ("unified: full, waiting and retracting", retracts),
        ("after load nothing is in use and the cache is kept", after),
        ("an ordinary user sees less and is told so", ordinary_user),
        ("a server that is killed is unreachable, not empty", killed),
    ];
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = tests.into_iter().map(|(name, test)| Trial::test(name, test).with_ignored_flag(!wanted())).collect();
    let code = libtest_mimic::run(&arguments, trials).exit_code();
    // A static is never dropped; what it started must end with us.
    if let Some(lab) = LAB.get() {
        drop(lab.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    }
    code
}

static LAB: OnceLock<Mutex<Option<Lab>>> = OnceLock::new();

fn with<T>(test: impl FnOnce(&Lab) -> T) -> T {
    let lab = LAB.get_or_init(|| Mutex::new(Some(Lab::start())));
    let lab = lab.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    test(lab.as_ref().expect("it runs until the end"))
}

/// One look at everything, nothing given.
struct Seen {
    value: Value,
}

impl Seen {
    fn now() -> Seen {
        let value = plimsoll(PROGRAM, &["status", "--json"]).json();
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        Seen { value }
    }

    /// When the server's pool was as this says: the look's time less the age that the number itself carries. The engine
    /// publishes every few steps; that takes a moment, which is longer on a busy machine, and is said.
    fn at(&self, pid: u64) -> f64 {
        let age = self.pool(pid, "used")["age_s"].as_f64().expect("an age");
        assert!(age < OLDEST, "the number of a busy server is {age} s old");
        self.value["taken_at"].as_f64().expect("a time") - age
    }

    /// The server of this process.
    fn server(&self, pid: u64) -> &Value {
        let servers = self.value["servers"].as_array().expect("servers");
        servers
            .iter()
            .find(|server| server["pid"] == pid)
            .unwrap_or_else(|| panic!("pid {pid} was not found: {}", self.value))
    }

    fn pool(&self, pid: u64, name: &str) -> &Value {
        &self.server(pid)["ranks"][0]["pools"][0][name]
    }

    /// A number that may be missing, as evictable is at moments at which the source that splits it stands still.
    fn known(&self, pid: u64, name: &str) -> Option<f64> {
        self.pool(pid, name)["value"].as_f64()
    }

    fn number(&self, pid: u64, name: &str) -> f64 {
        self.pool(pid, name)["value"].as_f64().unwrap_or_else(|| panic!("{name}: {}", self.pool(pid, name)))
    }
}

/// Looks about twice a second while a load runs.
fn watch(mut load: Child) -> Result<Vec<Seen>, Failed> {
    let begun = Instant::now();
    let mut seen = Vec::new();
    while load.try_wait()?.is_none() {
        if begun.elapsed() > Duration::from_mins(4) {
            let _ = load.kill();
            return Err("the load does not end".into());
        }
        seen.push(Seen::now());
        std::thread::sleep(Duration::from_millis(400));
    }
    Ok(seen)
}

/// While it decodes, a server writes a line every ten steps, several a second; a longer silence means that it did not.
const SILENCE: f64 = 0.5;

/// Least and most of the account over the second before `at`, and the moment after it in which its line may come late, or
/// the next line where that comes later; nothing where the account is silent at that time. Where work began or ended within
/// that time, nothing was in use before or after it; and where it paused, many requests may have ended and others been let in
/// between two lines.
fn span(account: &[Batch], at: f64) -> Option<(f64, f64)> {
    let alive = account.iter().any(|batch| (batch.at - at).abs() <= 0.3);
    let first = account.iter().position(|batch| batch.at >= at - 1.0)?;
    let after = account.iter().position(|batch| batch.at > at + 0.3).unwrap_or(account.len());
    let is_silent = |earlier: usize| match (account.get(earlier), account.get(earlier + 1)) {
        (Some(earlier), Some(later)) => later.at - earlier.at > SILENCE,
        _ => true,
    };
    // What was so at that time lies between the lines on both sides of it, however slowly a busy machine writes them.
    let next = account.iter().position(|batch| batch.at > at).filter(|next| *next > 0 && !is_silent(next - 1));
    let after = next.map_or(after, |next| after.max(next + 1));
    let near = account.get(first..after)?;
    let began = first.checked_sub(1).is_none_or(is_silent);
    let ended = after.checked_sub(1).is_none_or(is_silent);
    let least = near.iter().map(|batch| batch.tokens).fold(f64::MAX, f64::min);
    let most = near.iter().map(|batch| batch.tokens).fold(0.0, f64::max);
    let paused = (first..after.saturating_sub(1)).any(is_silent);
    alive.then_some((if began || ended || paused { 0.0 } else { least }, most))
}

/// Holds `answers` (time, tokens) against an account; how many could be held.
fn hold(what: &str, answers: &[(f64, f64)], account: &[Batch], above: f64) -> Result<usize, Failed> {
    let mut held = 0;
    for (at, tokens) in answers {
        let Some((least, most)) = span(account, *at) else { continue };
        held += 1;
        if *tokens < least - ALLOWED || *tokens > most + ALLOWED + above {
            let near = account.iter().filter(|batch| (batch.at - at).abs() < 3.0);
            let near: Vec<String> = near.map(|batch| format!("{:+.2} s {}", batch.at - at, batch.tokens)).collect();
            let text = format!(
                "{what}: {tokens} said, {least} to {most} by the engine's own account over that second; around it: {}",
                near.join(", ")
            );
            return Err(text.into());
        }
    }
    Ok(held)
}

fn found() -> Result<(), Failed> {
    with(|lab| {
        let seen = Seen::now();
        for (name, role, url) in [
            ("prefill", "prefill", "http://127.0.0.1:30000"),
            ("decode", "decode", "http://127.0.0.1:30002"),
            ("unified", "unified", "http://127.0.0.1:30010"),
        ] {
            let server = seen.server(lab.pid(name));
            assert_eq!(server["role"], role);
            assert_eq!(server["url"], url);
            assert_eq!(server["version"], "0.5.23");
            assert_eq!(seen.number(lab.pid(name), "capacity"), POOL, "--max-total-tokens of the lab");
            // Nothing was sent yet but the engine's own warm-up request.
            assert!(seen.number(lab.pid(name), "in_use") < 0.01, "{name} is idle");
        }
        let router = seen.server(lab.pid("router"));
        assert_eq!(router["role"], "router");
        assert_eq!(router["url"], "http://127.0.0.1:29000");
        assert_eq!(router["version"], "1.13.0");
        let views = router["router_view"].as_array().expect("views");
        for (port, role) in [("30000", "prefill"), ("30002", "decode")] {
            let view = views
                .iter()
                .find(|view| view["worker"].as_str().is_some_and(|worker| worker.ends_with(port)))
                .expect("a worker");
            assert_eq!(view["role"], role);
            assert_eq!(view["healthy"], true);
        }
        Ok(())
    })
}

fn doctor() -> Result<(), Failed> {
    with(|lab| {
        let output = plimsoll(PROGRAM, &["doctor", "--json"]);
        assert_eq!(output.code, 3);
        let value = output.json();
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        let decode = lab.pid("decode");
        let servers = value["servers"].as_array().expect("servers");
        let server = servers.iter().find(|server| server["pid"] == decode).expect("the decode server");
        let gap =
            server["gaps"].as_array().expect("gaps").iter().find(|gap| gap["id"] == "kv-series").expect("the gap");
        assert_eq!(gap["fix"]["flag"], "--enable-metrics");
        assert!(gap["fix"]["where"].as_str().expect("where").contains(&format!("pid {decode}")), "{gap}");
        assert!(
            gap["price"].as_str().expect("price").contains("no prefix cache to lose"),
            "a decode server has its radix cache off: {gap}"
        );
        // The prefill server runs with --enable-metrics.
        let prefill = servers.iter().find(|server| server["pid"] == lab.pid("prefill")).expect("the prefill server");
        let found = prefill["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .find(|finding| finding["id"] == "kv-series")
            .expect("a finding");
        assert_eq!(found["state"], "found");
        Ok(())
    })
}

fn decode_fills() -> Result<(), Failed> {
    with(|lab| {
        let decode = lab.pid("decode");
        let seen = watch(lab.load("29000 -n 18 -p 3100 -o 850 -c 17 --ramp 4 --seed 12"))?;
        let answers: Vec<(f64, f64)> = seen.iter().map(|seen| (seen.at(decode), seen.number(decode, "used"))).collect();
        let fullest = seen.iter().map(|seen| seen.number(decode, "in_use")).fold(0.0, f64::max);
        let held = hold("decode, metrics off", &answers, &lab.batches("decode"), 0.0)?;
        assert!(held >= 10, "the load was long enough to look at: {held}");
        assert!(fullest > 0.85, "the load fills the pool: {fullest}");
        let full = seen
            .iter()
            .max_by(|a, b| a.number(decode, "in_use").total_cmp(&b.number(decode, "in_use")))
            .expect("looks");
        let level = full.server(decode)["verdict"]["level"].as_str().expect("a level").to_owned();
        assert!(level == "tight" || level == "strained", "{level} at {fullest}");
        for seen in &seen {
            // A decode server has no prefix cache: nothing is evictable, by inference; so occupied is what is in use.
            assert_eq!(seen.pool(decode, "evictable")["state"], "inferred");
            assert_eq!(seen.number(decode, "occupied"), seen.number(decode, "in_use"));
        }
        Ok(())
    })
}

fn router_leads() -> Result<(), Failed> {
    with(|lab| {
        let output = canary::run(lab.inside(PROGRAM).args(["status", "--json", "http://127.0.0.1:29000"]));
        let value: Value = serde_json::from_slice(&output.stdout)?;
        let mut urls: Vec<&str> =
            value["servers"].as_array().expect("servers").iter().filter_map(|server| server["url"].as_str()).collect();
        urls.sort_unstable();
        assert_eq!(urls, ["http://127.0.0.1:29000", "http://127.0.0.1:30000", "http://127.0.0.1:30002"]);
        Ok(())
    })
}

fn evicts() -> Result<(), Failed> {
    with(|lab| {
        let unified = lab.pid("unified");
        let seen = watch(lab.load("30010 -n 150 -p 2200 -o 40 -c 6 --prefix 200 --seed 13"))?;
        // Once the cache is warm it stays full while little is in use: 6 requests of 2,240 tokens are a fifth of the pool.
        let is_warm = |seen: &&Seen| seen.known(unified, "occupied").is_some_and(|occupied| occupied > 0.9);
        let warm: Vec<&Seen> = seen.iter().filter(is_warm).collect();
        assert!(warm.len() >= 3, "the load fills the cache: {} looks", warm.len());
        for seen in &warm {
            assert!(seen.number(unified, "in_use") < 0.4, "in use is not occupied: {}", seen.server(unified));
            assert_eq!(seen.server(unified)["verdict"]["level"], "calm", "a warm cache is health");
        }
        // Events count what the prefix cache holds; a running request's output comes in when it ends: 6 × 40 at most.
        let tokens =
            |seen: &&Seen| (seen.at(unified), seen.number(unified, "used") + seen.number(unified, "evictable"));
        let answers: Vec<(f64, f64)> = warm.iter().map(tokens).collect();
        let held = hold("unified, used + evictable", &answers, &lab.resident(), 240.0)?;
        assert!(held >= 3, "{held}");
        Ok(())
    })
}

fn retracts() -> Result<(), Failed> {
    with(|lab| {
        let unified = lab.pid("unified");
        let before = lab.retracted("unified");
        let seen = watch(lab.load("30010 -n 40 -p 1800 -o 400 -c 40 --mode min_new_tokens --seed 14"))?;
        let answers: Vec<(f64, f64)> =
            seen.iter().map(|seen| (seen.at(unified), seen.number(unified, "used"))).collect();
        let held = hold("unified, used", &answers, &lab.batches("unified"), 0.0)?;
        assert!(held >= 10, "{held}");
        let strained = seen.iter().filter(|seen| seen.server(unified)["verdict"]["level"] == "strained").count();
        assert!(strained >= 3, "{strained} looks were strained");
        // The log says each retraction; the counter must come to the same.
        let logged = lab.retracted("unified");
        assert!(logged > before, "the load makes the server retract");
        let counted = &Seen::now().value;
        let server = counted["servers"]
            .as_array()
            .expect("servers")
            .iter()
            .find(|server| server["pid"] == unified)
            .expect("unified");
        assert_eq!(server["ranks"][0]["retracted_total"]["value"], logged);
        Ok(())
    })
}

fn after() -> Result<(), Failed> {
    with(|lab| {
        std::thread::sleep(Duration::from_secs(2));
        let seen = Seen::now();
        assert!(seen.number(lab.pid("decode"), "in_use") < 0.01, "{}", seen.server(lab.pid("decode")));
        let unified = lab.pid("unified");
        assert!(seen.number(unified, "in_use") < 0.01, "{}", seen.server(unified));
        let resident = lab.resident().last().expect("events").tokens;
        let kept = seen.number(unified, "used") + seen.number(unified, "evictable");
        assert!((kept - resident).abs() <= ALLOWED, "{kept} kept, {resident} by the events");
        assert!(resident > 0.5 * POOL, "the cache is warm: {resident}");
        Ok(())
    })
}

/// As `nobody`: the processes are seen, their sockets and namespace are not.
fn ordinary_user() -> Result<(), Failed> {
    with(|lab| {
        let copy = tempfile::tempdir()?;
        let program = copy.path().join("plimsoll");
        std::fs::copy(PROGRAM, &program)?;
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(copy.path(), open)?;
        let words = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let output =
            canary::run(std::process::Command::new("setpriv").args(words).arg(&program).args(["status", "--json"]));
        let value: Value = serde_json::from_slice(&output.stdout)?;
        let server = value["servers"]
            .as_array()
            .expect("servers")
            .iter()
            .find(|server| server["pid"] == lab.pid("decode"))
            .expect("found by its command line");
        assert_eq!(server["role"], "decode");
        assert_eq!(
            server["ranks"][0]["pools"][0]["used"]["value"],
            Value::Null,
            "never a number of another server at that port"
        );
        assert!(value["self"]["denied"].as_f64().expect("a count") >= 1.0);
        Ok(())
    })
}

fn killed() -> Result<(), Failed> {
    with(|lab| {
        let decode = lab.pid("decode");
        std::process::Command::new("kill").args(["-9", &decode.to_string()]).status()?;
        std::thread::sleep(Duration::from_secs(1));
        // The router still lists it: what stands in for its own word is the router's, with its age, or nothing.
        let words = ["status", "--json", "http://127.0.0.1:29000", "http://127.0.0.1:30002"];
        let output = canary::run(lab.inside(PROGRAM).args(words));
        let value: Value = serde_json::from_slice(&output.stdout)?;
        let server = value["servers"]
            .as_array()
            .expect("servers")
            .iter()
            .find(|server| server["url"] == "http://127.0.0.1:30002")
            .expect("asked for");
        assert!(server["unreachable"].as_str().is_some_and(|why| why.contains("refused")), "{server}");
        let used = &server["ranks"][0]["pools"][0]["used"];
        if !used["value"].is_null() {
            let source = used["source"].as_str().expect("a source");
            assert!(source.contains(":29000/"), "only the router can say it: {used}");
        }
        Ok(())
    })
}
