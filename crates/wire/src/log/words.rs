//! Words that logging set-ups put before messages: levels, loggers, source positions; and what tools put before lines.

const LEVELS: [&str; 10] =
    ["INFO", "WARNING", "ERROR", "DEBUG", "CRITICAL", "WARN", "FATAL", "TRACE", "NOTICE", "EXCEPTION"];
/// Names and paths beyond this are part of a message.
const MOST: usize = 256;

/// Whether `word` is a level.
pub(super) fn is_level(word: &str) -> bool {
    LEVELS.contains(&word)
}

/// Behind a level; `INFO:name.of.logger:` goes as a whole.
pub(super) fn level(text: &str) -> Option<&str> {
    let word = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let (word, rest) = text.split_at(word);
    if !is_level(word) || !(rest.is_empty() || rest.starts_with([' ', ':', '|', ',', ']', '\t'])) {
        return None;
    }
    let Some(rest) = rest.strip_prefix(':') else { return Some(rest) };
    let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._".contains(byte)).count();
    Some(rest[name..].strip_prefix(':').filter(|_| name > 0).unwrap_or(rest))
}

/// Behind `name.of.logger: ` or `name.of.logger - `.
pub(super) fn logger(text: &str) -> Option<&str> {
    let name = text.bytes().take(MOST).take_while(|byte| byte.is_ascii_alphanumeric() || b"._:".contains(byte)).count();
    let (name, rest) = text.split_at(name);
    match name.strip_suffix(':') {
        Some(name) if is_dotted(name) && rest.starts_with(' ') => Some(rest),
        None if is_dotted(name) && rest.starts_with(" - ") => Some(rest),
        _ => None,
    }
}

/// Whether `word` is a name of modules in modules: `a.b` or `a::b`.
pub(super) fn is_dotted(word: &str) -> bool {
    let parts = word.split(['.', ':']).filter(|part| !part.is_empty()).count();
    let starts = word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    parts > 1 && starts && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:".contains(&byte))
}

/// Behind `x.py:12]`, `x.py:12 - ` or `x.py:12: `, with a thread's or process's number before it or none.
pub(super) fn position(text: &str) -> Option<&str> {
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    let text = text.get(number..).and_then(|rest| rest.strip_prefix(' ')).filter(|_| number > 0).unwrap_or(text);
    let word = text.bytes().take(MOST).take_while(|byte| !b" ]\t".contains(byte)).count();
    // A word that is cut off inside of a letter is too long to be one.
    let (word, rest) = text.split_at_checked(word)?;
    let colon = word.strip_suffix(':');
    let sound = is_position(colon.unwrap_or(word)) && (rest.starts_with([']', ' ']) || rest.is_empty());
    sound.then(|| rest.strip_prefix(']').unwrap_or(rest))
}

/// Whether `word` is a source position: `x.py:12`, `path/x.cc:12`.
pub(super) fn is_position(word: &str) -> bool {
    let Some((file, line)) = word.rsplit_once(':') else { return false };
    let ending = file.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && (1..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    ending && !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) && !file.contains([' ', '='])
}

/// Whether `word` is a launcher's count of its processes: `default0`, `rank12`.
pub(super) fn is_launched(word: &str) -> bool {
    let number = ["default", "rank"].iter().find_map(|name| word.strip_prefix(name));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Behind what `grep` writes (`path:12:`, `12:`, `path:`, with `-` for lines around), where `shows` says that a line
/// begins there.
pub(super) fn pointed(text: &str, shows: impl Fn(&str) -> bool) -> Option<&str> {
    let word = text.bytes().take(MOST).take_while(|byte| !b" \t[{(".contains(byte)).count();
    let head = text.get(..word)?;
    let ends = head.char_indices().filter(|(at, letter)| *at > 0 && matches!(letter, ':' | '-'));
    ends.map(|(at, _)| &text[at + 1..]).take(8).find(|rest| shows(rest))
}

/// Whether a quotation that `text` begins is still open at its end. Quotes open where no letter or digit stands before
/// them, and a backslash takes the next character's meaning, as in texts that programs print as literals.
pub(super) fn is_quoting(text: &str) -> bool {
    let (mut open, mut before, mut escaped) = (None, b' ', false);
    for byte in text.bytes() {
        match open {
            _ if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(quote) if byte == quote => open = None,
            None if matches!(byte, b'"' | b'\'') && !before.is_ascii_alphanumeric() => open = Some(byte),
            _ => {}
        }
        before = byte;
    }
    open.is_some()
}
