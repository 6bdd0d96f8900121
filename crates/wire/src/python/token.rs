//! Source to tokens in logical lines. Comments and blank space are gone; brackets know their mates.

use std::ops::Range;

use model::Note;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// An identifier or keyword.
    Word,
    /// A number.
    Number,
    /// A string literal, prefix and quotes included.
    Text,
    /// An operator, of two characters where it ends in `=`, or a bracket.
    Sign,
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) sort: Sort,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: u32,
    /// An opening bracket's closing one in the same logical line, or 0.
    pub(super) mate: usize,
}

/// One logical line: tokens up to a line end that no bracket holds open.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) tokens: Range<usize>,
    /// Columns of blank space before it; a tab goes to the next multiple of eight.
    pub(super) column: usize,
}

/// A file in tokens.
#[derive(Debug)]
pub(super) struct Lexed<'a> {
    pub(super) source: &'a [u8],
    pub(super) tokens: Vec<Token>,
    pub(super) lines: Vec<Line>,
    pub(super) notes: Vec<Note>,
}

impl Lexed<'_> {
    /// The bytes of a token; none behind the last.
    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        self.tokens.get(at).map_or(&[], |token| &self.source[token.start..token.end])
    }

    /// Whether a token is this sign or word.
    pub(super) fn is(&self, at: usize, text: &str) -> bool {
        self.bytes(at) == text.as_bytes()
    }

    /// What a token is; nothing behind the last.
    pub(super) fn sort(&self, at: usize) -> Option<Sort> {
        self.tokens.get(at).map(|token| token.sort)
    }

    /// A token's text.
    pub(super) fn text(&self, at: usize) -> String {
        String::from_utf8_lossy(self.bytes(at)).into_owned()
    }

    /// The token after `at`, or after its mate for an opening bracket.
    pub(super) fn after(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(at, |token| token.mate.max(at)) + 1
    }
}

/// Words that begin a statement and never stand first on a line inside of brackets: one there shows that a bracket was
/// never closed.
const STATEMENTS: [&[u8]; 12] = [
    b"class", b"def", b"return", b"with", b"while", b"import", b"raise", b"pass", b"del", b"global", b"try", b"assert",
];

struct Lexer<'a> {
    out: Lexed<'a>,
    at: usize,
    line: u32,
    /// Open brackets of the present logical line.
    open: Vec<usize>,
    first: usize,
    column: usize,
    unclosed_text: u32,
    unclosed_brackets: u32,
}

/// Takes `source` apart.
pub(super) fn lex(source: &[u8]) -> Lexed<'_> {
    let out = Lexed { source, tokens: Vec::with_capacity(source.len() / 6), lines: Vec::new(), notes: Vec::new() };
    let mut lexer =
        Lexer { out, at: 0, line: 1, open: Vec::new(), first: 0, column: 0, unclosed_text: 0, unclosed_brackets: 0 };
    lexer.run();
    for (count, id, what) in [
        (lexer.unclosed_text, "python-unclosed-text", "strings"),
        (lexer.unclosed_brackets, "python-unclosed-bracket", "brackets"),
    ] {
        if count > 0 {
            lexer.out.notes.push(Note::new(id, format!("{count} {what} are never closed")));
        }
    }
    lexer.out
}

