//! Secrets in texts of any kind, and in words of command lines.

use engines::Tables;
use engines::process::variables;
use model::{BLOT, is_secret, looks_secret, without_secrets, without_tokens};

use super::rule::{Removed, Rule};
use super::script;

/// `text` without secrets: by the names before them, by their place in addresses, by their own look.
pub(super) fn scrubbed(text: &str, removed: &mut Removed) -> String {
    let once = without_secrets(text);
    let clean = without_tokens(&once).into_owned();
    if clean != text {
        removed.note(Rule::Secrets);
    }
    clean
}

/// What of a text that was cut off is whole: not its last word, since what tells that it is secret may be cut off too.
pub(super) fn whole_words(bytes: &[u8], cut: bool) -> &[u8] {
    let between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0 | b'\'' | b'"');
    let end = if cut { bytes.iter().rposition(between).map_or(0, |at| at + 1) } else { bytes.len() };
    &bytes[..end]
}

/// The same line by line, where a backslash at a line's end is no escape of what follows.
pub(super) fn scrubbed_lines(text: &str, removed: &mut Removed) -> String {
    let mut line = |line: &str| {
        let content = line.trim_end_matches(['\n', '\\']);
        scrubbed(content, removed) + &line[content.len()..]
    };
    text.split_inclusive('\n').map(&mut line).collect()
}

/// The same of bytes that are text where they can be; what is no UTF-8 stays, since no secret reads so.
pub(super) fn scrubbed_bytes(bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(scrubbed(chunk.valid(), removed).as_bytes());
        out.extend_from_slice(chunk.invalid());
    }
    out
}

/// Words of a command line, one after the other: what a flag says of the words behind it.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The secret flag that the next words are values of.
    flag: Option<String>,
}

impl Words {
    /// The next word without what is secret in it, where that is told by the word itself or by the flag before it; none
    /// where neither tells. It may still hold secrets further in.
    pub(super) fn blotted(&mut self, word: &str, removed: &mut Removed) -> Option<String> {
        let is_flag = word.starts_with('-') && word.len() > 1;
        // A flag in the plural has several values.
        let before = if is_flag || self.flag.as_ref().is_some_and(|flag| !flag.ends_with('s')) {
            self.flag.take().filter(|_| !is_flag)
        } else {
            self.flag.clone()
        };
        let kept = match assignment(word) {
            _ if before.is_some_and(|flag| is_secret(&flag, word)) => BLOT.to_owned(),
            Some((name, value)) if is_secret(name, value) => format!("{name}={BLOT}"),
            assigned => {
                self.flag = if is_flag && assigned.is_none() && looks_secret(word) {
                    Some(word.to_owned())
                } else {
                    self.flag.take()
                };
                return None;
            }
        };
        removed.note(Rule::Secrets);
        Some(kept)
    }
}

/// Name and value of `NAME=value` and `--flag=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    (!name.is_empty() && name.chars().all(plain)).then_some((name, value))
}

/// A command line as the kernel shows it, its words parted by zeros, as many as before.
pub(super) fn command_line(bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    let mut words = Words::default();
    let word = |word: &[u8]| {
        let text = String::from_utf8_lossy(word);
        let kept = words.blotted(&text, removed).unwrap_or_else(|| script::inner(&text, removed));
        if kept == text { word.to_vec() } else { kept.into_bytes() }
    };
    bytes.split(|byte| *byte == 0).map(word).collect::<Vec<_>>().join(&0)
}

/// An environment as the kernel shows it, with these variables alone.
pub(super) fn environment(tables: &Tables, bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    const OWN: [&str; 2] = ["JOURNAL_STREAM", "TZ"];
    let mut out = Vec::new();
    for entry in bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
        let own = OWN.iter().chain(&sense::installed::VARIABLES).copied();
        if own.chain(tables.iter().flat_map(variables)).any(|known| known.as_bytes() == name) {
            out.extend(scrubbed_bytes(entry, removed));
            out.push(0);
        } else {
            removed.note(Rule::Variables);
        }
    }
    out
}
