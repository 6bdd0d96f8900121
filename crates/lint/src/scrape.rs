//! Answers of the Prometheus API: what is scraped, and how fresh a series is.

use model::Time;
use serde_json::Value;

/// One target that a scraper fetches.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveTarget {
    /// The whole address that is fetched.
    pub url: String,
    /// Its `instance` label, by which its series are found.
    pub instance: String,
    /// Whether the last fetch succeeded; `None` before the first one.
    pub up: Option<bool>,
    /// What the last fetch failed with.
    pub error: String,
    /// Seconds between two fetches, where the scraper says it.
    pub interval: Option<f64>,
}

/// The active targets in an answer of `/api/v1/targets`; an error says what the answer was instead.
pub fn active_targets(body: &[u8]) -> Result<Vec<ActiveTarget>, String> {
    let root: Value = serde_json::from_slice(body).map_err(|error| format!("its answer is not JSON: {error}"))?;
    let list =
        root.pointer("/data/activeTargets").and_then(Value::as_array).ok_or("its answer lists no active targets")?;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(list
        .iter()
        .map(|target| ActiveTarget {
            url: text(target, "scrapeUrl"),
            instance: target.get("labels").map(|labels| text(labels, "instance")).unwrap_or_default(),
            interval: target.get("scrapeInterval").and_then(Value::as_str).and_then(duration),
            up: match target.get("health").and_then(Value::as_str) {
                Some("up") => Some(true),
                Some("down") => Some(false),
                _ => None,
            },
            error: model::text::printable(&text(target, "lastError")),
        })
        .collect())
}

/// Prometheus' own interval where nothing else is set, in seconds.
const INTERVAL_S: f64 = 60.0;

impl ActiveTarget {
    /// A sample that is older than this, in seconds, is no longer fresh: three of the target's own intervals.
    pub fn fresh_for(&self) -> f64 {
        3.0 * self.interval.filter(|interval| *interval > 0.0).unwrap_or(INTERVAL_S)
    }
}

/// A duration as Prometheus spells it (`1m`, `1m30s`, `500ms`), in seconds.
fn duration(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, behind) = rest.split_at(end);
        let end = behind.find(|letter: char| letter.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            "w" => 7.0 * 86400.0,
            "y" => 365.0 * 86400.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = behind;
    }
    (!text.trim().is_empty()).then_some(seconds)
}

/// The query for the newest sample's time of any of these series from one instance.
pub fn freshness_query(series: &[String], instance: &str) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    // One `timestamp` a series: it drops the name, and what is left must not stand twice in one vector.
    let one = |name: &String| format!("timestamp({{__name__=\"{}\",instance=\"{}\"}})", quoted(name), quoted(instance));
    format!("max({})", series.iter().map(one).collect::<Vec<_>>().join(" or "))
}

/// The time in the answer to [`freshness_query`], or none when there is no such series. An error when the answer is not
/// what a query is answered with.
pub fn freshness(body: &[u8]) -> Result<Option<Time>, &'static str> {
    let root: Value = serde_json::from_slice(body).map_err(|_| "the query's answer is no JSON")?;
    let found = root.pointer("/data/result").and_then(Value::as_array).ok_or("the query's answer holds no result")?;
    let Some(first) = found.first() else { return Ok(None) };
    let seconds = first.pointer("/value/1").and_then(Value::as_str).and_then(|text| text.parse::<f64>().ok());
    seconds
        .filter(|seconds| seconds.is_finite())
        .map(|seconds| Some(Time(seconds)))
        .ok_or("the query's answer is no time")
}
