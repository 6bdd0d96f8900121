//! What terminals are told between the letters: escape sequences, as bytes and as programs spell them.

use std::borrow::Cow;

use memchr::{memchr2, memmem};

/// How the escape character is spelled by syslog daemons, pagers and encoders that will not pass it on.
const SPELLED: [&str; 5] = ["#033[", "^[[", "\\x1b[", "\\u001b[", "\\033["];

/// `text` without escape sequences; the same text where there is none.
pub(super) fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let raw = memchr2(0x1b, 0xc2, bytes).is_some_and(|_| text.contains(['\u{1b}', '\u{9b}']));
    let spelled = SPELLED.iter().any(|form| memmem::find(bytes, form.as_bytes()).is_some());
    if !raw && !spelled {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(at) = rest.find(['\u{1b}', '\u{9b}', '#', '^', '\\']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let gone = sequence(rest);
        // A character that only looked like the start of one stays.
        let length = if gone == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { gone };
        if gone == 0 {
            kept.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Length of the escape sequence that `text` begins with; 0 when it begins with none.
fn sequence(text: &str) -> usize {
    if let Some(form) = SPELLED.iter().find(|form| text.starts_with(**form)) {
        let length = form.len() + control(&text[form.len()..]);
        return if text[..length].ends_with('m') { length } else { 0 };
    }
    if let Some(rest) = text.strip_prefix("\u{1b}[") {
        return 2 + control(rest);
    }
    if let Some(rest) = text.strip_prefix('\u{9b}') {
        return 2 + control(rest);
    }
    if let Some(rest) = text.strip_prefix("\u{1b}]") {
        return 2 + title(rest);
    }
    let Some(rest) = text.strip_prefix('\u{1b}') else { return 0 };
    let between = rest.bytes().take_while(|byte| (0x20..0x30).contains(byte)).count();
    let last = rest.as_bytes().get(between).is_some_and(|byte| (0x30..0x7f).contains(byte));
    1 + between + usize::from(last)
}

/// Parameters, intermediates and the final byte of a control sequence.
fn control(text: &str) -> usize {
    let inner = text.bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
    inner + usize::from(text.as_bytes().get(inner).is_some_and(|byte| (0x40..0x7f).contains(byte)))
}

/// Text of an operating system command up to its end; nothing when it has none, because then the line is not all of it.
fn title(text: &str) -> usize {
    let bell = text.find('\u{7}').map(|at| at + 1);
    let string = text.find("\u{1b}\\").map(|at| at + 2);
    bell.into_iter().chain(string).min().unwrap_or(0)
}
