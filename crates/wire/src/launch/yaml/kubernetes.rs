//! Kubernetes objects: whatever their kind, a list of containers somewhere inside.

use super::tree::{Id, Tree};
use crate::launch::{Form, Launch, Launches, Word, limits, look, shell};

/// Keys that hold containers.
const LISTS: &[&str] = &["containers", "initContainers", "ephemeralContainers"];

/// The object around a container.
#[derive(Clone)]
pub(super) struct Object {
    kind: String,
    name: String,
}

/// The commands of all containers at `id` and below; `object` is the name of the object around.
pub(super) fn objects(tree: &Tree, id: Id, object: Option<&Object>, depth: usize, out: &mut Launches) {
    if depth == 0 {
        return;
    }
    let mut object = object.cloned();
    if tree.is_map(id) {
        let kind = tree.text(id, "kind");
        let name = tree.get(id, "metadata").and_then(|metadata| tree.text(metadata, "name"));
        let is_map = kind.as_deref() == Some("ConfigMap");
        if let (Some(kind), Some(name)) = (kind, name) {
            object = Some(Object { kind, name });
        }
        if is_map {
            return scripts(tree, id, object.as_ref().map(|object| object.name.as_str()), out);
        }
        for (key, value) in tree.entries(id) {
            if LISTS.contains(&key.text.as_str()) {
                for item in tree.list(value).unwrap_or_default() {
                    container(tree, *item, object.as_ref(), out);
                }
            }
        }
    }
    for child in tree.children(id) {
        objects(tree, child, object.as_ref(), depth - 1, out);
    }
}

fn container(tree: &Tree, id: Id, object: Option<&Object>, out: &mut Launches) {
    let line = tree.line(id);
    if tree.is_cut(id) {
        return out.note("cut", format!("line {line}: the container is not whole, not read"));
    }
    let mut words = Vec::new();
    let mut entrypoint = false;
    for key in ["command", "args"] {
        let Some(value) = tree.get(id, key) else { continue };
        let (some, odd) = tree.words(value);
        if odd || tree.list(value).is_none() && !some.is_empty() {
            out.note("no-text", format!("line {}: {key} is no list of texts", tree.line(value)));
        }
        entrypoint |= key == "command" && !some.is_empty();
        words.extend(some);
    }
    let Some(first) = words.first() else { return };
    let mut launch = Launch::new(Form::Kubernetes, first.line);
    let name = tree.text(id, "name");
    launch.kind = object.map(|object| object.kind.clone());
    launch.name = match (object.map(|object| &object.name), name) {
        (Some(object), Some(name)) => Some(format!("{object}/{name}")),
        (object, name) => name.or_else(|| object.cloned()),
    };
    launch.image = tree.text(id, "image");
    launch.entrypoint = entrypoint;
    launch.environment = tree.get(id, "env").map(|env| environment(tree, env)).unwrap_or_default();
    if !out.spend(size(&words, &launch.environment)) {
        return;
    }
    launch.words = words.iter().map(|word| expanded(word, &launch.environment)).collect();
    out.keep(launch);
}

/// Bytes that a command takes: aliases repeat them for almost nothing.
pub(super) fn size(words: &[Word], environment: &[(String, String, u32)]) -> usize {
    let words: usize = words.iter().map(|word| word.text.len() + 64).sum();
    words + environment.iter().map(|(name, value, _)| name.len() + value.len() + 64).sum::<usize>()
}

fn environment(tree: &Tree, id: Id) -> Vec<(String, String, u32)> {
    let items = tree.list(id).unwrap_or_default().iter();
    let set = items.filter_map(|item| Some((tree.text(*item, "name")?, tree.text(*item, "value")?, tree.line(*item))));
    set.take(limits::WORDS).collect()
}

/// `word` with `$(NAME)` replaced where the container sets it to a value; `$$(NAME)` is an escaped one.
fn expanded(word: &Word, environment: &[(String, String, u32)]) -> Word {
    if !word.text.contains("$(") {
        return word.clone();
    }
    let mut out = Word::new("", word.line);
    let mut from = 0;
    while let Some(at) = word.text[from..].find('$').map(|at| from + at) {
        out.extend(word, from..at);
        let rest = &word.text[at + 1..];
        let name = rest.strip_prefix('(').and_then(|rest| limits::up_to(rest, b')'));
        let value = name.and_then(|name| environment.iter().rev().find(|(known, _, _)| known == name));
        from = match (name, value) {
            (Some(name), Some((_, value, _))) if out.text.len() <= limits::WORD => {
                out.push_str(value, word.line_at(at));
                at + name.len() + 3
            }
            _ => {
                out.push('$', word.line_at(at));
                at + 1 + usize::from(rest.starts_with('$'))
            }
        };
    }
    out.extend(word, from..word.text.len());
    out
}

/// Scripts that a `ConfigMap` holds; other texts of it start nothing.
fn scripts(tree: &Tree, id: Id, object: Option<&str>, out: &mut Launches) {
    let mut passed = false;
    for (key, value) in tree.get(id, "data").map(|data| tree.entries(data)).unwrap_or_default() {
        let Some(script) = tree.word(value) else { continue };
        let mut inner = Launches::default();
        shell::script(script, &mut inner);
        inner.found.retain(|launch| look::starts(&launch.words));
        passed |= inner.found.is_empty();
        for mut launch in inner.found {
            launch.name = Some(object.map_or_else(|| key.text.clone(), |object| format!("{object}/{}", key.text)));
            out.keep(launch);
        }
    }
    if passed {
        out.note(
            "config-map",
            format!("line {}: texts of a ConfigMap that start nothing are passed over", tree.line(id)),
        );
    }
}
