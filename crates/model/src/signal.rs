//! The vocabulary: what can be read, in which unit, under which name. Rows come from `signals.toml`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One row of the vocabulary, by its place in `signals.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u8);

/// What a signal's number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Tokens of cache (or of text, for throughput counters).
    Tokens,
    /// A share between 0 and 1; never summed.
    Ratio,
    /// States of a state-space model, about one a request; some engines call them tokens.
    States,
    /// Blocks of the engine's own size, where nothing tells how many tokens that is.
    Blocks,
    /// Bytes.
    Bytes,
    /// Requests.
    Requests,
    /// Tokens a second.
    TokensPerSecond,
    /// 10⁹ or 2³⁰ bytes, as the engine counts them.
    Gigabytes,
    /// Seconds.
    Seconds,
}

/// How a signal moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, until its process restarts.
    Counter,
}

/// What a signal belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One of the numbers of a pool.
    Pool,
    /// A number of a rank.
    Rank,
}

/// Everything that is said about a signal; see `signals.toml` for the meaning of each field.
#[derive(Debug)]
pub struct Row {
    /// How tables and code name it, e.g. `kv.used`.
    pub id: &'static str,
    /// Its key in JSON.
    pub json: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Gauge or counter.
    pub kind: Kind,
    /// Pool or rank.
    pub scope: Scope,
    /// In the JSON of every pool or rank, also when nothing reports it.
    pub always: bool,
    /// Column title.
    pub title: &'static str,
    /// One sentence.
    pub help: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/signals.rs"));

impl Signal {
    /// The signal with this id or JSON name, if `signals.toml` has it.
    pub fn from_name(name: &str) -> Option<Signal> {
        ROWS.iter().position(|row| row.id == name || row.json == name).map(|index| Signal(index as u8))
    }

    /// All signals in the order of `signals.toml`.
    pub fn all() -> impl Iterator<Item = Signal> {
        (0..ROWS.len()).map(|index| Signal(index as u8))
    }

    /// Its place in `signals.toml`, from 0: for tables with a place for each signal.
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// The signal's row.
    pub fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }

    /// What it counts.
    pub fn unit(self) -> Unit {
        self.row().unit
    }
}

impl Unit {
    /// The unit as JSON and texts spell it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Tokens => "tokens",
            Unit::Ratio => "ratio",
            Unit::States => "states",
            Unit::Blocks => "blocks",
            Unit::Bytes => "bytes",
            Unit::Requests => "requests",
            Unit::TokensPerSecond => "tokens_per_second",
            Unit::Gigabytes => "gigabytes",
            Unit::Seconds => "seconds",
        }
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.row().json)
    }
}

/// Tables name a signal by its id, JSON by its JSON name; both are read.
impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Signal::from_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("no signal is called {name:?} in signals.toml")))
    }
}
