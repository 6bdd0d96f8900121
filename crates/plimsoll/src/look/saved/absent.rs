//! Workers that a saved answer of a router names, and of which no file is: a fleet without its decode servers is not calm.

use std::collections::BTreeMap;

use model::{Note, Role};

use crate::look::NOT_GIVEN;
use crate::look::candidate::Looked;

/// A note for each role of which routers name workers and no file is.
pub(super) fn notes(looked: &[Looked]) -> Vec<Note> {
    let role_of = |one: &Looked| one.account.fact("role").map(str::to_owned);
    let is_router = |one: &&Looked| one.account.fact("role") == Some(Role::Router.name());
    let given: Vec<Option<String>> = looked.iter().filter(|one| !is_router(one)).map(role_of).collect();
    let mut absent: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // A server that does not say its role may be any of them.
    for router in looked.iter().filter(is_router).filter(|_| !given.contains(&None)) {
        for worker in &router.account.workers {
            let role = worker.role.map(Role::name).filter(|role| !given.iter().flatten().any(|one| one == role));
            absent.entry(role.unwrap_or_default()).or_default().push(&worker.url);
        }
    }
    absent.remove("");
    let note = |(role, workers): (&str, Vec<&str>)| {
        let text = format!("no file is of a {role} server, and the router names {}", workers.join(", "));
        Note::new(NOT_GIVEN, text)
    };
    // Where a router's answer alone was given, that no file is of its workers goes without saying.
    if given.is_empty() { Vec::new() } else { absent.into_iter().map(note).collect() }
}
