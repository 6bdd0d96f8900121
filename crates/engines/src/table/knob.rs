//! `knobs.toml`: flags that decide capacity, visibility, role or address.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The whole of `knobs.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnobFile {
    /// The rows.
    #[serde(default)]
    pub knob: Vec<Knob>,
}

/// One flag and the fact that it sets.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // they are columns of a table
pub struct Knob {
    /// Every spelling on the command line; in a configuration file the same without dashes in front, with `-` or `_`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Variables of the environment that set it where no flag does.
    #[serde(default)]
    pub env: Vec<String>,
    /// Its key at the top level of the server-info answer.
    #[serde(default)]
    pub info: Option<String>,
    /// The fact's name in conditions.
    pub fact: String,
    /// True: takes no value; there is `on`, absent `off`.
    #[serde(default)]
    pub switch: bool,
    /// Each server has its own, also among replicas: never compared.
    #[serde(default)]
    pub own: bool,
    /// May stand several times or with several values; values are joined by a space.
    #[serde(default)]
    pub many: bool,
    /// Turns the spelled value into the fact's value, e.g. `null` into `unified`.
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    /// The value may hold a secret (an address with credentials, for instance): that it is set is all that is kept.
    #[serde(default)]
    pub secret: bool,
    /// The value when the command line is known and the flag is absent.
    #[serde(default)]
    pub default: Option<String>,
    /// When this holds the engine may set it by itself: the flag's absence then tells nothing.
    #[serde(default)]
    pub forced: Option<super::condition::Condition>,
    /// First version that has it.
    #[serde(default)]
    pub since: Option<super::version::Version>,
    /// What else it does, one sentence, for the docs.
    #[serde(default)]
    pub note: String,
}

impl Knob {
    /// The fact's value for a spelled value; `None` when the spelling means "not set".
    pub fn value(&self, spelled: &str) -> Option<String> {
        match self.map.get(spelled) {
            Some(mapped) => Some(mapped.clone()),
            None if spelled == "null" || spelled.is_empty() => self.default.clone(),
            None if self.default.as_deref() == Some(spelled) => self.default.clone(),
            None if self.secret => Some("set".to_owned()),
            None => Some(model::without_secrets(spelled)),
        }
    }
}
