//! How much is read of one text; hitting a limit is a note.

use std::borrow::Cow;

use model::Note;

/// Bytes of one text.
pub(super) const TEXT: usize = 1 << 20;
/// Commands in one text.
pub(super) const LAUNCHES: usize = 4096;
/// Words of one command.
pub(super) const WORDS: usize = 4096;
/// Bytes of one word: the kernel takes no longer argument.
pub(super) const WORD: usize = 128 << 10;
/// Bytes that variables may take in all commands together.
pub(super) const COPIES: usize = 16 << 20;
/// Bytes of a path or name: the kernel takes no longer path.
pub(super) const PATH: usize = 4096;
/// Bytes of a name with its default, in brackets.
const NAME: usize = 512;
/// Levels of nesting.
pub(super) const DEPTH: usize = 64;
/// Remarks about one text.
pub(super) const NOTES: usize = 100;

/// The beginning of `text` before the byte `end`, if that is near: names are short, and an opening bracket that is never
/// closed must not cost a look at the whole text.
pub(super) fn up_to(text: &str, end: u8) -> Option<&str> {
    let near = &text.as_bytes()[..text.len().min(NAME)];
    memchr::memchr(end, near).map(|at| &text[..at])
}

/// The part of `text` that is read: whole lines up to the limit, without byte order mark; NULs, which no file of these
/// kinds holds, are replaced.
pub(super) fn bounded<'a>(text: &'a str, notes: &mut Vec<Note>) -> Cow<'a, str> {
    let mut text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > TEXT {
        let lines = memchr::memrchr(b'\n', &text.as_bytes()[..TEXT]).map_or(0, |at| at + 1);
        text = &text[..lines];
        notes.push(Note::new("text-cut", format!("only the first {} KiB are read", TEXT >> 10)));
    }
    if text.contains('\0') {
        notes.push(Note::new("binary", "the text holds NUL bytes"));
        return Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    Cow::Borrowed(text)
}
