//! A server's arguments as Python prints them into a log: `ServerArgs(a='x', b=1)`, `Namespace(…)`, `args: {'a': 'x'}`.

use std::fmt;

use model::{Note, looks_secret};

use super::limits;

/// A value as Python spells it.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// A string, without its quotes and escapes.
    Text(String),
    /// A number, `True`, `False` or `None`, as spelled.
    Scalar(String),
    /// A list, dictionary, call or anything else, as it stands in the source.
    Other(String),
}

impl Value {
    /// The value as text.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) | Value::Scalar(text) | Value::Other(text) => text,
        }
    }
}

/// Strings and everything that may hold one are shown by their length.
impl fmt::Debug for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Scalar(text) => out.write_str(text),
            Value::Text(text) => write!(out, "<text of {} bytes>", text.len()),
            Value::Other(text) => write!(out, "<{} bytes>", text.len()),
        }
    }
}

/// The arguments of one server. Values are kept as printed, secrets as well; `Debug` shows no string.
#[derive(Clone, PartialEq, Eq)]
pub struct Dump<'a> {
    /// What was printed: `ServerArgs`, `Namespace`, `args`.
    pub name: &'a str,
    /// The fields in their order.
    pub fields: Vec<(String, Value)>,
    /// The line, from 1, on which it begins.
    pub line: u32,
    /// The bytes of the text that it takes: the next one may follow behind.
    pub range: std::ops::Range<usize>,
    /// Whether its end is there.
    pub whole: bool,
    /// What was not read.
    pub notes: Vec<Note>,
}

impl fmt::Debug for Dump<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = Value::Scalar("…".to_owned());
        let shown = |(name, value)| (name, if looks_secret(name) { &hidden } else { value });
        let fields: Vec<_> = self.fields.iter().map(|(name, value)| shown((name, value))).collect();
        out.debug_struct("Dump")
            .field("name", &self.name)
            .field("fields", &fields)
            .field("whole", &self.whole)
            .finish_non_exhaustive()
    }
}

/// Fields that make a call of any name a dump of arguments.
const MANY: usize = 8;
/// Fields that make one of a telling name such a dump.
const FEW: usize = 2;

/// The first dump of arguments in `text`.
pub fn dump(text: &str) -> Option<Dump<'_>> {
    let cut = text.len() > limits::TEXT;
    let text = if cut { &text[..text.floor_char_boundary(limits::TEXT)] } else { text };
    // Quotes that are never closed must not make every opening bracket read the whole text.
    let mut budget = text.len() * 4 + 4096;
    let mut at = 0;
    while let Some(open) = text[at..].find(['(', '{']).map(|found| at + found) {
        at = open + 1;
        let Some((name, telling)) = name(text, open) else { continue };
        let mut reader = Reader { text, at: open + 1, dictionary: text.as_bytes()[open] == b'{', notes: Vec::new() };
        let (fields, whole) = reader.fields();
        budget = budget.checked_sub(reader.at - open)?;
        if fields.len() < if telling { FEW } else { MANY } {
            continue;
        }
        let mut notes = reader.notes;
        if !whole {
            notes.push(Note::new("cut", format!("the arguments end in the middle, {} are whole", fields.len())));
        }
        let before = name.as_ptr() as usize - text.as_ptr() as usize;
        let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..before]).count() as u32;
        return Some(Dump { name, fields, line, range: before..reader.at, whole, notes });
    }
    None
}

/// What stands before the bracket at `open`, and whether it tells of arguments.
fn name(text: &str, open: usize) -> Option<(&str, bool)> {
    let before = &text[..open];
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if text[open..].starts_with('{') {
        let before = before.trim_end_matches(' ').strip_suffix([':', '='])?.trim_end_matches(' ');
        let name = &before[before.trim_end_matches(is_name).len()..];
        return (name.ends_with("args") || name.ends_with("arguments")).then_some((name, true));
    }
    let name = &before[before.trim_end_matches(is_name).len()..];
    let telling = name == "Namespace" || name.ends_with("Args") || name.ends_with("Arguments");
    name.starts_with(|letter: char| letter.is_ascii_uppercase()).then_some((name, telling))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    dictionary: bool,
    notes: Vec<Note>,
}

