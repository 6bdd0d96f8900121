//! Names and numbers in a message: `#token: 796`, `token usage: 0.39`, `max_tokens=4096`, `(token/s): 12.3`.

use memchr::memchr2;

use super::number;

/// Bytes that a key has at most; of a longer phrase the last word is the key.
const MOST_KEY: usize = 64;

/// A name with its number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// What heads the list that the pair stands in; empty for none. `usage: full=0.25, swa=0.10` gives two pairs under
    /// `usage`, `[full] total=7, free=5` two under `full`. Only pairs with `=` have one, and a line feed ends it.
    pub under: &'a str,
    /// All of the phrase before the `:` or `=`, back to the comma, sentence, bracket or `#` that it begins at; quotes
    /// are left out.
    pub key: &'a str,
    /// The number as it is written: NaN, infinite and negative ones too. Of `0.1 -> 0.8` the first.
    pub value: f64,
    /// The number's own text, whose digits tell how far it was rounded.
    pub text: &'a str,
}

/// All pairs of a message, in its order. A `:` or `=` that no plain number follows makes none; of `#pages(active/total): 3/8`
/// and `#pages (active/total): 3 / 8 pages` each number is one, by its own name under `#pages`.
pub fn pairs(message: &str) -> impl Iterator<Item = Pair<'_>> {
    signs(message).flat_map(|sign| sign.pair.into_iter().chain(sign.list))
}

/// A `:` or `=` of a message.
pub(super) struct Sign<'a> {
    /// Where it stands.
    pub(super) at: usize,
    /// What heads the list that it stands in, as of a pair.
    pub(super) under: &'a str,
    /// The pair that it makes, …
    pair: Option<Pair<'a>>,
    /// … or those of its list.
    list: Vec<Pair<'a>>,
}

/// All signs that may stand behind a name, in the message's order.
pub(super) fn signs(message: &str) -> impl Iterator<Item = Sign<'_>> {
    let (mut from, mut under) = (0, "");
    std::iter::from_fn(move || {
        let at = from + memchr2(b':', b'=', &message.as_bytes()[from..])?;
        let between = &message[from..at];
        from = at + 1;
        let equals = message.as_bytes()[at] == b'=';
        under = heading(between, if equals { under } else { "" });
        let heads = if equals { under } else { "" };
        let list = if equals { Vec::new() } else { listed(message, at).unwrap_or_default() };
        let alone = if list.is_empty() { pair(message, at) } else { None };
        if list.is_empty() && alone.is_none() && !equals {
            under = key(message, at);
        }
        Some(Sign { at, under: heads, pair: alone.map(|pair| Pair { under: heads, ..pair }), list })
    })
}

/// The number that stands at once behind `text`, with the text that it is written as; where that stands several times, behind
/// its first place that has one.
pub fn number_behind<'a>(message: &'a str, text: &str) -> Option<(f64, &'a str)> {
    message.match_indices(text).find_map(|(at, _)| {
        let rest = &message[at + text.len()..];
        let (value, length) = number::at_start(rest)?;
        Some((value, &rest[..length]))
    })
}

/// The number that stands at once before `text` (which mostly begins with a blank), likewise.
pub fn number_before<'a>(message: &'a str, text: &str) -> Option<(f64, &'a str)> {
    message.match_indices(text).find_map(|(end, _)| {
        let before = message[..end].trim_end_matches(|letter: char| letter.is_ascii_digit() || ".,".contains(letter));
        let written = message[before.len()..end].trim_start_matches(['.', ',']);
        // A part of an address, a version or a name is no number.
        let apart = !before.ends_with(|letter: char| letter.is_alphanumeric() || "-+_:/".contains(letter));
        let (value, length) = number::at_start(&message[end - written.len()..]).filter(|_| apart)?;
        (length == written.len()).then_some((value, written))
    })
}

/// What heads a pair whose key ends `between`, where `before` headed the one before it.
fn heading<'a>(between: &'a str, before: &'a str) -> &'a str {
    let line = between.rsplit('\n').next().unwrap_or_default();
    let bracket = line.rsplit_once("] ").and_then(|(inner, _)| inner.rsplit_once('['));
    match bracket {
        Some((_, word)) => word,
        None if line.len() < between.len() => "",
        None => before,
    }
}

fn pair(message: &str, at: usize) -> Option<Pair<'_>> {
    if is_of_number(message, at) {
        return None;
    }
    let behind = message[at + 1..].trim_start_matches(' ');
    let (value, length) = number::at_start(behind)?;
    let key = key(message, at);
    (!key.is_empty()).then(|| Pair { under: "", key, value, text: &behind[..length] })
}

/// Whether the sign stands within a time of day or before a port.
pub(super) fn is_of_number(message: &str, at: usize) -> bool {
    let bytes = message.as_bytes();
    bytes[at] == b':' && at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1) != Some(&b' ')
}

/// The numbers between slashes, with blanks around these or without, behind a key whose brackets name them; none where that
/// is not so.
fn listed(message: &str, at: usize) -> Option<Vec<Pair<'_>>> {
    // Most keys have no brackets, and are not looked for twice.
    if !message[..at].ends_with([')', ' ', '"', '\'']) {
        return None;
    }
    let (under, names) = key(message, at).strip_suffix(')')?.rsplit_once('(')?;
    if !names.contains('/') {
        return None;
    }
    let under = under.trim_end();
    let (mut rest, mut pairs) = (message[at + 1..].trim_start_matches(' '), Vec::new());
    for key in names.split('/') {
        rest = if pairs.is_empty() { rest } else { number::behind_slash(rest)? };
        let (value, length) = number::plain(rest)?;
        pairs.push(Pair { under, key, value, text: &rest[..length] });
        rest = &rest[length..];
    }
    // Another number makes it another list, and letters at the last one make that another number.
    let ends = number::stops(rest, true) && number::behind_slash(rest).is_none();
    ends.then_some(pairs)
}

/// The phrase that ends at `end`; empty where it is no name.
pub(super) fn key(message: &str, end: usize) -> &str {
    let bytes = message.as_bytes();
    let (mut start, mut closed) = (end, 0_usize);
    while start > 0 && end - start <= MOST_KEY {
        let (byte, space) = (bytes[start - 1], bytes[start] == b' ');
        match byte {
            b')' => closed += 1,
            b'(' if closed > 0 => closed -= 1,
            b'(' | b',' | b';' | b'{' | b'[' | b'|' | b'\n' | b'\t' | b'=' | b'!' | b'<' | b'>' => break,
            b'.' | b':' | b']' | b'+' if space => break,
            b'#' if start == 1 || bytes[start - 2] == b' ' => {
                start -= 1;
                break;
            }
            _ => {}
        }
        start -= 1;
    }
    // A phrase that is too long may have been left within a letter.
    let start = (start..=end).find(|at| message.is_char_boundary(*at)).unwrap_or(end);
    let phrase = message[start..end].trim_matches([' ', '"', '\'']);
    // What begins with a digit is the number of the pair before, or an address.
    let digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    let last = end - start > MOST_KEY || digit(phrase);
    let word = if last { phrase.rsplit(' ').next().unwrap_or_default() } else { phrase };
    if digit(word) { "" } else { word }
}
