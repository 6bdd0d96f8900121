//! A look that is over, as a place: what was answered then is answered again, whatever is asked now.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem::Finder;
use model::{Blind, BlindKind, Time};

use super::ask::{Answered, Ask, Told};
use super::recorder::Kept;
use super::shelf::{Shelf, unasked};
use super::{Commands, Ends};
use crate::http::Counts;

/// What one look at one site asked and was told. Clones share everything, also what was answered so far: of several
/// answers to one question each is given once, in their order, and the last one stays.
#[derive(Debug, Clone)]
pub struct Capture {
    own: Arc<Inner>,
    earlier: Option<Box<Capture>>,
}

#[derive(Debug)]
struct Inner {
    shelf: Shelf,
    now: Time,
    /// How much of each file's ends was asked, by the question's other words.
    ends: HashMap<Vec<String>, Vec<(usize, usize)>>,
    /// The words by which processes were asked for.
    commands: Vec<Vec<String>>,
    requests: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
}

impl Capture {
    /// The look that brought these answers and is judged as of `now`.
    pub fn new(kept: Vec<Kept>, now: Time) -> Capture {
        let mut inner = Inner {
            shelf: Shelf::default(),
            now,
            ends: HashMap::new(),
            commands: Vec::new(),
            requests: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        for Kept { key, answered, .. } in kept {
            match &key.0[..] {
                [kind, file @ .., head, tail] if kind == ENDS => {
                    if let (Ok(head), Ok(tail)) = (head.parse(), tail.parse()) {
                        let sizes = inner.ends.entry(file.to_vec()).or_default();
                        if !sizes.contains(&(head, tail)) {
                            sizes.push((head, tail));
                        }
                    }
                }
                [kind, words @ ..] if kind == COMMANDS && !inner.commands.iter().any(|known| known == words) => {
                    inner.commands.push(words.to_vec());
                }
                _ => {}
            }
            inner.shelf.put(key, answered);
        }
        Capture { own: Arc::new(inner), earlier: None }
    }

    /// A look in which nothing was asked.
    pub fn nothing() -> Capture {
        Capture::new(Vec::new(), Time(0.0))
    }

    /// The same, with what an earlier look at the same site told of what does not change by itself, where this one did not
    /// ask it again.
    #[must_use]
    pub fn behind(self, earlier: Capture) -> Capture {
        Capture { earlier: Some(Box::new(earlier)), ..self }
    }

    /// Whether one got there.
    pub(super) fn entered(&self) -> Result<(), Blind> {
        self.own.shelf.find(&Ask::Enter).unwrap_or_else(|| Ok(super::shelf::empty())).map(drop)
    }

    /// Seconds by which the clock there was ahead.
    pub(super) fn clock_ahead(&self) -> Option<f64> {
        let Some(Ok(Told::Content(content))) = self.own.shelf.find(&Ask::Enter) else { return None };
        content.text().parse().ok()
    }

    /// The time as of which the look is judged, however late it is now.
    pub(super) fn now(&self) -> Time {
        self.own.now
    }

    /// What was asked over HTTP and answered so far.
    pub(super) fn counts(&self) -> Counts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts { requests: count(&self.own.requests), failed: count(&self.own.failed), bytes: count(&self.own.bytes) }
    }

    /// What was told then.
    pub(super) fn answer(&self, ask: &Ask) -> Answered {
        let found = self.own.shelf.find(ask).or_else(|| self.nearest(ask)).or_else(|| self.earlier(ask));
        if let Some(Ok(Told::Seen(observation))) = &found {
            self.own.requests.fetch_add(1, Ordering::Relaxed);
            match &observation.outcome {
                Ok(answer) => self.own.bytes.fetch_add(answer.body.len() as u64, Ordering::Relaxed),
                Err(_) => self.own.failed.fetch_add(1, Ordering::Relaxed),
            };
        }
        found.unwrap_or_else(|| {
            let mut blind = unasked(ask, "not in this capture");
            if matches!(ask, Ask::Get { .. }) {
                // Of a target that was not asked this, other answers may be there.
                blind.kind = BlindKind::Cut;
            }
            Err(blind)
        })
    }

