//! `plimsoll serve` as it is to be run: its unit, as packaging/ has it, under a real systemd beside the reference deployment
//! (router, prefill and decode, decode with its metrics off). What it shows and keeps is held against the engines' own log
//! lines; what becomes of it against systemd and the kernel. The tests share one deployment, and run in order.

#![allow(clippy::unnecessary_wraps)] // all tests have one type

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::real::wanted;
use testkit::service::{SETTINGS, Service, card};
use testkit::systemd::{Step, Units};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const DECODE_UNIT: &str = "sglang-decode.service";
const PREFILL: &str = "http://127.0.0.1:30000";
const DECODE: &str = "http://127.0.0.1:30002";
const ROUTER: &str = "http://127.0.0.1:29000";
const FAST: &str = "[watch]\nevery = \"1s\"\nsearch = \"3s\"\n";
const REST: &str = "[watch]\nevery = \"300s\"\nsearch = \"300s\"\n";
/// Seconds for which the last word of a server that ended may stand: until a search finds its process gone (3 s), it was asked
/// once more and that is shown (2 s), and as what its router heard from it before (2 s).
const LINGERS: f64 = 7.0;
/// Seconds around a look whose lines are held against it.
const AROUND: f64 = 4.0;
/// Tokens of a pool.
const POOL: f64 = 65536.0;

type Test = fn(&Place) -> Result<(), Failed>;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    // The machine may not be able to do it: then all of them are ignored, and standard error says why.
    let runs = wanted() && !arguments.list && start();
    let trial = |name: &str, test: Test| Trial::test(name, move || with(test)).with_ignored_flag(!runs);
    let trials = vec![
        trial("started: ready when it is, and the fleet is there", started),
        trial("a broken configuration leaves the old one in force, a mended one is read", settings),
        trial("who asks twice asks serve, and no engine", asked),
        trial("what is kept of a load is what the engine's log says", filled),
        trial("a unit that restarts is one server, and no number of before is fresh", restarted),
        trial("stopped or killed, it keeps what it had", kept),
        trial("with its rights it reads what only root may", rights),
        trial("without capabilities it says what it cannot see", unprivileged),
        trial("only who may enter a network asks there", other_network),
    ];
    let code = libtest_mimic::run(&arguments, trials).exit_code();
    // A static is never dropped; what it started must end with us.
    if let Some(place) = PLACE.get() {
        drop(place.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
    code
}

/// The deployment, and where plimsoll lies in it.
struct Place {
    units: Units,
    program: String,
}

static PLACE: OnceLock<Mutex<Option<Place>>> = OnceLock::new();

fn start() -> bool {
    let place = Units::start(&[]).map(|units| Place { program: units.install(PROGRAM), units });
    let runs = place.is_some();
    let _ = PLACE.set(Mutex::new(place));
    runs
}

fn with(test: Test) -> Result<(), Failed> {
    let place = PLACE.get().expect("it was started").lock().unwrap_or_else(PoisonError::into_inner);
    test(place.as_ref().expect("it runs until the end"))
}

impl Place {
    fn service(&self) -> Service<'_> {
        Service { units: &self.units }
    }

    /// What a decode server wrote of itself since `from`: the tokens of its pool.
    fn capacity(&self, from: f64) -> Option<f64> {
        let lines = self.units.log(DECODE_UNIT);
        let line =
            lines.iter().filter(|line| line.at >= from).find_map(|line| line.text.split_once("max_total_num_tokens="));
        line.and_then(|(_, rest)| rest.split(',').next()?.parse().ok())
    }

    /// Requests that decode and prefill wrote down, and who made each.
    fn requests(&self) -> Vec<(String, String)> {
        let units = [DECODE_UNIT, "sglang-prefill.service"];
        let lines = units.iter().flat_map(|unit| self.units.log(unit));
        let request = |text: String| {
            let (who, what) = text.split_once("INFO:")?.1.trim().split_once(" - \"")?;
            Some((who.to_owned(), what.split('"').next()?.to_owned()))
        };
        lines.filter_map(|line| request(line.text)).collect()
    }
}

fn now() -> f64 {
    UNIX_EPOCH.elapsed().expect("a clock").as_secs_f64()
}

/// A number of the only pool of a server, and its state.
fn pool(overview: &Value, url: &str, name: &str) -> (Option<f64>, String) {
    let reading = &card(overview, url)["pools"][0][name];
    (reading[0].as_f64(), reading[1].as_str().unwrap_or_default().to_owned())
}

/// Seconds between two looks at a server.
fn every(overview: &Value, url: &str) -> f64 {
    card(overview, url)["every_s"].as_f64().expect("seconds")
}

