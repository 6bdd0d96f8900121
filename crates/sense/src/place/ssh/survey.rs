//! What a look will ask, asked all at once: one round trip instead of dozens.

use model::Time;

use super::answers::{self, Group};
use super::frames::Frame;
use super::questions::quoted;
use crate::place::ask::{Answered, Ask, Key};
use crate::place::{Sought, Wanted};

/// Programs there that fetch pages or lead into namespaces.
#[derive(Debug, Clone, Default)]
pub(super) struct Tools(String);

impl Tools {
    /// What is missing there, or does not do what it should, of what answers are made with.
    pub(super) fn missing(&self) -> Option<&str> {
        self.0.split(' ').find_map(|word| word.strip_prefix('!'))
    }

    pub(super) fn has(&self, tool: &str) -> bool {
        self.0.split(' ').any(|known| known == tool)
    }
}

/// What was told of a host.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) answers: Vec<(Key, Answered)>,
    pub(super) tools: Tools,
    pub(super) time: Option<Time>,
}

/// The line that asks for everything.
pub(super) fn script(sought: &Sought) -> String {
    let words: String = sought.words.iter().map(|word| format!(" {}", quoted(word))).collect();
    // Patterns of the shell, one `case` for all: their signs are to be understood, so only plain ones are told.
    let plain =
        |pattern: &&String| pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-*".contains(&byte));
    let slabs: Vec<&str> = sought.slabs.iter().filter(plain).map(String::as_str).collect();
    let slabs = if slabs.is_empty() { "/".to_owned() } else { slabs.join(" | ") };
    let deep = u8::from(sought.deep);
    format!("slab() {{ case $1 in {slabs}) return 0 ;; esac; return 1; }}\ndeep={deep}\nsurvey{words}\n")
}

/// Reads what it told.
pub(super) fn read(frames: &[Frame], words: &[String]) -> Survey {
    let mut survey = Survey::default();
    let mut groups: Vec<(&str, Group<'_>)> = Vec::new();
    for frame in frames {
        let (key, rest) = split(&frame.head);
        match groups.last_mut().filter(|(known, _)| *known == key) {
            Some((_, group)) => group.push((rest, &frame.body)),
            None => groups.push((key, vec![(rest, frame.body.as_slice())])),
        }
    }
    for (key, group) in &groups {
        match *key {
            "tools" => survey.tools = tools(group),
            "time" => survey.time = time(group),
            key => {
                let Some(ask) = asked(key, words) else { continue };
                let (answered, more) = answers::of(&ask, group);
                survey.answers.push((ask.key(), answered));
                survey.answers.extend(more);
            }
        }
    }
    survey
}

/// The key, which may hold blanks within its bars, and what came of it.
fn split(head: &str) -> (&str, &str) {
    const OUTCOMES: [&str; 11] =
        ["ok", "denied", "gone", "other", "kernel", "nostat", "none", "end", "tail", "more", "process"];
    let cut = head.match_indices(' ').find(|(at, _)| {
        let word = head[at + 1..].split(' ').next().unwrap_or_default();
        OUTCOMES.contains(&word)
    });
    cut.map_or((head, ""), |(at, _)| (&head[..at], &head[at + 1..]))
}

/// The question that a key stands for.
fn asked(key: &str, words: &[String]) -> Option<Ask> {
    /// What was told is what there is, up to the far shell's own caps.
    const ALL: usize = usize::MAX - 1;
    let parts: Vec<&str> = key.split('|').collect();
    Some(match parts[..] {
        ["commands"] => Ask::Commands { words: words.to_vec() },
        ["kin"] => Ask::Kin,
        ["read", path] => Ask::Read { path: path.into(), cap: ALL },
        ["under", root, path] => Ask::Under { root: root.into(), path: path.into(), cap: ALL },
        ["lines", path, ref words @ ..] => {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            Ask::Lines { path: path.into(), words, cap: ALL }
        }
        ["list", path] => Ask::List { path: path.into(), cap: ALL },
        ["link", path] => Ask::Link { path: path.into() },
        ["ends", "descriptor", pid, fd, head, tail] => {
            let wanted = Wanted::Descriptor { pid: pid.parse().ok()?, fd: fd.parse().ok()? };
            Ask::Ends { wanted, head: head.parse().ok()?, tail: tail.parse().ok()? }
        }
        _ => return None,
    })
}

fn tools(group: &[(&str, &[u8])]) -> Tools {
    Tools(group.first().map(|(word, _)| (*word).to_owned()).unwrap_or_default())
}

/// Seconds since 1970, with as many digits as its `date` has.
fn time(group: &[(&str, &[u8])]) -> Option<Time> {
    let (word, _) = group.first()?;
    seconds(word.strip_prefix("ok ")?)
}

/// A time by a `date` that may know no fractions.
pub(super) fn seconds(text: &str) -> Option<Time> {
    let whole = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?;
    let time: f64 = whole.trim_end_matches('.').parse().ok()?;
    // Without fractions, the middle of that second is nearest.
    Some(Time(if whole.contains('.') && !whole.ends_with('.') { time } else { time + 0.5 }))
}