    /// What an earlier look was told, if it is of a kind that does not change by itself.
    fn earlier(&self, ask: &Ask) -> Option<Answered> {
        let lasts = matches!(
            ask,
            Ask::Read { .. }
                | Ask::Under { .. }
                | Ask::Lines { .. }
                | Ask::List { .. }
                | Ask::Link { .. }
                | Ask::Sift { .. }
        );
        self.earlier.as_ref().filter(|_| lasts)?.own.shelf.find(ask)
    }

    /// From what was told to a question that was nearly this one.
    fn nearest(&self, ask: &Ask) -> Option<Answered> {
        match ask {
            Ask::Ends { head, tail, .. } => self.ends(ask, *head, *tail),
            Ask::Commands { words } => self.commands(words),
            // An address is its own.
            Ask::Resolve { host } => Some(Ok(Told::Addresses(vec![host.parse::<IpAddr>().ok()?]))),
            _ => None,
        }
    }

    /// Ends of which other sizes were asked: the most that was seen, trimmed.
    fn ends(&self, ask: &Ask, head: usize, tail: usize) -> Option<Answered> {
        let Ask::Ends { wanted, .. } = ask else { return None };
        let key = ask.key().0;
        let sizes = self.own.ends.get(key.get(1..key.len().checked_sub(2)?)?)?;
        let &(most_head, most_tail) = sizes.iter().max_by_key(|(head, tail)| head.saturating_add(*tail))?;
        if (head, tail) != (0, 0) && (most_head, most_tail) == (0, 0) {
            // It was only asked what lies there; an empty file would be another answer.
            return None;
        }
        let nearest = Ask::Ends { wanted: wanted.clone(), head: most_head, tail: most_tail };
        Some(self.own.shelf.find(&nearest)?.map(|told| match told {
            Told::Ends(ends) => Told::Ends(trimmed(ends, head, tail)),
            other => other,
        }))
    }

    /// Processes that were asked for by other words.
    fn commands(&self, words: &[String]) -> Option<Answered> {
        let asked = |words: &Vec<String>| self.own.shelf.find(&Ask::Commands { words: words.clone() });
        let mut all: Option<Commands> = None;
        let mut blind: Option<Blind> = None;
        // Without words it was all of them, and nobody needs the others.
        let everyone = self.own.commands.iter().find(|words| words.is_empty());
        for words in everyone.map_or(&self.own.commands[..], std::slice::from_ref) {
            match asked(words)? {
                Ok(Told::Commands(found)) => match &mut all {
                    Some(all) => all.found.extend(found.found),
                    None => all = Some(found),
                },
                Ok(_) => {}
                Err(why) => blind = Some(why),
            }
        }
        let Some(mut all) = all else { return blind.map(Err) };
        let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
        let holds = |bytes: &[u8]| finders.is_empty() || finders.iter().any(|finder| finder.find(bytes).is_some());
        all.found.retain(|process| holds(&process.bytes));
        all.found.sort_by_key(|process| process.pid);
        all.found.dedup_by_key(|process| process.pid);
        Some(Ok(Told::Commands(all)))
    }
}

/// How the two kinds of questions begin that are also answered from others' answers.
const ENDS: &str = "ends";
const COMMANDS: &str = "commands";

/// At most `head` and `tail` bytes of these ends, as the file itself would give them as far as it was seen.
fn trimmed(ends: Ends, head: usize, tail: usize) -> Ends {
    let Ends { size, modified, owner, identity, head: first, tail: last, tail_from } = ends;
    let (mut beginning, mut end, mut from) = (first, last, tail_from);
    if beginning.len() as u64 == from {
        // Nothing lies between: all of it was seen.
        beginning.append(&mut end);
        end.clone_from(&beginning);
        from = 0;
    }
    beginning.truncate(head);
    if (head, tail) == (0, 0) {
        return Ends { size, modified, owner, identity, head: Vec::new(), tail: Vec::new(), tail_from: 0 };
    }
    let wanted = size.saturating_sub(tail as u64).max(beginning.len() as u64);
    let skipped = usize::try_from(wanted.saturating_sub(from)).unwrap_or(usize::MAX).min(end.len());
    end.drain(..skipped);
    Ends { size, modified, owner, identity, head: beginning, tail: end, tail_from: wanted.max(from) }
}