impl Lexer<'_> {
    fn run(&mut self) {
        self.indent();
        while let Some(&byte) = self.out.source.get(self.at) {
            match byte {
                b'\n' | b'\r' => self.line_end(),
                b' ' | b'\t' | b'\x0C' => self.at += 1,
                b'#' => self.at += rest_of_line(&self.out.source[self.at..]),
                b'\\' if matches!(self.peek(1), b'\n' | b'\r') => {
                    self.at += 1;
                    self.physical_end();
                }
                b'"' | b'\'' => self.text(self.at),
                b'0'..=b'9' => self.number(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word(),
                b'(' | b'[' | b'{' => {
                    self.open.push(self.out.tokens.len());
                    self.sign(1);
                }
                b')' | b']' | b'}' => {
                    if let Some(open) = self.open.pop() {
                        self.out.tokens[open].mate = self.out.tokens.len();
                    }
                    self.sign(1);
                }
                _ => {
                    let two = self.peek(1) == b'=' && b"=!<>:+-*/%&|^@".contains(&byte)
                        || byte == b'-' && self.peek(1) == b'>';
                    self.sign(if two { 2 } else { 1 });
                }
            }
        }
        self.finish();
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.out.source.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, sort: Sort, start: usize, line: u32) {
        self.out.tokens.push(Token { sort, start, end: self.at, line, mate: 0 });
    }

    fn sign(&mut self, length: usize) {
        let start = self.at;
        self.at += length;
        self.push(Sort::Sign, start, self.line);
    }

    fn number(&mut self) {
        let start = self.at;
        while matches!(self.peek(0), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.') {
            self.at += 1;
        }
        self.push(Sort::Number, start, self.line);
    }

    fn word(&mut self) {
        let start = self.at;
        while matches!(self.peek(0), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80..) {
            self.at += 1;
        }
        let word = &self.out.source[start..self.at];
        let prefix = word.len() <= 2 && word.iter().all(|byte| b"rRbBuUfFtT".contains(byte));
        if prefix && matches!(self.peek(0), b'"' | b'\'') {
            return self.text(start);
        }
        self.push(Sort::Word, start, self.line);
    }

    /// A string literal that began at `start`, where its prefix is; we stand at its quote.
    fn text(&mut self, start: usize) {
        let line = self.line;
        let prefix = &self.out.source[start..self.at];
        let formatted = prefix.iter().any(|byte| b"fFtT".contains(byte));
        let end = text_end(self.out.source, self.at, formatted);
        self.unclosed_text += u32::from(!end.closed);
        let body = &self.out.source[self.at..end.at];
        self.line += line_ends(body);
        self.at = end.at;
        self.push(Sort::Text, start, line);
    }

    fn line_end(&mut self) {
        self.physical_end();
        if !self.open.is_empty() {
            let rest = &self.out.source[self.at..];
            let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let word = rest[blank..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            if !STATEMENTS.contains(&&rest[blank..blank + word]) {
                return;
            }
            self.unclosed_brackets += 1;
        }
        self.finish();
        self.indent();
    }

    /// Steps over one line end of either kind.
    fn physical_end(&mut self) {
        self.at += if self.peek(0) == b'\r' && self.peek(1) == b'\n' { 2 } else { 1 };
        self.line += 1;
    }

    fn finish(&mut self) {
        self.open.clear();
        let next = self.out.tokens.len();
        if next > self.first {
            self.out.lines.push(Line { tokens: self.first..next, column: self.column });
        }
        self.first = next;
    }

    fn indent(&mut self) {
        self.column = 0;
        loop {
            match self.peek(0) {
                b' ' => self.column += 1,
                b'\t' => self.column = (self.column / 8 + 1) * 8,
                b'\x0C' => self.column = 0,
                _ => break,
            }
            self.at += 1;
        }
    }
}

/// Line ends of either kind in `body`.
fn line_ends(body: &[u8]) -> u32 {
    let ends = memchr::memchr2_iter(b'\n', b'\r', body);
    ends.filter(|&at| body[at] == b'\n' || body.get(at + 1) != Some(&b'\n')).count() as u32
}

fn rest_of_line(source: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', source).unwrap_or(source.len())
}

/// Where a string literal ends.
pub(super) struct TextEnd {
    /// Behind its closing quote, or where it was given up.
    pub(super) at: usize,
    /// It was closed.
    pub(super) closed: bool,
}

/// The end of the string whose quote stands at `quote`. Fields of a formatted string may hold strings with the same
/// quotes.
fn text_end(source: &[u8], quote: usize, mut formatted: bool) -> TextEnd {
    let mark = source[quote];
    let triple = source[quote..].starts_with(&[mark; 3]);
    let width = if triple { 3 } else { 1 };
    let mut at = quote + width;
    while let Some(&byte) = source.get(at) {
        match byte {
            b'\\' => at += if source[at + 1..].starts_with(b"\r\n") { 3 } else { 2 },
            b'\n' | b'\r' if !triple => return TextEnd { at, closed: false },
            b'{' if formatted && source.get(at + 1) == Some(&b'{') => at += 2,
            b'{' if formatted => match field_end(source, at, triple) {
                Some(end) => at = end,
                // One that is not closed where it should be: this is no formatted string that we understand.
                None => formatted = false,
            },
            _ if byte == mark && (!triple || source[at..].starts_with(&[mark; 3])) => {
                return TextEnd { at: at + width, closed: true };
            }
            _ => at += 1,
        }
    }
    TextEnd { at: source.len(), closed: false }
}

/// Longest field of a formatted string, bytes.
const FIELD: usize = 1024;

/// Behind the `}` of the field that opens at `open`; `None` when there is none near.
pub(super) fn field_end(source: &[u8], open: usize, triple: bool) -> Option<usize> {
    let source = &source[..source.len().min(open + FIELD)];
    let mut braces = 0_u32;
    let mut at = open;
    while let Some(&byte) = source.get(at) {
        match byte {
            b'\n' | b'\r' if !triple => return None,
            b'"' | b'\'' => {
                let end = text_end(source, at, false);
                if !end.closed {
                    return None;
                }
                at = end.at;
                continue;
            }
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
