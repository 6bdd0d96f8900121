//! The list of paths that may be asked for.

use std::collections::BTreeSet;

use model::{Blind, BlindKind};

/// Exact paths (with a query string only where the entry has it). What is not on the list is never sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    paths: BTreeSet<String>,
}

impl AllowList {
    /// A list of these paths. An entry that cannot be a path of a request (it does not start with `/`, or holds a blank,
    /// a control, `#` or a letter outside ASCII) is on no list.
    pub fn new<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> AllowList {
        let plain =
            |path: &String| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        AllowList { paths: paths.into_iter().map(Into::into).filter(plain).collect() }
    }

    /// Whether `path` is on the list, letter by letter.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    pub(super) fn check(&self, path: &str) -> Result<(), Blind> {
        if self.has(path) {
            return Ok(());
        }
        let path = crate::text::printable(path.as_bytes(), 120);
        Err(Blind::new(
            BlindKind::Denied,
            format!("{path} is not on the list of paths that may be read: nothing was sent"),
        ))
    }
}

/// `path` with the parameter `query`, percent-encoded.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = format!("{path}{}query=", if path.contains('?') { '&' } else { '?' });
    for byte in query.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    out
}
