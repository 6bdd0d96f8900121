//! The reference deployment as it is deployed: router, prefill and decode as systemd units, decode with its metrics off,
//! everything at its defaults. plimsoll runs beside them with nothing given, and with all of its sources but one taken away;
//! its figures are held against the journal's own lines. The tests share one deployment and one load, and run in order.

use std::process::{ExitCode, Output};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant, UNIX_EPOCH};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::door::Door;
use testkit::real::wanted;
use testkit::systemd::{Hide, Step, Units};
use testkit::{canary, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const PREFILL: &str = "sglang-prefill.service";
const DECODE: &str = "sglang-decode.service";
const ROUTER: &str = "sglang-router.service";
const OLDER: &str = "sglang-older.service";
/// Tokens of each pool.
const POOL: f64 = 65536.0;
/// How far from the truth's span an answer may lie.
const ALLOWED: f64 = 0.01 * POOL;
/// Seconds between two of a busy decode server's batch lines (40 steps), with room for a busy machine.
const BETWEEN: f64 = 4.0;

/// Looks that must be held for a test to mean anything; how many there are in one load is the machine's business.
const ENOUGH: usize = 4;

/// What plimsoll is left with.
struct Way {
    name: &'static str,
    hidden: &'static [Hide],
    shared_memory: bool,
}

const EVERYTHING: Way = Way { name: "everything", hidden: &[], shared_memory: true };
const LOG_ALONE: Way = Way { name: "log alone", hidden: &[Hide::Http], shared_memory: false };
const SLAB_ALONE: Way = Way { name: "shared memory alone", hidden: &[Hide::Http, Hide::Journal], shared_memory: true };

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    // The machine may not be able to do it: then all of them are ignored, and standard error says why.
    let runs = wanted() && !arguments.list && start();
    let trial = |runs: bool, name: &str, test: Test| Trial::test(name, test).with_ignored_flag(!runs);
    let trials = vec![
        trial(runs, "HTTP is blocked where a test says so", blocked),
        trial(runs, "found: three units by their names", found),
        trial(runs, "doctor names ExecStart of the unit", doctor),
        trial(runs, "over ssh units, journal and source are as they are there", over_ssh),
        trial(runs, "everything: decode fills with its metrics off", everything),
        trial(runs, "decode fills, by its log alone", log_alone),
        trial(runs, "decode fills, by shared memory alone", slab_alone),
        trial(runs, "an ordinary user is told what is denied", ordinary_user),
        trial(runs, "no secret is in any output", secrets),
        trial(runs && with_older(), "0.5.9 by everything and by its log alone", older),
        trial(runs, "doctor's drop-in, copied and restarted, turns the series on", advice),
        trial(runs, "what a killed server left behind is no number", killed),
    ];
    let code = libtest_mimic::run(&arguments, trials).exit_code();
    // A static is never dropped; what it started must end with us.
    if let Some(place) = PLACE.get() {
        drop(place.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    }
    code
}

/// Nothing that is true of the host is lost on the way.
fn over_ssh() -> Result<(), Failed> {
    with(|place| {
        let door = Door::open(&place.units);
        let there: Value = serde_json::from_slice(&place.run(&EVERYTHING, &["doctor", "--json"]).stdout)?;
        let words = ["doctor", "--json", "--ssh-config", door.config(), "ssh://units"];
        let afar: Value = serde_json::from_slice(&canary::run(std::process::Command::new(PROGRAM).args(words)).stdout)?;
        assert_eq!(schema_faults(&afar), Vec::<String>::new());
        for unit in [ROUTER, PREFILL, DECODE] {
            let pid = place.units.pid(unit);
            let (near, far) = (server(&there, pid), server(&afar, pid));
            assert_eq!(far["unit"], unit);
            assert_eq!(far["build"], near["build"], "{unit}");
            let fixes = |one: &Value| {
                let gaps = one["gaps"].as_array().expect("gaps").iter();
                gaps.map(|gap| format!("{} {}", gap["id"], gap["fix"])).collect::<Vec<_>>()
            };
            assert_eq!(fixes(far), fixes(near), "{unit}: flag, file and line");
            let drop_in = |one: &Value| one["drop_in"]["text"].clone();
            assert_eq!(drop_in(far), drop_in(near), "{unit}");
        }
        let words = ["explain", "--json", "--ssh-config", door.config(), "ssh://units"];
        let explained: Value =
            serde_json::from_slice(&canary::run(std::process::Command::new(PROGRAM).args(words)).stdout)?;
        let text = explained.to_string();
        assert!(text.contains(&format!("journal of {DECODE}")), "its journal was read: {explained}");
        Ok(())
    })
}

/// The deployment, and where plimsoll lies in it.
struct Place {
    units: Units,
    program: String,
}

static PLACE: OnceLock<Mutex<Option<Place>>> = OnceLock::new();
static LOOKS: OnceLock<Vec<(&'static str, Seen)>> = OnceLock::new();

/// The long suite also has a server of SGLang 0.5.9.
fn with_older() -> bool {
    std::env::var_os("PLIMSOLL_OLDER").is_some()
}

fn start() -> bool {
    let units = Units::start(if with_older() { &["--older"] } else { &[] });
    let place = units.map(|units| Place { program: units.install(PROGRAM), units });
    let runs = place.is_some();
    let _ = PLACE.set(Mutex::new(place));
    runs
}

fn with<T>(test: impl FnOnce(&Place) -> T) -> T {
    let place = PLACE.get().expect("it was started").lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    test(place.as_ref().expect("it runs until the end"))
}

impl Place {
    /// Runs plimsoll inside; what it prints.
    fn run(&self, way: &Way, arguments: &[&str]) -> Output {
        let away = (!way.shared_memory).then(|| self.units.hide_shared_memory());
        let output = canary::run(self.units.hiding(way.hidden, &self.program).args(arguments));
        drop(away);
        output
    }

    fn look(&self, way: &Way) -> Seen {
        let now = || UNIX_EPOCH.elapsed().expect("a clock").as_secs_f64();
        let begun = now();
        let output = self.run(way, &["status", "--json"]);
        let value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        Seen { begun, ended: now(), value }
    }
}

/// One look, nothing given.
struct Seen {
    /// Seconds since 1970, like all times here: before the program was started, and after it had ended.
    begun: f64,
    ended: f64,
    value: Value,
}

impl Seen {
    fn server(&self, pid: u64) -> &Value {
        server(&self.value, pid)
    }

    fn pool(&self, pid: u64, name: &str) -> &Value {
        &self.server(pid)["ranks"][0]["pools"][0][name]
    }

    /// Tokens used and when they were; nothing where it says that it does not know.
    fn used(&self, pid: u64) -> Option<(f64, f64)> {
        let used = self.pool(pid, "used");
        let age = used["age_s"].as_f64().unwrap_or(0.0);
        Some((self.value["taken_at"].as_f64().expect("a time") - age, used["value"].as_f64()?))
    }

    fn source(&self, pid: u64) -> String {
        self.pool(pid, "used")["source"].as_str().unwrap_or_default().to_owned()
    }
}

fn server(value: &Value, pid: u64) -> &Value {
    let servers = value["servers"].as_array().expect("servers");
    servers.iter().find(|server| server["pid"] == pid).unwrap_or_else(|| panic!("pid {pid} was not found: {value}"))
}

/// Looks in each of the ways in turn while a load runs.
fn watch(place: &Place, load: &str, ways: &[&Way]) -> Result<Vec<(&'static str, Seen)>, Failed> {
    let mut load = place.units.load(load);
    let begun = Instant::now();
    let mut looks = Vec::new();
    while load.try_wait()?.is_none() {
        if begun.elapsed() > Duration::from_mins(3) {
            let _ = load.kill();
            return Err("the load does not end".into());
        }
        looks.extend(ways.iter().map(|way| (way.name, place.look(way))));
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(looks)
}

/// The looks of one way at one load that fills decode: 17 requests at once, which then all grow together.
fn looks(way: &Way) -> Vec<&'static Seen> {
    let all = LOOKS.get_or_init(|| {
        with(|place| {
            watch(place, "29000 -n 17 -p 3100 -o 800 -c 17 --seed 31", &[&EVERYTHING, &LOG_ALONE, &SLAB_ALONE])
        })
        .unwrap_or_else(|failed| panic!("{failed:?}"))
    });
    all.iter().filter(|(name, _)| *name == way.name).map(|(_, seen)| seen).collect()
}

/// The batch lines just before and after `at`, where nothing came or went between them.
fn around(steps: &[Step], at: f64) -> Option<(Step, Step)> {
    let after = steps.iter().position(|step| step.at >= at)?;
    let near = steps.get(after.checked_sub(2)?..=after + 1)?;
    let steady = near.iter().all(|step| step.running == near[0].running) && near[3].at - near[0].at < 3.0 * BETWEEN;
    steady.then_some((near[1], near[2]))
}

/// Holds what was said of a server against its own lines; how many looks could be held.
fn hold(what: &str, seen: &[&Seen], pid: u64, steps: &[Step]) -> Result<usize, Failed> {
    let mut held = 0;
    for (at, tokens) in seen.iter().filter_map(|seen| seen.used(pid)) {
        let Some((before, after)) = around(steps, at) else { continue };
        held += 1;
        if tokens < before.tokens - ALLOWED || tokens > after.tokens + ALLOWED {
            let (before, after) = (before.tokens, after.tokens);
            return Err(format!("{what}: {tokens} said at {at}, {before} to {after} by the engine's own lines").into());
        }
    }
    Ok(held)
}

/// The way is blocked in truth: not only for plimsoll, and also for who tries to enter the servers' namespace.
fn blocked() -> Result<(), Failed> {
    with(|place| {
        let units = &place.units;
        let ask = "import sys, urllib.request as r; r.urlopen(sys.argv[1], timeout=5).read()";
        for unit in [PREFILL, DECODE] {
            let url = format!("{}/server_info", units.told["units"][unit]["url"].as_str().expect("a URL"));
            let python = |hidden: &[Hide]| units.hiding(hidden, "python3").args(["-c", ask, &url]).output();
            assert!(python(&[])?.status.success(), "it is open otherwise");
            assert!(!python(&[Hide::Http])?.status.success(), "{url} answers");
        }
        let pid = units.pid(DECODE).to_string();
        let enter = |hidden: &[Hide]| units.hiding(hidden, "nsenter").args(["-t", &pid, "-n", "true"]).output();
        assert!(enter(&[])?.status.success(), "root may enter otherwise");
        assert!(!enter(&[Hide::Http])?.status.success(), "it may enter the servers' namespace");
        let journal =
            |hidden: &[Hide]| units.hiding(hidden, "journalctl").args(["-u", DECODE, "-o", "cat", "-q"]).output();
        assert!(!journal(&[Hide::Http])?.stdout.is_empty(), "only HTTP is blocked");
        assert!(journal(&[Hide::Http, Hide::Journal])?.stdout.is_empty(), "the journal is hidden");
        let seen = place.look(&SLAB_ALONE);
        let notes = seen.server(units.pid(DECODE))["notes"].as_array().expect("notes").clone();
        let told = notes.iter().any(|note| note["id"] == "not-over-http");
        assert!(told, "{}", seen.server(units.pid(DECODE)));
        Ok(())
    })
}

fn found() -> Result<(), Failed> {
    with(|place| {
        let seen = place.look(&EVERYTHING);
        for (unit, role, url) in [
            (PREFILL, "prefill", "http://127.0.0.1:30000"),
            (DECODE, "decode", "http://127.0.0.1:30002"),
            (ROUTER, "router", "http://127.0.0.1:29000"),
        ] {
            let server = seen.server(place.units.pid(unit));
            assert_eq!(server["unit"], unit, "{server}");
            assert_eq!(server["role"], role);
            assert_eq!(server["url"], url);
        }
        for unit in [PREFILL, DECODE] {
            let pid = place.units.pid(unit);
            assert_eq!(seen.server(pid)["version"], "0.5.23");
            assert_eq!(seen.pool(pid, "capacity")["value"], POOL, "--max-total-tokens of the lab");
        }
        Ok(())
    })
}

fn doctor() -> Result<(), Failed> {
    with(|place| {
        let output = place.run(&EVERYTHING, &["doctor", "--json"]);
        assert_eq!(output.status.code(), Some(3));
        let value: Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        let decode = server(&value, place.units.pid(DECODE));
        assert_eq!(decode["unit"], DECODE);
        let gaps = decode["gaps"].as_array().expect("gaps");
        let gap = gaps.iter().find(|gap| gap["id"] == "kv-series").expect("the gap");
        assert_eq!(gap["fix"]["flag"], "--enable-metrics");
        // The line as the file itself has it.
        let file = "/etc/systemd/system/sglang-decode.service";
        let text = std::fs::read_to_string(place.units.outside(file))?;
        let line = text.lines().position(|line| line.starts_with("ExecStart=")).expect("a command") + 1;
        let told = gap["fix"]["where"].as_str().expect("where");
        assert_eq!(told, format!("ExecStart of {DECODE}, {file}:{line}"));
        // Nobody built this one: the series are those of the very source that runs.
        assert_eq!(decode["build"]["kind"], "release");
        assert_eq!(decode["build"]["version"], "0.5.23");
        Ok(())
    })
}

/// The drop-in, copied by hand and with a restart, turns the series on: the whole way of the advice. It ends the decode
/// server that the other tests looked at.
fn advice() -> Result<(), Failed> {
    with(|place| {
        let inside = |command: &str, arguments: &[&str]| place.units.inside(command).args(arguments).output();
        assert!(inside("mkdir", &["/srv/advice"])?.status.success());
        let output = place.run(&EVERYTHING, &["doctor", "--write-dropin", "/srv/advice"]);
        assert_eq!(output.status.code(), Some(3));
        let folder = format!("/srv/advice/{DECODE}.d");
        let verify = inside(
            "sh",
            &[
                "-c",
                &format!(
                    "ls {folder}/*.conf && mkdir -p /etc/systemd/system/{DECODE}.d && cp {folder}/*.conf /etc/systemd/system/{DECODE}.d/ && systemctl daemon-reload"
                ),
            ],
        )?;
        assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stderr));
        let shown = inside("systemctl", &["show", DECODE, "--property=ExecStart"])?;
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("--enable-metrics") && shown.contains("--disaggregation-mode decode"), "{shown}");
        // Until the restart the file and what runs differ, and that is said.
        let value: Value = serde_json::from_slice(&place.run(&EVERYTHING, &["doctor", "--json"]).stdout)?;
        let notes = server(&value, place.units.pid(DECODE))["notes"].to_string();
        assert!(notes.contains("unit-changed") && notes.contains("--enable-metrics"), "{notes}");
        assert!(inside("systemctl", &["restart", DECODE])?.status.success());
        let begun = Instant::now();
        loop {
            let value: Value = serde_json::from_slice(&place.run(&EVERYTHING, &["doctor", "--json"]).stdout)?;
            let servers = value["servers"].as_array().expect("servers");
            let decode = servers.iter().find(|server| server["unit"] == DECODE);
            let found = decode.and_then(|server| server["findings"].as_array()).is_some_and(|findings| {
                findings.iter().any(|finding| finding["id"] == "kv-series" && finding["state"] == "found")
            });
            if found {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_mins(4) {
                return Err(format!("the series do not appear: {decode:?}").into());
            }
            std::thread::sleep(Duration::from_secs(2));
        }
    })
}

