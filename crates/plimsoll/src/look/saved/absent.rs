//! Workers that a saved answer of a router names, and of which no file is: a fleet without its decode servers is not calm.

use std::collections::BTreeMap;

use model::{Note, Role};

use crate::look::NOT_GIVEN;
use crate::look::candidate::Looked;

/// The weight of a role that was said, and is no default.
const SAID: u8 = 1;

/// A note where routers name more workers than files were given of, by role where all files say theirs.
pub(super) fn notes(looked: &[Looked]) -> Vec<Note> {
    let role_of =
        |one: &Looked| one.account.facts.get("role").filter(|fact| fact.weight >= SAID).map(|fact| fact.value.clone());
    let is_router = |one: &&Looked| one.account.fact("role") == Some(Role::Router.name());
    let given: Vec<Option<String>> = looked.iter().filter(|one| !is_router(one)).map(role_of).collect();
    let mut named: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for worker in looked.iter().filter(is_router).flat_map(|router| &router.account.workers) {
        named.entry(&worker.url).or_insert(worker.role.map(Role::name));
    }
    // Where a router's answer alone was given, that no file is of its workers goes without saying.
    if given.is_empty() || named.is_empty() {
        return Vec::new();
    }
    let all_say = !given.contains(&None) && named.values().all(Option::is_some);
    let mut kinds: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    for (worker, role) in named {
        let kind = role.filter(|_| all_say);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, workers)) => workers.push(worker),
            None => kinds.push((kind, vec![worker])),
        }
    }
    let lacking = kinds.into_iter().filter_map(|(role, workers)| {
        let files = given.iter().filter(|one| role.is_none() || one.as_deref() == role).count();
        (files < workers.len()).then(|| Note::new(NOT_GIVEN, told(role, files, &workers)))
    });
    lacking.collect()
}

/// How many of a role there are, and of how many files were given.
fn told(role: Option<&str>, files: usize, workers: &[&str]) -> String {
    let servers = role.map_or("servers".to_owned(), |role| format!("{role} servers"));
    match (files, workers) {
        (0, [one]) => format!("no file is of the {} server that the router names: {one}", role.unwrap_or_default()),
        (0, many) => format!("no file is of any of the {} {servers} that the router names", many.len()),
        (files, many) => format!("files are of {files} of the {} {servers} that the router names", many.len()),
    }
}
