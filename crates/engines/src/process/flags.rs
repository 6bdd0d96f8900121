//! Flags of a command line and of a configuration file, as facts.

use std::collections::BTreeMap;

use model::Facts;

use crate::table::condition::Holds;
use crate::table::{Knob, Table};

/// Reads the knobs of `table` from arguments. Both `--flag value` and `--flag=value` count; a later spelling wins.
/// Absent flags give their default, because a whole command line is known.
pub fn from_arguments(table: &Table, arguments: &[String], source: &str) -> Facts {
    let mut facts = Facts::new();
    for knob in &table.knobs {
        let mut values: Vec<String> = Vec::new();
        let mut spelled = None;
        for (index, argument) in arguments.iter().enumerate() {
            let (flag, inline) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
                _ => (argument.as_str(), None),
            };
            let Some(flag) = knob.flags.iter().find(|known| *known == flag) else { continue };
            spelled = Some(flag);
            if knob.switch {
                values = vec!["on".to_owned()];
                continue;
            }
            if !knob.many {
                values.clear();
            }
            values.extend(inline.map(str::to_owned));
            let rest = arguments[index + 1..].iter().take_while(|next| !next.starts_with("--"));
            let wanted = if inline.is_some() {
                0
            } else if knob.many {
                usize::MAX
            } else {
                1
            };
            values.extend(rest.take(wanted).cloned());
        }
        if let Some(flag) = spelled {
            learn(&mut facts, knob, &values.join(" "), &format!("{source} {flag}"), 1);
        } else if knob.switch && !knob.flags.is_empty() {
            learn(&mut facts, knob, "off", &format!("{source} without {}", knob.flags[0]), 0);
        } else if let (Some(default), Some(flag)) = (&knob.default, knob.flags.first()) {
            learn(&mut facts, knob, default, &format!("{source} without {flag}"), 0);
        }
    }
    forget_forced(table, &mut facts);
    facts
}

/// Forgets what the absence of a flag does not tell, because the engine sets it by itself.
fn forget_forced(table: &Table, facts: &mut Facts) {
    for knob in &table.knobs {
        let holds = |when: &crate::table::condition::Condition| {
            when.holds(|name| facts.get(name).map(|fact| fact.value.as_str())) == Holds::Yes
        };
        if knob.forced.as_ref().is_some_and(holds) && facts.get(&knob.fact).is_some_and(|fact| fact.weight == 0) {
            facts.remove(&knob.fact);
        }
    }
}

/// Forgets what the absence of flags says: they may stand where it could not be read.
pub fn forget_defaults(facts: &mut Facts) {
    facts.retain(|_, fact| fact.weight > 0);
}

/// Adds what a configuration file says, below what the command line says: engines read it so.
pub fn from_config(table: &Table, facts: &mut Facts, settings: &[(String, String)], file: &str) {
    for knob in &table.knobs {
        let named = |key: &str| {
            knob.flags.iter().any(|flag| flag.trim_start_matches('-').replace('_', "-") == key.replace('_', "-"))
        };
        let Some((key, value)) = settings.iter().rev().find(|(key, _)| named(key)) else { continue };
        let value = match (knob.switch, value.as_str()) {
            (true, "true") => "on",
            (true, "false") => "off",
            (_, value) => value,
        };
        if facts.get(&knob.fact).is_none_or(|known| known.weight < 1) {
            facts.remove(&knob.fact);
            learn(facts, knob, value, &format!("{file} {key}"), 1);
        }
    }
    forget_forced(table, facts);
}

/// The variables that set a flag of this table; no other one is ever looked at.
pub fn variables(table: &Table) -> impl Iterator<Item = &str> {
    table.knobs.iter().flat_map(|knob| &knob.env).map(String::as_str)
}

/// Adds what the environment says, below what the command line and its file say: engines read it so. `set` are the
/// variables that are set; where there is `None` the environment could not be read, and nothing is known of the flags
/// that it may set.
pub fn from_environment(table: &Table, facts: &mut Facts, set: Option<&BTreeMap<String, String>>, source: &str) {
    for knob in table.knobs.iter().filter(|knob| !knob.env.is_empty()) {
        if facts.get(&knob.fact).is_some_and(|known| known.weight > 0) {
            continue;
        }
        let Some(set) = set else {
            facts.remove(&knob.fact);
            continue;
        };
        let first = knob.env.iter().find_map(|name| Some((name, set.get(name)?)));
        let Some((name, value)) = first else {
            if let (true, Some(default), Some(name)) = (knob.flags.is_empty(), &knob.default, knob.env.first()) {
                learn(facts, knob, default, &format!("{source} without {name}"), 0);
            }
            continue;
        };
        let value = match (knob.switch, value.to_ascii_lowercase().as_str()) {
            (true, "1" | "true" | "on" | "yes") => "on".to_owned(),
            (true, "" | "0" | "false" | "off" | "no") => "off".to_owned(),
            _ => value.clone(),
        };
        facts.remove(&knob.fact);
        learn(facts, knob, &value, &format!("{source} {name}"), 1);
    }
    forget_forced(table, facts);
}

fn learn(facts: &mut Facts, knob: &Knob, spelled: &str, source: &str, weight: u8) {
    if let Some(value) = knob.value(spelled) {
        let value = model::text::printable(&value);
        facts.insert(knob.fact.clone(), model::Fact { value, source: model::text::printable(source), weight });
    }
}
