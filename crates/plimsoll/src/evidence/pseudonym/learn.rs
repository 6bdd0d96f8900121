//! Which names are hosts': those in addresses, those that were resolved, those that stand before a port where nothing else
//! does.

use sense::place::{Kept, Told};

use super::Pseudonyms;

impl Pseudonyms {
    /// Takes note of the hosts that a question and its answer name.
    pub(crate) fn learn(&mut self, kept: &Kept) {
        match kept.key.0.as_slice() {
            [kind, host] if kind == "resolve" => self.meet(host),
            [kind, path] if kind == "read" && path == "/proc/sys/kernel/hostname" => {
                if let Ok(Told::Content(content)) = &kept.answered {
                    self.meet(content.text().trim());
                }
            }
            words => words.iter().for_each(|word| self.addresses_in(word)),
        }
        match &kept.answered {
            Err(blind) => self.addresses_in(&blind.text),
            Ok(Told::Content(content)) if !content.bytes.starts_with(b"TZif") => self.in_bytes(&content.bytes),
            Ok(Told::Ends(ends)) => {
                self.in_bytes(&ends.head);
                self.in_bytes(&ends.tail);
            }
            Ok(Told::Commands(commands)) => commands.found.iter().for_each(|line| self.in_bytes(&line.bytes)),
            Ok(Told::Ran(ran)) => self.in_bytes(&ran.stdout),
            Ok(Told::Seen(seen)) => match &seen.outcome {
                Ok(answer) => self.in_bytes(&answer.body),
                Err(blind) => self.addresses_in(&blind.text),
            },
            Ok(_) => {}
        }
    }

    fn in_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.addresses_in(chunk.valid());
        }
    }

    /// Takes note of the hosts of all addresses in `text`.
    pub(super) fn addresses_in(&mut self, text: &str) {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once("://") {
            let address = &behind[..behind.find(END).unwrap_or(behind.len())];
            let host = address.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
            // What names no machine: `s3://bucket`, `file:///path`, and source code's own `://{host}`.
            let scheme = &rest[..rest.len() - behind.len() - 3];
            if SCHEMES.iter().any(|known| scheme.ends_with(known)) {
                self.meet(host);
            }
            rest = behind;
        }
        for (at, _) in text.match_indices(':') {
            if let Some(name) = before_port(text, at) {
                self.meet(name);
            }
        }
    }
}

/// What ends the host and port of an address.
const END: [char; 14] = ['/', '?', '#', ' ', '"', '\'', ',', ';', '\\', '\n', '\t', '\0', ')', '>'];
/// Schemes whose addresses name a machine.
const SCHEMES: [&str; 9] = ["http", "https", "tcp", "grpc", "grpcs", "ws", "wss", "redis", "etcd"];

/// The name before the colon at `at`, where a port follows and both are a value by themselves: in quotes, or a word of a
/// command line.
fn before_port(text: &str, at: usize) -> Option<&str> {
    let behind = &text[at + 1..];
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    if !(2..=5).contains(&digits) {
        return None;
    }
    let start = text[..at]
        .rfind(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '.' | '-'))
        .map_or(0, |at| at + 1);
    let value = |letter: Option<char>| letter.is_none_or(|letter| matches!(letter, '"' | '\'' | '\0'));
    let begins = value(text[..start].chars().next_back()) || text[..start].ends_with('=');
    let name = &text[start..at];
    // `scheduler.py:12` is a place in a source.
    let source = [".py", ".rs", ".cc", ".cpp", ".cu", ".go"].iter().any(|ending| name.ends_with(ending));
    (begins && value(behind[digits..].chars().next()) && !source).then_some(name)
}
