//! What a file that is no capture looks like, for the one who took it for one.

use super::Unreadable;

/// Beginnings of files that are known, and what to do about them.
const KNOWN: [(&[u8], &str); 9] = [
    (b"\x28\xb5\x2f\xfd", "it is packed with zstd: unpack it first (zstd -d)"),
    (b"\xfd7zXZ\0", "it is packed with xz: unpack it first (xz -d)"),
    (b"BZh", "it is packed with bzip2: unpack it first (bzip2 -d)"),
    (b"PK\x03\x04", "it is a zip archive"),
    (b"\x7fELF", "it is a program"),
    (b"%PDF", "it is a PDF document"),
    (b"# HELP ", "it looks like a metrics page, which status and doctor take as it is"),
    (b"# TYPE ", "it looks like a metrics page, which status and doctor take as it is"),
    (b"<", "it looks like HTML or XML"),
];

/// Says what a file whose first line is `line` looks like.
pub(super) fn looks_like(line: &[u8]) -> Unreadable {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii_start();
    if line.is_empty() {
        return Unreadable::Other("it has no first line");
    }
    if let Some((_, what)) = KNOWN.iter().find(|(beginning, _)| line.starts_with(beginning)) {
        return Unreadable::Other(what);
    }
    let binary = line.iter().take(512).any(|byte| *byte < b' ' && !byte.is_ascii_whitespace() && *byte != 0x1b);
    Unreadable::Other(match line.first() {
        _ if line.len() > 257 && line[257..].starts_with(b"ustar") => {
            "it is a tar archive: take the file out of it first"
        }
        _ if binary => "it is no text",
        Some(b'{' | b'[') => "it is JSON, but its first line has no `plimsoll_capture`",
        _ => "it looks like some other text, such as a log",
    })
}
