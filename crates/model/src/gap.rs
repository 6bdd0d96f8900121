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

/// How one need of an operator stands on one server: what `doctor` shows. Those that are a gap become a [`Gap`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// A stable word, the gap's id if it is one.
    pub id: String,
    /// The need, one line.
    pub what: String,
    /// How it stands.
    pub state: FindingState,
    /// Nice to have: never a gap.
    pub optional: bool,
    /// What was seen that says so.
    pub evidence: String,
    /// The remedy; none where nothing is to be mended.
    pub fix: Option<Fix>,
    /// What the remedy costs; empty without one.
    pub price: String,
    /// What answers the question until then; empty where it is answered.
    pub meanwhile: String,
}

/// How a need stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// It is there.
    Found,
    /// It will be there with the first event that it counts.
    NotYet,
    /// A flag is missing.
    Off,
    /// It should be there and is not.
    Broken,
    /// This version has nothing for it.
    NotOffered,
    /// Declared, but never moved in this role.
    Dead,
    /// There is nothing to see.
    NotNeeded,
    /// Where it would be is not known from here.
    NotAsked,
}

impl FindingState {
    /// The state in words.
    pub fn name(self) -> &'static str {
        match self {
            FindingState::Found => "found",
            FindingState::NotYet => "not yet",
            FindingState::Off => "off",
            FindingState::Broken => "broken",
            FindingState::NotOffered => "not offered",
            FindingState::Dead => "dead on this role",
            FindingState::NotNeeded => "not needed",
            FindingState::NotAsked => "not asked",
        }
    }

    /// Whether an operator misses something.
    pub fn is_gap(self) -> bool {
        matches!(self, FindingState::Off | FindingState::Broken | FindingState::NotOffered | FindingState::Dead)
    }
}

impl Finding {
    /// The gap that this finding is, for the server at `server`.
    pub fn gap(&self, server: &str) -> Option<Gap> {
        if self.optional || !self.state.is_gap() {
            return None;
        }
        let nothing = || Fix { flag: None, place: "nowhere: no flag shows it".to_owned(), series: Vec::new() };
        Some(Gap {
            id: self.id.clone(),
            server: Some(server.to_owned()),
            what: format!("{}: {}", self.what, self.state.name()),
            evidence: self.evidence.clone(),
            fix: self.fix.clone().unwrap_or_else(nothing),
            price: self.price.clone(),
            meanwhile: self.meanwhile.clone(),
        })
    }
}
