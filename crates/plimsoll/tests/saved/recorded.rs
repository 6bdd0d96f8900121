//! What each capture of the repository holds, given as files: the answers and the log of one server are one server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::text_of;

/// Captures whose files are not one server, and why that is right. Of every other it is a fault.
const APART: &str = include_str!("apart.toml");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Apart {
    /// By `engine/capture`: the engines of the servers that its files are, and why.
    apart: BTreeMap<String, (Vec<String>, String)>,
}

/// A capture: its engine, and the files that somebody would have saved of it.
struct Capture {
    engine: String,
    name: String,
    files: Vec<PathBuf>,
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(listed) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn captures() -> Vec<Capture> {
    let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").canonicalize().expect("the engines");
    let last = |path: &Path| path.file_name().expect("a name").to_str().expect("text").to_owned();
    let mut captures = Vec::new();
    for engine in entries(&engines) {
        for folder in entries(&engine.join("captures")) {
            let file = folder.join("capture.toml");
            let told: toml::Table = toml::from_str(&text_of(file.to_str().expect("a path"))).expect("TOML");
            let rows = |kind: &str| told.get(kind).and_then(toml::Value::as_array).into_iter().flatten();
            // What no page is (a card of a tree, an event) nobody saves from one.
            let pages = rows("answer").filter(|row| row["get"].as_str().is_some_and(|get| get.starts_with('/')));
            let files: BTreeSet<PathBuf> = pages
                .chain(rows("log"))
                .filter_map(|row| row.get("file").and_then(toml::Value::as_str))
                .map(|file| folder.join(file))
                .collect();
            let (engine, name) = (last(&engine), last(&folder));
            captures.push(Capture { name: format!("{engine}/{name}"), engine, files: files.into_iter().collect() });
        }
    }
    captures.retain(|capture| !capture.files.is_empty());
    assert!(captures.len() > 200, "{} captures", captures.len());
    captures
}

/// The engines of the servers that files are; none where they are refused.
fn servers(files: &[&str]) -> Vec<String> {
    let said = testkit::plimsoll(super::PROGRAM, &[&["status", "--json"], files].concat());
    if said.code == 2 {
        return Vec::new();
    }
    let value = said.json();
    let servers = value["servers"].as_array().expect("servers").iter();
    // Workers of which a router's answer tells are called by their addresses.
    let of_files = servers.filter(|server| server["url"].as_str().expect("a url").starts_with('/'));
    let mut engines: Vec<String> =
        of_files.map(|server| server["engine"].as_str().unwrap_or_default().to_owned()).collect();
    engines.sort();
    engines
}

/// In the order of the folder, and the other way round; what is apart says why.
#[test]
fn the_files_of_each_capture_are_one_server() {
    let known: Apart = toml::from_str(APART).expect("apart.toml");
    let (mut failures, mut met) = (Vec::new(), BTreeSet::new());
    for capture in captures() {
        let mut files: Vec<&str> = capture.files.iter().map(|file| file.to_str().expect("a path")).collect();
        let forth = servers(&files);
        files.reverse();
        let back = if files.len() > 1 { servers(&files) } else { forth.clone() };
        let apart = known.apart.get_key_value(&capture.name);
        met.extend(apart.map(|(name, _)| name.clone()));
        let wanted = apart.map_or_else(|| vec![capture.engine.clone()], |(_, (engines, _))| engines.clone());
        if forth != wanted || back != wanted {
            failures.push(format!("{}: {forth:?}, the other way round {back:?}", capture.name));
        }
    }
    for (name, (_, why)) in &known.apart {
        if !met.contains(name) || why.len() < 20 {
            failures.push(format!("{name}: no such capture, or no reason"));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n  {}", failures.len(), failures.join("\n  "));
}
