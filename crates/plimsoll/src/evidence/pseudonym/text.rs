//! Pseudonyms in texts of any kind.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Pseudonyms;

/// Shorter names are replaced only where a host must stand: too many words look like them.
const SHORTEST: usize = 4;

impl Pseudonyms {
    /// `text` with the pseudonyms of all that is known, and of every address and home folder.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let (mut kept, mut at) = (0, 0);
        while let Some(start) = next(text, at) {
            let (end, other) = self.at(text, start);
            if let Some(other) = other {
                out.push_str(&text[kept..start]);
                out.push_str(&other);
                kept = end;
            }
            at = end.max(start + 1);
        }
        out + &text[kept..]
    }

    /// The same of bytes, as far as they are text.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(self.text(chunk.valid()).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        out
    }

    /// Where the word that begins at `start` ends, and what stands in its place.
    fn at(&mut self, text: &str, start: usize) -> (usize, Option<String>) {
        let (before, rest) = text.split_at(start);
        if let Some((address, length)) = address(before, rest) {
            let other = self.address(address);
            let shown = (other != address).then(|| match other {
                // As it was written, in the mapped form or not.
                IpAddr::V6(other) => other.to_string(),
                IpAddr::V4(other) => other.to_string(),
            });
            return (start + length, shown);
        }
        let length = rest.bytes().take_while(|byte| is_name(*byte)).count();
        let name = rest[..length].trim_end_matches(['.', '-', '_']);
        let end = start + name.len().max(1);
        if name.is_empty() {
            return (end, None);
        }
        let is_user = before.ends_with("/home/")
            || before.strip_suffix("User=").is_some_and(|line| line.is_empty() || line.ends_with('\n'));
        if is_user && name != "root" && !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return (end, Some(self.user(name)));
        }
        // One that is known stays replaced wherever it stands as a word, unless it is a short one.
        if name.len() >= SHORTEST
            && let Some(other) = self.users.get(name)
        {
            return (end, Some(other.clone()));
        }
        let fits = is_host(before, &rest[name.len()..]) || is_telling(name);
        (end, self.host(name).filter(|_| fits).map(str::to_owned))
    }
}

/// Where the next word begins, from `from` on.
fn next(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = |at: usize| {
        let own = bytes[at].is_ascii_alphanumeric() || bytes[at] == b':' && bytes.get(at + 1) == Some(&b':');
        let goes_on = |before: u8| is_name(before) || bytes[at] == b':' && before == b':';
        own && !at.checked_sub(1).is_some_and(|before| goes_on(bytes[before]))
    };
    (from..bytes.len()).find(|at| begins(*at))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

/// Whether a name is such that no other word is it by chance.
fn is_telling(name: &str) -> bool {
    name.len() >= SHORTEST && name.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
}

/// Whether a host stands between these: in an address, before a port, where syslog writes it.
pub(super) fn is_host(before: &str, behind: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let port = behind.strip_prefix(':').is_some_and(|rest| {
        let count = digits(rest);
        (2..=5).contains(&count)
            && !rest[count..].starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '.')
    });
    let address = before.ends_with("://") || before.ends_with('@') && port;
    let bounded = before.is_empty() || before.ends_with(['"', '\'', ' ', '=', ',', '\0', '\n', '[', '(', '/']);
    address || port && bounded || before.ends_with(' ') && is_logged(behind)
}

/// Whether ` program[123]:` follows.
fn is_logged(behind: &str) -> bool {
    let Some((program, rest)) = behind.strip_prefix(' ').and_then(|rest| rest.split_once('[')) else { return false };
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    !program.is_empty() && program.len() < 64 && !program.contains(' ') && count > 0 && rest[count..].starts_with("]:")
}

/// The address that `rest` begins with, and its length, where it stands alone.
fn address(before: &str, rest: &str) -> Option<(IpAddr, usize)> {
    let run = rest.bytes().take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')).count();
    let run = rest[..run].trim_end_matches('.');
    let alone = |length: usize| {
        let next = rest[length..].bytes().next();
        let named = next == Some(b'.') && rest.as_bytes().get(length + 1).is_some_and(u8::is_ascii_alphanumeric);
        let goes_on = next.is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-'));
        !named && !goes_on
    };
    if before.ends_with(['_', '-', '.']) {
        return None;
    }
    let first = run.split(':').next().unwrap_or_default();
    if let Ok(address) = first.parse::<Ipv4Addr>() {
        return alone(first.len()).then_some((address.into(), first.len()));
    }
    if run.matches(':').count() < 2 || !run.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A colon may follow that is none of the address.
    [run, run.strip_suffix(':').unwrap_or(run)].into_iter().find_map(|run| {
        let address: Ipv6Addr = run.parse().ok()?;
        alone(run.len()).then_some((address.into(), run.len()))
    })
}
