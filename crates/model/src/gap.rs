//! Gaps: what an operator would want to see and this deployment does not tell now.

use serde::Serialize;

/// One thing that is hidden, with its evidence and its remedy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    /// A stable word for scripts, e.g. `kv-series`.
    pub id: String,
    /// The server's address, or null for a gap of the host.
    pub server: Option<String>,
    /// What is missing, one line.
    pub what: String,
    /// What was seen that says so.
    pub evidence: String,
    /// The remedy.
    pub fix: Fix,
    /// What the remedy costs.
    pub price: String,
    /// What answers the question until then.
    pub meanwhile: String,
}

/// A remedy, spelled as the thing to be changed spells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fix {
    /// The flag or line to add; null where this build offers none.
    pub flag: Option<String>,
    /// Where it goes: the command line, the unit, the container's command, the file.
    #[serde(rename = "where")]
    pub place: String,
    /// The series that will then appear.
    pub series: Vec<String>,
}
