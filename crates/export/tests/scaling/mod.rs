//! `docs/scaling.md` read: its examples, its tables, and the autoscaler's arithmetic.
#![allow(dead_code)] // each test uses a part

use saphyr::{LoadableYamlNode, Scalar, Yaml};

/// The mean of in use, where half of the servers are known.
pub(crate) const GUARDED: &str = r#"avg(plimsoll_server_in_use_ratio{server=~"http://decode-.*"}) and on() (count(plimsoll_server_in_use_ratio{server=~"http://decode-.*"}) >= 0.5 * count(plimsoll_up{server=~"http://decode-.*"}))"#;
/// Requests that wait.
pub(crate) const WAITING: &str = r#"sum(plimsoll_server_waiting_requests{server=~"http://decode-.*"})"#;
/// Tokens of each server in the tables.
pub(crate) const CAPACITY: f64 = 1_000_000.0;

pub(crate) fn text() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scaling.md");
    std::fs::read_to_string(path).expect("docs/scaling.md")
}

/// The YAML of the page's examples, in their order.
pub(crate) fn examples(text: &str) -> Vec<Yaml<'_>> {
    let blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().expect("an end"));
    blocks.flat_map(|block| Yaml::load_from_str(block).expect("YAML")).collect()
}

/// What stands below these keys; a number is the place in a list.
pub(crate) fn at<'y>(mut node: &'y Yaml<'y>, path: &str) -> &'y Yaml<'y> {
    for key in path.split('.') {
        node = match node {
            Yaml::Mapping(mapping) => {
                let found = mapping.iter().find(|(name, _)| name.as_str() == Some(key));
                found.unwrap_or_else(|| panic!("no {key} of {path}")).1
            }
            Yaml::Sequence(items) => &items[key.parse::<usize>().expect("a place")],
            _ => panic!("nothing below {key} of {path}"),
        };
    }
    node
}

/// The scalar there, as text with single spaces.
pub(crate) fn word(node: &Yaml<'_>, path: &str) -> String {
    match at(node, path) {
        Yaml::Value(Scalar::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Yaml::Value(Scalar::Integer(number)) => number.to_string(),
        Yaml::Value(Scalar::FloatingPoint(number)) => number.to_string(),
        other => panic!("{path} is no scalar: {other:?}"),
    }
}

/// One trigger or metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trigger {
    pub(crate) query: String,
    pub(crate) per_pod: bool,
    /// In thousandths.
    pub(crate) target: i64,
    /// No answer is taken for 0.
    pub(crate) blind_is_zero: bool,
}

/// What was seen of one server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Seen {
    InUse(f64),
    Stale,
    Unknown,
    Unreachable,
}

/// A row of a table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) changed: String,
    pub(crate) servers: Vec<Seen>,
    pub(crate) waiting: Option<f64>,
    pub(crate) ready: f64,
    pub(crate) answer: Option<f64>,
    pub(crate) pods: i64,
}

/// The rows of the table with these columns.
pub(crate) fn table(text: &str, head: &str) -> Vec<Row> {
    let columns: Vec<&str> = cells(head);
    let lines = text.lines().skip_while(|line| *line != head).skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Row> = lines
        .map(|line| {
            let cells = cells(line);
            let cell = |name: &str| columns.iter().position(|column| *column == name).map(|place| cells[place]);
            let number = |name: &str| cell(name).and_then(|cell| cell.parse().ok());
            Row {
                changed: cell("changed").unwrap_or_default().to_owned(),
                servers: cell("in use").expect("in use").split(' ').map(seen).collect(),
                waiting: number("waiting"),
                ready: number("ready").expect("ready pods"),
                answer: number("answer"),
                pods: number("pods").expect("pods") as i64,
            }
        })
        .collect();
    assert!(rows.len() > 5, "no table below {head}");
    rows
}

pub(crate) const SITUATIONS: &str = "| in use | waiting | ready | answer | pods |";
pub(crate) const TRAPS: &str = "| changed | in use | ready | answer | pods | what happens |";

fn cells(line: &str) -> Vec<&str> {
    // A `|` inside of a query would be a column's end; none of ours has one.
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn seen(word: &str) -> Seen {
    match word {
        "stale" => Seen::Stale,
        "unknown" => Seen::Unknown,
        "unreachable" => Seen::Unreachable,
        ratio => Seen::InUse(ratio.parse().unwrap_or_else(|_| panic!("{ratio} is no ratio"))),
    }
}

/// `trigger` with the settings that a row changes.
pub(crate) fn changed(trigger: &Trigger, settings: &str) -> Trigger {
    let mut trigger = trigger.clone();
    for setting in settings.split('`').skip(1).step_by(2) {
        let (key, value) = setting.split_once(": ").expect("a setting");
        match key {
            "metricType" => trigger.per_pod = value == "AverageValue",
            "threshold" => trigger.target = thousandths(value.parse().expect("a number")),
            "ignoreNullValues" => trigger.blind_is_zero = value == "true",
            "query" => value.clone_into(&mut trigger.query),
            other => panic!("{other} is no setting"),
        }
    }
    trigger
}

/// KEDA and the adapter cut numbers to thousandths.
pub(crate) fn thousandths(value: f64) -> i64 {
    // What is a thousandth but for the last bit of its double is not cut to the one below.
    (value * 1000.0 + 1e-6) as i64
}

/// The controller's arithmetic: `pkg/controller/podautoscaler/replica_calculator.go` of Kubernetes, where
/// `GetExternalMetricReplicas` is `Value` and `GetExternalPerPodMetricReplicas` is `AverageValue`.
pub(crate) fn wanted(trigger: &Trigger, answer: Option<f64>, pods: f64, ready: f64) -> Option<i64> {
    let answer = match answer {
        Some(answer) => thousandths(answer) as f64,
        None if trigger.blind_is_zero => 0.0,
        None => return None,
    };
    let target = trigger.target as f64;
    let ratio = if trigger.per_pod { answer / (target * pods) } else { answer / target };
    if (ratio - 1.0).abs() <= 0.1 {
        return Some(pods as i64);
    }
    Some(if trigger.per_pod { (answer / target).ceil() } else { (ratio * ready).ceil() } as i64)
}
