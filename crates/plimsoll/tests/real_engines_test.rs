//! More engines, real: llama-server, vLLM's build for CPUs and LMCache's server, each in a network namespace of its own, plimsoll
//! outside of it with nothing given, or inside with an address. Its figures are held against what the engines say elsewhere:
//! vLLM's log and KV events, llama-server's log and slots, LMCache's page against its status.
//!
//! `PLIMSOLL_HEAVY` lists what is installed (`llamacpp,vllm`), since one of them may not be.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::engine::{Engine, Load, Resident};
use testkit::real::wanted;
use testkit::{plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let tests: [(&str, &str, Test); 12] = [
        ("llamacpp", "split: slots add up to the log's releases", split),
        ("llamacpp", "unified: the pool is one n_ctx", unified),
        ("llamacpp", "unified and full: the note of the log says how many were given up", llamacpp_full),
        ("llamacpp", "metrics off: slots tell, doctor names --metrics", llamacpp_metrics_off),
        ("llamacpp", "slots and metrics off: nothing is told, nothing is 0", llamacpp_nothing),
        ("vllm", "idle, full, preempting, and empty with a warm cache", vllm),
        ("vllm", "two data-parallel ranks: each has its own pool, half of what the page's label says", vllm_ranks),
        ("vllm", "histograms before the first eviction are not there yet", vllm_histograms),
        ("vllm", "--disable-log-stats: the capacity of the log, no use, doctor says what to take away", vllm_stats_off),
        ("lmcache", "stored is what both of its answers say, evictions are counted", lmcache),
        ("lmcache", "--disable-observability: status still tells", lmcache_page_off),
        ("lmcache", "a store has no requests and is never in use", lmcache_is_a_store),
    ];
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let heavy = std::env::var("PLIMSOLL_HEAVY").unwrap_or_default();
    let is_there = |engine: &str| {
        let install = if engine == "lmcache" { "vllm" } else { engine };
        wanted() && heavy.split(',').any(|one| one == install)
    };
    let trial = |(engine, name, test): (&str, &str, Test)| {
        Trial::test(format!("{engine}: {name}"), test).with_ignored_flag(!is_there(engine))
    };
    libtest_mimic::run(&arguments, tests.into_iter().map(trial).collect()).exit_code()
}

/// What plimsoll said of our server, with the times between which it looked.
struct Seen {
    server: Value,
    before: f64,
    after: f64,
}

/// One look, from inside, by the port: no search, so that a look is short beside the load.
fn look(engine: &Engine) -> Seen {
    let before = now();
    let output = engine.inside(PROGRAM).args(["status", "--json", &engine.port()]).output().expect("it runs");
    let after = now();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(schema_faults(&told), Vec::<String>::new());
    let servers = told["servers"].as_array().expect("servers");
    assert_eq!(servers.len(), 1, "{told}");
    Seen { server: servers[0].clone(), before, after }
}

/// One look that searches this host.
fn search(engine: &Engine) -> Seen {
    let before = now();
    let server = found("status", engine);
    Seen { server, before, after: now() }
}

/// What `status` or `doctor`, with nothing given, says of our server: a search of this host finds it.
fn found(command: &str, engine: &Engine) -> Value {
    let value = plimsoll(PROGRAM, &[command, "--json"]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    let servers = value["servers"].as_array().expect("servers");
    let ours = servers.iter().find(|server| server["pid"] == engine.pid()).cloned();
    ours.unwrap_or_else(|| panic!("pid {} was not found: {value}", engine.pid()))
}

/// What doctor says of one need.
fn finding<'a>(report: &'a Value, id: &str) -> &'a Value {
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("no finding {id}: {report}"))
}

/// A need that is not met because of a flag, which is to be taken away.
fn takes_away(finding: &Value, flag: &str) {
    assert_eq!(finding["state"], "off", "{finding}");
    assert_eq!(finding["fix"]["flag"], Value::Null, "{finding}");
    let place = finding["fix"]["where"].as_str().expect("a place");
    assert!(place.starts_with(&format!("take {flag} out of ")), "{finding}");
}