/// Whether each is looked at as seldom as [`REST`] says.
fn rests(overview: &Value) -> bool {
    [PREFILL, DECODE, ROUTER].iter().all(|url| every(overview, url) == 300.0)
}

fn is_fresh(state: &str) -> bool {
    ["reported", "derived", "inferred"].contains(&state)
}

fn started(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    service.settings(FAST);
    service.install(&place.program);
    service.systemctl(&["start", "plimsoll"]);
    // It was there when that returned: one look, none repeated.
    let overview = service.overview();
    assert_eq!(service.property("ActiveState"), "active");
    assert_eq!(service.property("StatusText"), "http://127.0.0.1:7546/, 3 targets");
    for (url, role, unit) in [
        (PREFILL, "prefill", "sglang-prefill"),
        (DECODE, "decode", "sglang-decode"),
        (ROUTER, "router", "sglang-router"),
    ] {
        let card = card(&overview, url);
        assert_eq!((&card["role"], &card["unit"]), (&role.into(), &format!("{unit}.service").into()), "{card}");
    }
    assert_eq!(overview["servers"].as_array().expect("servers").len(), 3);
    let own = place.capacity(0.0).expect("its own line");
    assert_eq!(pool(&overview, DECODE, "capacity"), (Some(own), "reported".to_owned()));
    let gaps = overview["gaps"].as_array().expect("gaps");
    let gap = gaps.iter().find(|gap| gap["id"] == "kv-series" && gap["server"] == DECODE).expect("decode's gap");
    assert_eq!(gap["fix"]["flag"], "--enable-metrics");
    // The page itself, as a browser asks for it.
    let ask = "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=5).read().decode())";
    let page = place.units.inside("python3").args(["-c", ask, "http://127.0.0.1:7546/"]).output()?;
    assert!(String::from_utf8_lossy(&page.stdout).contains("<html"), "{}", String::from_utf8_lossy(&page.stderr));
    // As docs/serve.md says, of 100.
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/plimsoll.service");
    let security = ["security", "--offline=yes", "--threshold=24", "--no-pager", unit];
    let exposed = std::process::Command::new("systemd-analyze").args(security).output()?;
    assert!(exposed.status.success(), "{}", String::from_utf8_lossy(&exposed.stdout));
    // Nobody's account, and these two rights: bits 2 and 19 of linux/capability.h.
    let status =
        std::fs::read_to_string(place.units.outside(&format!("/proc/{}/status", service.property("MainPID"))))?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).expect("a line").trim().to_owned();
    let user: u32 = field("Uid:").split_whitespace().next().expect("a user").parse()?;
    assert!((61184..=65519).contains(&user), "a dynamic user: {user}");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(u64::from_str_radix(&field(set), 16)?, 1 << 2 | 1 << 19, "{set}");
    }
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), ("1".to_owned(), "2".to_owned()));
    Ok(())
}

fn settings(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    let told = |overview: &Value| {
        let notes = overview["watch"]["notes"].as_array().expect("notes").iter();
        notes.filter(|note| note["id"] == "config").map(|note| note["text"].to_string()).collect::<Vec<_>>()
    };
    let check = || place.units.inside(&place.program).args(["config", "check"]).output().expect("it runs");
    assert_eq!(check().status.code(), Some(0));
    service.settings("[watch]\nevery = \"1s\"\nsaerch = \"3s\"\n");
    let refused = check();
    assert_eq!(refused.status.code(), Some(2));
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("line 3") && refused.contains("saerch"), "{refused}");
    let begun = now();
    service.systemctl(&["reload", "plimsoll"]);
    let broken = service.wait("a note", 10, |overview| !told(overview).is_empty());
    let note = told(&broken).concat();
    assert!(note.contains("line 3") && note.contains("saerch") && note.contains(SETTINGS), "{note}");
    assert!(service.property("StatusText").contains("line 3"), "{}", service.property("StatusText"));
    // What was in force goes on.
    let later =
        service.wait("more looks", 30, |now| now["watch"]["looks"].as_u64() > broken["watch"]["looks"].as_u64());
    assert_eq!(later["watch"]["targets"], 3);
    // Mended, and nothing said: it sees that for itself.
    service.settings(REST);
    let mended = service.wait("rest", 30, |overview| told(overview).is_empty() && rests(overview));
    assert_eq!(mended["servers"].as_array().expect("servers").len(), 3, "{mended}");
    let events = service.events("config");
    let after: Vec<&Value> = events.iter().filter(|event| event["at"].as_f64().expect("a time") >= begun).collect();
    assert!(after[0]["value"] == 0.0 && after[0]["text"].to_string().contains("line 3"), "{events:?}");
    assert_eq!(after.last().expect("another")["value"], 1.0, "{events:?}");
    // Those that it watched stay the same servers.
    assert_eq!(service.events("found,gone,restart").iter().filter(|event| event["kind"] != "found").count(), 0);
    Ok(())
}

