//! Making text of what a peer sent safe to show, and reading what the kernel writes into links.

use std::path::Path;

/// `bytes` as one line of at most `most` characters: what may be secret is left out, what could upset a terminal is escaped,
/// the rest cut off with an ellipsis.
pub(crate) fn printable(bytes: &[u8], most: usize) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => model::without_secrets(text).chars().flat_map(Shown::new).collect::<String>(),
        Err(_) => model::without_secrets(&bytes.escape_ascii().to_string()),
    };
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A character as it is, or escaped where it is a control or changes the direction of writing.
enum Shown {
    Plain(std::iter::Once<char>),
    Escaped(std::char::EscapeDefault),
}

impl Shown {
    fn new(letter: char) -> Shown {
        if model::text::upsets(letter) {
            Shown::Escaped(letter.escape_default())
        } else {
            Shown::Plain(std::iter::once(letter))
        }
    }
}

impl Iterator for Shown {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Shown::Plain(letters) => letters.next(),
            Shown::Escaped(letters) => letters.next(),
        }
    }
}

/// The inode in the text of a link such as `net:[4026531840]` or `socket:[12345]`.
pub(crate) fn inode(link: &Path, kind: &str) -> Option<u64> {
    link.to_str()?.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?.parse().ok()
}

/// Binary sizes for people: whole MiB or KiB where that is exact, else bytes.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0 => "0 bytes".to_string(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
