//! One field of an answer or of a log line: what its number is called there, which signal it is, and how the one becomes
//! the other. There are no expressions: a number is scaled, divided by a neighbour, or corrected for what is known of it.

use std::collections::BTreeMap;

use model::{Signal, Unit};
use serde::{Deserialize, Deserializer, Serialize};

use super::condition::Condition;
use super::version::Version;

/// One field: a series (name without prefix) or a JSON path in the element, and the signal that it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // they are columns of a table
pub struct Read {
    /// The series' name without prefix, or the JSON path.
    pub name: String,
    /// The signal; within one source the first row that has a value gives it.
    pub signal: Signal,
    /// The pool, for signals of a pool.
    #[serde(default)]
    pub pool: Option<String>,
    /// The tier, for signals of a pool.
    #[serde(default)]
    pub tier: Option<String>,
    /// Half of the last digit that the engine prints: the value is right within ± this.
    #[serde(default)]
    pub round: Option<f64>,
    /// What it counts, where that is not the signal's own unit.
    #[serde(default)]
    pub unit: Option<Unit>,
    /// Prometheus: the number is in this label, not the sample's value.
    #[serde(default)]
    pub label: Option<String>,
    /// Prometheus: only samples with these values of labels (one, or any of a list). An empty value fits a label that is not
    /// there as well.
    #[serde(default)]
    pub with: BTreeMap<String, Values>,
    /// JSON, of elements that are gathered: only those in which this is true, or a number other than 0.
    #[serde(default, rename = "where")]
    pub only: Option<String>,
    /// JSON, of elements that are gathered: only those in which it is not.
    #[serde(default)]
    pub unless: Option<String>,
    /// A percentage: the value is a hundredth of what is said. `round` is in the value's own unit.
    #[serde(default)]
    pub percent: bool,
    /// Taken off, before `times`: a block that is counted and never given out.
    #[serde(default)]
    pub less: Option<f64>,
    /// Multiplied by each of these: a label of the sample, a key of the line or a path in the element, else a fact.
    #[serde(default)]
    pub times: Vec<String>,
    /// What a factor of `times` is mostly, where nothing tells it: the number is inferred then, and says so; with `agrees` only
    /// where that number is not known either.
    #[serde(default)]
    pub assumed: BTreeMap<String, f64>,
    /// These series, keys or paths of the same rank are added first; all of them must be there.
    #[serde(default)]
    pub plus: Vec<String>,
    /// Divided by this series, key or path of the same rank; no value while that is 0.
    #[serde(default)]
    pub over: Option<String>,
    /// Prometheus: every rank of the page says the number of all of them together: each has its equal share. With `floor` it is
    /// the number of blocks that is of all of them, and the ratio is each rank's own.
    #[serde(default)]
    pub shared: bool,
    /// No number where this one (named as in `times`) is known and another by more than a twentieth: then it is not what
    /// it seems to be.
    #[serde(default)]
    pub agrees: Option<String>,
    /// A ratio that counts one block of this many (named as in `times`) which is never free: `v` means `(v·N − 1)/(N − 1)`.
    #[serde(default)]
    pub floor: Option<String>,
    /// A ratio of this many blocks (named as in `times`): right within one of them.
    #[serde(default)]
    pub grain: Option<String>,
    /// A ratio of which one block is all that is taken while nothing runs: the number of blocks is its inverse then, and none
    /// of them is in use (`signal = "kv.in_use"`).
    #[serde(default)]
    pub reciprocal: bool,
    /// Several samples of one rank that differ in other labels.
    #[serde(default)]
    pub fold: Fold,
    /// Versions that have it.
    #[serde(default)]
    pub since: Option<Version>,
    /// First version without it.
    #[serde(default)]
    pub until: Option<Version>,
    /// Read only when this holds.
    #[serde(default)]
    pub when: Option<Condition>,
    /// NaN while nothing runs is a share of nothing: not reported, and no number that cannot be.
    #[serde(default)]
    pub nan_idle: bool,
    /// Not written while nothing runs, when this holds: what stands then is of the last batch, and is not read.
    #[serde(default)]
    pub frozen: Option<Condition>,
    /// Not what its name says, when one of these holds; with the reason.
    #[serde(default)]
    pub refuse: Vec<Refuse>,
    /// JSON: the writer leaves it out when it has this value, in elements that say anything at all (`void` is there, or
    /// they are gathered).
    #[serde(default)]
    pub omitted: Option<f64>,
    /// A counter that moves when a request ends, and stands while that one runs.
    #[serde(default)]
    pub at_end: bool,
    /// A counter that the engine puts on the page with its first event: absent does not mean broken.
    #[serde(default)]
    pub lazy: bool,
    /// Prometheus, of a lazy counter of a rank: where it is not on a page that is whole, it is 0.
    #[serde(default)]
    pub zero: Option<Zero>,
    /// A 0 means nothing when one of these holds: the series is declared but never moved there.
    #[serde(default)]
    pub dead: Vec<Condition>,
}

impl Read {
    /// The names of the numbers that it scales by: said beside it, or facts.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.times.iter().chain(&self.floor).chain(&self.grain).chain(&self.agrees)
    }

    /// The names of all numbers that it needs: its own and those that it scales or divides by.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let beside = self.over.iter().chain(&self.plus).chain(self.named());
        std::iter::once(self.name.as_str()).chain(beside.map(String::as_str))
    }
}

/// When a counter that is not on the page is 0, and not only unknown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zero {
    /// Holds for it; among others of a version, since only of builds that are known it is known that they count.
    pub when: Condition,
    /// A series of the same writer that is always there: its ranks are those that counted nothing.
    pub beside: String,
}

/// Values of a label of which one must be there.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Values(Vec<String>);

impl Values {
    /// Whether a sample with this value of the label fits; a label that is not there is empty.
    pub fn fit(&self, value: &str) -> bool {
        self.0.iter().any(|known| known == value)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(String),
            Several(Vec<String>),
        }
        // The embedded tables hold the list; people write one value as such.
        if !deserializer.is_human_readable() {
            return Vec::deserialize(deserializer).map(Values);
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::One(value) => Values(vec![value]),
            Written::Several(values) => Values(values),
        })
    }
}

/// Why a number is not read.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refuse {
    /// Holds for it.
    pub when: Condition,
    /// One sentence.
    pub why: String,
}

/// What to do with several samples of one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// They must agree; a disagreement is a note.
    #[default]
    One,
    /// They add up.
    Sum,
    /// The largest counts.
    Max,
    /// How many there are.
    Count,
}
