//! Variables in the words of a command, put in as systemd does: `$NAME` as a word of its own is split at blanks, `${NAME}`
//! anywhere in a word is not, `$$` is a dollar.

use super::words;
use crate::launch::{Word, limits};

/// The variables of a unit, and whether they are all that there are.
pub(super) struct Known<'a> {
    pub(super) set: &'a [(String, String, u32)],
    /// Whether an environment file is named that was not read.
    pub(super) more: bool,
}

impl Known<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.set.iter().rev().find(|(known, _, _)| known == name).map(|(_, value, _)| value.as_str())
    }
}

/// `words` with their variables put in; names that are not known go to `missing`. They become nothing where no file is left
/// that could say them, and stay as written otherwise.
pub(super) fn expand(words: &[Word], known: &Known<'_>, missing: &mut Vec<(String, u32)>) -> Vec<Word> {
    let mut out: Vec<Word> = words.first().cloned().into_iter().collect();
    let mut length = 0;
    for word in words.iter().skip(1) {
        let own = word.text.strip_prefix('$').filter(|name| !name.starts_with(['$', '{']));
        if let Some((name, value)) = own.map(|name| (name, known.get(name))) {
            match value {
                Some(value) => out.extend(split(value, word.line)),
                None if known.more => out.push(word.clone()),
                None => {}
            }
            missing.extend(value.is_none().then(|| (name.to_owned(), word.line)));
        } else {
            out.push(inside(word, known, missing));
        }
        length += out.last().map_or(0, |word| word.text.len());
        // Values put in again and again could make much of little.
        if length > limits::TEXT || out.len() > limits::WORDS {
            break;
        }
    }
    out
}

fn split(value: &str, line: u32) -> Vec<Word> {
    let (value, mut at, mut out) = (Word::new(value, line), 0, Vec::new());
    while let Ok(Some(word)) = words::next(&value, &mut at) {
        out.push(word);
    }
    out
}

fn inside(word: &Word, known: &Known<'_>, missing: &mut Vec<(String, u32)>) -> Word {
    let mut out = Word::new("", word.line);
    let mut from = 0;
    while let Some(at) = word.text[from..].find('$').map(|at| from + at) {
        out.extend(word, from..at);
        let rest = &word.text[at + 1..];
        let name = rest.strip_prefix('{').and_then(|rest| limits::up_to(rest, b'}'));
        let line = word.line_at(at);
        let Some(name) = name else {
            out.push('$', line);
            from = at + 1 + usize::from(rest.starts_with('$'));
            continue;
        };
        from = at + name.len() + 3;
        match known.get(name) {
            Some(value) if out.text.len() <= limits::WORD => out.push_str(value, line),
            Some(_) => {}
            None => {
                missing.push((name.to_owned(), line));
                if known.more {
                    out.extend(word, at..from);
                }
            }
        }
    }
    out.extend(word, from..word.text.len());
    out
}
