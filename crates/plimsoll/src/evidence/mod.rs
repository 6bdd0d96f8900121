//! Evidence: what a look asked and heard, made safe to be sent to others.
//!
//! A capture is replayed: what is left of an answer must be understood as the whole of it was. So nothing is rewritten that
//! is read, and what is kept is listed ([`question`]); an answer of a kind that is not listed is left out altogether.
//! `docs/redaction.md` says it for people.

mod body;
mod journal;
mod json;
mod kernel;
mod known;
mod log;
mod package;
mod page;
mod pseudonym;
mod question;
mod rule;
mod saved;
mod script;
mod secret;
mod slab;
mod tree;
mod unit;
mod yaml;

#[cfg(test)]
mod canary_test;
#[cfg(test)]
mod equal_test;
#[cfg(test)]
mod kinds_test;
#[cfg(test)]
mod pseudonym_test;
#[cfg(test)]
mod words_test;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use engines::{Tables, Telling};
use model::Blind;
use sense::place::{CommandLine, Kept, Listing, PipeEnd, Pipes, Told};
use sense::process::split_argv;
use sense::{Content, Ran};

use self::known::{Known, is_of_interest};
pub(crate) use self::pseudonym::Pseudonyms;
use self::question::Holds;
pub(crate) use self::rule::Removed;
use self::rule::Rule;

/// What may leave this host of what a look heard, and what was taken out. With `pseudonyms`, names and addresses of hosts and
/// names of users are replaced as well.
///
/// A replay of the result gives what a replay of `kept` gives, but for what is blotted where it is itself shown.
pub(crate) fn redact(tables: &Tables, kept: Vec<Kept>, pseudonyms: Option<&mut Pseudonyms>) -> (Vec<Kept>, Removed) {
    let known = Known::of(tables, &kept);
    let mut redactor = Redactor { tables, telling: OnceCell::new(), known, removed: Removed::default() };
    let mut safe: Vec<Kept> = kept.into_iter().filter_map(|one| redactor.one(one)).collect();
    if let Some(pseudonyms) = pseudonyms {
        for one in &safe {
            pseudonyms.learn(one);
        }
        safe = safe.into_iter().map(|one| pseudonyms.rename(one)).collect();
    }
    (safe, redactor.removed)
}

/// The question under which a capture keeps what was left out of one look.
pub(crate) const REMOVED: &str = "removed";

struct Redactor<'a> {
    tables: &'a Tables,
    /// Made for the first log: it takes longer than all of a page.
    telling: OnceCell<Telling<'a>>,
    known: Known,
    removed: Removed,
}

