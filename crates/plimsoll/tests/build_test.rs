//! The installed source behind a server: a stand-in that runs from an environment of its own, in which a package lies that
//! defines series in the ways that the published ones do. What must be told follows from the lines written here.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;
use testkit::real::free_port;
use testkit::standin::{self, Standin};
use testkit::{plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const SITE: &str = "lib/python3.11/site-packages";
const SECRET: &str = testkit::canary::CANARY;

const COLLECTOR: &str = r#"
class SchedulerCollector:
    def __init__(self, labels):
        from prometheus_client import Counter as _Counter, Gauge as _Gauge
        Gauge = self._gauge_cls or _Gauge
        self.kv_used_tokens = Gauge(name="sglang:kv_used_tokens", documentation="-")
        self.kv_evictable_tokens = Gauge(name="sglang:kv_evictable_tokens", documentation="-")
        self.kv_available_tokens = Gauge(name="sglang:kv_available_tokens", documentation="-")
        self.full_token_usage = Gauge(name="sglang:full_token_usage", documentation="-")
        self.max_total_num_tokens = Gauge(name="sglang:max_total_num_tokens", documentation="-")
        self.retracted = _Counter(name="sglang:num_retracted_requests_total", documentation="-")
        self.evicted = _Counter(name="sglang:evicted_tokens_total", documentation="-")
"#;

fn main() -> ExitCode {
    standin::run(&[
        ("a series that is renamed in the installed copy is told by its new name", renamed),
        ("a series that the installed copy has not is not offered", missing),
        ("what the version does not say, a build may have all the same", ported_back),
        ("status reads no source", status_does_not),
    ])
}

/// A server that runs `collector`, said to be of `version`.
fn start(version: &str, collector: &str) -> (Standin, tempfile::TempDir) {
    let home = tempfile::tempdir().expect("a folder");
    standin::links(home.path(), &["bin/python"]);
    let write = |path: &str, text: &str| {
        let path = home.path().join(SITE).join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("sglang/srt/observability/collector.py", collector);
    write(&format!("sglang-{version}.dist-info/METADATA"), &format!("Name: sglang\nVersion: {version}\n"));
    write(&format!("sglang-{version}.dist-info/RECORD"), "");
    let port = free_port().to_string();
    let argv = ["bin/python", "-m", "sglang.launch_server", "--port", &port, "--api-key", SECRET];
    (Standin::start(home.path(), &argv.map(str::to_owned), None, &port), home)
}

/// Doctor's part about the stand-in, once it is found.
fn examined(standin: &Standin) -> Result<Value, Failed> {
    let begun = Instant::now();
    loop {
        let value = plimsoll(PROGRAM, &["doctor", "--json"]).json();
        assert_eq!(schema_faults(&value), Vec::<String>::new());
        assert!(!value.to_string().contains(SECRET));
        let pids = standin.pids();
        let servers = value["servers"].as_array().cloned().unwrap_or_default();
        let ours = servers.into_iter().find(|server| pids.iter().any(|pid| server["pid"] == *pid));
        match ours.filter(|server| server["unreachable"].is_null()) {
            Some(server) => return Ok(server),
            None if begun.elapsed() > Duration::from_secs(10) => return Err(format!("not found: {value:#}").into()),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn finding<'a>(server: &'a Value, id: &str) -> &'a Value {
    let findings = server["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("no {id} in {server:#}"))
}

fn series(finding: &Value) -> Vec<&str> {
    finding["fix"]["series"].as_array().expect("series").iter().filter_map(Value::as_str).collect()
}

fn renamed() -> Result<(), Failed> {
    let (standin, home) = start("0.5.23", COLLECTOR);
    let before = examined(&standin)?;
    let usual = series(finding(&before, "kv-split"));
    assert_eq!(usual, ["sglang:kv_used_tokens", "sglang:kv_evictable_tokens", "sglang:kv_available_tokens"]);
    assert_eq!(before["version"], "0.5.23", "no answer said it");
    assert_eq!(
        before["build"]["missing"]
            .as_array()
            .expect("names")
            .iter()
            .filter(|name| *name == "sglang:kv_used_tokens")
            .count(),
        0
    );
    let file = home.path().join(SITE).join("sglang/srt/observability/collector.py");
    std::fs::write(&file, COLLECTOR.replace("\"sglang:kv_used_tokens\"", "\"sglang:tokens_in_use\""))?;
    let after = examined(&standin)?;
    let split = finding(&after, "kv-split");
    assert_eq!(series(split), ["sglang:tokens_in_use", "sglang:kv_evictable_tokens", "sglang:kv_available_tokens"]);
    let evidence = split["evidence"].as_str().expect("evidence");
    // The sixth line of the file, which begins with an empty one.
    assert!(
        evidence.contains("the installed source (sglang 0.5.23, release, patched), srt/observability/collector.py:6"),
        "{evidence}"
    );
    assert!(evidence.contains("sglang:kv_used_tokens is called sglang:tokens_in_use there"), "{evidence}");
    assert_eq!(after["build"]["renamed"][0]["new"], "sglang:tokens_in_use");
    let text = plimsoll(PROGRAM, &["doctor"]).text;
    assert!(text.contains("sglang:tokens_in_use"), "{text}");
    Ok(())
}

fn missing() -> Result<(), Failed> {
    let without: String =
        COLLECTOR.lines().filter(|line| !line.contains("retracted")).map(|line| format!("{line}\n")).collect();
    let (standin, _home) = start("0.5.23", &without);
    let server = examined(&standin)?;
    let finding = finding(&server, "retractions");
    assert_eq!(finding["state"], "not_offered", "{finding:#}");
    assert!(finding["evidence"].as_str().expect("evidence").contains("defines no such series"), "{finding:#}");
    assert!(finding["fix"]["flag"].is_null() && series(finding).is_empty(), "{finding:#}");
    Ok(())
}

fn ported_back() -> Result<(), Failed> {
    let (standin, _home) = start("0.5.9", COLLECTOR);
    let server = examined(&standin)?;
    let finding = finding(&server, "kv-split");
    assert_eq!(
        (&finding["state"], &finding["fix"]["flag"]),
        (&"off".into(), &"--enable-metrics".into()),
        "{finding:#}"
    );
    assert!(series(finding).contains(&"sglang:kv_used_tokens"));
    Ok(())
}

fn status_does_not() -> Result<(), Failed> {
    let (standin, home) = start("0.5.23", COLLECTOR);
    examined(&standin)?;
    // A source that no one can read without saying so.
    let file = home.path().join(SITE).join("sglang/srt/observability/collector.py");
    std::fs::remove_file(&file)?;
    std::os::unix::fs::symlink(Path::new("collector.py"), &file)?;
    let told = |command: &str| plimsoll(PROGRAM, &[command, "--json"]).text.contains("named like sources");
    assert!(told("doctor") && !told("status"));
    Ok(())
}
