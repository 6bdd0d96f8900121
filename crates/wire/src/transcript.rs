//! What people save or paste around the text that matters: quotation marks of a mail or a chat, fences, a shell's prompts,
//! headers that `curl -i` prints. Lines keep their numbers, so that what is read can be named by file and line.

use std::borrow::Cow;

/// Parts of one text; more are not looked for.
const MOST_PARTS: usize = 64;
/// Lines of one header.
const MOST_HEADER: usize = 200;

/// One part of a text: the body of an answer, what a command printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'a> {
    /// The number of its first line in the whole text, from 1.
    pub first_line: u32,
    /// Its lines.
    pub body: Cow<'a, [u8]>,
    /// The `Date` of the header before it, as sent.
    pub date: Option<String>,
}

/// `text` without byte order mark and, when every line is quoted, without the quotation marks. As many lines as before.
pub fn unquoted(text: &[u8]) -> Cow<'_, [u8]> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
    if lines.peek().is_none() || !lines.all(|line| line.starts_with(b">")) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b">").unwrap_or(line);
        out.extend_from_slice(line.strip_prefix(b" ").unwrap_or(line));
    }
    Cow::Owned(out)
}

/// Whether a line is a fence, as chats and wikis put around text.
fn is_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

/// Whether a line is a prompt of a shell, with or without a command.
fn is_prompt(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if line == b"$" || line.starts_with(b"$ ") {
        return true;
    }
    let Some(end) = line.windows(2).position(|pair| pair == b"$ " || pair == b"# ") else {
        return matches!(line.last(), Some(b'$' | b'#')) && is_host(&line[..line.len() - 1]);
    };
    is_host(&line[..end])
}

/// `root@gpu7:~`, `[root@gpu7 ~]`.
fn is_host(head: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:~@ []+".contains(byte);
    head.contains(&b'@') && head.len() < 200 && head.iter().all(plain)
}

/// The text inside of fences where there are any, with all other lines made empty; else the whole text.
pub fn unfenced(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.split(|byte| *byte == b'\n').any(is_fence) {
        return Cow::Borrowed(text);
    }
    let mut inside = false;
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let fence = is_fence(line);
        inside ^= fence;
        let kept = inside && !fence;
        out.extend_from_slice(if kept || !line.ends_with(b"\n") && !fence { line } else { b"\n" });
    }
    Cow::Owned(out)
}

/// The parts of `text` between fences and prompts, freed of headers. A text with neither is one part.
pub fn parts(text: &[u8]) -> Vec<Part<'_>> {
    let mut found: Vec<Part> = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
        if is_fence(line) || is_prompt(line) {
            found.extend(part(&text[start..at], first));
            (start, first) = (at + line.len(), number + 1);
        }
        at += line.len();
        if found.len() == MOST_PARTS {
            return found;
        }
    }
    found.extend(part(&text[start..], first));
    found
}

fn part(text: &[u8], first_line: u32) -> Option<Part<'_>> {
    let mut part = Part { first_line, body: Cow::Borrowed(text), date: None };
    let mut rest = text;
    loop {
        let blank = rest.len() - rest.trim_ascii_start().len();
        let Some(length) = header(&rest[blank..], &mut part.date) else { break };
        let taken = blank + length;
        part.first_line += memchr::memchr_iter(b'\n', &rest[..taken]).count() as u32;
        rest = &rest[taken..];
    }
    part.body = Cow::Borrowed(rest);
    (!rest.trim_ascii().is_empty()).then_some(part)
}

/// Bytes of the header at the beginning of `text`, with the empty line behind it.
fn header(text: &[u8], date: &mut Option<String>) -> Option<usize> {
    if !text.starts_with(b"HTTP/") {
        return None;
    }
    let mut length = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n').take(MOST_HEADER) {
        length += line.len();
        let line = line.trim_ascii();
        if line.is_empty() {
            return Some(length);
        }
        if let Some((name, value)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':'))
            && name.eq_ignore_ascii_case("date")
        {
            *date = Some(value.trim().to_owned());
        }
    }
    None
}

impl Part<'_> {
    /// The JSON in a part that has words before or behind it: from the first line that begins like one, to the end of its
    /// first value. None where nothing begins so.
    pub fn json(&self) -> Option<Part<'_>> {
        let mut at = 0;
        for (number, line) in (self.first_line..).zip(self.body.split_inclusive(|byte| *byte == b'\n')) {
            let begins = match line.trim_ascii() {
                [b'{', ..] | [b'['] => true,
                [b'[', next, ..] => matches!(next, b'{' | b'[' | b' ' | b'"'),
                _ => false,
            };
            if begins {
                let rest = &self.body[at..];
                let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<serde::de::IgnoredAny>();
                let length = match values.next() {
                    Some(Ok(_)) => values.byte_offset(),
                    _ => rest.len(),
                };
                return Some(Part {
                    first_line: number,
                    body: Cow::Borrowed(&rest[..length]),
                    date: self.date.clone(),
                });
            }
            at += line.len();
        }
        None
    }
}
