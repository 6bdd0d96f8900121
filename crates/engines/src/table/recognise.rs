//! `engine.toml`: how an engine is recognised from a process or from an answer.

use std::collections::BTreeMap;

use model::Facts;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Holds};
use super::package::Package;

/// The whole of `engine.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineFile {
    /// The folder's name; the engine's name everywhere.
    pub name: String,
    /// The name as its makers write it.
    pub title: String,
    /// Whether it has a cache or sends requests to those that have.
    pub kind: EngineKind,
    /// The role when nothing says otherwise.
    pub role: String,
    /// What may stand before the series names of `sources.toml`.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// Processes that are this engine.
    #[serde(default)]
    pub process: Vec<ProcessRule>,
    /// Container images that start it, without registry and tag, when they are given arguments alone.
    #[serde(default)]
    pub image: Vec<String>,
    /// Ports that it opens.
    #[serde(default)]
    pub port: Vec<PortRule>,
    /// Answers that only this engine gives.
    #[serde(default)]
    pub answer: Vec<AnswerRule>,
    /// What a restart costs, said by `doctor` as the price of a flag.
    #[serde(default)]
    pub restart: String,
    /// Facts that only mark which page it is, for other rows, and mean nothing to people.
    #[serde(default)]
    pub marks: Vec<String>,
    /// Lines of programs that it starts and that write into its log, as other engines' tables know them.
    #[serde(default)]
    pub borrows: Vec<Borrow>,
    /// Its own source, where that can be read.
    #[serde(default)]
    pub package: Option<Package>,
}

/// Lines that stand in its log and are of another engine. They give what they count and their note, and no number: of which of
/// several such programs they are nothing says. Nor do they tell whose log it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Borrow {
    /// The engine, by its folder's name.
    pub engine: String,
    /// Ids of its lines.
    pub lines: Vec<String>,
}

/// What kind of program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// Has a cache.
    Engine,
    /// Holds caches for engines.
    Store,
    /// Sends requests to engines.
    Router,
}

/// A process is this engine when its command line, with wrappers taken off, fits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessRule {
    /// Run as `python -m MODULE`.
    #[serde(default)]
    pub module: Option<String>,
    /// Run as this command (last part of its path), or as a script whose path ends so.
    #[serde(default)]
    pub command: Option<String>,
    /// The process gave itself this title, and its arguments are lost: ports come from its sockets.
    #[serde(default)]
    pub title: Option<String>,
    /// The first argument that is no flag must be this.
    #[serde(default)]
    pub verb: Option<String>,
}

/// A port that the engine opens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortRule {
    /// What is served there; sources name it in `on`.
    pub serves: String,
    /// The fact that holds the number.
    pub fact: String,
    /// The fact that holds the address it binds to.
    #[serde(default)]
    pub host: Option<String>,
    /// The fact that, when it is known, means that HTTPS is spoken there.
    #[serde(default)]
    pub tls: Option<String>,
    /// The value of that fact that says that there is no such port: then nothing of the process is asked over HTTP.
    #[serde(default)]
    pub none: Option<String>,
    /// The number when no flag says one.
    #[serde(default)]
    pub default: Option<u16>,
    /// The fact of another rule's port: `default` is so many ports after that one.
    #[serde(default)]
    pub after: Option<String>,
    /// Opened only where this is so by the flags. Of the rules that serve one thing the first that holds is it.
    #[serde(default)]
    pub when: Option<Condition>,
}

impl EngineFile {
    /// The ports that a server with these `flags` opens, with their numbers; one that is said and cannot be read is none.
    pub fn ports(&self, flags: &Facts) -> Vec<(&PortRule, u16)> {
        let holds = |rule: &&PortRule| {
            let fact = |name: &str| flags.get(name).map(|fact| fact.value.as_str());
            rule.when.as_ref().is_none_or(|when| when.holds(fact) == Holds::Yes)
        };
        let mut served: Vec<&PortRule> = Vec::new();
        for rule in self.port.iter().filter(holds) {
            if !served.iter().any(|known| known.serves == rule.serves) {
                served.push(rule);
            }
        }
        served.into_iter().filter_map(|rule| Some((rule, self.number(rule, flags)?))).collect()
    }

    fn number(&self, rule: &PortRule, flags: &Facts) -> Option<u16> {
        match (flags.get(&rule.fact), &rule.after) {
            // Said and unreadable it is not the default one: another server may be there.
            (Some(fact), _) => fact.value.parse().ok().filter(|port| *port > 0),
            (None, None) => rule.default,
            (None, Some(other)) => {
                let other = self.port.iter().find(|rule| rule.fact == *other && rule.after.is_none())?;
                self.number(other, flags)?.checked_add(rule.default?)
            }
        }
    }
}

/// An answer is this engine's when it fits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerRule {
    /// The path to ask.
    pub get: String,
    /// Paths of lower numbers are asked first, across all engines.
    pub order: u16,
    /// JSON paths that must all be there; neither these nor `is`: the answer must be Prometheus text with one of the engine's prefixes.
    #[serde(default)]
    pub has: Vec<String>,
    /// JSON paths whose first value must be this text.
    #[serde(default)]
    pub is: BTreeMap<String, String>,
    /// Asked only where this path was answered 200 before: who has it comes to no harm.
    #[serde(default)]
    pub after: Option<String>,
    /// Series names, without prefix, of which one must be there; for engines that share a prefix.
    #[serde(default)]
    pub series: Vec<String>,
    /// What kind of port this answer shows it to be (`PortRule::serves`).
    #[serde(default = "api")]
    pub serves: String,
}

impl AnswerRule {
    /// Whether the answer must be Prometheus text.
    pub fn is_page(&self) -> bool {
        self.has.is_empty() && self.is.is_empty()
    }
}

fn api() -> String {
    "api".to_owned()
}