fn everything() -> Result<(), Failed> {
    let seen = looks(&EVERYTHING);
    with(|place| {
        let decode = place.units.pid(DECODE);
        let held = hold(EVERYTHING.name, &seen, decode, &place.units.steps(DECODE))?;
        assert!(held >= ENOUGH, "the load was long enough to look at: {held} of {}", seen.len());
        let most = seen.iter().filter_map(|seen| seen.used(decode)).map(|(_, tokens)| tokens).fold(0.0, f64::max);
        assert!(most > 0.85 * POOL, "the load fills the pool: {most}");
        Ok(())
    })
}

fn log_alone() -> Result<(), Failed> {
    let seen = looks(&LOG_ALONE);
    with(|place| {
        let decode = place.units.pid(DECODE);
        let steps = place.units.steps(DECODE);
        let newest = newest_line(LOG_ALONE.name, &seen, decode, &steps)?;
        assert!(newest >= ENOUGH, "{newest} looks at a busy server");
        // The start-up line says the capacity, and nothing else can: HTTP is blocked.
        let capacity = seen.last().expect("looks").pool(decode, "capacity");
        assert_eq!(capacity["value"], POOL, "{capacity}");
        Ok(())
    })
}

/// A log knows what its newest batch line says: that very number, not one between. How many looks could be held.
fn newest_line(what: &str, seen: &[&Seen], pid: u64, steps: &[Step]) -> Result<usize, Failed> {
    let mut held = 0;
    for seen in seen {
        // A file's lines tell whole seconds, and journald takes a moment to write. A line that came while the program
        // looked, which may take long on a busy machine, may be known already, or not yet.
        let sure = seen.begun - 1.0;
        let known: Vec<f64> = steps.iter().filter(|step| step.at <= sure).map(|step| step.tokens).collect();
        let (Some(last), false) = (known.last(), sure > steps[steps.len() - 1].at) else { continue };
        let mut coming = steps.iter().filter(|step| step.at > sure && step.at <= seen.ended).map(|step| step.tokens);
        let Some((_, tokens)) = seen.used(pid) else {
            let lines = known.len();
            let server = seen.server(pid);
            return Err(format!("{what}: nothing is known at {sure} of a server with {lines} lines: {server}").into());
        };
        if tokens != *last && !coming.any(|other| other == tokens) {
            return Err(format!("{what}: {tokens} said from {sure} on, {last} by the newest line").into());
        }
        let source = seen.source(pid);
        assert!(!source.contains("http://"), "HTTP is blocked: {source}");
        held += 1;
    }
    Ok(held)
}

