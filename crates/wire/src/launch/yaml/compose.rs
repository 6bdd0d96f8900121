//! Compose files: `services.X.command` behind `services.X.entrypoint`.

use super::tree::{Id, Tree};
use crate::launch::{Form, Launch, Launches, Word, limits, shell};

/// The commands of a compose file's services.
pub(super) fn services(tree: &Tree, services: Id, out: &mut Launches) {
    for (key, service) in tree.entries(services) {
        if tree.is_cut(service) {
            out.note("cut", format!("line {}: the service is not whole, not read", key.line));
            continue;
        }
        let name = model::text::printable(&key.text);
        if tree.get(service, "extends").is_some() {
            out.note("extends", format!("line {}: {name} extends another service, which is not followed", key.line));
        }
        files(tree, service, out);
        let entrypoint = tree.get(service, "entrypoint").map(|id| command(tree, id, out));
        let command = tree.get(service, "command").map(|id| command(tree, id, out));
        let mut launch = Launch::new(Form::Compose, key.line);
        launch.entrypoint = entrypoint.as_ref().is_some_and(|words| !words.is_empty());
        launch.words = entrypoint.into_iter().chain(command).flatten().collect();
        let Some(first) = launch.words.first() else { continue };
        launch.line = first.line;
        launch.name = Some(tree.text(service, "container_name").unwrap_or_else(|| key.text.clone()));
        launch.image = tree.text(service, "image");
        launch.environment = tree.get(service, "environment").map(|id| environment(tree, id)).unwrap_or_default();
        if out.spend(super::kubernetes::size(&launch.words, &launch.environment)) {
            out.keep(launch);
        }
    }
}

fn files(tree: &Tree, service: Id, out: &mut Launches) {
    let Some(file) = tree.get(service, "env_file") else { return };
    let alone = [file];
    for id in tree.list(file).unwrap_or(&alone) {
        let path = tree.word(*id).cloned().or_else(|| tree.get(*id, "path").and_then(|path| tree.word(path)).cloned());
        let optional = tree.is_map(*id) && tree.text(*id, "required").as_deref() == Some("false");
        if let Some(path) = path.filter(|_| out.environment_files.len() < limits::WORDS) {
            out.environment_files.push((path.text, optional, path.line));
        }
    }
}

/// A command as a list, or as a text that is split as a shell would.
fn command(tree: &Tree, id: Id, out: &mut Launches) -> Vec<Word> {
    let (words, odd) = tree.words(id);
    if odd {
        out.note("no-text", format!("line {}: a part of the command is no text", tree.line(id)));
    }
    let words: Vec<Word> = words.iter().map(|word| interpolated(word, out)).collect();
    if tree.list(id).is_some() {
        return words;
    }
    words.iter().flat_map(shell::split).collect()
}

/// `word` with `$$` made a dollar and `${NAME:-default}` its default; other variables stay as written, since compose takes
/// them from where it is run.
fn interpolated(word: &Word, out: &mut Launches) -> Word {
    let mut done = Word::new("", word.line);
    let mut from = 0;
    while let Some(at) = word.text[from..].find('$').map(|at| from + at) {
        done.extend(word, from..at);
        let rest = &word.text[at + 1..];
        let braced = rest.strip_prefix('{').and_then(|rest| limits::up_to(rest, b'}'));
        let parts = braced.and_then(|inside| inside.split_once(":-").or_else(|| inside.split_once('-')));
        from = match (braced, parts) {
            _ if rest.starts_with('$') => {
                done.push('$', word.line_at(at));
                at + 2
            }
            (Some(inside), Some((name, default))) if shell::is_name(name) && !default.contains('$') => {
                let (name, line) = (model::text::printable(name), word.line_at(at));
                out.note("default-taken", format!("line {line}: the default of {name} is taken"));
                done.push_str(default, line);
                at + inside.len() + 3
            }
            _ => {
                done.push('$', word.line_at(at));
                at + 1
            }
        };
    }
    done.extend(word, from..word.text.len());
    done
}

/// Variables as a mapping, or as a list of `NAME=value`; a name alone takes its value from elsewhere and is left out.
fn environment(tree: &Tree, id: Id) -> Vec<(String, String, u32)> {
    let own = |word: &Word| {
        let (name, value) = word.text.split_once('=')?;
        Some((name.to_owned(), value.to_owned(), word.line))
    };
    if let Some(items) = tree.list(id) {
        items.iter().filter_map(|item| tree.word(*item)).filter_map(own).take(limits::WORDS).collect()
    } else {
        let entries = tree.entries(id).into_iter();
        let set = entries.filter_map(|(name, value)| Some((name, tree.word(value)?)));
        set.map(|(name, value)| (name.text.clone(), value.text.clone(), name.line)).take(limits::WORDS).collect()
    }
}
