//! Looking again and again: every server on a schedule of its own, so that none waits for another and none is asked more
//! than it can bear; hosts are searched anew meanwhile.
//!
//! One task has all of it and nobody else: what others want is published, or asked for between two steps.

mod bare;
#[cfg(test)]
mod bare_test;
mod clock;
mod discovery;
mod fleet;
mod known;
mod light;
mod pace;
mod reopen;
#[cfg(test)]
mod reopen_test;
mod workers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use model::Time;
use tokio::task::JoinSet;

pub(crate) use fleet::{Fleet, Health};
#[cfg(test)]
pub(crate) use known::Tally;
pub(crate) use known::seconds;
pub(crate) use pace::Pace;

use self::discovery::Discovered;
use self::known::Known;
use super::candidate::{Kept, Looked};
use super::site::{self, Seen, Site};
use super::{Eye, Opened, ask, follow};

/// Seconds for one target, all its requests together: one that answers slowly is asked rarely, and waited for.
pub(super) const TARGET_S: f64 = 30.0;
/// For one request.
pub(super) const REQUEST: Duration = Duration::from_secs(10);
/// Targets asked at once.
const AT_ONCE: usize = 64;
/// Of the time that a look at a host over ssh takes this much is taken for the host's own; the rest is the way there.
const HOST_PART: f64 = 0.1;
/// What cannot be done for a reason that may pass is tried again after so many seconds.
const AGAIN_S: f64 = 15.0;

/// What is watched.
pub(crate) struct Watch {
    opened: Opened,
    pace: Pace,
    places: Vec<Watched>,
    known: BTreeMap<usize, Known>,
    next_number: usize,
    tasks: JoinSet<Done>,
    /// Looks at the same before, oldest first, without what no sign needs.
    earlier: Vec<model::Snapshot>,
    /// What each server usually gets done, by its address.
    usual: BTreeMap<String, judge::Paces>,
    /// Counts since the beginning.
    pub(crate) counts: Counts,
    /// What was found and what went, since it was last taken.
    pub(crate) moves: Vec<Move>,
}

/// Counts of looks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Looks at servers.
    pub(crate) looks: u64,
    /// Those that brought nothing.
    pub(crate) failed: u64,
}

/// Something that came or went, or began anew.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Move {
    /// Its process is a new one: its address, and the new process.
    Restarted(String, u32),
    /// Its address is another one: before, now.
    Moved(String, String),
    /// It is no longer watched, and why.
    Gone(String, String),
}

/// One site.
struct Watched {
    site: Site,
    /// What was seen of it, but for its servers.
    seen: Seen,
    next: Time,
    busy: bool,
}

/// What a task brought.
enum Done {
    /// A look at one that is known, which began then, and as what it was seen.
    Server(usize, Time, Vec<Looked>, Eye),
    /// A look at a whole site.
    Site(usize, Time, Result<Seen>),
    /// What is on a site, and how it is looked at from now on.
    Found(usize, Arc<Eye>, Result<Discovered>),
}

impl Watch {
    /// Nothing is asked before the first step.
    pub(crate) fn new(opened: Opened, pace: Pace) -> Watch {
        let site = |site: &Site| Watched { site: site.clone(), seen: Seen::default(), next: Time(0.0), busy: false };
        let places = opened.sites.iter().map(site).collect();
        Watch {
            opened,
            pace,
            places,
            known: BTreeMap::new(),
            next_number: 0,
            tasks: JoinSet::new(),
            earlier: Vec::new(),
            usual: BTreeMap::new(),
            counts: Counts::default(),
            moves: Vec::new(),
        }
    }

    /// Waits until something was looked at, or until `until`; true where something is new.
    pub(crate) async fn step(&mut self, until: Time) -> bool {
        let now = sense::clock::now();
        self.begin(now);
        let wake = self.next_due().filter(|due| *due < until).unwrap_or(until);
        let wait = Duration::from_secs_f64(wake.since(now).clamp(0.0, 3600.0));
        let done = tokio::select! {
            done = self.tasks.join_next(), if !self.tasks.is_empty() => done,
            () = tokio::time::sleep(wait) => None,
        };
        // A task that panicked is lost with its server's look; that it does not happen is the tests' business.
        match done {
            Some(Ok(done)) => {
                self.take(done);
                while let Some(Ok(done)) = self.tasks.try_join_next() {
                    self.take(done);
                }
                true
            }
            Some(Err(_)) | None => false,
        }
    }

