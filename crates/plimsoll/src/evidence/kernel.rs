//! What the kernel says in `/proc`: the lines and rows that are read, and no others.

use super::rule::{Removed, Rule};

/// The lines that begin with one of these words.
pub(super) fn lines(text: &[u8], words: &[&str], removed: &mut Removed) -> Vec<u8> {
    kept(text, removed, |_, line| words.iter().any(|word| line.starts_with(word.as_bytes())))
}

/// A table of sockets: its header and those that listen.
pub(super) fn listeners(text: &[u8], removed: &mut Removed) -> Vec<u8> {
    kept(text, removed, |index, line| {
        let state = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).nth(3);
        index == 0 && line.trim_ascii_start().starts_with(b"sl") || state == Some(b"0A")
    })
}

/// A routing trie: the host's own addresses.
pub(super) fn own_addresses(text: &[u8], removed: &mut Removed) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let local = |line: &&[u8]| line.trim_ascii_start().starts_with(b"/32 host LOCAL");
    // An address stands above what is said of it.
    let own =
        |index: usize| lines[index].trim_ascii_start().starts_with(b"|-- ") && lines.get(index + 1).is_some_and(local);
    let mut index = 0;
    kept(text, removed, |_, line| {
        index += 1;
        own(index - 1) || local(&line)
    })
}

fn kept(text: &[u8], removed: &mut Removed, mut wanted: impl FnMut(usize, &[u8]) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if wanted(index, line) {
            out.extend_from_slice(line);
        } else {
            removed.note(Rule::Others);
        }
    }
    out
}
