//! Answers of the Prometheus API: what is scraped, and how fresh a series is.

use model::Time;
use serde_json::Value;

/// One target that a scraper fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveTarget {
    /// The whole address that is fetched.
    pub url: String,
    /// Its `instance` label, by which its series are found.
    pub instance: String,
    /// Whether the last fetch succeeded; `None` before the first one.
    pub up: Option<bool>,
    /// What the last fetch failed with.
    pub error: String,
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
            up: match target.get("health").and_then(Value::as_str) {
                Some("up") => Some(true),
                Some("down") => Some(false),
                _ => None,
            },
            error: text(target, "lastError"),
        })
        .collect())
}

/// The query for the newest sample's time of any of these series from one instance.
pub fn freshness_query(series: &[String], instance: &str) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    // One `timestamp` a series: it drops the name, and what is left must not stand twice in one vector.
    let one = |name: &String| format!("timestamp({{__name__=\"{}\",instance=\"{}\"}})", quoted(name), quoted(instance));
    format!("max({})", series.iter().map(one).collect::<Vec<_>>().join(" or "))
}

/// The time in the answer to [`freshness_query`], or none when there is no such series.
pub fn freshness(body: &[u8]) -> Option<Time> {
    let root: Value = serde_json::from_slice(body).ok()?;
    let value = root.pointer("/data/result/0/value/1")?;
    value.as_str().and_then(|text| text.parse().ok()).map(Time)
}
