//! `doctor` and real monitors: Prometheus, VictoriaMetrics, vmagent and Alertmanager, scraping a recorded page.

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::real::{Real, free_port, wait_for_port, wait_until, wanted};
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let tests: [(&str, Test); 5] = [
        ("Prometheus: not scraped, and the advice mends it", advice_mends_it),
        ("Prometheus: a page that answers 404 is down", down),
        ("VictoriaMetrics scrapes and stores", victoria),
        ("vmagent scrapes", vmagent),
        ("found on this host", found),
    ];
    let trials = tests.into_iter().map(|(name, test)| Trial::test(name, test).with_ignored_flag(!wanted())).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn capture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/sglang/captures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A server with metrics on, as recorded.
fn server() -> Replay {
    Replay::start()
        .with("/server_info", Answer::json(capture("0.5.23-on-load/server_info.json")))
        .with("/v1/loads", Answer::json(capture("0.5.23-on-load/loads.json")))
        .with("/metrics", Answer::page(capture("0.5.23-on-load/metrics.prom")))
}

fn prometheus(folder: &Path, config: &str, port: u16) -> Real {
    let file = folder.join("prometheus.yml");
    std::fs::write(&file, format!("global:\n  scrape_interval: 1s\n{config}")).expect("a file");
    let arguments = [
        format!("--config.file={}", file.display()),
        format!("--storage.tsdb.path={}", folder.join("data").display()),
        format!("--web.listen-address=127.0.0.1:{port}"),
    ];
    let real = Real::start("prometheus", &arguments, &folder.join("prometheus.log"));
    wait_for_port(port);
    real
}

/// What doctor says of the one server and the one monitor.
fn doctor(server: &str, monitor: u16) -> (Value, Value) {
    let monitor = format!("http://127.0.0.1:{monitor}");
    let value = plimsoll(PROGRAM, &["doctor", "--json", server, "--prometheus", &monitor]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    let gap = value["gaps"].as_array().expect("gaps").iter().find(|gap| gap["id"] == "not-scraped").cloned();
    (value["monitors"][0]["servers"][0].clone(), gap.unwrap_or(Value::Null))
}

fn jobs(server: &Replay) -> String {
    format!(
        "scrape_configs:\n  - job_name: llm\n    static_configs:\n      - targets: [\"127.0.0.1:{}\"]\n",
        server.port()
    )
}

fn advice_mends_it() -> Result<(), Failed> {
    let server = server();
    let home = tempfile::tempdir()?;
    let port = free_port();
    let real = prometheus(home.path(), "", port);
    let (scraped, gap) = doctor(&server.url(), port);
    assert_eq!(scraped["state"], "not_scraped");
    let advice = gap["fix"]["flag"].as_str().expect("lines to add").to_owned();
    assert!(gap["fix"]["series"].as_array().expect("series").iter().any(|name| name == "sglang:kv_used_tokens"));
    drop(real);

    let _real = prometheus(home.path(), &advice, port);
    // The interval of the advice is 5 s: the first sample may take that long.
    wait_until("a fresh series", || doctor(&server.url(), port).0["state"] == "fresh");
    assert_eq!(doctor(&server.url(), port).1, Value::Null);
    Ok(())
}

fn down() -> Result<(), Failed> {
    let server = server();
    server.set("/metrics", Answer::json(r#"{"detail":"Not Found"}"#).status(404));
    let home = tempfile::tempdir()?;
    let port = free_port();
    let _real = prometheus(home.path(), &jobs(&server), port);
    wait_until("a failed scrape", || doctor(&server.url(), port).0["state"] == "down");
    let (scraped, gap) = doctor(&server.url(), port);
    assert!(scraped["detail"].as_str().expect("a detail").contains("404"), "{scraped}");
    // The line is there already; what is missing is the server's flag, which is a gap of its own.
    assert_eq!(gap["fix"]["flag"], Value::Null);
    Ok(())
}

fn victoria() -> Result<(), Failed> {
    let server = server();
    let home = tempfile::tempdir()?;
    let config = home.path().join("scrape.yml");
    std::fs::write(&config, format!("global:\n  scrape_interval: 1s\n{}", jobs(&server)))?;
    let port = free_port();
    let arguments = [
        format!("-storageDataPath={}", home.path().join("data").display()),
        format!("-httpListenAddr=127.0.0.1:{port}"),
        format!("-promscrape.config={}", config.display()),
        // Else samples of the last 30 s are not answered.
        "-search.latencyOffset=1s".to_owned(),
    ];
    let _real = Real::start("victoria-metrics", &arguments, &home.path().join("log"));
    wait_for_port(port);
    wait_until("a fresh series", || doctor(&server.url(), port).0["state"] == "fresh");
    Ok(())
}

fn vmagent() -> Result<(), Failed> {
    let server = server();
    let home = tempfile::tempdir()?;
    let config = home.path().join("scrape.yml");
    std::fs::write(&config, format!("global:\n  scrape_interval: 1s\n{}", jobs(&server)))?;
    let port = free_port();
    let arguments = [
        format!("-httpListenAddr=127.0.0.1:{port}"),
        format!("-promscrape.config={}", config.display()),
        "-remoteWrite.url=http://127.0.0.1:1/".to_owned(),
        format!("-remoteWrite.tmpDataPath={}", home.path().join("queue").display()),
    ];
    let real = Real::start("vmagent", &arguments, &home.path().join("log"));
    wait_for_port(port);
    wait_until("vmagent among the monitors", || {
        let value = plimsoll(PROGRAM, &["doctor", "--json"]).json();
        value["monitors"].as_array().expect("monitors").iter().any(|monitor| {
            monitor["name"] == "vmagent" && monitor["pid"] == real.pid() && monitor["unreachable"].is_null()
        })
    });
    Ok(())
}

fn found() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    let port = free_port();
    let prometheus = prometheus(home.path(), "", port);
    let alerts = free_port();
    let config = home.path().join("alerts.yml");
    std::fs::write(&config, "route: {receiver: none}\nreceivers: [{name: none}]\n")?;
    let arguments = [
        format!("--config.file={}", config.display()),
        format!("--storage.path={}", home.path().join("alerts").display()),
        format!("--web.listen-address=127.0.0.1:{alerts}"),
        "--cluster.listen-address=".to_owned(),
    ];
    let alertmanager = Real::start("prometheus-alertmanager", &arguments, &home.path().join("alerts.log"));
    wait_for_port(alerts);
    let value = plimsoll(PROGRAM, &["doctor", "--json"]).json();
    for (name, real, port) in [("prometheus", &prometheus, port), ("alertmanager", &alertmanager, alerts)] {
        let monitors = value["monitors"].as_array().expect("monitors");
        let monitor = monitors.iter().find(|monitor| monitor["pid"] == real.pid()).expect("found by its process");
        assert_eq!(monitor["name"], name);
        assert_eq!(monitor["url"], format!("http://127.0.0.1:{port}"));
        assert_eq!(monitor["unreachable"], Value::Null, "{name}");
    }
    Ok(())
}
