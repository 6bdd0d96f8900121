//! Signs: known troubles that the numbers of one server show, each with its evidence. A sign changes no verdict.

use serde::Serialize;

/// One trouble that was recognised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sign {
    /// A stable word for scripts, e.g. `queue-never-drains`; `docs/signs.md` has them all.
    pub id: &'static str,
    /// What is the matter, one sentence for people.
    pub what: String,
    /// The numbers that say so, each with its source; never empty.
    pub evidence: Vec<String>,
    /// What to do, or what would tell more.
    pub next: String,
    /// Seconds over which the numbers were watched; null where one look was enough.
    pub window_s: Option<f64>,
}
