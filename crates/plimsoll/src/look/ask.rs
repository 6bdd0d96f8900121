//! Asking one candidate: gently, one request after the other, by its engine's table.

use engines::Trees;
use engines::table::condition::Holds;
use engines::table::{Source, Table};
use model::{BlindKind, Log, Note, Observation, Signal, Time};
use sense::Target;
use sense::place::Foreseen;

use super::beside::{self, Beside};
use super::candidate::{Candidate, Kept, Looked};
use super::remarks::{still_starting, unknown, unlisted};
use super::wrapped::{self, Shared};
use super::{Eye, named};

/// A target that let this many requests pass without an answer is not asked further.
const PATIENCE: usize = 2;

/// Asks everything that the candidate's table asks. What serves the pages of others is as many as these.
pub(super) async fn candidate(eye: &Eye, candidate: Candidate) -> Vec<Looked> {
    let mut looked = further(eye, candidate, Kept::default()).await;
    for one in &mut looked {
        // Of a thousand servers there would be a thousand bodies.
        one.kept = Kept::default();
    }
    looked
}

/// The same, going on from what an earlier look brought; what the next one may go on from is kept.
pub(super) async fn further(eye: &Eye, mut candidate: Candidate, kept: Kept) -> Vec<Looked> {
    let started = eye.place.now();
    let until = eye.until();
    let (mut observations, mut trees) = (kept.observations, kept.trees);
    trees.drop_strange(candidate.engine.as_deref().and_then(|name| eye.tables.get(name)), &mut observations);
    let before = observations.len();
    if !candidate.mute
        && let Some(shared) = sort_ports(eye, &mut candidate, &mut observations, until).await
    {
        return apart(eye, shared, candidate, observations, started);
    }
    if candidate.engine.is_none()
        && let Some(log) = candidate.logs.first()
    {
        // Its pages do not tell what it is; its log does.
        candidate.engine = engines::saved::written(&eye.tables, log).map(|known| known.table.engine.name.clone());
    }
    let table = candidate.engine.as_deref().and_then(|name| eye.tables.get(name));
    let mut kept_beside = None;
    let mut account = match table {
        Some(table) => {
            let over_http = by_table(eye, table, &candidate, &mut observations, &trees, until);
            let aside = async {
                match kept.beside {
                    Some(beside) if !kept.read_on => beside,
                    before => beside(eye, table, &candidate, before.unwrap_or_default().logs).await,
                }
            };
            let ((), beside) = tokio::join!(over_http, aside);
            if fell_silent(observations.get(before..).unwrap_or_default()) {
                observations.drain(..before);
            }
            kept_beside = Some(beside.clone());
            observations.extend(beside.slabs);
            if let Some(shared) = wrapped::several(eye, table, &mut candidate, &mut observations) {
                return apart(eye, shared, candidate, observations, started);
            }
            observations.extend(published(eye, table, &candidate, &observations, &trees).await);
            let (logs, flags) = (&beside.logs, &candidate.flags);
            let mut account = engines::interpret_again(&eye.tables, table, &observations, logs, flags, &mut trees);
            account.notes.extend(candidate.notes.iter().cloned());
            account.notes.extend(beside.notes);
            account.notes.extend(unlisted(table, &account));
            if table.lines.is_empty() && !candidate.logs.is_empty() {
                let text = format!(
                    "a log that was given is none of {}: give the address of the server that wrote it",
                    table.engine.title
                );
                account.notes.push(Note::new("log-unplaced", text));
            }
            account
        }
        None => unknown(&observations),
    };
    account.notes.extend(still_starting(&candidate, &observations, eye.place.now()));
    let named = named::settle(&mut account);
    let mut again: Vec<Observation> = observations.iter_mut().filter_map(|seen| kept_of(seen, table)).collect();
    trees.keep(table, &mut again);
    let kept = Kept { observations: again, trees, beside: kept_beside, read_on: false };
    observations.iter_mut().for_each(forget);
    let took = eye.place.now().since(started);
    vec![Looked { observations, named, took, kept, ..Looked::of(candidate, account) }]
}

/// The servers on one page. What else was asked is told with the first: answering it cost the target time, too.
fn apart(
    eye: &Eye,
    shared: wrapped::Shared,
    candidate: Candidate,
    mut observations: Vec<Observation>,
    started: Time,
) -> Vec<Looked> {
    let mut told = shared.told(eye, candidate, || unknown(&observations));
    if let Some(first) = told.first_mut() {
        let is_told =
            |seen: &Observation| first.observations.iter().any(|own| own.url == seen.url && own.at == seen.at);
        observations.retain(|seen| !is_told(seen));
        observations.iter_mut().for_each(forget);
        first.observations.append(&mut observations);
    }
    let took = eye.place.now().since(started);
    told.into_iter().map(|one| Looked { took, ..one }).collect()
}

/// Whether something was asked and nothing answered: then what was said before is no sign of life.
fn fell_silent(asked: &[Observation]) -> bool {
    !asked.is_empty() && asked.iter().all(|seen| seen.outcome.is_err())
}

