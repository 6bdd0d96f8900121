//! Prometheus text: help texts go, labels lose secrets and texts, and lines that are no samples all but their beginning.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use model::{BLOT, is_secret, looks_secret};

use super::json::{LONGEST, TEXT, is_text};
use super::rule::{Removed, Rule};
use super::secret;

/// Longer words are no kinds of series.
const LONGEST_KIND: usize = 16;
/// Names of labels, and values, of which it is remembered what they are.
const NAMES: usize = 64;

/// A page without secrets and texts, line by line.
pub(super) fn scrubbed(page: &[u8], removed: &mut Removed) -> Vec<u8> {
    let mut walk = Walk {
        out: Vec::with_capacity(page.len()),
        names: Vec::new(),
        secrets: Vec::new(),
        clean: Vec::new(),
        last: &[],
        removed,
    };
    let mut start = 0;
    for end in memchr_iter(b'\n', page).chain(std::iter::once(page.len())) {
        if end > start {
            walk.line(&page[start..end]);
        }
        if end < page.len() {
            walk.out.push(b'\n');
        }
        start = end + 1;
    }
    walk.out
}

struct Walk<'p, 'r> {
    out: Vec<u8>,
    /// Names of labels, and whether they look secret.
    names: Vec<(&'p [u8], bool)>,
    /// Values that were blotted: each keeps a blot of its own, so that series that differ still do.
    secrets: Vec<&'p [u8]>,
    /// Values that were looked at closely and stay.
    clean: Vec<&'p [u8]>,
    /// The last labels in braces that stay as they are: most lines repeat those of the line before.
    last: &'p [u8],
    removed: &'r mut Removed,
}

impl<'p> Walk<'p, '_> {
    fn line(&mut self, line: &'p [u8]) {
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        let indent = indent + if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let (blank, content) = line.split_at(indent);
        self.out.extend_from_slice(blank);
        match content.first() {
            None => {}
            Some(b'#') => self.comment(content),
            Some(_) => self.sample(content),
        }
    }

