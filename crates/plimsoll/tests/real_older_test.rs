//! An older real server: SGLang 0.5.9, metrics on. Part of the long suite (`.ci/full`).

use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::lab::Lab;
use testkit::real::wanted;
use testkit::{plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const POOL: f64 = 65536.0;

fn main() -> ExitCode {
    let installed = std::env::var_os("PLIMSOLL_OLDER").is_some();
    let trial =
        Trial::test("0.5.9: idle, under load, and just after", older).with_ignored_flag(!(wanted() && installed));
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn server(pid: u64) -> Value {
    let value = plimsoll(PROGRAM, &["status", "--json"]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    let found = value["servers"].as_array().expect("servers").iter().find(|server| server["pid"] == pid).cloned();
    found.unwrap_or_else(|| panic!("pid {pid} was not found: {value}"))
}

fn older() -> Result<(), Failed> {
    let lab = Lab::with(&["--servers", "unified", "--older"]);
    let pid = lab.pid("unified");
    let idle = server(pid);
    assert_eq!(idle["version"], "0.5.9");
    assert_eq!(idle["role"], "unified");
    let pool = |server: &Value, name: &str| server["ranks"][0]["pools"][0][name].clone();
    assert_eq!(pool(&idle, "capacity")["value"], POOL);
    // 0.5.9 has no series that splits evictable from available.
    assert_eq!(pool(&idle, "evictable")["state"], "not_reported");

    let mut load = lab.load("30010 -n 60 -p 2200 -o 200 -c 16 --seed 21");
    let begun = Instant::now();
    let mut most: f64 = 0.0;
    let mut looks = Vec::new();
    while load.try_wait()?.is_none() {
        assert!(begun.elapsed() < Duration::from_mins(4), "the load does not end");
        let seen = server(pid);
        let used = pool(&seen, "used")["value"].as_f64().expect("used");
        most = most.max(used);
        looks.push(used);
        std::thread::sleep(Duration::from_millis(400));
    }
    // By the log: what the fullest batch line says is what the fullest look may say, within 1 % of the pool.
    let logged = lab.batches("unified").iter().map(|batch| batch.tokens).fold(0.0, f64::max);
    assert!(looks.len() >= 5 && most > 0.2 * POOL, "the load fills the pool: {looks:?}");
    assert!(most <= logged + 0.01 * POOL, "{most} said, {logged} at most by the log");
    // The gauges of this version show the last batch for up to half a minute after a load; /v1/loads knows better.
    std::thread::sleep(Duration::from_secs(2));
    let after = server(pid);
    assert!(pool(&after, "used")["value"].as_f64().expect("used") < 0.01 * POOL, "an idle server: {after}");
    Ok(())
}
