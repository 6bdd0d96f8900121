//! What daemons write around the lines of others: syslog, the journal's short forms, container runtimes, compose.

use super::Stamp;
use super::wrap::Around;
use super::{stamp, tags};

/// `<14>`, and with a version all of RFC 5424's header: time, host, program, process, message, structured data.
pub(super) fn syslog<'x>(text: &'x str, around: &mut Around<'_>) -> Option<&'x str> {
    let (priority, rest) = text.strip_prefix('<')?.split_once('>')?;
    if priority.is_empty() || priority.len() > 3 || !priority.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    around.begun = true;
    Some(modern(rest, around).unwrap_or(rest))
}

fn modern<'x>(text: &'x str, around: &mut Around<'_>) -> Option<&'x str> {
    let (time, mut rest) = text.strip_prefix("1 ")?.split_once(' ')?;
    let time = if time == "-" { None } else { Some(stamp::at_start(time)?.0) };
    for _field in ["host", "program", "process", "message"] {
        rest = rest.split_once(' ')?.1;
    }
    let data = if rest.starts_with('[') { elements(rest)? } else { rest.strip_prefix('-')? };
    around.enter(time, false);
    Some(data)
}

/// Behind `[id name="value"][…]`, where `\"` and `\]` stand for themselves.
fn elements(text: &str) -> Option<&str> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b']' if !quoted && text.as_bytes().get(at + 1) != Some(&b'[') => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

/// What stands behind a time: a container runtime's stream and flag, or a journal's host and program. A rank there is one,
/// and no host (`Engine 001: …`).
pub(super) fn behind_time<'x>(text: &'x str, time: Stamp, tags: &[(&str, &str)], around: &mut Around<'_>) -> &'x str {
    // What says how long its program runs is that program's own, and no daemon's.
    if matches!(time, Stamp::Since(_)) || tags::at_start(text.trim_start_matches(' '), tags).is_some() {
        return text;
    }
    runtime(text, around).or_else(|| program(text, time)).unwrap_or(text)
}

/// ` stderr F `, with `P` for a part of a line, and further flags behind colons.
fn runtime<'x>(text: &'x str, around: &mut Around<'_>) -> Option<&'x str> {
    let rest = text.strip_prefix(" stdout ").or_else(|| text.strip_prefix(" stderr "))?;
    let (flags, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match flags.split(':').next() {
        Some("F") => Some(rest),
        Some("P") => {
            around.cut = true;
            Some(rest)
        }
        _ => None,
    }
}

/// ` host program[123]: `. Where the time has a year, the process is needed, else a message would look like it.
fn program(text: &str, time: Stamp) -> Option<&str> {
    let (host, rest) = text.strip_prefix(' ')?.split_once(' ')?;
    let (program, rest) = rest.split_once(':').filter(|(program, _)| program.len() <= 128 && !program.contains(' '))?;
    let process = program.strip_suffix(']').and_then(|program| program.rsplit_once('['));
    let numbered =
        process.is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let named = |word: &str| !word.is_empty() && !word.starts_with(['[', '#', '{', '(']);
    let sound = named(host) && named(program) && (numbered || matches!(time, Stamp::Day(..)) && rest.starts_with(' '));
    sound.then_some(rest)
}

/// `name-1  | `.
pub(super) fn compose(text: &str) -> Option<&str> {
    let name = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte)).count();
    let rest = text.get(name..)?.trim_start_matches(' ').strip_prefix('|')?;
    (name > 0 && (rest.is_empty() || rest.starts_with(' '))).then_some(rest)
}
