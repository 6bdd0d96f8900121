//! Dynamo, real: the frontend and mockers, in a network namespace of their own. What plimsoll says of a worker is held against
//! what the worker publishes on the event plane and against its KV events; what it says of the router's estimate against the
//! arithmetic of the load.

use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::dynamo::{Dynamo, Said};
use testkit::real::wanted;
use testkit::schema_faults;

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Blocks of each worker's pool.
const BLOCKS: f64 = 256.0;
/// The load: twelve requests at once, prompts of 29 blocks, the first four of which are the same.
const LOAD: &str = "-n 60 -p 464 -o 200 -c 12 --prefix 64";
/// The router's estimate while all twelve run: the shared blocks once, and the rest of each prompt.
const ESTIMATE: f64 = 4.0 + 12.0 * 25.0;

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let tests: [(&str, Test); 9] = [
        ("vllm: found idle, full under load, empty and warm after", vllm),
        ("trtllm: the same under another name", trtllm),
        ("sglang: fullness is not reported, and doctor says what would tell", sglang),
        ("metrics off: doctor names the variable that is missing", metrics_off),
        ("no page, vllm: what it publishes is told, to the block, and silence is no 0", no_page),
        ("no page, sglang: the same, of what its page would not tell", no_page_sglang),
        ("a page, sglang: what it publishes fills in for the page", page_sglang),
        ("no page, two ranks: each has its own", no_page_ranks),
        ("two workers: each has its own view, and its card gives its capacity", two),
    ];
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = tests.into_iter().map(|(name, test)| Trial::test(name, test).with_ignored_flag(!wanted())).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What plimsoll says, run inside, with the times between which it looked.
struct Seen {
    told: Value,
    before: f64,
    after: f64,
}

fn run(dynamo: &Dynamo, arguments: &[&str]) -> Seen {
    let before = now();
    let output = dynamo.inside(PROGRAM).args(arguments).output().expect("it runs");
    let after = now();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(schema_faults(&told), Vec::<String>::new());
    Seen { told, before, after }
}

/// One look at these servers by their ports: no search, so that a look is short beside the load.
fn look(dynamo: &Dynamo, servers: &[&str]) -> Seen {
    let ports: Vec<String> = servers.iter().map(|server| dynamo.port(server).to_string()).collect();
    let ports: Vec<&str> = ports.iter().map(String::as_str).collect();
    run(dynamo, &[&["status", "--json"], ports.as_slice()].concat())
}

/// The servers of an engine, in the order of their addresses.
fn of<'a>(told: &'a Value, engine: &str) -> Vec<&'a Value> {
    let servers = told["servers"].as_array().expect("servers");
    let mut own: Vec<&Value> = servers.iter().filter(|server| server["engine"] == engine).collect();
    own.sort_by_key(|server| server["url"].as_str().unwrap_or_default().to_owned());
    assert!(!own.is_empty(), "no {engine}: {told}");
    own
}

fn watch(dynamo: &Dynamo, servers: &[&str]) -> Result<Vec<Seen>, Failed> {
    while_loaded(dynamo, Duration::from_millis(150), || look(dynamo, servers))
}

/// Looks again and again, with a pause behind each, until the load has run.
fn while_loaded(dynamo: &Dynamo, pause: Duration, look: impl Fn() -> Seen) -> Result<Vec<Seen>, Failed> {
    let mut load: Child = dynamo.load(LOAD);
    let (begun, mut seen) = (Instant::now(), Vec::new());
    while load.try_wait()?.is_none() {
        if begun.elapsed() > Duration::from_mins(3) {
            let _ = load.kill();
            return Err("the load does not end".into());
        }
        seen.push(look());
        std::thread::sleep(pause);
    }
    Ok(seen)
}

/// Least and most of what was published in a span, with what stood when it began.
fn span(said: &[Said], from: f64, to: f64) -> Option<(f64, f64)> {
    let first = said.iter().rposition(|one| one.at <= from)?;
    let near: Vec<f64> = said[first..].iter().take_while(|one| one.at <= to).map(|one| one.blocks).collect();
    Some((near.iter().copied().fold(f64::MAX, f64::min), near.iter().copied().fold(0.0, f64::max)))
}

