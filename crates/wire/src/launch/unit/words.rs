//! The value of a setting to words: systemd's quoting, which is not the shell's. A backslash means the same inside and
//! outside of both kinds of quotes, and quotes may begin anywhere in a word.

use crate::launch::Word;

/// A quote is never closed: systemd ignores the whole setting.
#[derive(Debug)]
pub(super) struct Unclosed;

/// One command of an `ExecStart=`.
#[derive(Default)]
pub(super) struct Exec {
    pub(super) words: Vec<Word>,
    /// Whether variables are put in: not behind the prefix `:`.
    pub(super) expands: bool,
    /// Whether a shell reads the words again: behind the prefix `|`.
    pub(super) shell: bool,
}

/// The next word of `text` from byte `at` on, which moves behind it and the blanks after it.
pub(super) fn next(text: &Word, at: &mut usize) -> Result<Option<Word>, Unclosed> {
    let all = &text.text;
    let blank = |letter: char| super::BLANKS.contains(&letter);
    *at = all.len() - all[*at..].trim_start_matches(blank).len();
    if *at == all.len() {
        return Ok(None);
    }
    let mut word = Word::new("", text.line_at(*at));
    let mut quote = None;
    loop {
        let line = text.line_at(*at);
        let Some(letter) = all[*at..].chars().next() else {
            return if quote.is_some() { Err(Unclosed) } else { Ok(Some(word)) };
        };
        *at += letter.len_utf8();
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (_, '\\') => match unescape(&all[*at..]) {
                Some((letter, length)) => {
                    word.push(letter, line);
                    *at += length;
                }
                // What is no escape stays as it is.
                None => word.push('\\', line),
            },
            (None, _) if blank(letter) => {
                *at = all.len() - all[*at..].trim_start_matches(blank).len();
                return Ok(Some(word));
            }
            _ => word.push(letter, line),
        }
    }
}

/// The character that the escape at the beginning of `rest` (behind its backslash) stands for, and the escape's length.
fn unescape(rest: &str) -> Option<(char, usize)> {
    let number = |from: usize, digits: usize, radix: u32| {
        let text = rest.get(from..from + digits)?;
        let code = text
            .bytes()
            .all(|byte| char::from(byte).is_digit(radix))
            .then(|| u32::from_str_radix(text, radix))?
            .ok()?;
        // Bytes above 127 are pieces of characters, which are not put together again.
        let letter = if digits < 4 && code > 127 { '\u{fffd}' } else { char::from_u32(code)? };
        (code != 0).then_some((letter, from + digits))
    };
    let simple = match rest.chars().next()? {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        's' => ' ',
        letter @ ('\\' | '"' | '\'') => letter,
        'x' => return number(1, 2, 16),
        'u' => return number(1, 4, 16),
        'U' => return number(1, 8, 16),
        '0'..='7' => return number(0, 3, 8),
        _ => return None,
    };
    Some((simple, 1))
}

/// The commands of the value of an `ExecStart=`, separated by a `;` of its own; `%%` is made `%`, other specifiers stay.
pub(super) fn commands(value: &Word) -> Result<Vec<Exec>, Unclosed> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut exec = Exec { expands: true, ..Exec::default() };
    while at < value.text.len() {
        let rest = value.text[at..].trim_start_matches(super::BLANKS);
        let alone =
            |text: &str| rest.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with(super::BLANKS));
        let here = value.text.len() - rest.len();
        if alone(";") {
            at = here + 1;
            found.push(std::mem::replace(&mut exec, Exec { expands: true, ..Exec::default() }));
            continue;
        }
        if alone("\\;") && !exec.words.is_empty() {
            exec.words.push(Word::new(";", value.line_at(here)));
            at = here + 2;
            continue;
        }
        let Some(word) = next(value, &mut at)? else { break };
        if exec.words.is_empty() {
            let prefixes = word.text.len() - word.text.trim_start_matches(['-', '@', ':', '+', '!', '|']).len();
            let has = |prefix: char| word.text[..prefixes].contains(prefix);
            exec.expands = !has(':');
            exec.shell = has('|');
            let mut program = Word::new("", word.line);
            program.extend(&word, prefixes..word.text.len());
            exec.words.push(program);
            if has('@') {
                // The name that the process is given, which says less than its file.
                next(value, &mut at)?;
            }
        } else {
            exec.words.push(word);
        }
    }
    found.push(exec);
    found.retain(|exec| exec.words.first().is_some_and(|word| !word.text.is_empty()));
    for exec in &mut found {
        exec.words = exec.words.iter().map(single_percent).collect();
    }
    Ok(found)
}

/// `word` with `%%` made `%`.
pub(super) fn single_percent(word: &Word) -> Word {
    let mut out = Word::new("", word.line);
    let mut from = 0;
    while let Some(at) = word.text[from..].find("%%") {
        out.extend(word, from..from + at + 1);
        from += at + 2;
    }
    out.extend(word, from..word.text.len());
    out
}
