//! What is wrong with a table, and where in its file.

use std::fmt;

/// Letters of a line that are shown before what is wrong in it, …
const MOST_BEFORE: usize = 80;
/// … and in all.
const MOST_SHOWN: usize = 160;

/// A fault of one file, at a line of it where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line from 1, and its text with what is wrong marked below it.
    pub place: Option<(usize, String)>,
    /// What is wrong, one sentence.
    pub text: String,
}

impl Fault {
    /// A fault of a file as a whole.
    pub fn of(file: &str, text: impl Into<String>) -> Fault {
        Fault { file: model::text::visible(file), place: None, text: model::text::visible(text) }
    }

    /// A fault at a byte of the file's content.
    pub fn at(file: &str, content: &str, range: std::ops::Range<usize>, text: impl Into<String>) -> Fault {
        let start = (0..=range.start.min(content.len())).rev().find(|at| content.is_char_boundary(*at)).unwrap_or(0);
        let (before, _) = content.split_at(start);
        let first = before.rfind('\n').map_or(0, |at| at + 1);
        let line = content[first..].lines().next().unwrap_or_default();
        let column = content[first..start].chars().count();
        let marked = content
            .get(start..range.end)
            .map_or(1, |marked| marked.lines().next().unwrap_or_default().chars().count().max(1));
        // Of a long line what stands around the mark.
        let from = column.saturating_sub(MOST_BEFORE);
        let plain = |letter: char| if model::text::upsets(letter) { '\u{fffd}' } else { letter };
        let line: String = line.chars().skip(from).take(MOST_SHOWN).map(plain).collect();
        let marked = marked.min(MOST_SHOWN - (column - from));
        let shown = format!("{line}\n{}{}", " ".repeat(column - from), "^".repeat(marked));
        Fault {
            file: file.to_owned(),
            place: Some((before.matches('\n').count() + 1, shown)),
            text: model::text::visible(text),
        }
    }

    /// A fault of the row in which `near` stands; of the file where it does not.
    pub fn near(file: &str, content: &str, near: &str, text: impl Into<String>) -> Fault {
        match content.find(near) {
            Some(start) if !near.is_empty() => Fault::at(file, content, start..start + near.len(), text),
            _ => Fault::of(file, text),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((line, shown)) => {
                let width = line.to_string().len();
                let gutter = " ".repeat(width);
                let (text, mark) = shown.split_once('\n').unwrap_or((shown, ""));
                let file = &self.file;
                writeln!(formatter, "{file}:{line}: {}", self.text)?;
                write!(formatter, " {line} | {text}\n {gutter} | {mark}")
            }
            None => write!(formatter, "{}: {}", self.file, self.text),
        }
    }
}
