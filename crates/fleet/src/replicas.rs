//! Servers that do the same held against each other: replicas of one role should be of one version and one setting.

use std::collections::BTreeMap;

use model::{Facts, Note, Role};

/// One server to be compared.
pub struct Replica<'a> {
    /// Its address.
    pub url: &'a str,
    /// Its engine; servers of none are not compared.
    pub engine: Option<&'a str>,
    /// What it does.
    pub role: Role,
    /// The model that it serves.
    pub model: Option<&'a str>,
    /// Its version.
    pub version: Option<&'a str>,
    /// What is known of its flags.
    pub facts: &'a Facts,
}

/// A fact said less surely than this is a default that nobody chose.
const SAID: u8 = 1;

/// Notes for each replica, in their order. `settings` are the facts of flags that all replicas of one role should have in
/// common, for an engine.
pub fn drift<'s>(replicas: &[Replica<'_>], settings: impl Fn(&str) -> Vec<&'s str>) -> Vec<Vec<Note>> {
    let mut groups: BTreeMap<(&str, Role, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (index, replica) in replicas.iter().enumerate() {
        if let Some(engine) = replica.engine.filter(|_| replica.role != Role::Router) {
            groups.entry((engine, replica.role, replica.model)).or_default().push(index);
        }
    }
    let mut notes = vec![Vec::new(); replicas.len()];
    for ((engine, ..), members) in groups.into_iter().filter(|(_, members)| members.len() > 1) {
        let version = |index: usize| replicas[index].version;
        compare(replicas, &members, "version", version, &mut notes);
        for setting in settings(engine) {
            let value = |index: usize| {
                let fact = replicas[index].facts.get(setting).filter(|fact| fact.weight >= SAID)?;
                Some(fact.value.as_str())
            };
            compare(replicas, &members, setting, value, &mut notes);
        }
    }
    notes
}

/// Notes where members differ in what is known of all of them.
fn compare<'a>(
    replicas: &[Replica<'a>],
    members: &[usize],
    what: &str,
    value: impl Fn(usize) -> Option<&'a str>,
    notes: &mut [Vec<Note>],
) {
    let Some(values) = members.iter().map(|index| value(*index)).collect::<Option<Vec<&str>>>() else { return };
    if values.iter().all(|value| *value == values[0]) {
        return;
    }
    for (place, own) in members.iter().zip(&values) {
        let others = members.iter().zip(&values).filter(|(_, value)| *value != own);
        let others: Vec<String> =
            others.take(3).map(|(index, value)| format!("{value} at {}", replicas[*index].url)).collect();
        let id = if what == "version" { "replica-version" } else { "replica-setting" };
        let text = format!("replicas differ in {what}: {own} here, {}", others.join(", "));
        notes[*place].push(Note::new(id, text));
    }
}
