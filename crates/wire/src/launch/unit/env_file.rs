//! Files that `EnvironmentFile=` names, as systemd reads them.

use std::fmt;

use model::Note;

use crate::launch::limits;

/// Variables that a file sets. `Debug` shows no value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Assignments {
    /// Name, value and line, in the order of the file; the last of a name counts.
    pub set: Vec<(String, String, u32)>,
    /// Lines that set nothing.
    pub notes: Vec<Note>,
}

impl fmt::Debug for Assignments {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: Vec<_> = self.set.iter().map(|(name, _, line)| (name, line)).collect();
        out.debug_struct("Assignments").field("set", &set).field("notes", &self.notes).finish()
    }
}

/// Whether `name` can be a variable's.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

/// Reads a file of variables: `NAME=value` lines, comments with `#` and `;`, values in single or double quotes over any
/// number of lines, a backslash before a line's end joins it with the next.
pub fn env_file(text: &str) -> Assignments {
    let mut found = Assignments::default();
    let text = limits::bounded(text, &mut found.notes);
    let mut letters = Letters { rest: text.chars().peekable(), line: 1 };
    loop {
        while letters
            .rest
            .next_if(char::is_ascii_whitespace)
            .inspect(|letter| letters.line += u32::from(*letter == '\n'))
            .is_some()
        {}
        let line = letters.line;
        let Some(first) = letters.rest.peek().copied() else { break };
        if matches!(first, '#' | ';') {
            letters.comment();
            continue;
        }
        let mut name = String::new();
        while let Some(letter) = letters.rest.next_if(|letter| !matches!(letter, '=' | '\n')) {
            name.push(letter);
        }
        let assigns = letters.next() == Some('=');
        let value = if assigns { letters.value() } else { String::new() };
        if assigns && is_name(name.trim()) && found.set.len() < limits::WORDS {
            found.set.push((name.trim().to_owned(), value, line));
        } else if found.notes.len() < limits::NOTES {
            found.notes.push(Note::new("no-assignment", format!("line {line} sets no variable")));
        }
    }
    found
}

struct Letters<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: u32,
}

impl Letters<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        self.line += u32::from(letter == '\n');
        Some(letter)
    }

    fn comment(&mut self) {
        while let Some(letter) = self.next() {
            match letter {
                '\\' => drop(self.next()),
                '\n' => break,
                _ => {}
            }
        }
    }

    fn value(&mut self) -> String {
        let mut value = String::new();
        // What quotes and escapes hold is kept, blanks at the end of the rest are not.
        let mut kept = 0;
        // Quotes count only before the first letter that stands outside of quotes.
        let mut before = true;
        while let Some(letter) = self.next() {
            match letter {
                '\n' => break,
                '\'' | '"' if before => {
                    self.quoted(letter, &mut value);
                    kept = value.len();
                }
                '\\' => {
                    if let Some(escaped) = self.next().filter(|escaped| *escaped != '\n') {
                        before = false;
                        value.push(escaped);
                        kept = value.len();
                    }
                }
                blank if blank.is_ascii_whitespace() && before => {}
                letter => {
                    before = false;
                    value.push(letter);
                    kept = if letter.is_ascii_whitespace() { kept } else { value.len() };
                }
            }
        }
        value.truncate(kept);
        value
    }

    fn quoted(&mut self, quote: char, value: &mut String) {
        while let Some(letter) = self.next() {
            match letter {
                letter if letter == quote => break,
                '\\' if quote == '"' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => {
                        if !matches!(escaped, '"' | '\\' | '`' | '$') {
                            value.push('\\');
                        }
                        value.push(escaped);
                    }
                },
                letter => value.push(letter),
            }
        }
    }
}
