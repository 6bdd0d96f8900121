//! A tree of files by which servers of one kind find each other: each file is one JSON value. Where that is, and which of its
//! files are of which process, is told by rows; nothing else of it is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::condition::Condition;

/// `[tree]` of `sources.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Holds where there is one.
    pub when: Condition,
    /// Where it is: the first of these that is known.
    pub root: Vec<Root>,
    /// The files by which a server says where it listens: one whose port its process holds is its own, and names it.
    pub own: Leaf,
}

/// A folder, by a fact or as it stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// The fact that holds it.
    #[serde(default)]
    pub fact: Option<String>,
    /// The folder itself, where no fact does.
    #[serde(default)]
    pub path: Option<String>,
    /// The folder in it.
    #[serde(default)]
    pub below: Option<String>,
}

/// Files of one folder of the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    /// The folder, from the tree's root.
    pub folder: String,
    /// Fields that have these texts in them.
    #[serde(default)]
    pub is: BTreeMap<String, String>,
    /// The field that holds an address with a port: the file is of the process that listens there.
    #[serde(default)]
    pub address: Option<String>,
    /// The field that names the server: the file is of the one of that name.
    #[serde(default)]
    pub id: Option<String>,
}

/// How events are listened to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hear {
    /// The field that an event must have: in others' events of the same topic it is null.
    pub has: String,
    /// The field that names the server of an event: the same one that its file in the tree names.
    pub id: String,
    /// The fact that says how many ranks speak: when all have, listening ends.
    #[serde(default)]
    pub ranks: Option<String>,
    /// What silence means, behind a colon.
    pub silence: String,
}
