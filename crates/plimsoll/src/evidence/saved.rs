//! A file that somebody names: a log, or what was saved of a server in another way.

use engines::{Tables, Telling};
use sense::Ends;
use wire::launch::{Looks, looks_like};

use super::rule::{Removed, Rule};
use super::{body, log, script, unit, yaml};

/// What stands for the value of a variable.
const VALUE: &str = "[value]";
/// Where a command gives a container its variables.
const GIVEN: [&str; 4] = ["--env=", "--env ", "-e ", "-e="];

/// Both ends of a file that was named: what it holds tells what of it is kept.
pub(super) fn file(tables: &Tables, telling: &Telling, ends: Ends, removed: &mut Removed) -> Ends {
    if ends.tail_from != ends.head.len() as u64 {
        return log::ends(telling, ends, removed);
    }
    let whole = [&ends.head[..], &ends.tail].concat();
    let kept = if engines::saved::answer(tables, &whole).is_some() || engines::apart(tables, &whole).is_some() {
        body::body(&whole, removed)
    } else {
        let text = String::from_utf8_lossy(&whole);
        match looks_like(&text) {
            Looks::Unit => unit::unit(&text, removed).into_bytes(),
            Looks::Compose | Looks::Kubernetes => yaml::scrubbed(&text, removed).into_bytes(),
            Looks::Shell => shell(&text, removed).into_bytes(),
            Looks::Dump | Looks::No => return log::ends(telling, ends, removed),
        }
    };
    Ends { tail_from: kept.len() as u64, head: kept, tail: Vec::new(), ..ends }
}

/// A script: its words, and the variables that it gives to containers.
fn shell(text: &str, removed: &mut Removed) -> String {
    let text = script::scrubbed(text, removed);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((at, given)) = GIVEN.iter().filter_map(|given| Some((rest.find(given)?, *given))).min() {
        let (front, behind) = rest.split_at(at + given.len());
        out.push_str(front);
        rest = behind;
        let end = rest.find([' ', '\n', '\\']).unwrap_or(rest.len());
        if let Some((name, value)) = rest[..end].split_once('=').filter(|(_, value)| !value.starts_with(['$', '['])) {
            out.push_str(&format!("{name}={VALUE}"));
            removed.note(Rule::Variables);
            rest = &rest[name.len() + 1 + value.len()..];
        }
    }
    out + rest
}