fn watch(engine: &Engine, mut load: Load, one: fn(&Engine) -> Seen) -> Result<Vec<Seen>, Failed> {
    let (begun, mut seen) = (Instant::now(), Vec::new());
    while !load.ended() {
        if begun.elapsed() > Duration::from_mins(4) {
            return Err("the load does not end".into());
        }
        seen.push(one(engine));
        std::thread::sleep(Duration::from_millis(150));
    }
    load.wait();
    Ok(seen)
}

fn pool(server: &Value) -> &Value {
    &server["ranks"][0]["pools"][0]
}

fn number(server: &Value, name: &str) -> f64 {
    pool(server)[name]["value"].as_f64().unwrap_or_else(|| panic!("{name}: {}", pool(server)[name]))
}

fn level(server: &Value) -> &str {
    server["verdict"]["level"].as_str().expect("a level")
}

// llama-server -------------------------------------------------------------------------------------------------------------

const CONTEXT: f64 = 4096.0;

/// Some 10 s: it computes 8,000 tokens a second. Four requests at once of 464 and 200 tokens: 2,656 of 4,096 at most.
const LOAD: &str = "-n 400 -p 464 -o 200 -c 4 --prefix 64";
const REQUESTS: f64 = 4.0;
const MOST: f64 = 464.0 + 200.0;

/// Idle slots hold what they last had, and the log says of each how much that was as it was released (measured, split: 4 × 664 by
/// both; in a unified pool: 3 × 664 of 4).
fn released(engine: &Engine) -> Result<(), Failed> {
    let server = found("status", engine);
    let logged: f64 = engine.llamacpp_releases().values().sum();
    let evictable = number(&server, "evictable");
    assert_eq!(number(&server, "used"), 0.0);
    assert!(logged >= MOST, "{logged}");
    if evictable == logged {
        Ok(())
    } else {
        Err(format!("{evictable} evictable, {logged} by the log's releases").into())
    }
}

/// Under load: used and evictable are never more than the pool, and what busy slots hold is never more than their requests can
/// have. Those are what runs where one answer tells both, and what the load asks for at most where the metrics page, read some
/// milliseconds apart, tells the one and /slots the other: the requests of this load end and begin together. At least five busy looks, and one above 0.4. By a search, since an address
/// alone does not tell whether slots share one pool.
fn slots(engine: &Engine) -> Result<(), Failed> {
    let (mut busy, mut fullest) = (0, 0.0_f64);
    for seen in watch(engine, engine.load(LOAD), search)? {
        let server = &seen.server;
        let (used, evictable) = (number(server, "used"), number(server, "evictable"));
        let told = &server["ranks"][0]["running"];
        let running = told["value"].as_f64().expect("running");
        assert_eq!(number(server, "capacity"), CONTEXT);
        let is_page = told["source"].as_str().is_some_and(|source| source.contains("/metrics"));
        let most = if is_page { REQUESTS } else { running };
        // A slot that is still reading its prompt may hold less of it: 0 at least.
        if running > REQUESTS || used > most * (MOST + 1.0) || used + evictable > CONTEXT {
            return Err(format!("{used} used and {evictable} evictable of {CONTEXT}, {running} running").into());
        }
        busy += usize::from(running > 0.0);
        fullest = fullest.max(used / CONTEXT);
    }
    if busy < 5 || fullest < 0.4 {
        return Err(format!("{busy} looks at a busy server, the fullest at {fullest}").into());
    }
    Ok(())
}

fn split() -> Result<(), Failed> {
    let engine = Engine::start("llamacpp", &[]);
    let idle = found("status", &engine);
    assert_eq!(idle["version"], "11434-unknown", "its build_info, without its b");
    assert_eq!(number(&idle, "capacity"), CONTEXT, "four slots of 1,024 each");
    assert_eq!(number(&idle, "in_use"), 0.0);
    slots(&engine)?;
    released(&engine)
}