fn slab_alone() -> Result<(), Failed> {
    let seen = looks(&SLAB_ALONE);
    with(|place| {
        let decode = place.units.pid(DECODE);
        let held = hold(SLAB_ALONE.name, &seen, decode, &place.units.steps(DECODE))?;
        assert!(held >= ENOUGH, "the load was long enough to look at: {held} of {}", seen.len());
        for seen in seen.iter().filter(|seen| seen.used(decode).is_some()) {
            let source = seen.source(decode);
            assert!(source.contains("/dev/shm/"), "nothing else can say it: {source}");
        }
        Ok(())
    })
}

/// As an ordinary user, with HTTP open: it says what was kept from it, and its numbers are those of the right server.
fn ordinary_user() -> Result<(), Failed> {
    with(|place| {
        let seen = place.look(&Way { name: "ordinary", hidden: &[Hide::Rights], shared_memory: true });
        assert_eq!(seen.server(place.units.pid(DECODE))["role"], "decode");
        assert!(seen.value["self"]["denied"].as_f64().expect("a count") >= 1.0, "{}", seen.value["self"]);
        Ok(())
    })
}

/// The servers' environment holds secrets, in an environment file and in a drop-in: they are nobody's business.
fn secrets() -> Result<(), Failed> {
    with(|place| {
        let commands: [&[&str]; 6] = [
            &["status"],
            &["status", "--json"],
            &["doctor"],
            &["doctor", "--json"],
            &["explain"],
            &["explain", "--json"],
        ];
        assert_eq!(place.units.canaries(), 2);
        for way in [&EVERYTHING, &LOG_ALONE, &SLAB_ALONE] {
            for arguments in commands {
                // The run itself is searched for canaries.
                assert!(!place.run(way, arguments).stdout.is_empty(), "{arguments:?} says something");
            }
        }
        Ok(())
    })
}

