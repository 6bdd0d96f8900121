//! Who wrote a line, where a collector says so: logs of several programs are often kept, and pasted, as one.

use memchr::memmem;

/// Bytes in which a prefix stands.
const PREFIX: usize = 160;

/// The service or container that a collector put in front of a line: the name before ` | ` (compose), `[pod/…]` (kubectl).
/// Processes are none: the ranks of one server are several, and the journal tells each.
pub fn writer(raw: &[u8]) -> Option<&str> {
    let found = match raw.first()? {
        b'[' => raw.strip_prefix(b"[pod/").and_then(|rest| upto(rest, b"]")),
        _ => bar(raw),
    };
    std::str::from_utf8(found?).ok()
}

/// `decode-1  | …`.
fn bar(raw: &[u8]) -> Option<&[u8]> {
    let length =
        raw.iter().take(PREFIX).take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)).count();
    let blanks = raw[length..].iter().take(PREFIX).take_while(|byte| **byte == b' ').count();
    (length > 0 && blanks > 0 && raw.get(length + blanks) == Some(&b'|')).then(|| &raw[..length])
}

fn upto<'a>(bytes: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let head = &bytes[..bytes.len().min(PREFIX)];
    memmem::find(head, end).filter(|at| *at > 0).map(|at| &head[..at])
}
