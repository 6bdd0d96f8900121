//! Configuration files, compose files and manifests: scalars change in their place, and nothing else.

use std::collections::BTreeMap;

use model::{BLOT, is_secret, looks_secret};
use wire::launch::{Scalar, scalars};

use super::rule::{Removed, Rule};
use super::script;
use super::secret::{self, Words};

/// Keys under which containers are given their variables.
const VARIABLES: [&str; 2] = ["environment", "env"];
/// What stands for the value of a variable that no command uses.
const VALUE: &str = "[value]";

/// A file that `--config` names. One that cannot be read keeps its shape, so that it is not read for the same reason.
pub(super) fn settings(text: &str, removed: &mut Removed) -> String {
    let Err(fault) = engines::process::settings(text) else { return scrubbed(text, removed) };
    removed.note(Rule::Texts);
    let masked: String = text.chars().map(|letter| if letter.is_alphanumeric() { 'x' } else { letter }).collect();
    let same = |text: &&str| engines::process::settings(text).is_err_and(|other| other == fault);
    [masked.as_str(), UNREADABLE].into_iter().find(same).unwrap_or(UNREADABLE).to_owned()
}

/// What is no YAML.
const UNREADABLE: &str = "[";

/// YAML (and JSON, which is YAML) without its secrets. What is no YAML to its end is looked at as a text behind its fault.
pub(super) fn scrubbed(text: &str, removed: &mut Removed) -> String {
    let (all, whole) = scalars(text);
    let secrets = secret_objects(&all);
    let names = names(&all);
    let mut lists: BTreeMap<usize, Words> = BTreeMap::new();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for scalar in &all {
        // Aliases and anchors can make spans that overlap nothing that is known.
        if scalar.range.start < at || scalar.range.is_empty() {
            continue;
        }
        let raw = &text[scalar.range.clone()];
        let kept = if hides(scalar, &names, &secrets) {
            removed.note(Rule::Secrets);
            blot(scalar, raw, BLOT)
        } else if unused(scalar, text) {
            removed.note(Rule::Variables);
            let name = secret::assignment(&scalar.value).filter(|_| scalar.key.is_none());
            blot(scalar, raw, &name.map_or_else(|| VALUE.to_owned(), |(name, _)| format!("{name}={VALUE}")))
        } else {
            // In a list, a flag tells what the next item is.
            let words = scalar.key.is_none().then(|| lists.entry(scalar.parent).or_default());
            match words.and_then(|words| words.blotted(&scalar.value, removed)) {
                Some(kept) => blot(scalar, raw, &kept),
                None => written(raw, removed),
            }
        };
        out.push_str(&remarks(&text[at..scalar.range.start], removed));
        out.push_str(&kept);
        at = scalar.range.end;
    }
    let rest = remarks(&text[at..], removed);
    out + &if whole { rest } else { secret::scrubbed_lines(&rest, removed) }
}

/// Documents that are secrets as a whole.
fn secret_objects(all: &[Scalar]) -> Vec<usize> {
    let kind =
        |scalar: &&Scalar| scalar.path.is_empty() && scalar.key.as_deref() == Some("kind") && scalar.value == "Secret";
    all.iter().filter(kind).map(|scalar| scalar.document).collect()
}

/// The `name` that stands beside each `value`, by the mapping that both are in.
fn names(all: &[Scalar]) -> BTreeMap<usize, &str> {
    let named = all.iter().filter(|scalar| matches!(scalar.key.as_deref(), Some("name" | "key")));
    named.map(|scalar| (scalar.parent, scalar.value.as_str())).collect()
}

/// Whether the value is secret by what stands around it.
fn hides(scalar: &Scalar, names: &BTreeMap<usize, &str>, secrets: &[usize]) -> bool {
    let own = scalar.key.as_deref().unwrap_or_default();
    let beside = names.get(&scalar.parent).filter(|_| own == "value");
    let above = scalar.path.iter().any(|key| looks_secret(key) && is_secret(key, &scalar.value));
    let object = secrets.contains(&scalar.document)
        && matches!(scalar.path.first().map(String::as_str), Some("data" | "stringData"));
    is_secret(own, &scalar.value) || above || object || beside.is_some_and(|name| is_secret(name, &scalar.value))
}

/// Whether it is the value of a variable of which no command in the text makes use.
fn unused(scalar: &Scalar, text: &str) -> bool {
    let under = scalar.path.last().is_some_and(|key| VARIABLES.contains(&key.as_str()));
    let done = [BLOT, VALUE].iter().any(|done| scalar.value.ends_with(done));
    if !under || done || scalar.key.as_deref() == Some("name") {
        return false;
    }
    let name = match scalar.key.as_deref() {
        // In a list of `name` and `value` it is not known here whose value this is.
        Some("value") => return !text.contains('$'),
        Some(key) => key,
        None => secret::assignment(&scalar.value).map_or("", |(name, _)| name),
    };
    !name.is_empty() && !["$", "${", "$("].iter().any(|open| text.contains(&format!("{open}{name}")))
}

/// `kept` in the place of `raw`, so that it is one scalar and has as many lines.
fn blot(scalar: &Scalar, raw: &str, kept: &str) -> String {
    let quoted = scalar.plain || raw.starts_with(['\'', '"']);
    let kept = if quoted { format!("\"{kept}\"") } else { kept.to_owned() };
    // A quoted scalar may be followed by blank lines, a block holds them.
    kept + &"\n".repeat(raw.matches('\n').count())
}

/// A scalar that is no secret as a whole.
fn written(raw: &str, removed: &mut Removed) -> String {
    if raw.contains([' ', '\n', '\t', '{']) { script::scrubbed(raw, removed) } else { secret::scrubbed(raw, removed) }
}

/// What stands between scalars, without what remarks say.
fn remarks(between: &str, removed: &mut Removed) -> String {
    let begins = |line: &str| {
        let at = line.match_indices('#').map(|(at, _)| at);
        at.into_iter().find(|at| *at == 0 || line[..*at].ends_with([' ', '\t']))
    };
    let line = |line: &str| match begins(line) {
        // Where a rendered chart or a joined text says which file this is.
        Some(at) if !line[at..].starts_with("# Source: ") && line[at..].trim_end().len() > 1 => {
            removed.note(Rule::Texts);
            format!("{}#{}", &line[..at], if line.ends_with('\n') { "\n" } else { "" })
        }
        _ => line.to_owned(),
    };
    between.split_inclusive('\n').map(line).collect()
}
