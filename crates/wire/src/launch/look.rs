//! What a text is, by its content.

use super::{Word, dump, limits, shell};

/// What a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// A systemd unit or drop-in: [`super::unit`] reads it.
    Unit,
    /// A compose file: [`super::yaml`] reads it.
    Compose,
    /// Kubernetes manifests: [`super::yaml`] reads it.
    Kubernetes,
    /// A script or pasted commands: [`super::shell`] reads it.
    Shell,
    /// A server's arguments as it printed them: [`super::dump()`] reads it.
    Dump,
    /// None of them.
    No,
}

/// What `text` looks like; in doubt none.
pub fn looks_like(text: &str) -> Looks {
    let text = limits::bounded(text, &mut Vec::new());
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let has = |start: &str| lines().any(|line| line.starts_with(start));
    let section = |line: &str| matches!(line.trim(), "[Service]" | "[Unit]");
    let setting = |line: &str| {
        line.trim_start()
            .strip_prefix("Exec")
            .or_else(|| line.trim_start().strip_prefix("Environment"))
            .is_some_and(|rest| rest.contains('='))
    };
    if lines().any(section) && lines().any(setting) {
        return Looks::Unit;
    }
    if has("services:") && lines().any(|line| line.starts_with([' ', '\t']) && line.trim_end().ends_with(':')) {
        return Looks::Compose;
    }
    let key = |key: &str| lines().any(|line| line.trim_start_matches([' ', '-']).starts_with(key));
    if key("kind:") && (key("apiVersion:") || key("containers:")) {
        return Looks::Kubernetes;
    }
    if dump(&text).is_some() {
        return Looks::Dump;
    }
    if is_shell(&text) { Looks::Shell } else { Looks::No }
}

fn is_shell(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if first.starts_with("#!") {
        return first.contains("sh");
    }
    // JSON, YAML, a log's brackets.
    if first.starts_with(['{', '[', '<', '"']) {
        return false;
    }
    let found = shell(text).found;
    let started = found.iter().filter(|launch| starts(&launch.words) || launch.image.is_some()).count();
    // One line of a log may read like a command; a text of commands is mostly that.
    started > 0 && started * 4 >= found.len()
}

/// Whether `words` read like a program with options, or a script that has such a program.
pub(super) fn starts(words: &[Word]) -> bool {
    let program = |word: &Word| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        !word.text.is_empty() && !word.text.starts_with('-') && word.text.chars().all(plain)
    };
    let option = |word: &Word| {
        word.text.strip_prefix("--").is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_lowercase()))
    };
    let own = words.first().is_some_and(program) && words.iter().any(option);
    own || shell::script_at(words)
        .is_some_and(|at| shell::commands(&words[at]).0.iter().any(|inner| inner.words.iter().any(option)))
}