impl<'a> Reader<'a> {
    /// The fields up to the closing bracket, and whether that was there.
    fn fields(&mut self) -> (Vec<(String, Value)>, bool) {
        let mut fields = Vec::new();
        loop {
            self.blanks();
            match self.text[self.at..].chars().next() {
                None => return (fields, false),
                Some(')' | '}') => {
                    self.at += 1;
                    return (fields, true);
                }
                Some(',') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }
            let Some(key) = self.key() else { return (fields, false) };
            self.blanks();
            // A value that ends with the text may go on where the text was cut.
            let Some(value) = self.value() else { return (fields, false) };
            if fields.len() < limits::WORDS && value.len() <= limits::WORD {
                fields.push((key, classify(value)));
            } else if self.notes.is_empty() {
                self.notes.push(Note::new("long-dump", "too many fields, or one too long: not all are read"));
            }
        }
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn key(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let (key, length) = if self.dictionary {
            let length = string_length(rest)?;
            (decode(&rest[..length])?, length)
        } else {
            let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
            (rest[..length].to_owned(), length)
        };
        let behind = rest[length..].trim_start();
        let behind = behind.strip_prefix(if self.dictionary { ':' } else { '=' })?;
        self.at = self.text.len() - behind.len();
        (!key.is_empty()).then_some(key)
    }

    /// The source of a value, up to the comma or bracket that ends it.
    fn value(&mut self) -> Option<&'a str> {
        let (start, mut depth) = (self.at, 0usize);
        while let Some(letter) = self.text[self.at..].chars().next() {
            match letter {
                '\'' | '"' => {
                    let Some(length) = string_length(&self.text[self.at..]) else {
                        self.at = self.text.len();
                        return None;
                    };
                    self.at += length;
                    continue;
                }
                ',' | ')' | '}' if depth == 0 => return Some(self.text[start..self.at].trim_end()),
                '(' | '[' | '{' | '<' => depth += 1,
                // An arrow or a comparison closes nothing.
                ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > limits::DEPTH {
                return None;
            }
            self.at += letter.len_utf8();
        }
        None
    }
}

/// Bytes of the string literal at the beginning of `text`, with its quotes.
fn string_length(text: &str) -> Option<usize> {
    let quote = text.bytes().next().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let mut at = 1;
    while let Some(found) = memchr::memchr2(quote, b'\\', &text.as_bytes()[at..]) {
        at += found + 1;
        if text.as_bytes()[at - 1] == quote {
            return Some(at);
        }
        at += 1;
        if at >= text.len() {
            return None;
        }
    }
    None
}

fn classify(source: &str) -> Value {
    let number = source.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.'))
        && source.parse::<f64>().is_ok();
    match decode(source) {
        Some(text) => Value::Text(text),
        None if number || matches!(source, "True" | "False" | "None" | "nan" | "inf" | "-inf") => {
            Value::Scalar(source.to_owned())
        }
        None => Value::Other(source.to_owned()),
    }
}

/// The text of a string literal; none where `literal` is something else.
fn decode(literal: &str) -> Option<String> {
    if string_length(literal)? != literal.len() {
        return None;
    }
    let mut out = String::new();
    let mut letters = literal[1..literal.len() - 1].chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let digits = match letters.next() {
            Some('n') => Err('\n'),
            Some('t') => Err('\t'),
            Some('r') => Err('\r'),
            Some('x') => Ok(2),
            Some('u') => Ok(4),
            Some('U') => Ok(8),
            other => Err(other.unwrap_or('\\')),
        };
        match digits {
            Err(letter) => out.push(letter),
            Ok(digits) => {
                let rest = letters.as_str();
                let code = rest.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
                if let Some(letter) = code.and_then(char::from_u32) {
                    out.push(letter);
                    letters = rest[digits..].chars();
                } else {
                    out.push('\u{fffd}');
                }
            }
        }
    }
    Some(out)
}