    /// `# HELP name sentence`, `# TYPE name word`; other remarks go.
    fn comment(&mut self, line: &'p [u8]) {
        let words = |from: usize| from + line[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let word = |from: usize| from + line[from..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let kind = words(1)..word(words(1));
        let name = words(kind.end);
        let end = match line.get(name) {
            Some(b'"') => quoted(line, name).unwrap_or(line.len()),
            _ => word(name),
        };
        match &line[kind] {
            b"HELP" => {
                let rest = line[end..].trim_ascii();
                self.out.extend_from_slice(&line[..end]);
                if !rest.is_empty() && rest != b"-" {
                    self.removed.note(Rule::HelpTexts);
                }
                self.out.extend_from_slice(if rest.is_empty() { b"" } else { b" -" });
            }
            b"TYPE" | b"UNIT" => {
                let kind = words(end)..word(words(end));
                let known = kind.len() <= LONGEST_KIND && line[kind.clone()].iter().all(u8::is_ascii_lowercase);
                self.out.extend_from_slice(&line[..if known { kind.end } else { end }]);
            }
            b"EOF" => self.out.extend_from_slice(line),
            rest => {
                self.out.push(b'#');
                if !rest.is_empty() {
                    self.removed.note(Rule::Texts);
                }
            }
        }
    }

    fn sample(&mut self, line: &'p [u8]) {
        let name = line.iter().take_while(|byte| is_name(**byte)).count();
        let begin = self.out.len();
        self.out.extend_from_slice(&line[..name]);
        let labelled = line.get(name) == Some(&b'{');
        let behind = match line.get(name) {
            Some(b'{') => self.labels(&line[name..]).map(|length| name + length),
            Some(b' ' | b'\t') if name > 0 => Some(name),
            _ => None,
        };
        if behind.is_some_and(|at| self.value(&line[at..])) {
            return;
        }
        // Not a sample: what is wrong with it shows at its beginning.
        self.removed.note(Rule::Texts);
        self.out.truncate(begin);
        self.out.extend_from_slice(&line[..name]);
        let next = line.get(name).filter(|next| next.is_ascii_punctuation() || **next == b' ');
        self.out.extend(next);
        self.out.extend_from_slice(if labelled && behind.is_some() { b"} -" } else { b"-" });
    }

    /// A value, and a time; an exemplar goes. False for anything else.
    fn value(&mut self, rest: &'p [u8]) -> bool {
        let end = memchr(b'#', rest).unwrap_or(rest.len());
        let plain = |byte: &u8| byte.is_ascii_digit() || b" \t\r+-.eEinfINFaA_x".contains(byte);
        let value = &rest[..end];
        if value.len() > 64 || !value.iter().all(plain) || value.trim_ascii().is_empty() {
            return false;
        }
        if end < rest.len() {
            self.removed.note(Rule::Texts);
        }
        self.out.extend_from_slice(value);
        true
    }

    /// Labels in braces; their length, or none where they are malformed.
    fn labels(&mut self, text: &'p [u8]) -> Option<usize> {
        if !self.last.is_empty() && text.starts_with(self.last) {
            self.out.extend_from_slice(self.last);
            return Some(self.last.len());
        }
        let begin = self.out.len();
        let (mut at, mut copied, mut clean) = (1, 0, true);
        loop {
            at += text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b',')).count();
            let name = at;
            match text.get(at)? {
                b'}' => break,
                b'"' => at = quoted(text, at)?,
                _ => at += text[at..].iter().take_while(|byte| is_name(**byte)).count(),
            }
            let named = &text[name..at];
            at += text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            // A name in quotes alone is that of the series.
            if text.get(at) != Some(&b'=') {
                if named.first() == Some(&b'"') {
                    continue;
                }
                return None;
            }
            at += 1 + text[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if text.get(at) != Some(&b'"') {
                return None;
            }
            let end = quoted(text, at)?;
            if let Some(kept) = self.label(named, &text[at + 1..end - 1]) {
                self.out.extend_from_slice(&text[copied..=at]);
                self.out.extend_from_slice(kept.as_bytes());
                (copied, clean) = (end - 1, false);
            }
            at = end;
        }
        self.out.extend_from_slice(&text[copied..=at]);
        debug_assert!(self.out.len() > begin);
        self.last = if clean { &text[..=at] } else { &[] };
        Some(at + 1)
    }

    /// What stands in place of a label's value, escaped; none where it stays.
    fn label(&mut self, name: &'p [u8], value: &'p [u8]) -> Option<String> {
        if value.len() > LONGEST {
            self.removed.note(Rule::Texts);
            return Some(TEXT.to_owned());
        }
        if !value.is_empty() && value != TEXT.as_bytes() && std::str::from_utf8(name).is_ok_and(is_text) {
            self.removed.note(Rule::Texts);
            return Some(TEXT.to_owned());
        }
        let secret = self.looks_secret(name);
        if !secret && (!may_hide(value) || self.clean.contains(&value)) {
            return None;
        }
        let text = String::from_utf8_lossy(value);
        if secret && is_secret(&String::from_utf8_lossy(name), &text) && !text.starts_with("[secret") {
            self.removed.note(Rule::Secrets);
            let known = self.secrets.iter().position(|known| *known == value);
            let number = known.unwrap_or_else(|| {
                self.secrets.push(value);
                self.secrets.len() - 1
            });
            return Some(if number == 0 { BLOT.to_owned() } else { format!("[secret {}]", number + 1) });
        }
        let clean = secret::scrubbed(&text, self.removed);
        if clean != text {
            return Some(clean);
        }
        if self.clean.len() < NAMES {
            self.clean.push(value);
        }
        None
    }

    fn looks_secret(&mut self, name: &'p [u8]) -> bool {
        if let Some((_, secret)) = self.names.iter().find(|(known, _)| *known == name) {
            return *secret;
        }
        let secret = looks_secret(&String::from_utf8_lossy(name));
        if self.names.len() < NAMES {
            self.names.push((name, secret));
        }
        secret
    }
}

/// Whether a value is worth a closer look: an address, an assignment, words, or long enough for a token.
fn may_hide(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b'@' | b'=' | b':' | b' ' | b'\\')) || value.len() >= 12 && token(value)
}

/// Whether some part of it is a token by its look.
fn token(value: &[u8]) -> bool {
    matches!(model::without_tokens(&String::from_utf8_lossy(value)), Cow::Owned(_))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.')
}

/// Where the string in quotes that begins at `at` ends.
fn quoted(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', text.get(end..)?)?;
        if text[end] == b'"' {
            return Some(end + 1);
        }
        end += 2;
    }
}