fn unified() -> Result<(), Failed> {
    let engine = Engine::start("llamacpp", &["--unified"]);
    assert_eq!(number(&found("status", &engine), "capacity"), CONTEXT, "each slot says the whole");
    // By its address alone it may be four pools as well: both are told, and none is chosen.
    let server = look(&engine).server;
    assert_eq!(pool(&server)["capacity"]["state"], "not_reported");
    let notes = server["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note["id"] == "either"), "{server}");
    slots(&engine)?;
    released(&engine)
}

/// A pool that four requests do not fit. The log's lines say how long the program ran, and its start is known: those of the
/// last minute are counted, one for each request that was given up.
fn llamacpp_full() -> Result<(), Failed> {
    let begun = Instant::now();
    let engine = Engine::start("llamacpp", &["--unified", "--context", "2048"]);
    engine.load("-n 16 -p 464 -o 400 -c 4 --prefix 64").wait();
    let server = found("status", &engine);
    let log = engine.log();
    let is_refusal = |line: &&str| line.contains("send_error") && line.contains("Context size has been exceeded");
    let refused = log.lines().filter(is_refusal).count();
    assert!(refused > 1, "it was full: {refused}");
    let (run, recent) = (begun.elapsed().as_secs_f64(), &server["ranks"][0]["retracted_recent"]);
    // A run that is not a minute old says nothing of the minute where nothing happened, and counts what did.
    if run < 60.0 {
        assert_eq!(recent["value"].as_f64(), Some(refused as f64), "{recent}");
    } else {
        assert!(recent["value"].as_f64().is_some_and(|recent| recent <= refused as f64), "{recent}");
    }
    let notes = server["notes"].as_array().expect("notes");
    let of_log = notes.iter().filter(|note| note["id"] == "log-says").filter_map(|note| note["text"].as_str());
    let texts: Vec<&str> = of_log.collect();
    let said = |text: &&str| {
        text.starts_with("requests ended with an error because the pool was full")
            && text.contains(" s ago")
            && text.ends_with(&format!(", and {} more before it", refused - 1))
    };
    if texts.iter().any(said) { Ok(()) } else { Err(format!("{refused} were given up: {texts:?}").into()) }
}

fn llamacpp_metrics_off() -> Result<(), Failed> {
    let engine = Engine::start("llamacpp", &["--no-metrics"]);
    slots(&engine)?;
    released(&engine)?;
    let report = found("doctor", &engine);
    assert_eq!(finding(&report, "queue")["state"], "off");
    assert_eq!(finding(&report, "queue")["fix"]["flag"], "--metrics");
    Ok(())
}

fn llamacpp_nothing() -> Result<(), Failed> {
    let engine = Engine::start("llamacpp", &["--no-metrics", "--no-slots"]);
    engine.load("-n 8 -p 464 -o 200 -c 4").wait();
    let server = found("status", &engine);
    assert_eq!(number(&server, "capacity"), CONTEXT, "of the log and the command line");
    assert_eq!(pool(&server)["used"]["value"], Value::Null);
    if level(&server) == "unknown" { Ok(()) } else { Err(format!("nothing told this: {}", server["verdict"]).into()) }
}

// vLLM ---------------------------------------------------------------------------------------------------------------------

/// Blocks that requests can have (one of 128 is reserved), and tokens of a block.
const BLOCKS: f64 = 127.0;
const BLOCK: f64 = 32.0;
/// What each of two ranks must have been above: one that the load leaves alone is not.
const FULL: f64 = 0.8;

/// What two requests of 464 and 200 tokens give back when they end in the same step: 21 blocks each.
const ENDED: f64 = 2.0 * 21.0 / BLOCKS;

/// What a look says of a rank's pool.
fn in_use(seen: &Seen, rank: usize) -> f64 {
    seen.server["ranks"][rank]["pools"][0]["in_use"]["value"].as_f64().expect("in use")
}

/// Used is never more than what is resident by the events, and one block more for each running request: a block is stored
/// when it is full. Whether there were events near the look to hold it against. Measured: 9 of 9 looks on a machine with a
/// load of 12, worst 0 blocks above; 92 of 92 with two ranks.
fn is_resident(seen: &Seen, rank: usize, resident: &[Resident]) -> Result<bool, Failed> {
    let in_use = in_use(seen, rank);
    let running = seen.server["ranks"][rank]["running"]["value"].as_f64().expect("running");
    let near = resident.iter().filter(|said| said.at >= seen.before - 1.0 && said.at <= seen.after);
    let Some(there) = near.map(|said| said.tokens / BLOCK).reduce(f64::max) else { return Ok(false) };
    let blocks = (in_use * BLOCKS).round();
    if blocks > there + running + 1.0 {
        return Err(format!("rank {rank}: {blocks} blocks in use of {there} resident, {running} running").into());
    }
    Ok(true)
}

/// A line of figures every second, so that there is one near each look.
fn vllm() -> Result<(), Failed> {
    let engine = Engine::start("vllm", &["--log-interval", "1"]);
    let idle = found("status", &engine);
    assert_eq!(idle["version"], "0.32.0");
    assert_eq!(idle["role"], "unified");
    assert_eq!(number(&idle, "capacity"), BLOCKS * BLOCK);
    assert_eq!(number(&idle, "in_use"), 0.0);
    // No source splits what is cached from what is free.
    assert_eq!(pool(&idle)["evictable"]["state"], "not_reported");

    // More than fit, always, and answers of many lengths: requests that begin together would end together otherwise.
    let seen = watch(&engine, engine.load("-n 800 -p 464 -o 200 -c 24 --spread 0.8"), look)?;
    let (resident, logged) = (engine.resident(0), engine.vllm_log());
    let (mut held, mut apart, mut beside_events, mut fullest, mut strained) = (0, 0, 0, 0.0_f64, 0);
    for seen in &seen {
        let in_use = in_use(seen, 0);
        beside_events += usize::from(is_resident(seen, 0, &resident)?);
        fullest = fullest.max(in_use);
        strained += usize::from(level(&seen.server) == "strained");
        // The figure lies between the least and the most of the log's lines of the look's second and the two around it,
        // give or take a tenth: what the requests can take in or give back between two lines is most of the pool, so that this
        // is asked only where those three lines differ by less than that. A look can hit the step in which a request ended,
        // where no line did, but few of them do.
        let near = logged.iter().filter(|said| said.at >= seen.before - 2.0 && said.at <= seen.after + 1.0);
        let near: Vec<f64> = near.map(|said| said.usage).collect();
        let (least, most) = (near.iter().copied().fold(f64::MAX, f64::min), near.iter().copied().fold(0.0, f64::max));
        if near.len() >= 3 && most - least < 0.1 {
            held += 1;
            apart += usize::from(in_use < least - 0.1);
            if in_use < least - ENDED || in_use > most + 0.1 {
                return Err(format!("{in_use} in use, {least} to {most} by the log around it").into());
            }
        }
    }
    assert!(fullest > 0.9, "the load fills the pool: {fullest}");
    assert!(strained >= 3, "{strained} of {} looks were strained", seen.len());
    // While more wait than fit, every place that is given back is taken at once: seconds in a row in which the log differs by
    // less than a tenth are many. Events come with every step.
    assert!(held >= 3, "{held} of {} looks were held against the log", seen.len());
    assert!(apart * 4 <= held, "{apart} of {held} looks are below what the log says around them");
    assert!(beside_events >= 5, "{beside_events} of {} looks were held against the events", seen.len());

    // The log's own peak and ours: of the same load, within some blocks.
    let peak = logged.iter().map(|said| said.usage).fold(0.0, f64::max);
    assert!((peak - fullest).abs() < 0.06, "{fullest} at most, {peak} by the log");
    // After: nothing in use while the cache is warm, by the events; which the answer must not call occupied or empty.
    std::thread::sleep(Duration::from_secs(2));
    let after = found("status", &engine);
    assert_eq!(number(&after, "in_use"), 0.0);
    assert!(resident.last().expect("events").tokens > 0.9 * BLOCKS * BLOCK, "4,000 of 4,064 were measured");
    assert_eq!(pool(&after)["occupied"]["state"], "not_reported");
    // Preemptions: the log has none, the counter some (41 to 50 of this load).
    assert!(after["ranks"][0]["retracted_total"]["value"].as_f64().expect("preemptions") > 0.0);
    Ok(())
}

fn vllm_ranks() -> Result<(), Failed> {
    let engine = Engine::start("vllm", &["--ranks", "2", "--more=--kv-cache-metrics"]);
    let idle = found("status", &engine);
    let ranks = idle["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), 2);
    for rank in ranks {
        // The label num_gpu_blocks says 256, the sum, on the sample of each rank.
        assert_eq!(rank["pools"][0]["capacity"]["value"], BLOCKS * BLOCK);
    }
    let report = found("doctor", &engine);
    assert_eq!(finding(&report, "ranks")["state"], "found");
    let seen = finding(&report, "ranks")["evidence"].as_str().expect("evidence");
    assert!(seen.ends_with("2 data-parallel ranks are seen"), "{seen}");

    // 24 at once for each rank, of which it runs at most 16: what ends makes room for one that already waits there. As many
    // requests as are needed until the looks have seen both ranks full, and are enough to be held against the events.
    let (load, begun, mut seen) = (engine.load("-n 4000 -p 464 -o 200 -c 48"), Instant::now(), Vec::<Seen>::new());
    let fullest = |seen: &[Seen], rank: usize| seen.iter().map(|seen| in_use(seen, rank)).fold(0.0, f64::max);
    while seen.len() < 20 || [0, 1].iter().any(|rank| fullest(&seen, *rank) <= FULL) {
        if begun.elapsed() > Duration::from_mins(4) {
            break;
        }
        seen.push(look(&engine));
        std::thread::sleep(Duration::from_millis(150));
    }
    drop(load);
    for rank in [0, 1] {
        let (resident, mut held) = (engine.resident(rank), 0);
        for seen in &seen {
            held += usize::from(is_resident(seen, rank, &resident)?);
        }
        assert!(held >= 10, "rank {rank}: {held} of {} looks were held against its events", seen.len());
        let fullest = fullest(&seen, rank);
        assert!(fullest > FULL, "both are used: {rank} at {fullest} in {} looks", seen.len());
    }
    Ok(())
}

/// The page has the histograms from the start, and nothing in them before the first eviction.
fn vllm_histograms() -> Result<(), Failed> {
    let engine = Engine::start("vllm", &["--more=--kv-cache-metrics"]);
    let report = found("doctor", &engine);
    let told = finding(&report, "residency");
    if told["state"] == "not_yet" { Ok(()) } else { Err(format!("nothing was evicted yet: {told}").into()) }
}

fn vllm_stats_off() -> Result<(), Failed> {
    let engine = Engine::start("vllm", &["--disable-log-stats"]);
    let mut load = engine.load("-n 60 -p 464 -o 200 -c 12");
    std::thread::sleep(Duration::from_secs(3));
    // While the events say that it fills, the answer is unknown: never 0.
    let server = found("status", &engine);
    load.wait();
    if !engine.resident(0).iter().any(|said| said.tokens > 0.9 * BLOCKS * BLOCK) {
        return Err("it was not full".into());
    }
    assert_eq!(level(&server), "unknown");
    for name in ["used", "in_use", "occupied"] {
        assert_eq!(pool(&server)[name]["value"], Value::Null, "{name}");
    }
    // The start-up line says 4,096, with the block that is reserved; what can be had is 4,064, and the event stream never shows
    // more. The size of a block is on the command line, so that nothing need be left open.
    assert_eq!(number(&server, "capacity"), BLOCKS * BLOCK);
    takes_away(finding(&found("doctor", &engine), "kv-series"), "--disable-log-stats");
    Ok(())
}

// LMCache ------------------------------------------------------------------------------------------------------------------

const TIER: f64 = 67_108_864.0;

/// Its own bench, ended after a while: requests of 16 chunks of 4 MiB, which is all that the tier holds. (On a machine with a
/// load of 12 it takes 40 s to begin, and 20 s for each request.)
fn lmcache() -> Result<(), Failed> {
    let engine = Engine::start("lmcache", &[]);
    let idle = found("status", &engine);
    assert_eq!(idle["role"], "store");
    assert_eq!(idle["version"], "0.5.6");
    assert_eq!(pool(&idle)["tier"], "host");
    assert_eq!(number(&idle, "capacity"), TIER);
    assert_eq!(number(&idle, "stored"), 0.0);
    // Counters come with their first event: missing is not 0.
    assert_eq!(idle["ranks"][0]["evicted_total"]["value"], Value::Null);
    let mut load = engine.load("");
    let (begun, mut changes, mut failed, mut last) = (Instant::now(), 0, 0.0, 0.0);
    while begun.elapsed() < Duration::from_mins(3) && (failed == 0.0 || changes < 2) && !load.ended() {
        // Both of its answers, before and after the look: what the look says is one of the two or lies between them, as the
        // eviction loop turns once a second. Exactly so: to the byte. (199 of 199 looks were.)
        let before = engine.lmcache_stored();
        let seen = look(&engine);
        let after = engine.lmcache_stored();
        let server = &seen.server;
        let stored = number(server, "stored");
        let page = before.page.zip(after.page).map(|(from, to)| ("page", from, to));
        for (what, from, to) in [Some(("status", before.status, after.status)), page].into_iter().flatten() {
            if stored < from.min(to) || stored > from.max(to) {
                return Err(format!("{stored} stored, {from} to {to} by its {what}").into());
            }
        }
        assert_eq!(number(server, "occupied"), stored / TIER);
        changes += usize::from(stored != last);
        last = stored;
        failed = server["ranks"][0]["alloc_failed_total"]["value"].as_f64().unwrap_or(0.0);
    }
    drop(load);
    // Full (1.0), then 0.8125, then 0.6875, where it stays: below the watermark, and with room for nothing of the next request.
    // The first two last a second at most, so that the looks may have missed one of them.
    assert!(changes >= 2, "it filled and was evicted from: {changes}");
    assert!(failed > 0.0, "chunks found no room");
    let seen = look(&engine);
    let rank = &seen.server["ranks"][0];
    let evicted = engine.series("lmcache_mp_l1_evicted_chunks_total");
    assert!(evicted.is_some_and(|evicted| evicted > 0.0), "{evicted:?}");
    assert_eq!(rank["evicted_total"]["value"].as_f64(), evicted);
    assert_eq!(rank["evicted_total"]["unit"], "blocks");
    let failed = engine.series("lmcache_mp_l1_allocation_failure_chunks_total");
    assert_eq!(rank["alloc_failed_total"]["value"].as_f64(), failed);
    // A store that is full is in no trouble, but its verdict says that it refuses.
    let reason = seen.server["verdict"]["reason"].as_str().expect("a reason");
    let said = format!("{:.0} allocations failed since start", failed.expect("failures"));
    assert!(reason.contains(&said), "{reason}");
    Ok(())
}

fn lmcache_page_off() -> Result<(), Failed> {
    let engine = Engine::start("lmcache", &["--disable-observability"]);
    let server = found("status", &engine);
    assert_eq!(number(&server, "capacity"), TIER);
    assert_eq!(number(&server, "stored"), 0.0);
    let load = engine.load("");
    let begun = Instant::now();
    while engine.lmcache_stored().status == 0.0 {
        if begun.elapsed() > Duration::from_mins(2) {
            return Err("nothing was stored".into());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    let seen = look(&engine);
    drop(load);
    assert!(number(&seen.server, "stored") > 0.0, "by /status alone");
    let report = found("doctor", &engine);
    for id in ["store-series", "evictions"] {
        // And never a proxy.
        takes_away(finding(&report, id), "--disable-observability");
    }
    Ok(())
}

fn lmcache_is_a_store() -> Result<(), Failed> {
    let engine = Engine::start("lmcache", &[]);
    let load = engine.load("");
    // By its own /status, before and after the look: the same where nothing was stored or evicted meanwhile. Full it stays for a
    // second at most; then it settles at 0.6875.
    let ratio = || -> f64 {
        let status: Value = serde_json::from_str(&engine.get("/status")).expect("JSON");
        let tier = &status["storage_manager"]["l1_managers"]["_default"];
        tier["memory_usage_ratio"].as_f64().unwrap_or_else(|| panic!("no ratio: {status}"))
    };
    let begun = Instant::now();
    let (server, occupied) = loop {
        let before = ratio();
        let seen = look(&engine);
        if before > 0.0 && before < 0.95 && before == ratio() {
            break (seen.server, before);
        }
        if begun.elapsed() > Duration::from_mins(3) {
            return Err("nothing was stored for the time of a look".into());
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    drop(load);
    assert_eq!(number(&server, "occupied"), occupied, "by its own /status");
    assert_eq!(number(&server, "stored"), occupied * TIER);
    let rank = &server["ranks"][0];
    for (name, told) in [("in_use", pool(&server)), ("used", pool(&server)), ("running", rank), ("waiting", rank)] {
        assert_eq!(told[name]["value"], Value::Null, "{name}: what is stored is not used");
    }
    // Warm, and not at its end: whatever found no room before is in the reason, and no trouble now.
    if level(&server) == "calm" { Ok(()) } else { Err(format!("a store at work: {}", server["verdict"]).into()) }
}

fn now() -> f64 {
    jiff::Timestamp::now().as_microsecond() as f64 / 1.0e6
}
