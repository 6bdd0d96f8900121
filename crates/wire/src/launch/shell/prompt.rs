//! Taking the prompts off commands that were pasted from a terminal.

use super::lex;
use crate::launch::Word;

/// `text` without prompts. Where there are any, lines without one are what the commands printed, and go.
pub(super) fn without_prompts(text: &str) -> Word {
    let whole = Word::whole(text);
    let hash = only_hashes(text);
    let length = |line: &str| prompt(line).or_else(|| (hash && line.starts_with("# ")).then_some(2));
    let mut start = 0;
    let first = text.split_inclusive('\n').find(|line| {
        start += line.len();
        length(line).is_some()
    });
    // What looks like a prompt inside of quotes is a part of a script's word.
    let before = start - first.map_or(start, str::len);
    if first.is_none() || lex::lex(&Word::whole(&text[..before])).unclosed.is_some() {
        return whole;
    }
    let mut out = Word::new("", 1);
    let (mut at, mut continued) = (0, false);
    for line in text.split_inclusive('\n') {
        let skip = match length(line) {
            Some(length) => Some(length),
            None if continued => Some(if line.starts_with("> ") { 2 } else { 0 }),
            None => None,
        };
        if let Some(skip) = skip {
            out.extend(&whole, at + skip..at + line.len());
            let content = line.trim_end_matches(['\n', '\r']);
            continued = (content.len() - content.trim_end_matches('\\').len()) % 2 == 1;
        }
        at += line.len();
    }
    out
}

/// Bytes of the prompt before a command on `line`.
fn prompt(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start_matches([' ', '\t']).len();
    let rest = &line[start..];
    // `(base) $ `: the name of a Python environment.
    let environment = rest.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    let start = start + environment.filter(|(name, _)| is_path(name)).map_or(0, |(name, _)| name.len() + 3);
    let rest = &line[start..];
    if rest.starts_with("$ ") {
        return Some(start + 2);
    }
    let end = rest.find("$ ").into_iter().chain(rest.find("# ")).min()?;
    let head = &rest[..end];
    let bracketed = head.strip_prefix('[').and_then(|head| head.strip_suffix(']'));
    let named = match bracketed {
        Some(inside) => inside.contains('@') && inside.split(' ').count() <= 2 && inside.split(' ').all(is_path),
        None => head.split_once('@').is_some_and(|(_, host)| host.contains(':')) && is_path(head),
    };
    named.then_some(start + end + 2)
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_-./:~@+".contains(letter))
}

/// Whether every command of `text` stands behind a `# `: then it is root's prompt, and not a comment's.
fn only_hashes(text: &str) -> bool {
    let mut continued = false;
    let mut any = false;
    for line in text.lines() {
        if !continued && !line.trim().is_empty() {
            if !line.starts_with("# ") {
                return false;
            }
            any = true;
        }
        continued = line.trim_end().ends_with('\\');
    }
    any
}