fn asked(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    // It rests, so it asks nobody either. Whatever it still had on its way is over.
    service.wait("rest", 20, rests);
    std::thread::sleep(Duration::from_secs(2));
    // Whoever asks now besides is the router.
    let before = place.requests();
    std::thread::sleep(Duration::from_secs(5));
    let begun = place.requests();
    let router: BTreeSet<&String> = begun[..].iter().skip(before.len() / 2).map(|(who, _)| who).collect();
    let others = |from: usize| {
        let all = place.requests();
        all.into_iter().skip(from).filter(|(who, _)| !router.contains(who)).collect::<Vec<_>>()
    };
    let count = begun.len();
    let mut said = String::new();
    for words in [["status"], ["explain"]].iter().cycle().take(10) {
        let output = service.stranger(&place.program, words);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        said = String::from_utf8(output.stdout)?;
        assert!(said.contains("`plimsoll serve`") && said.contains("127.0.0.1:30002"), "{said}");
    }
    let more = others(count);
    assert!(more.is_empty(), "serve answered, and yet: {more:?}, beside {router:?}; {said}");
    let output = service.stranger(&place.program, &["status", "--direct"]);
    assert!(!String::from_utf8(output.stdout)?.contains("`plimsoll serve`"));
    let own = others(count);
    assert!(own.iter().any(|(_, what)| what.contains("/server_info")), "it looks for itself: {own:?}");
    Ok(())
}

fn filled(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    service.settings(FAST);
    service.systemctl(&["reload", "plimsoll"]);
    let hurries = |overview: &Value| [PREFILL, DECODE, ROUTER].iter().all(|url| every(overview, url) < 60.0);
    service.wait("haste", 20, hurries);
    let begun = now();
    let mut load = place.units.load("29000 -n 19 -p 2900 -o 900 -c 19 --seed 33");
    let started = Instant::now();
    while load.try_wait()?.is_none() {
        assert!(started.elapsed() < Duration::from_mins(3), "the load does not end");
        std::thread::sleep(Duration::from_millis(500));
    }
    std::thread::sleep(Duration::from_secs(2));
    let history = service.history(DECODE, "used", begun);
    let steps = place.units.steps(DECODE_UNIT);
    let mut held = 0;
    for (at, state, value) in &history {
        let Some((least, most)) = span(&steps, *at) else { continue };
        assert_eq!(*state, 'r', "its page answers: {history:?}");
        let tokens = value.expect("a value");
        held += 1;
        assert!(
            tokens >= least && tokens <= most,
            "{tokens} kept of {at}, {least} to {most} by its own lines: {history:?}"
        );
    }
    // Each look is at most a hundredth of the engine's time, and it is slow without a GPU.
    assert!(held >= 3, "{held} looks could be held: {history:?}");
    let full = history.iter().filter_map(|(_, _, value)| *value).fold(0.0, f64::max);
    assert!(full > 0.9 * POOL, "the load fills it: {full}");
    // In use is what is used of the pool, at the same moments.
    let shares = service.history(DECODE, "in_use", begun);
    assert_eq!(shares.len(), history.len());
    for ((at, _, share), (_, _, used)) in shares.iter().zip(&history) {
        if let (Some(share), Some(used)) = (share, used) {
            assert!((share - used / POOL).abs() < 1e-9, "{share} at {at}, {used} used");
        }
    }
    // The engine says in its log that it threw requests out; then there is an event of these seconds, and else none.
    let lines = place.units.log(DECODE_UNIT);
    let thrown = lines.iter().filter(|line| line.at >= begun && line.text.contains("Retract requests")).count();
    let told = service.events("retracted").into_iter().filter(|event| event["server"] == DECODE).count();
    assert_eq!(thrown > 0, told > 0, "{thrown} lines, {told} events");
    assert!(thrown > 0, "this load retracts");
    Ok(())
}

