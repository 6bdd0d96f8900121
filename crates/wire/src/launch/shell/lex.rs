//! Shell text to simple commands: quotes, comments, redirections, here-documents, and variables that the text itself sets.

use super::variables::Variables;
use crate::launch::{Word, limits};

/// One simple command.
#[derive(Default)]
pub(crate) struct Command {
    /// Variables set for it: name, value, line.
    pub(super) assignments: Vec<(String, String, u32)>,
    /// Its words, without assignments and redirections.
    pub(crate) words: Vec<Word>,
}

/// All that a text says.
#[derive(Default)]
pub(super) struct Lexed {
    pub(super) commands: Vec<Command>,
    /// Whether nothing but simple words was there: no operator, redirection, comment or substitution.
    pub(super) simple: bool,
    /// The line of a quote that is never closed.
    pub(super) unclosed: Option<u32>,
    /// Variables that a `${NAME:-default}` gave a value.
    pub(super) defaults: Vec<(String, u32)>,
}

pub(super) struct Lexer<'a> {
    source: &'a Word,
    at: usize,
    word: Option<Word>,
    /// Whether a part of the word was in quotes: then it is no keyword, and stays even if empty.
    quoted: bool,
    command: Command,
    /// The next word is the file of a redirection.
    redirected: bool,
    /// The name of the array that the words go to.
    array: Option<String>,
    heredocs: Vec<(String, bool)>,
    variables: Variables,
    out: Lexed,
}

