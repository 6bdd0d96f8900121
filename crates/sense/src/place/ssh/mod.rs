//! Another host, reached by the system's `ssh`: a POSIX shell there answers questions, many in one round trip.
//!
//! What a look will ask is mostly known before: [`Ssh::enter`] lets the far shell tell it all at once, and what is on the
//! [`Shelf`] then needs no round trip. What is asked beyond that is asked when it is asked, so that correctness never
//! depends on what was foreseen.

mod answers;
mod control;
mod destination;
mod errors;
#[cfg(test)]
mod far_test;
mod fetch;
mod frames;
#[cfg(test)]
mod frames_test;
mod page;
mod questions;
mod session;
mod survey;
mod tunnel;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{Blind, BlindKind, Time};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinSet;

pub use control::Options;
pub use destination::{Destination, DestinationError};

use self::fetch::Lanes;
use self::frames::Frame;
use self::session::Session;
pub(crate) use self::tunnel::{Tunnel, Tunnels};
use super::ask::{Answered, Ask, Key, Told};
use super::shelf::Shelf;
use super::{Foreseen, Sieve, Sought};
use crate::command::{Command, Plan, Ran};
use crate::http::{AllowList, Client, Counts, Target};

/// How long the host may take to let us in and tell what it runs.
const ENTER: Duration = Duration::from_secs(8);
/// How long it may take for any later question.
const PATIENCE: Duration = Duration::from_secs(5);
/// Shells that are opened before they are needed: hosts allow ten at once.
const SPARES: usize = 6;
/// Shells that are started anew in one look.
const RESTARTS: usize = 1;
/// How long for pages: some requests of some seconds each.
const PAGES: Duration = Duration::from_secs(8);

/// A host over ssh. Clones share its connection.
#[derive(Debug, Clone)]
pub struct Ssh(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tunnels: Arc<Tunnels>,
    boundary: String,
    client: Client,
    /// The shell for files, and the one for programs, which take longer.
    files: AsyncMutex<Option<Arc<Session>>>,
    /// Shells that wait for questions: opening one takes two round trips, which pass while the host is surveyed.
    spare: Mutex<Vec<Session>>,
    programs: AsyncMutex<Option<Arc<Session>>>,
    lanes: Lanes,
    shelf: Shelf,
    /// Seconds by which its clock is ahead of ours.
    ahead: Mutex<Option<f64>>,
    tools: Mutex<survey::Tools>,
    /// Shells that ended since the look began.
    ended: AtomicUsize,
}

impl Ssh {
    /// The host at `to`, of which only these pages may be asked. Nothing is done before it is entered.
    pub fn new(to: Destination, options: &Options, allow: AllowList) -> Ssh {
        let tunnels = Arc::new(Tunnels::new(to, options.clone()));
        let inner = Inner {
            client: Client::through(Arc::clone(&tunnels), allow),
            tunnels,
            boundary: random(),
            files: AsyncMutex::default(),
            spare: Mutex::default(),
            programs: AsyncMutex::default(),
            lanes: Lanes::default(),
            shelf: Shelf::default(),
            ahead: Mutex::default(),
            tools: Mutex::default(),
            ended: AtomicUsize::new(0),
        };
        Ssh(Arc::new(inner))
    }

    /// Connects, and asks at once what a look will ask.
    pub(super) async fn enter(&self, sought: &Sought) -> Result<(), Blind> {
        self.0.shelf.clear();
        self.0.ended.store(0, Ordering::Relaxed);
        let session = self.files().await?;
        let spares = tokio::spawn(self.clone().prepare());
        let frames = session.ask(&survey::script(sought), ENTER).await;
        spares.abort();
        let frames = frames?;
        let heard = crate::clock::now();
        let told = survey::read(&frames, &sought.words);
        if let Some(far) = told.time {
            *lock(&self.0.ahead) = Some(far.since(heard));
        }
        // A long answer was long on its way: the clocks are compared anew while the look goes on.
        tokio::spawn(self.clone().compare(session));
        if let Some(missing) = told.tools.missing() {
            let text = format!(
                "{}: {missing} is not there, or does something else: it cannot be looked at",
                self.0.tunnels.to()
            );
            return Err(Blind::new(BlindKind::Denied, text));
        }
        *lock(&self.0.tools) = told.tools;
        for (key, answered) in told.answers {
            self.0.shelf.put(key, answered);
        }
        Ok(())
    }

    /// Compares the clocks by a question of its own; what is wrong with it is at most half of what that takes.
    async fn compare(self, session: Arc<Session>) {
        let asked = crate::clock::now();
        let Ok(frames) = session.ask("t time\n", PATIENCE).await else { return };
        let took = crate::clock::now().since(asked);
        if let Some(far) = survey::read(&frames, &[]).time {
            *lock(&self.0.ahead) = Some(far.since(asked.plus(took / 2.0)));
        }
    }

