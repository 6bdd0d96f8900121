//! Prometheus' own checks of the page, of the queries in the documentation, and of what those answer.

mod alerts;
mod scaling;
mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use export::{Health, page};
use libtest_mimic::{Arguments, Failed, Trial};
use model::{Level, Reading, Signal, Unit};
use scaling::{Row, SITUATIONS, Seen, TRAPS, Trigger, changed, examples, table, word};
use support::{decode, health, pool, rank, said, server, snapshot, stale};
use testkit::real::wanted;

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let tests: [(&str, Test); 5] = [
        ("promtool likes the page", likes_the_page),
        ("queries of docs/metrics.md are queries", queries),
        ("queries of docs/scaling.md answer what its tables say", answers),
        ("alerts fire where they are to, and nowhere else", alerts_fire),
        ("the configuration of docs/serve.md is one", configuration),
    ];
    let trials = tests.into_iter().map(|(name, test)| Trial::test(name, test).with_ignored_flag(!wanted())).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs promtool with this input; it must be content, and silent on what it does not like.
fn promtool(folder: &Path, arguments: &[&str], input: &str) -> Result<String, Failed> {
    let mut child = Command::new("promtool")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().expect("its input").write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(said) } else { Err(format!("promtool {arguments:?}: {said}").into()) }
}

/// Every signal in its own unit; those of tokens also in the other units that engines count in.
fn everything() -> String {
    let units = [Unit::Tokens, Unit::Blocks, Unit::Bytes, Unit::States, Unit::Requests];
    let servers = units.into_iter().map(|unit| {
        let mut one = rank(0, vec![pool("full", unit, 8.0, 4.0, 1.0)]);
        for signal in Signal::all() {
            let row = signal.row();
            let unit = if row.unit == Unit::Tokens { unit } else { row.unit };
            let readings = if row.scope == model::Scope::Pool { &mut one.pools[0].readings } else { &mut one.readings };
            readings.insert(signal, said(0.5, unit).within(Some(0.01)));
        }
        server(&format!("http://{}:1", unit.name()), Level::Calm, vec![one])
    });
    let mut all = snapshot(servers.chain([decode()]).collect());
    all.fleet.in_use_weighted = said(0.5, Unit::Ratio);
    page(&all, &health())
}

fn likes_the_page() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let everything = everything();
    for family in export::schema() {
        for name in std::iter::once(&family.name).chain(&family.others) {
            assert!(everything.contains(&format!("# TYPE {name} {}\n", family.kind)), "{name} is not tried");
        }
    }
    for page in
        [everything, page(&snapshot(vec![decode()]), &health()), page(&snapshot(Vec::new()), &Health::default())]
    {
        let said = promtool(folder.path(), &["check", "metrics"], &page)?;
        assert_eq!(said, "", "promtool has something to say");
    }
    Ok(())
}

fn queries() -> Result<(), Failed> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md"))?;
    let queries: Vec<&str> =
        text.split("```promql\n").skip(1).map(|rest| rest.split("```").next().expect("an end")).collect();
    assert!(queries.len() > 5);
    let mut rules = String::from("groups:\n  - name: documentation\n    rules:\n");
    for (number, query) in queries.iter().enumerate() {
        rules += &format!("      - record: documentation:{number}\n        expr: {query:?}\n");
    }
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("rules.yml"), rules)?;
    promtool(folder.path(), &["check", "rules", "rules.yml"], "")?;
    Ok(())
}