/// Every look lies within what the worker published between its beginning and its end, to the block, and what is in use is
/// never above what is resident by the KV events and a block more for each running request (one is stored when it is full);
/// enough looks, and at least one above 0.9.
fn hold(dynamo: &Dynamo, worker: &str, index: usize, seen: &[Seen]) -> Result<(), Failed> {
    let (published, resident) = (dynamo.published(worker), dynamo.resident(worker));
    let (mut held, mut fullest) = (0, 0.0_f64);
    for Seen { told, before, after } in seen {
        let rank = &of(told, "dynamo-worker")[index]["ranks"][0];
        let Some(ratio) = rank["pools"][0]["in_use"]["value"].as_f64() else { continue };
        let (Some((least, most)), Some((_, there))) =
            (span(&published, before - 0.2, after + 0.05), span(&resident, before - 0.3, after + 0.1))
        else {
            continue;
        };
        let blocks = (ratio * BLOCKS).round();
        if blocks < least || blocks > most {
            return Err(format!("{blocks} blocks in use, while {least} to {most} were published").into());
        }
        let running = rank["running"]["value"].as_f64().unwrap_or_default();
        if blocks > there + running {
            return Err(format!("{blocks} blocks in use of {there} that are resident").into());
        }
        held += 1;
        fullest = fullest.max(ratio);
    }
    if held < 10 || fullest < 0.9 {
        return Err(format!("{held} looks held, the fullest at {fullest}").into());
    }
    Ok(())
}

/// The most that the router estimates for a worker, over all looks.
fn estimated(seen: &[Seen]) -> f64 {
    let views = seen.iter().filter_map(|seen| of(&seen.told, "dynamo")[0]["router_view"].as_array().cloned());
    let used = views.flatten().filter_map(|view| {
        assert!(view["used"].is_null() || view["used"]["unit"] == "blocks", "{view}");
        view["used"]["value"].as_f64()
    });
    used.fold(0.0, f64::max)
}

fn vllm() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&[]);
    // A search of the whole host finds both by their processes.
    let idle = run(&dynamo, &["status", "--json"]).told;
    let (frontend, worker) = (of(&idle, "dynamo")[0], of(&idle, "dynamo-worker")[0]);
    assert_eq!((frontend["role"].as_str(), frontend["pid"].as_u64()), (Some("router"), Some(dynamo.pid("frontend"))));
    assert_eq!(worker["pid"].as_u64(), Some(dynamo.pid("worker-0")), "{worker}");
    // Before its first request the worker's page has no series of its cache: never a 0.
    assert_eq!(worker["ranks"][0]["pools"][0]["in_use"]["state"], "not_reported", "{worker}");

    let seen = watch(&dynamo, &["frontend", "worker-0"])?;
    hold(&dynamo, "worker-0", 0, &seen)?;
    // No line of its log tells of a request thrown out, while its page counts them: never 0 by the log.
    let said = |seen: &Seen| of(&seen.told, "dynamo-worker")[0]["ranks"][0]["retracted_recent"]["value"].clone();
    assert!(seen.iter().map(said).all(|said| said.is_null()), "told by no line");
    let searched = run(&dynamo, &["status", "--json"]).told;
    let rank = &of(&searched, "dynamo-worker")[0]["ranks"][0];
    assert!(
        rank["retracted_recent"]["value"].is_null() && rank["retracted_total"]["value"].as_f64() > Some(0.0),
        "{rank}"
    );
    // The router's estimate is above the capacity, is told as the router's, and never became the worker's number.
    let most = estimated(&seen);
    if most > ESTIMATE || most <= BLOCKS {
        return Err(format!("the router's estimate was {most}, not up to {ESTIMATE}").into());
    }
    // After: nothing in use, while most of the pool is resident, of which the page says nothing.
    let after = look(&dynamo, &["frontend", "worker-0"]).told;
    let pool = &of(&after, "dynamo-worker")[0]["ranks"][0]["pools"][0];
    assert_eq!(pool["in_use"]["value"], 0.0, "{pool}");
    assert_eq!(pool["occupied"]["state"], "not_reported", "{pool}");
    assert!(dynamo.resident("worker-0").last().expect("events").blocks > 200.0);
    Ok(())
}

