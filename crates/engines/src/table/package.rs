//! `engine.toml`, `[package]`: where an engine's own source defines the series of its page.

use serde::{Deserialize, Serialize};

use super::condition::Condition;

/// The Python package that the engine is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name, as it is imported and as it is installed.
    pub name: String,
    /// Folders below the package's own in which series are defined.
    pub folders: Vec<String>,
    /// One of these stands in every file that defines one.
    pub needles: Vec<String>,
    /// Definitions that are not reached on every server.
    #[serde(default)]
    pub rule: Vec<PackageRule>,
}

/// What it takes for some of the definitions to be reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageRule {
    /// Those in this class.
    #[serde(default)]
    pub class: Option<String>,
    /// Those under a test in which this stands.
    #[serde(default)]
    pub test: Option<String>,
    /// Holds for servers that reach them.
    #[serde(default)]
    pub when: Option<Condition>,
    /// The flag without which they are not reached, as this engine spells it.
    #[serde(default)]
    pub with: Option<String>,
}