/// The servers of a row as they stand on our page.
fn situation(row: &Row) -> String {
    let mut waiting = row.waiting.unwrap_or(0.0);
    let servers = row.servers.iter().enumerate().map(|(number, seen)| {
        let url = format!("http://decode-{number}:30002");
        let used = if let Seen::InUse(ratio) = seen { *ratio } else { 0.5 };
        let mut one = rank(0, vec![pool("full", Unit::Tokens, scaling::CAPACITY, used * scaling::CAPACITY, 0.0)]);
        one.pools[0].readings.insert(Signal::KV_IN_USE, said(used, Unit::Ratio));
        one.readings.insert(Signal::REQ_WAITING, said(std::mem::take(&mut waiting), Unit::Requests));
        let mut down = None;
        for readings in [&mut one.pools[0].readings, &mut one.readings] {
            for reading in readings.values_mut() {
                match seen {
                    Seen::InUse(_) => {}
                    Seen::Stale => *reading = stale(reading.clone(), 300.0),
                    Seen::Unknown => *reading = Reading::not_reported(reading.unit, "metrics are off"),
                    Seen::Unreachable => {
                        *reading = Reading::unreachable(reading.unit, "refused");
                        down = Some("refused".to_owned());
                    }
                }
            }
        }
        let mut server = server(&url, Level::Calm, vec![one]);
        server.unreachable = down;
        server
    });
    // One that is not meant by the query.
    let other =
        server("http://prefill-0:30001", Level::Calm, vec![rank(0, vec![pool("full", Unit::Tokens, 10.0, 10.0, 0.0)])]);
    page(&snapshot(servers.chain([other]).collect()), &Health::default())
}

/// A test of promtool: what the query answers on the page, cut to thousandths.
fn trial(query: &str, page: &str, answer: Option<f64>) -> String {
    let mut text = String::from("  - interval: 15s\n    input_series:\n");
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').expect("a sample");
        text += &format!("      - series: {series:?}\n        values: '{value}'\n");
    }
    let cut = format!("floor(({query}) * 1000 + 0.000001) / 1000");
    text += &format!("    promql_expr_test:\n      - expr: {cut:?}\n        eval_time: 0s\n        exp_samples:");
    match answer {
        Some(value) => text += &format!("\n          - labels: '{{}}'\n            value: {value}\n"),
        None => text += " []\n",
    }
    text
}

fn answers() -> Result<(), Failed> {
    let text = scaling::text();
    let examples = examples(&text);
    let query = |trigger: usize| word(&examples[0], &format!("spec.triggers.{trigger}.metadata.query"));
    let first = Trigger { query: query(0), per_pod: false, target: 800, blind_is_zero: false };
    let mut tests = String::from("evaluation_interval: 15s\ntests:\n");
    for row in table(&text, SITUATIONS) {
        let page = situation(&row);
        tests += &trial(&query(0), &page, row.answer);
        tests += &trial(&query(1), &page, row.waiting);
    }
    for row in table(&text, TRAPS) {
        tests += &trial(&changed(&first, &row.changed).query, &situation(&row), row.answer);
    }
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("tests.yml"), tests)?;
    promtool(folder.path(), &["test", "rules", "tests.yml"], "")?;
    Ok(())
}

fn alerts_fire() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    promtool(folder.path(), &["check", "rules", alerts::RULES], "")?;
    let rules = format!("-rule={}", alerts::RULES);
    let other = Command::new("vmalert").args(["-dryRun", &rules]).output()?;
    assert!(other.status.success(), "vmalert: {}", String::from_utf8_lossy(&other.stderr));
    std::fs::write(folder.path().join("tests.yml"), alerts::tests())?;
    promtool(folder.path(), &["test", "rules", "tests.yml"], "")?;
    Ok(())
}

/// With its token and its rules in the places that it names.
fn configuration() -> Result<(), Failed> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md"))?;
    let example = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = example.into_iter().find(|block| block.contains("scrape_configs:")).ok_or("no example")?;
    let folder = tempfile::tempdir()?;
    let rules = std::fs::read_to_string(alerts::RULES)?;
    for (name, text) in [("plimsoll.token", "token"), ("page.pem", ""), ("plimsoll.rules.yml", &rules)] {
        assert!(example.contains(&format!("/etc/prometheus/{name}")), "{name} is not named");
        std::fs::write(folder.path().join(name), text)?;
    }
    let here = folder.path().to_str().ok_or("a path")?;
    std::fs::write(folder.path().join("prometheus.yml"), example.replace("/etc/prometheus", here))?;
    promtool(folder.path(), &["check", "config", "prometheus.yml"], "")?;
    Ok(())
}
