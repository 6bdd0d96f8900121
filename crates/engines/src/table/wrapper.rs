//! `wrappers.toml`: what serves engines' series in their place, and what it makes of names and labels.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The whole of `wrappers.toml`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrapperFile {
    /// The wrappers; of two that labels tell the earlier counts first.
    #[serde(default)]
    pub wrapper: Vec<Wrapper>,
    /// Names of their own that they give to engines' series.
    #[serde(default)]
    pub alias: Vec<Alias>,
}

/// One wrapper.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    /// A short word for it in other rows.
    pub id: String,
    /// Its name for people, as it stands within a sentence.
    pub title: String,
    /// Texts that it puts in front of a name.
    #[serde(default)]
    pub prefix: Vec<String>,
    /// Texts that it puts behind a name.
    #[serde(default)]
    pub suffix: Vec<String>,
    /// Anything that ends in `_` may stand before an engine's prefix that ends in a colon.
    #[serde(default)]
    pub before_colon: bool,
    /// Labels that only it adds.
    #[serde(default)]
    pub told_by: Vec<String>,
    /// Labels that tell the servers on its page apart; the first that a sample has and that is not empty counts.
    #[serde(default)]
    pub server: Vec<String>,
    /// Labels of which each that a sample has tells servers apart, too: addresses repeat in other clusters and namespaces.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Labels of who scraped a server: samples that differ only in these are copies of one.
    #[serde(default)]
    pub copies: Vec<String>,
    /// The label that names the engine.
    #[serde(default)]
    pub engine: Option<EngineLabel>,
    /// All labels that it adds.
    #[serde(default)]
    pub own: Vec<String>,
    /// What it says of servers is its own view of them: the page is not read.
    #[serde(default)]
    pub opinion: bool,
    /// Counters of a server that has gone stay on the page, its gauges do not.
    #[serde(default)]
    pub counters_stay: bool,
    /// Seconds for which it shows what it last saw.
    #[serde(default)]
    pub lingers: Option<u32>,
    /// One sentence beside everything that is read from its page.
    pub note: String,
}

/// The label that names a sample's engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineLabel {
    /// The label.
    pub label: String,
    /// Our name of an engine by the wrapper's.
    pub is: BTreeMap<String, String>,
}

/// A wrapper's own name of a series.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The wrapper.
    pub wrapper: String,
    /// The name on its page. Without a colon it counts only beside a label that tells the wrapper.
    pub name: String,
    /// By engine: the series' name without prefix.
    pub engines: BTreeMap<String, String>,
}

impl Wrapper {
    /// For how long it shows what it last saw, in words; empty where that is not known.
    pub fn lag(&self) -> String {
        let lag = |seconds| format!("{} shows what it last saw for {seconds} s: up to so much older", self.title);
        self.lingers.map(lag).unwrap_or_default()
    }
}

impl WrapperFile {
    /// Every fault, one sentence each; empty when the file is sound.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut ids = BTreeSet::new();
        for wrapper in &self.wrapper {
            let id = &wrapper.id;
            let mut fault = |text: &str| faults.push(format!("wrapper {id:?}: {text}"));
            if !ids.insert(id.as_str()) {
                fault("it stands twice");
            }
            let telling = [&wrapper.told_by, &wrapper.server, &wrapper.beside, &wrapper.copies];
            if telling.into_iter().flatten().any(|label| !wrapper.own.contains(label)) {
                fault("labels that tell it, its servers or their copies are labels that it adds (own)");
            }
            if wrapper.server.iter().chain(&wrapper.beside).any(|label| wrapper.copies.contains(label)) {
                fault("a label tells servers apart, or copies of one, and not both");
            }
            let texts = wrapper.prefix.iter().chain(&wrapper.suffix);
            let aliases = self.alias.iter().filter(|alias| alias.wrapper == *id).map(|alias| &alias.name);
            if texts.chain(aliases.clone()).any(String::is_empty) || wrapper.note.is_empty() {
                fault("a prefix, suffix, alias or note is empty");
            }
            if wrapper.told_by.is_empty() && aliases.clone().any(|name| !name.contains(':')) {
                fault("an alias without a colon needs a label that tells the wrapper");
            }
            let named = !wrapper.prefix.is_empty() || !wrapper.suffix.is_empty() || aliases.count() > 0;
            if !named && wrapper.told_by.is_empty() && !wrapper.before_colon {
                fault("nothing tells it");
            }
        }
        for alias in self.alias.iter().filter(|alias| !ids.contains(alias.wrapper.as_str())) {
            faults.push(format!("alias {:?}: no wrapper is called {:?}", alias.name, alias.wrapper));
        }
        faults
    }
}
