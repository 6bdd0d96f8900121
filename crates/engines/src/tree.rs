//! Which files of a tree are of one process.

use std::path::PathBuf;

use model::Facts;
use serde_json::Value;

use crate::interpret::{json_first, json_text};
use crate::table::condition::Holds;
use crate::table::{Leaf, Source, Table, Tree};

/// A file that tells something of the process, for one source.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// The source.
    pub source: &'a Source,
    /// Which of the files.
    pub file: usize,
    /// The port in it, which the process holds.
    pub port: Option<u16>,
}

/// Where the tree is, by what is known of a process; the error says why that is not known.
///
/// # Errors
/// Where its servers find each other otherwise, or that is not known.
pub fn root(table: &Table, tree: &Tree, flags: &Facts) -> Result<PathBuf, String> {
    let fact = |name: &str| flags.get(name).map(|fact| fact.value.as_str());
    if tree.when.holds(fact) != Holds::Yes {
        let wanted: String = tree.when.clone().into();
        let known = fact(tree.when.fact()).unwrap_or("not known");
        return Err(format!("where {} publishes is found where {wanted}, and here it is {known}", table.engine.title));
    }
    let known = tree.root.iter().find_map(|row| {
        let folder =
            row.fact.as_ref().map_or(row.path.as_deref(), |name| fact(name)).filter(|path| !path.is_empty())?;
        Some(row.below.iter().fold(PathBuf::from(folder), |folder, below| folder.join(below)))
    });
    known.ok_or_else(|| "the folder in which its servers find each other is not known".to_owned())
}

/// The folders of the tree that are looked into.
pub fn folders<'a>(table: &'a Table, tree: &'a Tree) -> Vec<&'a str> {
    let leaves = table.sources.iter().filter_map(|source| source.leaf.as_ref()).chain([&tree.own]);
    let mut folders: Vec<&str> = leaves.map(|leaf| leaf.folder.as_str()).collect();
    folders.sort_unstable();
    folders.dedup();
    folders
}

/// The name of the server of a process that listens on `ports`, where the tree tells it, and the files that are its own; of
/// each file its folder and what it holds.
///
/// # Errors
/// Where the process is several servers, which nothing tells apart.
pub fn claims<'a>(
    table: &'a Table,
    tree: &Tree,
    files: &[(&str, Value)],
    ports: &[u16],
) -> Result<(Option<String>, Vec<Claim<'a>>), String> {
    let held = |leaf: &Leaf, file: &Value| port(leaf, file).filter(|port| ports.contains(port));
    let of = |leaf: &Leaf| {
        let (folder, is) = (leaf.folder.clone(), leaf.is.clone());
        let has = move |file: &Value| {
            is.iter().all(|(path, text)| json_first(file, file, path).and_then(Value::as_str) == Some(text))
        };
        files.iter().enumerate().filter(move |(_, (own, file))| *own == folder && has(file))
    };
    let mut names: Vec<String> = of(&tree.own)
        .filter(|(_, (_, file))| held(&tree.own, file).is_some())
        .filter_map(|(_, (_, file))| id(&tree.own, file))
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > 1 {
        return Err(format!("{} servers are in this process, and nothing tells them apart", names.len()));
    }
    let name = names.pop();
    let mut claims = Vec::new();
    for source in &table.sources {
        let Some(leaf) = &source.leaf else { continue };
        for (at, (_, file)) in of(leaf) {
            let port = held(leaf, file);
            let own = match leaf.address {
                Some(_) => port.is_some(),
                None => name.is_some() && id(leaf, file) == name,
            };
            if own {
                claims.push(Claim { source, file: at, port });
            }
        }
    }
    Ok((name, claims))
}

/// The name of the server of which an event is, by the field that holds it.
pub fn named(event: &Value, path: &str) -> Option<String> {
    json_first(event, event, path).and_then(json_text)
}

fn id(leaf: &Leaf, file: &Value) -> Option<String> {
    named(file, leaf.id.as_deref()?)
}

/// The port of an address such as `tcp://10.0.0.7:41993` or `10.0.0.7:41993/path`.
fn port(leaf: &Leaf, file: &Value) -> Option<u16> {
    let address = json_first(file, file, leaf.address.as_deref()?)?.as_str()?;
    let behind = address.split_once("://").map_or(address, |(_, behind)| behind);
    behind.split('/').next()?.rsplit_once(':')?.1.parse().ok()
}