/// 0.5.9 has no load snapshots in shared memory.
fn older() -> Result<(), Failed> {
    with(|place| {
        let pid = place.units.pid(OLDER);
        let looks = watch(place, "30020 -n 16 -p 2200 -o 500 -c 16 --seed 32", &[&EVERYTHING, &LOG_ALONE])?;
        let of =
            |way: &Way| looks.iter().filter(|(name, _)| *name == way.name).map(|(_, seen)| seen).collect::<Vec<_>>();
        let steps = place.units.steps(OLDER);
        let held = hold("0.5.9, everything", &of(&EVERYTHING), pid, &steps)?;
        assert!(held >= 5, "{held}");
        let newest = newest_line("0.5.9, log alone", &of(&LOG_ALONE), pid, &steps)?;
        assert!(newest >= 5, "{newest}");
        Ok(())
    })
}

/// The last one: the snapshot of a killed server stays in `/dev/shm`, and says what was once.
fn killed() -> Result<(), Failed> {
    with(|place| {
        let left = place.units.outside("/dev/shm");
        let before = std::fs::read_dir(&left)?.count();
        // Not the one that it was started as: the advice restarted it.
        let show = ["show", DECODE, "--property=MainPID", "--value"];
        let pid = String::from_utf8(place.units.inside("systemctl").args(show).output()?.stdout)?;
        let status = place.units.inside("kill").args(["-9", pid.trim()]).status()?;
        assert!(status.success());
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(std::fs::read_dir(&left)?.count(), before, "its snapshot is still there");
        let seen = place.look(&SLAB_ALONE);
        for server in seen.value["servers"].as_array().expect("servers") {
            let is_decode = server["role"] == "decode" || server["unit"] == DECODE;
            let used = &server["ranks"][0]["pools"][0]["used"]["value"];
            assert!(!is_decode || used.is_null(), "nobody runs any more: {server}");
        }
        Ok(())
    })
}
