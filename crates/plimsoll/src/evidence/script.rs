//! Texts of words, with quotes and continued lines: commands of units, scripts, folded texts of YAML.

use super::rule::Removed;
use super::secret::{self, Words};

/// Quotes within quotes that are looked into; what is further in is looked at as a text.
const DEPTH: usize = 6;

/// `text` with the secret ones among its words blotted, and as many lines as before.
pub(super) fn scrubbed(text: &str, removed: &mut Removed) -> String {
    words(text, DEPTH, removed)
}

/// A word that may be a script or an object.
pub(super) fn inner(word: &str, removed: &mut Removed) -> String {
    let looked = if word.contains(BETWEEN) { words(word, DEPTH, removed) } else { word.to_owned() };
    secret::scrubbed_lines(&looked, removed)
}

/// What makes several words of one.
const BETWEEN: [char; 5] = [' ', '\t', '\n', '\'', '"'];

fn words(text: &str, depth: usize, removed: &mut Removed) -> String {
    let mut words = Words::default();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(word) = next(text, at) {
        out.push_str(&text[at..word.start]);
        out.push_str(&kept(&text[word.start..word.end], &word.plain, depth, &mut words, removed));
        at = word.end;
    }
    secret::scrubbed_lines(&(out + &text[at..]), removed)
}

/// A word in a text.
struct Word {
    start: usize,
    end: usize,
    /// Without quotes.
    plain: String,
}

/// The first word from `from` on.
fn next(text: &str, from: usize) -> Option<Word> {
    let start = from + blanks(&text[from..]);
    let mut word = Word { start, end: start, plain: String::new() };
    let mut quote = None;
    let mut letters = text[start..].char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.peek().copied() {
                // A continued line ends the word, unless it is quoted.
                Some((_, '\n')) if quote.is_none() => {
                    word.end = start + at;
                    return Some(word).filter(|word| word.end > start);
                }
                Some((_, next)) => {
                    letters.next();
                    word.plain.push(next);
                }
                None => {}
            },
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            ' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' if quote.is_none() => {
                word.end = start + at + usize::from(word.plain.is_empty() && at == 0);
                return Some(word);
            }
            _ => word.plain.push(letter),
        }
    }
    word.end = text.len();
    (word.end > start).then_some(word)
}

/// Bytes of blanks, continued lines and remarks between them that `text` begins with.
fn blanks(text: &str) -> usize {
    let mut rest = text;
    let mut continued = false;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if let Some(behind) = trimmed.strip_prefix("\\\n") {
            (rest, continued) = (behind, true);
        } else if continued && trimmed.starts_with(['#', ';']) {
            rest = trimmed.find('\n').map_or("", |at| &trimmed[at + 1..]);
        } else {
            return text.len() - trimmed.len();
        }
    }
}

/// A word as it may be kept. `raw` is `plain` with its quotes.
fn kept(raw: &str, plain: &str, depth: usize, words_before: &mut Words, removed: &mut Removed) -> String {
    let quote =
        raw.chars().next().filter(|first| matches!(first, '\'' | '"') && raw.len() > 1 && raw.ends_with(*first));
    let quote = quote.map(String::from).unwrap_or_default();
    if let Some(kept) = words_before.blotted(plain, removed) {
        return lines(&format!("{quote}{kept}{quote}"), raw);
    }
    let inside = &raw[quote.len()..raw.len() - quote.len()];
    if quote.is_empty() || depth == 0 || !inside.contains(BETWEEN) {
        return raw.to_owned();
    }
    lines(&format!("{quote}{}{quote}", words(inside, depth - 1, removed)), raw)
}

/// `kept` with as many line ends as `before` has.
fn lines(kept: &str, before: &str) -> String {
    let count = |text: &str| text.matches('\n').count();
    let lost = count(before).saturating_sub(count(kept));
    format!("{kept}{}", "\\\n".repeat(lost))
}
