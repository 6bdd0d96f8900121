//! Lines that a terminal or a mail broke, made whole again: for saved files, never for live logs.

use std::borrow::Cow;

use super::{Anchors, number};

/// A line is made whole from at most this many pieces, and up to this many bytes.
const MOST_PIECES: usize = 64;
const MOST_BYTES: usize = 64 << 10;
/// Values that need no more letters.
const COMPLETE: [&str; 3] = ["True", "False", "None"];

/// The lines of `text`, each with the number of its first line (from 1), where pieces of a broken line are joined.
///
/// A line takes up the next one when it holds an anchor (or does together with the next), when `starts_new` says that
/// the next is no beginning, and when it is not complete, or the next goes on where it stops. A number broken in two is
/// joined without a space; where a space was lost with the break, the lengths of the pieces and the other lines' words
/// tell.
pub fn unwrap_pasted<'a>(
    text: &'a str,
    anchors: &Anchors,
    starts_new: impl Fn(&str) -> bool,
) -> Vec<(usize, Cow<'a, str>)> {
    let pieces: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    let mut at = 0;
    while at < pieces.len() {
        let first = at;
        let mut line = Cow::Borrowed(pieces[at]);
        at += 1;
        while at < pieces.len() && at - first < MOST_PIECES && line.len() < MOST_BYTES {
            let last = pieces[at - 1];
            let next = unquoted(pieces[at]);
            if next.trim().is_empty() || starts_new(pieces[at]) || !goes_on(&line, last, next) {
                break;
            }
            let joined = join(&line, last, next, &pieces);
            let relevant = anchors.are_in(line.as_bytes())
                || anchors.are_in(joined.as_bytes()) && !anchors.are_in(next.as_bytes());
            if !relevant {
                break;
            }
            line = Cow::Owned(joined);
            at += 1;
        }
        lines.push((first + 1, line));
    }
    lines
}

fn unquoted(piece: &str) -> &str {
    piece.strip_prefix("> ").unwrap_or(piece)
}

/// Whether `next` can be the rest of `line`, whose last piece is `last`.
fn goes_on(line: &str, last: &str, next: &str) -> bool {
    let letters = |piece: &str| piece.chars().count();
    // A line is broken where it is full: what follows fits into as much.
    if letters(next) > letters(last) + 1 && first_word(next).len() + letters(last) < letters(next) {
        return false;
    }
    next.starts_with([',', '.']) || !is_complete(line) || continues_number(line, next)
}

/// Whether `line` ends as a whole line can: in a pair whose value is complete.
fn is_complete(line: &str) -> bool {
    let line = line.trim_end();
    let word = line.rsplit([' ', '=', ':']).next().unwrap_or_default();
    let unit = ["GB", "MB", "%"].iter().any(|unit| line.ends_with(unit));
    unit || COMPLETE.contains(&word) || number::at_start(word).is_some_and(|(_, length)| length == word.len())
}

/// Whether `next` goes on with the number that `line` ends in, and then with the line: `0.3` and `9, cpu graph: False`.
fn continues_number(line: &str, next: &str) -> bool {
    let figures = next.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let rest = &next[figures..];
    let follows = rest.is_empty() || [",", "%,", " ->", " GB", " MB"].iter().any(|sign| rest.starts_with(sign));
    let open = line.ends_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    open && (figures > 0 && follows || next.starts_with(" ->"))
}

/// `line` and `next`, with a space between them where the break took it.
fn join(line: &str, last: &str, next: &str, pieces: &[&str]) -> String {
    let space = needs_space(line, last, next, pieces);
    let next = if line.ends_with(' ') { next.trim_start() } else { next };
    format!("{line}{}{next}", if space { " " } else { "" })
}

fn needs_space(line: &str, last: &str, next: &str, pieces: &[&str]) -> bool {
    let (Some(left), Some(right)) = (line.chars().next_back(), next.chars().next()) else { return false };
    if left == ' ' || right == ' ' {
        return false;
    }
    if !left.is_alphanumeric() || !right.is_alphanumeric() {
        return matches!(left, ',' | ':') && right != ',' || matches!(right, '#' | '(');
    }
    if left.is_ascii_digit() || right.is_ascii_digit() {
        return false;
    }
    // Between two letters: is it one word or two? The other lines of the paste may have it.
    let (ends, begins) = (line.rsplit(' ').next().unwrap_or_default(), first_word(next));
    let whole = format!("{ends}{begins}");
    let known = |word: &str| {
        let word = word.trim_end_matches([',', ':', '.']);
        pieces.iter().take(MOST_PIECES).any(|piece| inner_words(piece).any(|other| other == word))
    };
    if known(&whole) {
        return false;
    }
    if known(ends) && known(begins) {
        return true;
    }
    // A terminal breaks at its width, so that all broken pieces are of one length; a mail at a space before it.
    let widest = pieces.iter().take(MOST_PIECES).map(|piece| piece.chars().count()).max().unwrap_or(0);
    last.chars().count() < widest
}

/// Words that no break touches.
fn inner_words(piece: &str) -> impl Iterator<Item = &str> {
    let inner = piece.split_once(' ').and_then(|(_, rest)| rest.rsplit_once(' ')).map_or("", |(inner, _)| inner);
    inner.split(' ').map(|word| word.trim_end_matches([',', ':', '.']))
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}
