//! Compose files and Kubernetes manifests, told apart by what is in them.

mod compose;
mod kubernetes;
mod scalar;
mod scalars;
mod tree;

pub use scalars::{Scalar, scalars};

use super::{Launches, limits};

/// The commands in a compose file or in Kubernetes manifests, of any number of documents. A document with a fault gives what
/// stands whole before it.
pub fn yaml(text: &str) -> Launches {
    let mut out = Launches::default();
    let text = limits::bounded(text, &mut out.notes);
    for (first, document) in documents(&text) {
        if document.lines().all(|line| line.trim().is_empty() || line.starts_with(['#', '%']) || line.trim() == "---") {
            continue;
        }
        let found = out.found.len();
        one(document, first, &mut out);
        let hint = document.lines().find_map(|line| line.strip_prefix("# Source: ")).map(str::trim);
        let hint = hint.filter(|hint| hint.len() <= limits::PATH);
        for launch in &mut out.found[found..] {
            launch.file_hint = hint.map(str::to_owned);
        }
    }
    out
}

fn one(document: &str, first: u32, out: &mut Launches) {
    let tree = tree::read(document, first);
    if let Some((what, line)) = tree.fault {
        out.note("bad-yaml", format!("line {line} {what}: the rest of the document is not read"));
    }
    let template = |line: &str| {
        line.trim_start_matches([' ', '-'])
            .split_once(": ")
            .map_or(line, |(_, value)| value)
            .trim_start()
            .starts_with("{{")
    };
    if let Some((line, _)) = (first..).zip(document.lines()).find(|(_, line)| template(line)) {
        out.note("template", format!("line {line} is a template, which is to be rendered first"));
    }
    for root in &tree.roots {
        match tree.get(*root, "services").filter(|services| tree.is_map(*services)) {
            Some(services) if tree.get(*root, "kind").is_none() => compose::services(&tree, services, out),
            _ => kubernetes::objects(&tree, *root, None, limits::DEPTH, out),
        }
    }
    if tree.exhausted() {
        out.note("aliases", format!("the document from line {first} on has too many aliases, not all of it is read"));
    }
}

/// The documents of a text, each with the number of its first line.
fn documents(text: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let begins = line.strip_prefix("---").is_some_and(|rest| rest.trim_start() != rest || rest.is_empty());
        if begins && at > start {
            found.push((first, &text[start..at]));
            (start, first) = (at, number);
        }
        at += line.len();
    }
    found.push((first, &text[start..]));
    found
}