/// Bytes of an answer that is worth keeping rather than asking again.
const SMALL: usize = 64 << 10;
/// The same of one that is costly to ask again.
const COSTLY: usize = 1 << 20;

/// The observation to go on from, where it is of a page and small enough; its body is taken, not copied.
fn kept_of(seen: &mut Observation, table: Option<&Table>) -> Option<Observation> {
    let page = seen.get.starts_with('/');
    let spared = |table: &Table| table.sources.iter().any(|source| source.get == seen.get && source.spare.is_some());
    let most = if table.is_some_and(spared) { COSTLY } else { SMALL };
    let small = seen.outcome.as_mut().ok().filter(|answer| page && answer.body.len() <= most)?;
    let body = std::mem::take(&mut small.body);
    let mut kept = seen.clone();
    if let Ok(answer) = &mut kept.outcome {
        answer.body = body;
    }
    Some(kept)
}

/// Drops a body that was understood: of a thousand servers there would be a thousand.
pub(super) fn forget(observation: &mut Observation) {
    if let Ok(answer) = &mut observation.outcome {
        answer.body = Vec::new();
    }
}

/// Finds out what unsorted ports serve and, if need be, what engine it is; or the page on which it stands with others.
async fn sort_ports(
    eye: &Eye,
    candidate: &mut Candidate,
    observations: &mut Vec<Observation>,
    until: Time,
) -> Option<Shared> {
    if eye.place.is_far() {
        let pages = sorting(eye, candidate.engine.as_deref());
        eye.foresee(candidate.unsorted.iter().map(|target| (target.clone(), pages.clone())).collect(), until).await;
    }
    for target in std::mem::take(&mut candidate.unsorted) {
        let mut silent = 0;
        let mut recognised = None;
        for question in eye.tables.questions() {
            let there =
                |path: &str| observations.iter().any(|seen| is_of(seen, &target, path) && status(seen) == Some(200));
            if eye.tables.before(question).is_some_and(|path| !there(path)) {
                continue;
            }
            let mut observation = eye.get(&target, question, until).await;
            if let Some(shared) = wrapped::read(eye, candidate, &target, &mut observation) {
                candidate.unsorted.push(target);
                observations.push(observation);
                return Some(shared);
            }
            recognised = eye
                .tables
                .recognise(&observation)
                .map(|(table, serves)| (table.engine.name.clone(), serves.to_owned()));
            let hopeless = gives_up(eye, &target, &observation, &mut silent);
            observations.push(observation);
            if recognised.is_some() || hopeless {
                break;
            }
        }
        match recognised {
            Some((engine, serves)) if candidate.engine.as_ref().is_none_or(|known| *known == engine) => {
                candidate.engine = Some(engine);
                candidate.ports.entry(serves).or_insert(target);
            }
            // What answered nothing that a table knows still stands for the candidate.
            _ => candidate.unsorted.push(target),
        }
    }
    if candidate.engine.is_some() {
        // The port of an engine that is known already: only those that answered as its own are its ports.
        let known = !candidate.ports.is_empty();
        candidate.unsorted.retain(|_| !known);
    }
    None
}

/// The pages that find out what a port serves: one that is there mostly tells, and then no other is asked. Of an engine that
/// is known those follow that its table asks of such a port.
fn sorting(eye: &Eye, engine: Option<&str>) -> Vec<Foreseen> {
    let questions = eye.tables.questions();
    let until_there = |at: usize| Foreseen {
        path: questions[at].to_owned(),
        // A path that only others are asked after tells nothing by itself.
        unless: questions[..at]
            .iter()
            .filter(|path| !questions.iter().any(|question| eye.tables.before(question) == Some(**path)))
            .map(|path| (*path).to_owned())
            .collect(),
        after: eye.tables.before(questions[at]).map(str::to_owned),
    };
    let mut pages: Vec<Foreseen> = (0..questions.len()).map(until_there).collect();
    if let Some(table) = engine.and_then(|name| eye.tables.get(name)) {
        for rule in &table.engine.answer {
            let own = pages_of(table)
                .filter(|(source, _)| source.on == rule.serves && source.get != rule.get && source.when.is_none());
            pages.extend(own.map(|(source, unless)| Foreseen {
                path: source.get.clone(),
                unless,
                after: Some(rule.get.clone()),
            }));
        }
    }
    pages
}

/// The pages that a table asks, each with those that make it needless.
fn pages_of(table: &Table) -> impl Iterator<Item = (&Source, Vec<String>)> {
    let get_of = |id: &String| table.sources.iter().find(|other| other.id == *id).map(|other| other.get.clone());
    let asked = |source: &&Source| source.relay.is_none() && source.format.is_page() && !source.saved_only;
    let pages = table.sources.iter().filter(asked);
    pages.map(move |source| (source, source.unless.iter().filter_map(get_of).collect()))
}

