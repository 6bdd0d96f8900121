//! `cases.toml`: windows of looks, and which signs they show.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::file::Given;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cases {
    /// Windows that are made for it.
    pub(crate) case: Vec<Case>,
    /// Captures on which a sign is right.
    #[serde(default)]
    pub(crate) right: Vec<Right>,
    /// Signs that are right on captures once each is looked at several times.
    pub(crate) window: Vec<Window>,
}

/// A window and what it shows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The detector that it is about.
    pub(crate) of: String,
    /// What it is, in few words.
    pub(crate) name: String,
    /// The public thread that it is from, or why it is here.
    pub(crate) from: String,
    /// The capture that its looks start from.
    pub(crate) base: String,
    /// All signs that are said of it; none where all stay silent.
    #[serde(default)]
    pub(crate) signs: Vec<String>,
    /// A part of what the sign says.
    #[serde(default)]
    pub(crate) what: String,
    /// Parts of its evidence.
    #[serde(default)]
    pub(crate) evidence: Vec<String>,
    /// What is changed in every look.
    #[serde(default)]
    pub(crate) all: Row,
    /// The looks, oldest first.
    pub(crate) look: Vec<Row>,
    /// A router that speaks of the server.
    #[serde(default)]
    pub(crate) router: Option<Router>,
}

/// One look, as changes of a recorded one.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// Seconds after the first.
    #[serde(default)]
    pub(crate) at: f64,
    /// Another capture than the case's.
    #[serde(default)]
    pub(crate) base: Option<String>,
    /// Nothing answers.
    #[serde(default)]
    pub(crate) down: bool,
    /// Seconds for which nothing was said any more.
    #[serde(default)]
    pub(crate) late: f64,
    /// Its process, where visible.
    #[serde(default)]
    pub(crate) pid: Option<u32>,
    /// Values of series on pages, and of keys in JSON, by their names.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, toml::Value>,
    /// Lines that are added to `/metrics`.
    #[serde(default)]
    pub(crate) add: Vec<String>,
    /// Lines that hold this are taken out of `/metrics`.
    #[serde(default)]
    pub(crate) cut: Vec<String>,
    /// Paths that answer 404.
    #[serde(default)]
    pub(crate) gone: Vec<String>,
    /// Signals of the rank, or of its full pool, that no table reads yet.
    #[serde(default)]
    pub(crate) say: BTreeMap<String, f64>,
}

/// A router's capture.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Router {
    /// Which.
    pub(crate) base: String,
    /// How it spells the worker's address, at its end.
    pub(crate) worker: String,
    /// Texts that are replaced in its answers.
    #[serde(default)]
    pub(crate) replace: Vec<(String, String)>,
}

/// A capture on which a sign is right.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Right {
    /// The capture, or the window that is called after its first one.
    pub(crate) capture: String,
    /// Only when the reader knows so much.
    #[serde(default)]
    pub(crate) given: Option<Given>,
    /// The signs.
    pub(crate) signs: Vec<String>,
    /// Why they are right.
    pub(crate) why: String,
}

/// What windows show that are made of captures, beyond what one look at each shows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Window {
    /// The captures.
    pub(crate) captures: Vec<String>,
    /// Which windows: those in which everything stands still, those in which work goes on.
    pub(crate) ways: Vec<Way>,
    /// Only when the reader knows so much.
    #[serde(default)]
    pub(crate) given: Option<Given>,
    /// The signs.
    pub(crate) signs: Vec<String>,
    /// Why they are right.
    pub(crate) why: String,
}

/// How a window is made of one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// The same numbers at every look.
    Still,
    /// Counters go on, and gauges move.
    AtWork,
}

/// Reads the file.
pub(crate) fn cases() -> Cases {
    toml::from_str(include_str!("cases.toml")).unwrap_or_else(|error| panic!("cases.toml: {error}"))
}