    /// Opens spare shells as soon as they can go over the connection that is being made.
    async fn prepare(self) {
        let control = self.0.tunnels.control().await;
        if !control.meets(ENTER).await {
            return;
        }
        while lock(&self.0.spare).len() < SPARES {
            let Ok(session) = self.start(&control.further()).await else { return };
            lock(&self.0.spare).push(session);
        }
    }

    /// A further shell: a spare one where there is one.
    async fn further(&self) -> Result<Session, Blind> {
        loop {
            let spare = lock(&self.0.spare).pop();
            match spare {
                Some(session) if session.lives() => return Ok(session),
                Some(_) => {}
                None => return self.start(&self.0.tunnels.control().await.further()).await,
            }
        }
    }

    pub(super) async fn each(&self, asks: Vec<Ask>) -> Vec<Answered> {
        let mut told: Vec<Option<Answered>> = asks.iter().map(|ask| self.shelved(ask)).collect();
        let left: Vec<(usize, &Ask)> = asks.iter().enumerate().filter(|(at, _)| told[*at].is_none()).collect();
        let (over, files): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, ask)| matches!(ask, Ask::Get { .. } | Ask::Listen { .. }));
        for (at, answered) in self.of_files(&files).await {
            told[at] = Some(answered);
        }
        for (at, ask) in over {
            told[at] = Some(match ask {
                Ask::Get { target, path, query } => {
                    Ok(Told::Seen(fetch::get(self, target, path, query.as_deref()).await))
                }
                // No program that every host has speaks the protocol.
                other => {
                    let text =
                        format!("{} is not listened to over ssh: look on the host itself", other.as_ref().display());
                    Err(Blind::new(BlindKind::NoRoute, text))
                }
            });
        }
        let unasked = || Err(Blind::new(BlindKind::Gone, "the far shell did not answer this"));
        told.into_iter().map(|answered| answered.unwrap_or_else(unasked)).collect()
    }

    /// What was told already.
    fn shelved(&self, ask: &Ask) -> Option<Answered> {
        if is_fleeting(ask) { self.0.shelf.take(ask) } else { self.0.shelf.find(ask) }
    }

    async fn of_files(&self, asks: &[(usize, &Ask)]) -> Vec<(usize, Answered)> {
        let mut answers = Vec::new();
        let files: Vec<(usize, &Ask)> =
            asks.iter().copied().filter(|(_, ask)| !matches!(ask, Ask::Run { .. })).collect();
        if !files.is_empty() {
            let script: String = files.iter().map(|(at, ask)| questions::line(*at, ask)).collect();
            let told = match self.files().await {
                Ok(session) => session.ask(&script, PATIENCE).await,
                Err(blind) => Err(blind),
            };
            answers.extend(self.sorted(&files, told));
        }
        for (at, ask) in asks {
            if let Ask::Run { command, patience } = ask {
                answers.push((*at, self.run(command, *patience).await.map(Told::Ran)));
            }
        }
        answers
    }

    /// Runs a listed program there.
    async fn run(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        let mut ran = self.program(&command.plan()?, patience).await?;
        if let Some(plan) = command.doubt(&ran) {
            ran.stderr = self.program(&plan, patience).await?.stderr;
        }
        command.judge(ran)
    }

    async fn program(&self, plan: &Plan, patience: Duration) -> Result<Ran, Blind> {
        if !lock(&self.0.tools).has(plan.program) {
            return Err(Blind::new(BlindKind::Gone, format!("there is no {} on this host", plan.program)));
        }
        let session = self.programs().await?;
        let frames = session.ask(&questions::program(plan, patience), patience + PATIENCE).await?;
        let late = || Blind::new(BlindKind::Deadline, format!("{} did not answer in time", plan.program));
        answers::ran(&frames, plan.program)?.ok_or_else(late)
    }

    /// Each question's answer among the frames; bulk answers go on the shelf as well.
    fn sorted(&self, asks: &[(usize, &Ask)], told: Result<Vec<Frame>, Blind>) -> Vec<(usize, Answered)> {
        let frames = match told {
            Ok(frames) => frames,
            Err(blind) => return asks.iter().map(|(at, _)| (*at, Err(blind.clone()))).collect(),
        };
        let groups = answers::grouped(&frames);
        let mut out = Vec::new();
        for (at, ask) in asks {
            let own = groups.get(format!("#{at}").as_str()).map(Vec::as_slice).unwrap_or_default();
            let (answered, more) = answers::of(ask, own);
            for (key, answered) in more {
                self.0.shelf.put(key, answered);
            }
            // Until the look ends, what does not change by itself is as it was.
            if !is_fleeting(ask) {
                self.0.shelf.put(ask.key(), answered.clone());
            }
            out.push((*at, answered));
        }
        out
    }

    /// What time it is there.
    pub(super) fn now(&self) -> Time {
        crate::clock::now().plus(lock(&self.0.ahead).unwrap_or_default())
    }

    /// Takes over what is known of its clock from one that was the same host.
    pub(super) fn clock_as(&self, before: &Ssh) {
        let ahead = *lock(&before.0.ahead);
        *lock(&self.0.ahead) = ahead;
    }

    /// Seconds by which its clock is ahead of ours, where that is more than what an ssh connection blurs.
    pub(super) fn clock_ahead(&self) -> Option<f64> {
        const BLUR_S: f64 = 2.0;
        lock(&self.0.ahead).filter(|ahead| ahead.abs() >= BLUR_S)
    }

    pub(super) fn counts(&self) -> Counts {
        let (own, over) = (self.0.lanes.counts(), self.0.client.counts());
        Counts {
            requests: own.requests + over.requests,
            failed: own.failed + over.failed,
            bytes: own.bytes + over.bytes,
        }
    }

    /// Asks at once for pages that will be asked next, of each target in this order.
    pub(super) async fn foresee(&self, pages: Vec<(Target, Vec<Foreseen>)>) {
        let mut tasks = JoinSet::new();
        for (target, pages) in pages {
            let ssh = self.clone();
            tasks.spawn(async move { fetch::foresee(&ssh, &target, &pages).await });
        }
        while tasks.join_next().await.is_some() {}
    }

    /// Sifts folders and all below them in one go.
    pub(super) async fn foresee_folders(&self, root: &Path, folders: &[PathBuf], sieve: &Sieve, skipped: &[&str]) {
        let ask =
            |folder: &PathBuf| Ask::Sift { root: root.to_path_buf(), folder: folder.clone(), sieve: sieve.clone() };
        let new: Vec<PathBuf> = folders.iter().filter(|folder| !self.0.shelf.has(&ask(folder))).cloned().collect();
        if new.is_empty() {
            return;
        }
        let script = questions::folders(root, &new, sieve, skipped);
        let Ok(session) = self.files().await else { return };
        let Ok(frames) = session.ask(&script, PATIENCE).await else { return };
        for (folder, group) in answers::folders(&frames) {
            let ask = ask(&folder);
            let (answered, _) = answers::of(&ask, &group);
            self.0.shelf.put(ask.key(), answered);
        }
    }

    async fn files(&self) -> Result<Arc<Session>, Blind> {
        self.session(&self.0.files, true).await
    }

    async fn programs(&self) -> Result<Arc<Session>, Blind> {
        self.session(&self.0.programs, false).await
    }

    /// The session in its place; a new one where the old one ended.
    async fn session(&self, place: &AsyncMutex<Option<Arc<Session>>>, first: bool) -> Result<Arc<Session>, Blind> {
        let mut place = place.lock().await;
        match place.as_ref() {
            Some(session) if session.lives() => return Ok(Arc::clone(session)),
            // A host that goes away is not knocked at again and again.
            Some(session) if self.0.ended.fetch_add(1, Ordering::Relaxed) >= RESTARTS => return Err(session.why()),
            _ => {}
        }
        let session =
            if first { self.start(&self.0.tunnels.control().await.first()).await? } else { self.further().await? };
        if first {
            self.0.tunnels.share(session.complaints());
        }
        let session = Arc::new(session);
        *place = Some(Arc::clone(&session));
        Ok(session)
    }

    async fn start(&self, words: &[String]) -> Result<Session, Blind> {
        let session = Session::start(&self.0.tunnels.to().to_string(), words, &self.0.boundary)?;
        session.greet(&self.0.boundary).await;
        Ok(session)
    }
}

/// Whether an answer is good once: ends of files grow, and pages change.
fn is_fleeting(ask: &Ask) -> bool {
    matches!(ask, Ask::Ends { .. } | Ask::Get { .. } | Ask::Run { .. } | Ask::Listen { .. })
}

/// A word that nobody there can know before: hex digits of a keyed hash, whose key the system gives.
fn random() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let half = |_| format!("{:016x}", RandomState::new().hash_one(std::process::id()));
    (0..2).map(half).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key of what a far shell foresaw.
fn key(words: &[&str]) -> Key {
    Key(words.iter().map(|word| (*word).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::{AllowList, Options, Ssh, lock};

    #[test]
    fn what_is_known_of_its_clock_goes_to_the_next() {
        let ssh = || Ssh::new("ssh://h".parse().expect("a host"), &Options::default(), AllowList::new([""; 0]));
        let (before, now) = (ssh(), ssh());
        *lock(&before.0.ahead) = Some(-3600.0);
        now.clock_as(&before);
        assert_eq!(now.clock_ahead(), Some(-3600.0));
        assert!(crate::clock::now().since(now.now()) > 3000.0);
    }
}