    /// Begins everything that is due.
    fn begin(&mut self, now: Time) {
        for at in 0..self.places.len() {
            let place = &mut self.places[at];
            if place.busy || now.since(place.next) < 0.0 {
                continue;
            }
            place.busy = true;
            let here = &self.opened.here;
            // Names and namespaces are learned anew with each search, and stand until the next.
            let site = place.site.again(&Arc::new(here.again()));
            if place.site.eye.via.is_some() {
                place.site.eye = Arc::clone(&site.eye);
                self.tasks.spawn(async move { Done::Site(at, now, site::look(&site, false).await) });
            } else {
                let hardware = place.seen.now.is_none();
                let known = self.known.values().filter(|known| known.site == at && known.whole == 0);
                let targets: Vec<sense::Target> = known.flat_map(Known::targets).cloned().collect();
                self.tasks.spawn(async move {
                    let found = discovery::of(&site, hardware, &targets).await;
                    Done::Found(at, Arc::clone(&site.eye), found)
                });
            }
        }
        let mut free = AT_ONCE.saturating_sub(self.known.values().filter(|known| known.busy).count());
        let mut due: Vec<(&usize, &mut Known)> = self.known.iter_mut().filter(|(_, known)| known.is_due(now)).collect();
        // Who waits longest is asked first.
        due.sort_by(|a, b| a.1.next.0.total_cmp(&b.1.next.0));
        for (number, known) in due {
            if free == 0 {
                break;
            }
            free -= 1;
            let (number, site) = (*number, &self.places[known.site].site);
            let eye = site.eye.alone();
            let (candidate, kept) = known.question(now, &self.pace);
            let relays = known.blind;
            self.tasks.spawn(async move {
                let looked = one(&eye, candidate, kept, relays).await;
                Done::Server(number, now, looked, eye)
            });
        }
    }

    /// When the next thing is due.
    fn next_due(&self) -> Option<Time> {
        let places = self.places.iter().filter(|place| !place.busy).map(|place| place.next);
        let known = self.known.values().filter(|known| !known.busy && known.whole == 0).map(|known| known.next);
        places.chain(known).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn take(&mut self, done: Done) {
        let now = sense::clock::now();
        match done {
            Done::Server(number, began, looked, eye) => {
                self.counts.looks += 1;
                self.counts.failed += u64::from(looked.iter().all(|one| one.account.silent().is_some()));
                let Some(known) = self.known.get_mut(&number) else { return };
                known.looked_at(began, now, looked, &self.pace);
                if known.is_router() {
                    // It may have been asked before the last search, and its workers' names were resolved then.
                    self.places[known.site].site.eye.atlas.take_names(&eye.atlas);
                    self.follow(number);
                }
            }
            Done::Site(at, began, seen) => self.whole(at, began, now, seen),
            Done::Found(at, eye, found) => {
                if found.is_ok() {
                    // A name that does not resolve just now leads where it led.
                    eye.atlas.take_names(&self.places[at].site.eye.atlas);
                    self.places[at].site.eye = eye;
                }
                self.found(at, now, found);
            }
        }
    }

    /// A look at a whole site came back.
    fn whole(&mut self, at: usize, began: Time, now: Time, seen: Result<Seen>) {
        let place = &mut self.places[at];
        place.busy = false;
        let mut seen = seen.unwrap_or_else(|error| Seen {
            failed: Some(model::Blind::new(model::BlindKind::Gone, format!("{error:#}"))),
            now: Some(now),
            ..Seen::default()
        });
        self.counts.looks += 1;
        self.counts.failed += u64::from(seen.failed.is_some());
        let looked = std::mem::take(&mut seen.looked);
        let pause = self.pace.pause(known::spent(&looked, began).max(HOST_PART * seen.took));
        place.next = if seen.failed.is_some() { now.plus(AGAIN_S) } else { began.plus(pause) };
        let failed = seen.failed.is_some();
        place.seen = seen;
        let number = self.known.iter().find(|(_, known)| known.whole == at + 1).map(|(number, _)| *number);
        let number = number.unwrap_or_else(|| {
            self.next_number += 1;
            self.next_number - 1
        });
        let known = self.known.entry(number).or_insert_with(|| Known::whole(at));
        if failed {
            // What was known stays, and grows stale.
            return;
        }
        known.looked = looked;
        known.fresh = true;
        for one in &mut known.looked {
            (one.known, one.every_s) = (number, pause);
        }
        (known.asked, known.every_s) = (Some(began), pause);
    }
}

/// One look at one server and, of a router whose workers cannot all be read, at its page of their pages.
async fn one(eye: &Eye, candidate: super::candidate::Candidate, kept: Kept, relays: bool) -> Vec<Looked> {
    let mut looked = ask::further(eye, candidate, kept).await;
    for one in &mut looked {
        // Here, so that nobody else waits for it.
        follow::resolve(eye, one).await;
        if relays {
            one.relayed = ask::relay(eye, one).await;
        }
    }
    looked
}
