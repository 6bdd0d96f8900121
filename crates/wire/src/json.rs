//! On which line of a JSON text a value stands.

use std::collections::BTreeMap;

/// Values of which the line is kept; those further on have none.
const MOST: usize = 200_000;
/// Levels of nesting that are looked into.
const DEPTH: usize = 64;

/// The lines of a text's values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The line on which the text begins.
    first: u32,
    /// By JSON pointer; empty where the whole text is one line.
    by_pointer: BTreeMap<String, u32>,
}

impl Lines {
    /// The line, from 1, of the value at `pointer` (RFC 6901): of its key where it has one.
    pub fn of(&self, pointer: &str) -> Option<u32> {
        if self.by_pointer.is_empty() { Some(self.first) } else { self.by_pointer.get(pointer).copied() }
    }
}

/// An object or list that is open.
struct Level {
    /// Bytes of its own pointer.
    path: usize,
    /// The number of the next element; none in an object.
    index: Option<usize>,
    /// The next string is a key.
    key: bool,
    /// The next value is an element whose line is not known yet.
    fresh: bool,
}

/// Finds the lines of all values in `text`. A text that is no JSON gives what reads like it.
pub fn lines(text: &[u8]) -> Lines {
    let body = text.trim_ascii();
    let blank = text.len() - text.trim_ascii_start().len();
    let first = 1 + memchr::memchr_iter(b'\n', &text[..blank]).count() as u32;
    let mut out = Lines { first, by_pointer: BTreeMap::new() };
    if !body.contains(&b'\n') {
        return out;
    }
    out.by_pointer.insert(String::new(), first);
    let (mut line, mut path) = (first, String::new());
    let mut levels: Vec<Level> = Vec::new();
    let mut at = 0;
    while at < body.len() && out.by_pointer.len() < MOST {
        let byte = body[at];
        if !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}' | b':') {
            element(&mut levels, &mut path, line, &mut out);
        }
        match byte {
            b'\n' => line += 1,
            b'"' => {
                let length = string(&body[at..]);
                if let Some(level) = levels.last_mut().filter(|level| level.key) {
                    let key = String::from_utf8_lossy(&body[at + 1..(at + length - 1).max(at + 1)]);
                    path.truncate(level.path);
                    path.push('/');
                    path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    out.by_pointer.insert(path.clone(), line);
                    level.key = false;
                }
                at += length;
                continue;
            }
            b'{' | b'[' if levels.len() < DEPTH => {
                let index = (byte == b'[').then_some(0);
                levels.push(Level { path: path.len(), index, key: byte == b'{', fresh: byte == b'[' });
            }
            b'{' | b'[' => return out,
            b'}' | b']' => {
                if let Some(level) = levels.pop() {
                    path.truncate(level.path);
                }
            }
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.index = level.index.map(|index| index + 1);
                    (level.key, level.fresh) = (level.index.is_none(), level.index.is_some());
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// Keeps the line of a list's element that begins here.
fn element(levels: &mut [Level], path: &mut String, line: u32, out: &mut Lines) {
    let Some(level) = levels.last_mut().filter(|level| level.fresh) else { return };
    level.fresh = false;
    path.truncate(level.path);
    path.push('/');
    path.push_str(&level.index.unwrap_or_default().to_string());
    out.by_pointer.insert(path.clone(), line);
}

/// Bytes of the string at the beginning of `text`, with its quotes.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}
