//! `doctor.toml`: what an operator needs to see, and how each need is met or missed.

use model::Signal;
use serde::{Deserialize, Serialize};

use super::condition::Condition;

/// The whole of `doctor.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorFile {
    /// The rows, in the order in which they are shown.
    #[serde(default)]
    pub need: Vec<Need>,
    /// What is trouble by itself; of equally bad ones the earlier is named.
    #[serde(default)]
    pub trouble: Vec<Trouble>,
}

/// What a server says of itself that is trouble whatever the numbers are: a note, and its verdict is no better than this.
/// Where its numbers are not known now, it is but the reason why.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// Holds for it.
    pub when: Condition,
    /// How bad it is.
    pub level: TroubleLevel,
    /// What it is and what follows, one clause.
    pub why: String,
}

/// How bad a trouble is, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleLevel {
    /// Only why nothing is known.
    Unknown,
    /// Fills up.
    Tight,
    /// Nearly at its end.
    Strained,
    /// Nothing moves.
    Stuck,
}

/// One thing that an operator needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// A stable word.
    pub id: String,
    /// The need, one line.
    pub what: String,
    /// It is about servers for which this holds.
    #[serde(default)]
    pub applies: Option<Condition>,
    /// The source that should tell it.
    pub source: String,
    /// Signals of which that source has rows; with none, an answer alone tells it.
    #[serde(default)]
    pub signals: Vec<Signal>,
    /// The need is the cache's fullness on a page that a scraper can keep: signals of which one series suffices to tell it.
    #[serde(default)]
    pub fullness: Vec<Signal>,
    /// The fact that tells it, for needs without signals: an answer that leaves it open tells nothing.
    #[serde(default)]
    pub fact: Option<String>,
    /// Facts whose product is the number of data-parallel ranks that must be seen; with none, ranks are not counted.
    #[serde(default)]
    pub ranks: Vec<String>,
    /// Nice to have: reported, but not counted as a gap.
    #[serde(default)]
    pub optional: bool,
    /// Ways of missing it that facts tell; the first whose `when` holds counts, before the source is looked at.
    #[serde(default)]
    pub case: Vec<Case>,
    /// What mends it where no case applies and it is off or broken.
    #[serde(default)]
    pub mend: Option<String>,
    /// What answers the question meanwhile, if nothing better is known.
    #[serde(default)]
    pub meanwhile: String,
}

/// One way of missing a need.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Holds for this case; absent: always.
    #[serde(default)]
    pub when: Option<Condition>,
    /// What it is then.
    pub state: CaseState,
    /// Why, one sentence.
    #[serde(default)]
    pub why: String,
    /// The flag that mends it, as this engine spells it.
    #[serde(default)]
    pub flag: Option<String>,
    /// The flag that hides it, and is to be taken away.
    #[serde(default)]
    pub remove: Option<String>,
    /// What else mends it, for people: a key of a file, a variable of the environment.
    #[serde(default)]
    pub mend: Option<String>,
}

/// How a need stands, when its source does not simply tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// A flag is missing.
    Off,
    /// It should be there and is not.
    Broken,
    /// This version has nothing for it.
    NotOffered,
    /// Declared, but never moved in this role.
    Dead,
    /// There is nothing to see: not a gap.
    NotNeeded,
    /// Its source tells how it stands: no later case counts.
    Look,
}