/// What the engine's lines say of the seconds around a moment: it publishes its load now and then, and writes a line every 40
/// steps, in each of which a request grows by a token.
fn span(steps: &[Step], at: f64) -> Option<(f64, f64)> {
    let near: Vec<&Step> = steps.iter().filter(|step| (step.at - at).abs() <= AROUND).collect();
    let grown = 40.0 * near.iter().map(|step| step.running).reduce(f64::max)?;
    let is_between = near[0].at <= at && at <= near[near.len() - 1].at;
    let tokens = || near.iter().map(|step| step.tokens);
    is_between.then_some((tokens().reduce(f64::min)? - grown, tokens().reduce(f64::max)? + grown))
}

fn restarted(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    let begun = now();
    service.systemctl(&["restart", "--no-block", DECODE_UNIT]);
    // Until the new process has said the size of its pool nothing can be known of it.
    let mut states = BTreeSet::new();
    let patience = Instant::now();
    loop {
        let overview = service.overview();
        assert!(overview["servers"].as_array().expect("servers").len() <= 3, "one server is one: {overview}");
        let (_, state) = pool(&overview, DECODE, "used");
        let stopped = stopped(place, begun);
        let is_away = stopped.is_some_and(|at| now() - at > LINGERS) && place.capacity(begun).is_none();
        assert!(!is_away || !is_fresh(&state), "{state}, it ended at {stopped:?}: {overview}");
        states.insert(state);
        if place.capacity(begun).is_some() && is_up(&service) {
            break;
        }
        assert!(patience.elapsed() < Duration::from_mins(3), "it does not come back: {overview}");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(states.contains("unreachable") || states.contains("stale"), "{states:?}");
    let back = service.wait("its number", 30, |overview| is_fresh(&pool(overview, DECODE, "used").1));
    assert_eq!(pool(&back, DECODE, "capacity").0, place.capacity(begun));
    assert_eq!(card(&back, DECODE)["unit"], DECODE_UNIT);
    let events: Vec<Value> = service.events("restart,unreachable,back,found,gone,version");
    let count = |kind: &str| {
        let of = |event: &&Value| event["kind"] == kind && event["server"] == DECODE;
        events.iter().filter(of).filter(|event| event["at"].as_f64().expect("a time") >= begun).count()
    };
    assert_eq!(["restart", "unreachable", "back"].map(count), [1, 1, 1], "{events:?}");
    assert_eq!(["found", "gone", "version"].map(count), [0, 0, 0], "{events:?}");
    // The same of what is kept: between its end and its first word of itself no number stands as fresh.
    let (ended, told) = (stopped(place, begun).expect("it ended"), first_word(place, begun).expect("it began"));
    let kept = service.history(DECODE, "used", begun);
    let away: Vec<_> = kept.iter().filter(|(at, ..)| *at > ended + LINGERS && *at < told).collect();
    assert!(!away.is_empty() && away.iter().all(|(_, state, _)| *state != 'r'), "{ended} to {told}: {kept:?}");
    Ok(())
}

/// When systemd saw the last of the process that ran before `from`.
fn stopped(place: &Place, from: f64) -> Option<f64> {
    let words = ["-u", DECODE_UNIT, "-o", "json", "--output-fields=MESSAGE", "_PID=1", "--no-pager"];
    let output = place.units.inside("journalctl").args(words).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|record| {
        let at = record["__REALTIME_TIMESTAMP"].as_str()?.parse::<f64>().ok()? / 1e6;
        (at >= from && record["MESSAGE"].as_str()?.starts_with("Stopped")).then_some(at)
    })
}

/// When the new process said how large its pool is.
fn first_word(place: &Place, from: f64) -> Option<f64> {
    let lines = place.units.log(DECODE_UNIT);
    let says = |text: &str| ["#tokens: ", "max_total_num_tokens="].iter().any(|word| text.contains(word));
    lines.iter().find(|line| line.at >= from && says(&line.text)).map(|line| line.at)
}

fn is_up(service: &Service<'_>) -> bool {
    service.events("back").iter().any(|event| event["server"] == DECODE)
}

