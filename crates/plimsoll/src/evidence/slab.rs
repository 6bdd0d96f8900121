//! Shared memory: numbers, which stay byte by byte; with a text in it, none of it does.

use super::rule::Removed;
use super::secret;

/// Letters in a row that make a text.
const TEXT: usize = 256;
/// Letters in a row that can be a secret.
const SECRET: usize = 8;

/// Whether nothing but numbers and their names is in it.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let printable = |byte: &u8| (b' '..=b'~').contains(byte);
    let runs = bytes.split(|byte| !printable(byte)).filter(|run| run.len() >= SECRET);
    runs.into_iter().all(|run| {
        let text = String::from_utf8_lossy(run);
        run.len() <= TEXT && secret::scrubbed(&text, &mut Removed::default()) == text && !names_a_secret(&text)
    })
}

/// In msgpack a name and its value stand side by side, with a byte between them that may be a letter.
fn names_a_secret(text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .into_iter()
        .any(|word| ["password", "passwd", "secret"].iter().any(|name| word.to_ascii_lowercase().contains(name)))
}