fn trtllm() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--flavour", "trtllm"]);
    let in_use = |seen: &Seen| of(&seen.told, "dynamo-worker")[0]["ranks"][0]["pools"][0]["in_use"]["value"].as_f64();
    let mut seen = Vec::new();
    // This flavour lets in only what fits to its end (its one policy, guaranteed_no_evict): how full it gets hangs on which
    // requests meet.
    for _ in 0..5 {
        seen.extend(watch(&dynamo, &["frontend", "worker-0"])?);
        if seen.iter().filter_map(in_use).any(|in_use| in_use >= 0.9) {
            break;
        }
    }
    hold(&dynamo, "worker-0", 0, &seen)
}

fn sglang() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--flavour", "sglang"]);
    for seen in watch(&dynamo, &["frontend", "worker-0"])? {
        let pool = &of(&seen.told, "dynamo-worker")[0]["ranks"][0]["pools"][0];
        // Never 0, never the router's estimate.
        assert_eq!(pool["in_use"]["state"], "not_reported", "{pool}");
    }
    // It was full while its page was silent.
    assert!(dynamo.published("worker-0").iter().any(|said| said.blocks > 200.0));
    let port = dynamo.port("worker-0").to_string();
    let report = run(&dynamo, &["doctor", "--json", &port]).told;
    let text = report.to_string();
    assert!(text.contains("active_decode_blocks") && text.contains("kv_metrics"), "{text}");
    Ok(())
}

fn metrics_off() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--metrics-off"]);
    let report = run(&dynamo, &["doctor", "--json"]).told;
    let text = of(&report, "dynamo-worker")[0].to_string();
    assert!(text.contains("DYN_SYSTEM_PORT"), "{text}");
    let status = run(&dynamo, &["status", "--json"]).told;
    let pool = &of(&status, "dynamo-worker")[0]["ranks"][0]["pools"][0];
    if pool["in_use"]["value"].is_null() { Ok(()) } else { Err(format!("nothing told this: {pool}").into()) }
}

/// Looks at the whole host while a load runs, so that workers are found by their processes.
fn search(dynamo: &Dynamo) -> Result<Vec<Seen>, Failed> {
    while_loaded(dynamo, Duration::from_millis(100), || run(dynamo, &["status", "--json"]))
}

/// Every number is one that the worker's rank published while the look went on, in the very tokens, as another listener got
/// it; enough of them, and at least one above 0.9.
fn heard(dynamo: &Dynamo, rank: usize, seen: &[Seen], enough: usize) -> Result<(), Failed> {
    let published = dynamo.published_of("worker-0", rank as u64);
    let (mut held, mut fullest) = (0, 0.0_f64);
    for Seen { told, before, after } in seen {
        let pool = &of(told, "dynamo-worker")[0]["ranks"][rank]["pools"][0];
        let Some(used) = pool["used"]["value"].as_f64() else {
            assert_eq!(pool["used"]["state"], "not_reported", "{pool}");
            continue;
        };
        assert!(pool["used"]["source"].as_str().is_some_and(|source| source.starts_with("tcp://127.0.0.1:")), "{pool}");
        assert_eq!((pool["used"]["unit"].as_str(), pool["capacity"]["value"].as_f64()), (Some("tokens"), Some(4096.0)));
        // Its clock counts milliseconds.
        let during = published.iter().filter(|said| said.at >= before - 0.001 && said.at <= *after);
        let said: Vec<f64> = during.map(|said| said.blocks).collect();
        if !said.contains(&(used / 16.0)) {
            return Err(format!("rank {rank}: {used} tokens in use, while {said:?} blocks were published").into());
        }
        held += 1;
        fullest = fullest.max(used / 16.0 / BLOCKS);
    }
    if held < enough || fullest < 0.9 {
        return Err(format!("rank {rank}: {held} looks held, the fullest at {fullest}").into());
    }
    Ok(())
}