fn kept(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    let all = || service.history(DECODE, "used", 0.0);
    let held = |before: &[(f64, char, Option<f64>)]| {
        let after = all();
        let lost: Vec<_> = before.iter().filter(|look| !after.contains(look)).collect();
        assert!(before.len() > 30 && lost.is_empty(), "{lost:?} of {}", before.len());
    };
    let before = all();
    let took = service.systemctl(&["stop", "plimsoll"]);
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(
        (service.property("Result"), service.property("ExecMainStatus")),
        ("success".to_owned(), "0".to_owned())
    );
    assert!(!place.units.outside("/run/plimsoll").exists(), "nobody asks one that is gone");
    service.systemctl(&["start", "plimsoll"]);
    held(&before);
    // Killed: what is older than a second is there.
    let before = all();
    std::thread::sleep(Duration::from_millis(1200));
    let pid = service.property("MainPID");
    assert!(place.units.inside("kill").args(["-9", &pid]).status()?.success());
    let begun = Instant::now();
    while service.property("NRestarts") == "0" || service.property("ActiveState") != "active" {
        assert!(begun.elapsed() < Duration::from_secs(30), "systemd starts it again: {}", service.journal());
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_ne!(service.property("MainPID"), pid);
    held(&before);
    Ok(())
}

/// What answered, as `explain` says it, which everybody on the host may ask.
fn answered(place: &Place) -> BTreeSet<String> {
    let output = place.service().stranger(&place.program, &["explain", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let servers = value["servers"].as_array().expect("servers").iter();
    let asked = servers.flat_map(|server| server["asked"].as_array().expect("what was asked"));
    let good = asked.filter(|one| one["outcome"] == "answered");
    good.map(|one| one["get"].as_str().expect("a name").to_owned()).collect()
}

fn own_limits(overview: &Value) -> f64 {
    overview["self"]["denied"].as_f64().expect("a count")
}

fn rights(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    // As umask 077 leaves it.
    let log = place.units.outside("/var/log/sglang/prefill.log");
    std::fs::set_permissions(&log, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    service.systemctl(&["restart", "plimsoll"]);
    let snapshot = service.document("/api/v1/snapshot");
    assert_eq!(own_limits(&snapshot), 0.0, "nothing is denied: {snapshot}");
    let told = answered(place);
    for source in ["/var/log/sglang/prefill.log", "journal of sglang-decode.service", "/dev/shm/sglang_loads_*.shm"] {
        assert!(told.contains(source), "{source}: {told:?}");
    }
    Ok(())
}

fn unprivileged(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    let only = |right: &str| {
        format!(
            "[Service]\nCapabilityBoundingSet=\nCapabilityBoundingSet={right}\nAmbientCapabilities=\nAmbientCapabilities={right}\n"
        )
    };
    let (trace, read) = (only("CAP_SYS_PTRACE"), only("CAP_DAC_READ_SEARCH"));
    for (names, own) in [(&[][..], trace.as_str()), (&[][..], read.as_str()), (&["unprivileged.conf"][..], "")] {
        service.drop_ins(names, own);
        service.systemctl(&["restart", "plimsoll"]);
        let snapshot = service.document("/api/v1/snapshot");
        assert!(own_limits(&snapshot) >= 1.0, "it says so: {snapshot}");
        // What it says is as right as with all rights.
        let overview = service.overview();
        for url in [PREFILL, DECODE] {
            assert_eq!(pool(&overview, url, "capacity"), (Some(POOL), "reported".to_owned()), "asked over HTTP");
            assert_eq!(pool(&overview, url, "used").1, "reported");
        }
        let logs = answered(place);
        assert!(logs.contains("journal of sglang-decode.service"), "the group that it has: {own}: {logs:?}");
        let lost = logs.iter().filter(|name| name.ends_with("prefill.log") || name.starts_with("/dev/shm/"));
        assert_eq!(lost.count(), 0, "{own}: {logs:?}");
    }
    let snapshot = service.document("/api/v1/snapshot");
    let notes = snapshot["notes"].to_string();
    // The gateway's command line is rewritten by itself.
    assert!(notes.contains("port-unseen") && notes.contains("denied"), "{snapshot}");
    Ok(())
}

/// The service in a network of its own stands for servers that are in one.
fn other_network(place: &Place) -> Result<(), Failed> {
    let service = place.service();
    service.drop_ins(&[], "[Service]\nPrivateNetwork=yes\n");
    service.systemctl(&["restart", "plimsoll"]);
    let snapshot = service.document("/api/v1/snapshot");
    let notes = |snapshot: &Value| card(snapshot, DECODE)["notes"].to_string();
    assert!(notes(&snapshot).contains("not-over-http"), "{snapshot}");
    // Its shared memory is read all the same.
    let (capacity, state) = pool(&service.overview(), DECODE, "capacity");
    assert!(capacity == Some(POOL) && is_fresh(&state), "{snapshot}");
    service.drop_ins(&["containers.conf"], "[Service]\nPrivateNetwork=yes\n");
    service.systemctl(&["restart", "plimsoll"]);
    let snapshot = service.document("/api/v1/snapshot");
    assert!(!notes(&snapshot).contains("not-over-http"), "{snapshot}");
    assert!(pool(&service.overview(), PREFILL, "used").1 == "reported", "{snapshot}");
    Ok(())
}
