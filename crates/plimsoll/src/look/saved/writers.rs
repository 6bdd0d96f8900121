//! Who wrote the lines of a log that several programs' outputs were put into, by what stands before each line: `a-1  | ` of
//! compose, `[pod/a/c] ` of Kubernetes, `a.log:` of grep. Numbers of two servers must never meet.

use std::collections::BTreeSet;

use model::Stretch;
use model::text::printable;
use wire::log::Anchors;

/// Bytes in which the name of who wrote a line ends.
const MOST_NAME: usize = 200;

/// Who wrote lines that a server may have written; none where one of those lines does not say it, as texts that requests
/// bring could look like such a name.
pub(super) fn of(stretches: &[Stretch], anchors: &Anchors) -> Vec<Vec<u8>> {
    let mut found: BTreeSet<&[u8]> = BTreeSet::new();
    for line in stretches.iter().flat_map(|stretch| stretch.bytes.split(|byte| *byte == b'\n')) {
        let writer = writer(line);
        if writer.is_some_and(|writer| found.contains(writer)) || !anchors.are_in(line) {
            continue;
        }
        let Some(writer) = writer else { return Vec::new() };
        found.insert(writer);
    }
    found.into_iter().map(<[u8]>::to_vec).collect()
}

/// The stretches with the lines of one writer alone; others are empty, so that all keep their numbers.
pub(super) fn lines(stretches: &[Stretch], of: &[u8]) -> Vec<Stretch> {
    let own = |stretch: &Stretch| {
        let lines = stretch.bytes.split_inclusive(|byte| *byte == b'\n');
        let own = lines.flat_map(|line| match line {
            line if writer(line) == Some(of) => line,
            [.., b'\n'] => b"\n",
            _ => b"",
        });
        let bytes = own.copied().collect();
        Stretch { bytes, name: stretch.name.clone(), ..*stretch }
    };
    stretches.iter().map(own).collect()
}

/// A writer's name for people.
pub(super) fn name(writer: &[u8]) -> String {
    let text = String::from_utf8_lossy(writer);
    printable(text.trim_matches(|letter: char| matches!(letter, ' ' | '|' | '[' | ']' | ':')))
}

/// What stands before a line and names who wrote it.
fn writer(line: &[u8]) -> Option<&[u8]> {
    let head = &line[..line.len().min(MOST_NAME)];
    if head.starts_with(b"[pod/") {
        return head.iter().position(|byte| *byte == b']').map(|end| &head[..=end]);
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-/".contains(byte);
    let length = head.iter().position(|byte| !plain(byte))?;
    let (name, rest) = head.split_at(length);
    let named = name.iter().any(u8::is_ascii_alphabetic);
    let bar = rest.len() - rest.trim_ascii_start().len();
    match rest {
        _ if !named => None,
        _ if rest[bar..].starts_with(b"| ") => Some(&head[..=length + bar]),
        // `INFO:` and the like name no file.
        [b':', ..] if name.contains(&b'.') || name.contains(&b'/') => Some(&head[..=length]),
        _ => None,
    }
}