/// A look at a worker that is idle: not 0, not the last that was published, and why.
fn silent(dynamo: &Dynamo) {
    let seen = run(dynamo, &["status", "--json"]);
    let worker = of(&seen.told, "dynamo-worker")[0].clone();
    assert_eq!(worker["pid"].as_u64(), Some(dynamo.pid("worker-0")), "{worker}");
    let pool = &worker["ranks"][0]["pools"][0];
    for number in ["used", "in_use"] {
        assert_eq!((&pool[number]["state"], pool[number]["value"].is_null()), (&Value::from("not_reported"), true));
        let reason = pool[number]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("kv_metrics") && reason.contains("nothing changed while it was listened to"), "{pool}");
    }
    // Its card in the tree tells the capacity all the same, and that nothing is asked on its other sockets takes no time.
    assert_eq!(pool["capacity"]["value"], 4096.0, "{pool}");
    assert!(seen.told["self"]["took_s"].as_f64() < Some(4.0), "{}", seen.told["self"]);
}

fn no_page() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--metrics-off"]);
    silent(&dynamo);
    heard(&dynamo, 0, &search(&dynamo)?, 5)?;
    // The load is over, and what was said in its last moment as well.
    std::thread::sleep(Duration::from_millis(500));
    silent(&dynamo);
    Ok(())
}

fn no_page_sglang() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--metrics-off", "--flavour", "sglang"]);
    silent(&dynamo);
    heard(&dynamo, 0, &search(&dynamo)?, 5)?;
    // What it said last is that it is nearly full: it publishes at prefills alone, and does not say when it is empty.
    std::thread::sleep(Duration::from_millis(500));
    assert!(dynamo.published("worker-0").last().expect("events").blocks > 200.0);
    silent(&dynamo);
    Ok(())
}

fn page_sglang() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--flavour", "sglang"]);
    heard(&dynamo, 0, &search(&dynamo)?, 5)
}

fn no_page_ranks() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--metrics-off", "--more", "worker=--data-parallel-size 2"]);
    let mut load = dynamo.load("-n 60 -p 464 -o 200 -c 24 --prefix 64");
    let mut seen = Vec::new();
    while load.try_wait()?.is_none() {
        seen.push(run(&dynamo, &["status", "--json"]));
        std::thread::sleep(Duration::from_millis(100));
    }
    // Where one of them said nothing in a second, the other is the only one, and a note says so.
    let (both, one): (Vec<Seen>, Vec<Seen>) = seen
        .into_iter()
        .partition(|seen| of(&seen.told, "dynamo-worker")[0]["ranks"].as_array().is_some_and(|ranks| ranks.len() == 2));
    for seen in &one {
        let worker = of(&seen.told, "dynamo-worker")[0];
        let quiet = worker["ranks"][0]["pools"][0]["used"]["value"].is_null();
        assert!(quiet || worker["notes"].to_string().contains("events-silent"), "{worker}");
    }
    heard(&dynamo, 0, &both, 5)?;
    heard(&dynamo, 1, &both, 5)
}

fn two() -> Result<(), Failed> {
    let dynamo = Dynamo::with(&["--workers", "2"]);
    let seen = watch(&dynamo, &["frontend", "worker-0", "worker-1"])?;
    // Each worker has a view of its own at the router, under the id that it has itself.
    let views = seen.iter().filter_map(|seen| of(&seen.told, "dynamo")[0]["router_view"].as_array().cloned());
    let views: Vec<Value> = views.flatten().collect();
    for worker in ["worker-0", "worker-1"] {
        let id = dynamo.worker_id(worker).to_string();
        let said = |view: &&Value| view["worker"].as_str().is_some_and(|worker| worker.contains(&id));
        let most = views.iter().filter(said).filter_map(|view| view["used"]["value"].as_f64()).fold(0.0, f64::max);
        // Half of the load: the shared blocks, and the rest of six prompts, give or take how they were dealt out.
        if !(4.0 + 25.0..=ESTIMATE).contains(&most) {
            return Err(format!("the router counted {most} blocks of {worker} ({id})").into());
        }
    }
    // The card of a worker, saved, gives its capacity: 256 blocks of 16 tokens.
    let card = dynamo.card("worker-1").display().to_string();
    let told = run(&dynamo, &["status", "--json", &card]).told;
    let pool = &of(&told, "dynamo-worker")[0]["ranks"][0]["pools"][0];
    assert_eq!((pool["capacity"]["value"].as_f64(), &pool["capacity"]["unit"]), (Some(4096.0), &Value::from("tokens")));
    Ok(())
}

fn now() -> f64 {
    jiff::Timestamp::now().as_microsecond() as f64 / 1.0e6
}