/// Words that may stand before a command.
const KEYWORDS: &[&str] = &["if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "fi", "done", "esac"];

pub(super) fn lex(source: &Word) -> Lexed {
    let mut lexer = Lexer {
        source,
        at: 0,
        word: None,
        quoted: false,
        command: Command::default(),
        redirected: false,
        array: None,
        heredocs: Vec::new(),
        variables: Variables::default(),
        out: Lexed { simple: true, ..Lexed::default() },
    };
    while let Some(letter) = lexer.peek() {
        lexer.step(letter);
        if lexer.out.commands.len() > limits::LAUNCHES {
            break;
        }
    }
    lexer.end_command();
    lexer.out
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn line(&self) -> u32 {
        self.source.line_at(self.at)
    }

    fn word(&mut self) -> &mut Word {
        let line = self.line();
        self.word.get_or_insert_with(|| Word::new("", line))
    }

    fn take(&mut self, letter: char) {
        let line = self.line();
        self.word().push(letter, line);
        self.at += letter.len_utf8();
    }

    fn step(&mut self, letter: char) {
        match letter {
            '\\' => self.escaped(),
            '\'' => self.single(),
            '"' => self.double(),
            '$' => self.dollar(false),
            '`' => {
                self.out.simple = false;
                let end = self.rest()[1..].find('`').map_or(self.rest().len(), |end| end + 2);
                self.verbatim(end);
            }
            '#' if self.word.is_none() => {
                self.out.simple = false;
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            }
            '<' | '>' => self.redirection(letter),
            '&' if self.rest().starts_with("&>") => {
                self.end_word();
                self.at += 1;
                self.redirection('>');
            }
            '\n' => {
                self.at += 1;
                if self.array.is_some() {
                    self.end_word();
                } else {
                    self.out.simple &= self.rest().trim().is_empty();
                    self.end_command();
                }
                self.skip_heredocs();
            }
            ';' | '&' | '|' | '(' | ')' => self.operator(letter),
            letter if letter.is_whitespace() => {
                self.end_word();
                self.at += letter.len_utf8();
            }
            letter => self.take(letter),
        }
    }

    fn operator(&mut self, letter: char) {
        self.out.simple = false;
        self.at += 1;
        let name = self.word.as_ref().and_then(|word| word.text.strip_suffix('=')).map(str::to_owned);
        if let (true, Some(name)) = (letter == '(', name) {
            self.word = None;
            self.array = Some(name.trim_end_matches('+').to_owned());
            self.variables.clear_array(&name);
            return;
        }
        if letter == ')' && self.array.is_some() {
            self.end_word();
            self.array = None;
            return;
        }
        self.end_command();
    }

    fn escaped(&mut self) {
        self.at += 1;
        match self.peek() {
            // A backslash before a line's end joins the lines.
            Some('\n') => self.at += 1,
            Some('\r') if self.rest().starts_with("\r\n") => self.at += 2,
            Some(letter) => {
                self.quoted = true;
                self.take(letter);
            }
            None => {}
        }
    }

    fn single(&mut self) {
        let line = self.line();
        self.word();
        self.quoted = true;
        self.at += 1;
        let end = self.rest().find('\'');
        self.verbatim(end.unwrap_or(self.rest().len()));
        if end.is_some() {
            self.at += 1;
        } else {
            self.out.unclosed.get_or_insert(line);
        }
    }

    fn double(&mut self) {
        let line = self.line();
        self.word();
        self.quoted = true;
        self.at += 1;
        while let Some(letter) = self.peek() {
            match letter {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => self.at += 1,
                        Some(letter @ ('$' | '`' | '"' | '\\')) => self.take(letter),
                        _ => {
                            self.word().push('\\', line);
                        }
                    }
                }
                '$' => self.dollar(true),
                letter => self.take(letter),
            }
        }
        self.out.unclosed.get_or_insert(line);
    }

    /// Takes the next `length` bytes as they stand.
    fn verbatim(&mut self, length: usize) {
        let source = self.source;
        let range = self.at..self.at + length;
        self.word().extend(source, range.clone());
        self.at = range.end;
    }

    fn dollar(&mut self, in_quotes: bool) {
        let rest = self.rest();
        if let Some(behind) = rest.strip_prefix("$(") {
            self.out.simple = false;
            let length = balanced(behind) + 2;
            return self.verbatim(length);
        }
        if !in_quotes && rest.starts_with("$'") {
            self.at += 1;
            return self.single();
        }
        let (found, line) = (self.variables.at(rest), self.line());
        if let Some(name) = found.defaulted {
            self.out.defaults.push((name, line));
        }
        let Some(values) = found.values else { return self.verbatim(found.length) };
        self.at += found.length;
        // Outside of quotes a value is split at blanks; each element of an array is a word of its own also inside.
        let whole = in_quotes && !found.array;
        for (index, value) in values.iter().enumerate() {
            let parts: Vec<&str> = if in_quotes { vec![value.as_str()] } else { value.split_whitespace().collect() };
            for (part_index, part) in parts.into_iter().enumerate() {
                if !whole && index + part_index > 0 {
                    self.end_word();
                }
                self.word.get_or_insert_with(|| Word::new("", line)).push_str(part, line);
            }
        }
        self.quoted |= values.iter().any(|value| !value.is_empty());
    }

    fn redirection(&mut self, letter: char) {
        self.out.simple = false;
        let operator = self.rest().len() - self.rest().trim_start_matches(letter).len();
        if self.rest()[operator..].starts_with('(') && operator == 1 {
            let length = balanced(&self.rest()[2..]) + 2;
            return self.verbatim(length);
        }
        // A number right before it is the descriptor.
        if self.word.as_ref().is_some_and(|word| word.text.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.at += operator;
        if letter == '<' && operator == 2 {
            return self.heredoc();
        }
        if self.rest().starts_with(['&', '|']) {
            self.at += 1;
        }
        self.redirected = true;
    }

    fn heredoc(&mut self) {
        let strip = self.rest().starts_with('-');
        self.at += usize::from(strip);
        let rest = self.rest();
        let start = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let length = rest[start..].find(|letter: char| letter.is_whitespace() || ";&|)".contains(letter));
        let end = length.map_or(rest.len(), |length| start + length);
        let name: String = rest[start..end].chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
        self.at += end;
        if !name.is_empty() {
            self.heredocs.push((name, strip));
        }
    }

    fn skip_heredocs(&mut self) {
        for (name, strip) in std::mem::take(&mut self.heredocs) {
            loop {
                let rest = self.rest();
                let end = rest.find('\n');
                let line = rest[..end.unwrap_or(rest.len())].trim_end_matches('\r');
                let last = end.is_none() || if strip { line.trim_start_matches('\t') == name } else { line == name };
                self.at += end.map_or(rest.len(), |end| end + 1);
                if last {
                    break;
                }
            }
        }
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.quoted);
        let Some(word) = self.word.take() else { return };
        if word.text.is_empty() && !quoted || std::mem::take(&mut self.redirected) {
            return;
        }
        if let Some(array) = &self.array {
            return self.variables.push(array, word.text);
        }
        let first = self.command.words.is_empty();
        if first && !quoted && KEYWORDS.contains(&word.text.as_str()) {
            self.out.simple = false;
            return;
        }
        match word.text.split_once('=') {
            Some((name, value)) if first && super::variables::is_name(name) => {
                self.command.assignments.push((name.to_owned(), value.to_owned(), word.line));
            }
            _ if self.command.words.len() <= limits::WORDS => self.command.words.push(word),
            _ => {}
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = false;
        let command = std::mem::take(&mut self.command);
        if command.words.is_empty()
            || matches!(command.words[0].text.as_str(), "export" | "declare" | "local" | "readonly")
        {
            for (name, value, _) in &command.assignments {
                self.variables.set(name, value);
            }
            for (name, value) in command.words.iter().filter_map(|word| word.text.split_once('=')) {
                self.variables.set(name, value);
            }
        }
        if !command.words.is_empty() || !command.assignments.is_empty() {
            self.out.commands.push(command);
        }
    }
}

/// Bytes up to and with the parenthesis that closes one opened before `text`.
fn balanced(text: &str) -> usize {
    let mut depth = 1usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}