impl Redactor<'_> {
    fn one(&mut self, kept: Kept) -> Option<Kept> {
        let key: Vec<&str> = kept.key.0.iter().map(String::as_str).collect();
        let answered = match (question::of(&key, &self.known), kept.answered) {
            (None, _) => None,
            // Homes of others that hold nothing of interest need not even be named.
            (Some(Holds::Names), Err(_)) if key[1].starts_with("/home/") => {
                self.removed.note(Rule::Others);
                return None;
            }
            (Some(_), Err(blind)) => Some(Err(self.blind(&blind))),
            (Some(holds), Ok(told)) => self.told(&key, holds, told).map(Ok),
        };
        if answered.is_none() {
            self.removed.note(Rule::Answers);
        }
        Some(Kept { answered: answered?, ..kept })
    }

    fn blind(&mut self, blind: &Blind) -> Blind {
        Blind { text: secret::scrubbed(&blind.text, &mut self.removed), kind: blind.kind }
    }

    /// What is kept of an answer; none where nothing is.
    fn told(&mut self, key: &[&str], holds: Holds, told: Told) -> Option<Told> {
        if !question::is_answered(key[0], &told) {
            return None;
        }
        Some(match (holds, told) {
            (Holds::Plain, told @ (Told::Link(_) | Told::Kin(_) | Told::Addresses(_) | Told::Listing(_))) => told,
            (Holds::Plain, Told::Content(content)) => Told::Content(content),
            (Holds::Plain, Told::Ran(ran)) => Told::Ran(self.ran(ran, |_, out, _| out)),
            (Holds::Commands, Told::Commands(mut commands)) => {
                commands.found = commands.found.iter().filter_map(|line| self.command(line)).collect();
                for hung in &mut commands.hung {
                    *hung = secret::scrubbed(hung, &mut self.removed);
                }
                Told::Commands(commands)
            }
            (Holds::Pipes, Told::Pipes(pipes)) => Told::Pipes(self.pipes(&pipes)),
            (Holds::Names, Told::Listing(listing)) => {
                Told::Listing(self.names(listing, |known, name| known.goes_on(key[1], name)))
            }
            (Holds::DropIns, Told::Listing(listing)) => {
                Told::Listing(self.names(listing, |_, name| name.strip_suffix(".conf").is_some()))
            }
            (Holds::Log, Told::Ends(ends)) if key[1] == "file" => Told::Ends(saved::file(
                self.tables,
                self.telling.get_or_init(|| Telling::of(self.tables)),
                ends,
                &mut self.removed,
            )),
            (Holds::Log, Told::Ends(ends)) => {
                Told::Ends(log::ends(self.telling.get_or_init(|| Telling::of(self.tables)), ends, &mut self.removed))
            }
            (Holds::Slab, Told::Ends(ends)) => {
                let plain = slab::is_plain(&ends.head) && slab::is_plain(&ends.tail);
                return plain.then_some(Told::Ends(ends));
            }
            (Holds::Leaf, Told::Ends(ends)) => Told::Ends(tree::leaf(ends, &mut self.removed)),
            (Holds::Events, Told::Heard(heard)) => Told::Heard(tree::events(heard, &mut self.removed)),
            (Holds::Sources, Told::Sifted(folder)) => {
                let (known, ending) = (&self.known, *key.last()?);
                Told::Sifted(package::folder(folder, ending, &|bytes| known.is_released(bytes), &mut self.removed))
            }
            (Holds::Journal(newest), Told::Ran(ran)) => Told::Ran(self.ran(ran, |me, out, _| {
                let telling = me.telling.get_or_init(|| Telling::of(me.tables));
                journal::records(telling, &out, newest, &mut me.removed)
            })),
            (Holds::Properties, Told::Ran(ran)) => Told::Ran(self.ran(ran, |me, out, cut| {
                unit::unit(&String::from_utf8_lossy(secret::whole_words(&out, cut)), &mut me.removed).into_bytes()
            })),
            (Holds::Page, Told::Seen(mut seen)) => {
                let alive = self.known.alive.contains(&seen.get);
                seen.outcome = match seen.outcome {
                    Ok(answer) if alive => Ok(model::Answer { body: Vec::new(), ..answer }),
                    Ok(answer) => Ok(body::answer(answer, &mut self.removed)),
                    Err(blind) => Err(self.blind(&blind)),
                };
                Told::Seen(seen)
            }
            (holds, Told::Content(content)) => {
                let bytes = self.content(key, holds, &content)?;
                Told::Content(Content { bytes, ..content })
            }
            _ => return None,
        })
    }

    /// What is kept of a file.
    fn content(&mut self, key: &[&str], holds: Holds, content: &Content) -> Option<Vec<u8>> {
        let removed = &mut self.removed;
        let bytes = secret::whole_words(&content.bytes, content.cut);
        let text = String::from_utf8_lossy(bytes);
        Some(match holds {
            Holds::Lines(words) => kernel::lines(bytes, words, removed),
            Holds::Sockets => kernel::listeners(bytes, removed),
            Holds::Routes => kernel::own_addresses(bytes, removed),
            Holds::Environment => secret::environment(self.tables, bytes, removed),
            Holds::CommandLine => {
                if !is_of_interest(self.tables, &split_argv(bytes)) {
                    removed.note(Rule::CommandLines);
                    return None;
                }
                secret::command_line(bytes, removed)
            }
            Holds::Unit => unit::unit(&text, removed).into_bytes(),
            Holds::Variables => unit::variables(&text, removed).into_bytes(),
            Holds::Settings => yaml::settings(&text, removed).into_bytes(),
            Holds::Zone | Holds::Package if bytes.starts_with(b"TZif") => content.bytes.clone(),
            Holds::Package => package::file(key.last()?.rsplit('/').next()?, bytes, removed)?,
            _ => return None,
        })
    }

    fn command(&mut self, line: &CommandLine) -> Option<CommandLine> {
        if !is_of_interest(self.tables, &split_argv(&line.bytes)) {
            self.removed.note(Rule::CommandLines);
            return None;
        }
        let bytes = secret::command_line(secret::whole_words(&line.bytes, line.cut), &mut self.removed);
        Some(CommandLine { bytes, ..*line })
    }

    /// The pipes of processes of interest and, since it matters what else they read, of those that hold their other ends.
    fn pipes(&mut self, pipes: &Pipes) -> Pipes {
        let of = |pids: &BTreeSet<u32>| -> BTreeSet<u64> {
            pipes.ends.iter().filter(|end| pids.contains(&end.pid)).map(|end| end.pipe).collect()
        };
        let own = of(&self.known.family);
        let holders = pipes.ends.iter().filter(|end| own.contains(&end.pipe)).map(|end| end.pid).collect();
        let kept = of(&holders);
        let ends: Vec<PipeEnd> = pipes.ends.iter().filter(|end| kept.contains(&end.pipe)).copied().collect();
        self.removed.add(Rule::Others, (pipes.ends.len() - ends.len()) as u64);
        Pipes { ends, ..*pipes }
    }

    fn names(&mut self, listing: Listing, wanted: impl Fn(&Known, &str) -> bool) -> Listing {
        let before = listing.names.len();
        let known = &self.known;
        let names: Vec<_> =
            listing.names.into_iter().filter(|name| name.to_str().is_some_and(|name| wanted(known, name))).collect();
        self.removed.add(Rule::Others, (before - names.len()) as u64);
        Listing { names, ..listing }
    }

    fn ran(&mut self, ran: Ran, stdout: impl Fn(&mut Self, Vec<u8>, bool) -> Vec<u8>) -> Ran {
        let stderr = secret::scrubbed(&ran.stderr, &mut self.removed);
        Ran { stdout: stdout(self, ran.stdout, ran.cut), stderr, ..ran }
    }
}