/// Asks every path of the table.
async fn by_table(
    eye: &Eye,
    table: &Table,
    candidate: &Candidate,
    observations: &mut Vec<Observation>,
    trees: &Trees,
    until: Time,
) {
    // Questions that found out what a port serves are no answers of another port; where no port answered they say why.
    let silent_all = candidate.ports.is_empty();
    observations.retain(|seen| {
        let of_port =
            |source: &Source| candidate.ports.get(&source.on).is_some_and(|target| is_of(seen, target, &source.get));
        table.sources.iter().any(of_port) || silent_all && seen.outcome.is_err()
    });
    let mut silent = 0;
    let mut hopeless: Vec<&str> = Vec::new();
    foresee(eye, table, candidate, observations, until).await;
    for (source, _) in pages_of(table) {
        let Some(target) = candidate.ports.get(&source.on) else { continue };
        let answered = |id: &String| {
            let other = table.sources.iter().find(|source| source.id == *id);
            other
                .is_some_and(|other| observations.iter().any(|seen| seen.get == other.get && status(seen) == Some(200)))
        };
        let asked = observations.iter().any(|seen| is_of(seen, target, &source.get));
        if asked || source.unless.iter().any(answered) || hopeless.contains(&source.on.as_str()) {
            continue;
        }
        if let Some(when) = &source.when {
            let known = engines::interpret_known(table, observations, &candidate.flags, trees);
            if when.holds(|name| known.fact(name)) == Holds::No {
                continue;
            }
        }
        let observation = eye.get(target, &source.get, until).await;
        if gives_up(eye, target, &observation, &mut silent) {
            hopeless.push(&source.on);
        }
        observations.push(observation);
    }
}

/// Tells the place which pages will be asked, port by port, but for those that were asked already.
async fn foresee(eye: &Eye, table: &Table, candidate: &Candidate, asked: &[Observation], until: Time) {
    let own = |serves: &String, target: &Target| {
        let own = pages_of(table).filter(|(source, _)| source.on == *serves);
        // Whether those with a condition are asked is known once others have answered.
        let new = own
            .filter(|(source, _)| source.when.is_none() && !asked.iter().any(|seen| is_of(seen, target, &source.get)));
        new.map(|(source, unless)| Foreseen { path: source.get.clone(), unless, after: None }).collect()
    };
    let pages = candidate.ports.iter().map(|(serves, target)| (target.clone(), own(serves, target))).collect();
    eye.foresee(pages, until).await;
}

/// What the candidate's process leaves on this host, if it is on it, and the logs that were given. Logs that were read
/// `before` are read on.
async fn beside(eye: &Eye, table: &Table, candidate: &Candidate, before: Vec<Log>) -> Beside {
    let mut beside = match &candidate.process {
        Some(process) => beside::look(eye, table, process, candidate.writes.as_ref(), before).await,
        None => Beside::default(),
    };
    beside.logs.extend(candidate.logs.iter().cloned());
    beside
}

/// What the candidate's process tells others of its kind. Listening takes as long as it takes something to change: where its
/// pages said how full it is, only a moment of that is waited for.
async fn published(
    eye: &Eye,
    table: &Table,
    candidate: &Candidate,
    observations: &[Observation],
    trees: &Trees,
) -> Vec<Observation> {
    let Some(process) = candidate.process.as_ref().filter(|_| table.tree.is_some()) else { return Vec::new() };
    let known = engines::interpret_known(table, observations, &candidate.flags, trees);
    let tells =
        |signal| known.sets.iter().any(|set| set.readings.get(&signal).is_some_and(|said| said.value.is_some()));
    let told = tells(Signal::KV_USED) || tells(Signal::KV_IN_USE);
    beside::published(eye, table, process, &candidate.flags, told).await
}

/// Whether an observation is of `get` on this very port.
pub(super) fn is_of(seen: &Observation, target: &Target, get: &str) -> bool {
    seen.get == get && seen.url == target.base.url(get)
}

/// Whether a target that gave this is not worth another request; what stands in the way of all that is asked at its
/// address is noted for others that lead there.
fn gives_up(eye: &Eye, target: &Target, observation: &Observation, silent: &mut usize) -> bool {
    let Err(blind) = &observation.outcome else {
        *silent = 0;
        return false;
    };
    let hopeless = match blind.kind {
        BlindKind::Name | BlindKind::Refused | BlindKind::NoRoute => true,
        BlindKind::Tls | BlindKind::Denied | BlindKind::Gone => return true,
        BlindKind::Deadline => {
            *silent += 1;
            *silent >= PATIENCE
        }
        BlindKind::Cut | BlindKind::TooLarge | BlindKind::NotHttp => false,
    };
    if hopeless {
        eye.give_up(target, &blind.text);
    }
    hopeless
}

fn status(observation: &Observation) -> Option<u16> {
    observation.outcome.as_ref().ok().map(|answer| answer.status)
}

/// Asks a router for the page on which it passes on its workers' own pages.
pub(super) async fn relay(eye: &Eye, router: &Looked) -> Option<(String, Observation)> {
    let table = router.account.engine.as_deref().and_then(|name| eye.tables.get(name))?;
    let source = table.sources.iter().find(|source| source.relay.is_some())?;
    let target: &Target = router.candidate.ports.get(&source.on)?;
    Some((source.relay.clone()?, eye.get(target, &source.get, eye.until()).await))
}
