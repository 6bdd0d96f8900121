//! Signs of known troubles: evidence in, sign out. What each means stands in `signs.toml`, with its limits; each detector
//! is one function below. Only fresh readings are evidence: what is stale, missing or impossible says nothing either way.

mod counters;
mod flat;
mod full;
mod hits;
mod idle;
mod queue;
mod series;
mod tier;
mod told;
pub(crate) mod window;

use model::{Server, Sign, Time};

pub use told::is_compared;
use window::Window;

/// What is said about one sign, for people and docs.
#[derive(Debug)]
pub struct Row {
    /// How scripts know it.
    pub id: &'static str,
    /// What it is, when it is there.
    pub means: &'static str,
    /// What must be seen for it.
    pub evidence: &'static str,
    /// What to do, or what would tell more.
    pub next: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/signs.rs"));

/// One thing that a detector saw.
struct Found {
    what: String,
    evidence: Vec<String>,
    /// Where it is not the row's.
    next: Option<String>,
    /// Seconds over which it was watched; none where the newest look alone says it.
    window_s: Option<f64>,
}

impl Found {
    fn new(what: String, evidence: Vec<String>, window_s: Option<f64>) -> Found {
        Found { what, evidence, next: None, window_s }
    }
}

/// A detector, by the sign that it looks for.
type Detector = (&'static str, fn(&Window<'_>) -> Vec<Found>);

/// All detectors; each sees the whole window.
const DETECTORS: &[Detector] = &[
    ("queue-never-drains", queue::never_drains),
    ("full-no-evictions", full::no_evictions),
    ("counter-backwards", counters::backwards),
    ("impossible-values", told::impossible),
    ("flat-zero-while-busy", flat::while_busy),
    ("idle-but-used", idle::but_used),
    ("written-never-read", tier::never_read),
    ("router-against-engine", told::router_differs),
    ("fewer-ranks", told::fewer_ranks),
    ("hit-rate-with-preemptions", hits::with_preemptions),
    ("restarted", counters::restarted),
];

/// What a window of looks at one server shows, worst first. The newest look is the last; one look is a window of one.
pub fn signs(looks: &[(Time, &Server)]) -> Vec<Sign> {
    let Some(window) = Window::of(looks) else { return Vec::new() };
    let of = |row: &'static Row| {
        let (_, detect) = DETECTORS.iter().find(|(id, _)| *id == row.id)?;
        one(row, detect(&window))
    };
    SIGNS.iter().filter_map(of).collect()
}

/// One sign of all that its detector found: the first is told, further ones (of other ranks) are counted.
fn one(row: &'static Row, found: Vec<Found>) -> Option<Sign> {
    let more = found.len().saturating_sub(1);
    let Found { what, mut evidence, next, window_s } = found.into_iter().next()?;
    match more {
        0 => {}
        1 => evidence.push("the same in one more place".to_owned()),
        _ => evidence.push(format!("the same in {more} more places")),
    }
    let next = next.unwrap_or_else(|| row.next.to_owned());
    Some(Sign { id: row.id, what, evidence, next, window_s })
}

#[cfg(test)]
mod tests {
    use super::{DETECTORS, SIGNS};

    #[test]
    fn every_sign_has_its_detector() {
        let detectors: Vec<&str> = DETECTORS.iter().map(|(id, _)| *id).collect();
        assert_eq!(SIGNS.iter().map(|row| row.id).collect::<Vec<_>>(), detectors);
    }
}
