//! One server that is watched: what to ask it, when, and what came of it.

use engines::table::Table;
use model::{Observation, Role, Signal, Time};

use super::light;
use super::pace::Pace;
use crate::look::candidate::{Candidate, Kept, Looked};

/// A server, or several behind one address.
pub(super) struct Known {
    /// The site that it is asked from.
    pub(super) site: usize,
    /// 0, or the number, from 1 on, of the site whose servers these are all together.
    pub(super) whole: usize,
    /// As it was found: what is asked to find out what it is.
    pub(super) found: Candidate,
    /// As it was found out.
    settled: Option<Candidate>,
    /// What the last look brought.
    pub(super) looked: Vec<Looked>,
    /// Something in it was not published yet.
    pub(super) fresh: bool,
    /// When the last look began.
    pub(super) asked: Option<Time>,
    /// When it last gave an answer.
    pub(super) answered: Option<Time>,
    /// When everything was last asked that its table asks.
    whole_at: Option<Time>,
    /// When the next look is due.
    pub(super) next: Time,
    /// Seconds between the last look and the next.
    pub(super) every_s: f64,
    /// Seconds that the server spent on the last look, and seconds for which answers were waited for that never came.
    pub(super) spent_s: f64,
    waited_s: f64,
    /// Looks in a row that brought nothing.
    pub(super) failed: u32,
    /// Looks, those that brought no answer, and those that were due while another was still on its way.
    pub(super) tally: Tally,
    /// Being asked.
    pub(super) busy: bool,
    /// Routers between what was given and this.
    pub(super) depth: usize,
    /// A router some of whose workers cannot be read themselves.
    pub(super) blind: bool,
    /// Whether something still leads to it.
    pub(super) led: Led,
    /// What the next look may go on from.
    kept: Kept,
    /// The pages of it that need not be asked again, and whether what stands beside need not, when that was last found out.
    rare: (Vec<String>, bool),
}

/// Whether something leads to a target.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Led {
    /// It is given, its process is there, or its router names it.
    There,
    /// Since then what led to it leads to it no more: why.
    Lost(Time, String),
    /// What is watched changed, and it is not known yet whether it is still part of it.
    Unconfirmed,
}

impl Led {
    /// Nothing leads to it from `now` on, unless that was so before.
    pub(super) fn lose(&mut self, now: Time, why: &str) {
        if !matches!(self, Led::Lost(..)) {
            *self = Led::Lost(now, why.to_owned());
        }
    }
}

/// Looks at one target.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// All.
    pub(crate) looks: u64,
    /// Those that brought no answer.
    pub(crate) failed: u64,
    /// Those that were due while another was still on its way.
    pub(crate) dropped: u64,
}

impl Known {
    /// One that was found and is due at once.
    pub(super) fn new(site: usize, found: Candidate, depth: usize) -> Known {
        Known {
            site,
            whole: 0,
            found,
            settled: None,
            looked: Vec::new(),
            fresh: false,
            asked: None,
            answered: None,
            whole_at: None,
            next: Time(0.0),
            every_s: 0.0,
            spent_s: 0.0,
            waited_s: 0.0,
            failed: 0,
            tally: Tally::default(),
            busy: false,
            depth,
            blind: false,
            led: Led::There,
            kept: Kept::default(),
            rare: (Vec::new(), false),
        }
    }

    /// All servers of a site that is looked at as a whole.
    pub(super) fn whole(site: usize) -> Known {
        Known { whole: site + 1, ..Known::new(site, Candidate::nothing(), 0) }
    }

    /// Another process has its place: what was known of the one before is not gone on from, and it is asked at once.
    pub(super) fn begin_anew(&mut self, found: Candidate) {
        let (looked, busy, tally) = (std::mem::take(&mut self.looked), self.busy, self.tally);
        *self = Known { looked, tally, busy, ..Known::new(self.site, found, 0) };
    }

    /// Its process is gone, and with it all that is not asked over HTTP: what it wrote and left in memory was true of it alone.
    /// However seldom it is asked, what it said last is not to stand until then.
    pub(super) fn lose(&mut self, now: Time, why: &str) {
        if !matches!(self.led, Led::Lost(..)) {
            self.led.lose(now, why);
            self.kept = Kept::default();
            self.next = now;
        }
    }

    fn is_bereft(&self) -> bool {
        matches!(self.led, Led::Lost(..)) && self.found.process.is_some()
    }

    pub(super) fn is_due(&self, now: Time) -> bool {
        !self.busy && self.whole == 0 && now.since(self.next) >= 0.0
    }

    /// Whether it is known to be a router.
    pub(super) fn is_router(&self) -> bool {
        self.looked.iter().any(|one| one.account.fact("role") == Some(Role::Router.name()))
    }

    /// Its addresses as they are shown.
    pub(super) fn urls(&self) -> Vec<String> {
        if self.looked.is_empty() {
            return vec![self.found.url()];
        }
        self.looked.iter().map(|one| one.candidate.url()).collect()
    }

    /// What to ask now, and from what to go on.
    pub(super) fn question(&mut self, now: Time, pace: &Pace) -> (Candidate, Kept) {
        let due = self.whole_at.is_none_or(|at| now.since(at) >= pace.whole || now.since(at) < 0.0);
        if due || self.failed > 0 {
            self.kept = Kept::default();
            self.whole_at = Some(now);
        }
        let settled = self.settled.as_ref().filter(|_| self.failed == 0);
        let mut candidate = settled.unwrap_or(&self.found).clone();
        if self.is_bereft() {
            (candidate.process, candidate.writes) = (None, None);
        }
        let mut kept = std::mem::take(&mut self.kept);
        if self.fresh {
            // What the last look brought was not sifted yet: it must not stand for what this one is to ask.
            kept.observations.retain(|seen| self.rare.0.contains(&seen.get));
            kept.beside = kept.beside.filter(|_| self.rare.1);
        }
        (candidate, kept)
    }

    /// A look that began at `began` came back.
    pub(super) fn looked_at(&mut self, began: Time, now: Time, mut looked: Vec<Looked>, pace: &Pace) {
        self.busy = false;
        (self.spent_s, self.waited_s) = (spent(&looked, began), waited(&looked, began));
        let silent = looked.iter().all(|one| one.account.silent().is_some());
        self.tally.looks += 1;
        self.tally.failed += u64::from(silent);
        // The time it took beyond what it was to take.
        self.tally.dropped += (now.since(began) / pace.every).max(0.0) as u64;
        // What answers and says nothing may be something else by now.
        let nothing = looked.iter().all(|one| !tells(one));
        let told_before = self.looked.iter().any(tells);
        if silent || nothing && told_before {
            self.failed += 1;
            self.settled = None;
        } else {
            self.failed = 0;
            self.settled = match looked.as_slice() {
                [only] if only.candidate.part.is_none() && only.account.engine.is_some() => {
                    let Candidate { notes, process, writes, .. } = self.found.clone();
                    Some(Candidate { process, writes, notes, ..only.candidate.clone() })
                }
                _ => None,
            };
        }
        if !silent {
            self.answered = Some(now);
        }
        self.every_s = self.pause(silent, &looked, pace);
        // Servers that were found together are not asked together for ever.
        let base = if self.asked.is_some() { self.next } else { began };
        let next = base.plus(self.every_s);
        self.next =
            if next.since(now) > 0.0 && next.since(now) <= self.every_s { next } else { now.plus(self.every_s) };
        for one in &mut looked {
            one.every_s = self.every_s;
            self.kept = std::mem::take(&mut one.kept);
        }
        if looked.len() != 1 {
            self.kept = Kept::default();
        }
        (self.looked, self.asked) = (looked, Some(began));
        self.fresh = true;
    }

    /// Seconds until the next look after one that was `silent` or was not.
    fn pause(&self, silent: bool, looked: &[Looked], pace: &Pace) -> f64 {
        if silent {
            return pace.pause_silent(self.spent_s.max(self.waited_s), self.failed);
        }
        let pause = pace.pause(self.spent_s).max(pace.pause_waited(self.waited_s));
        // Who is not known is asked a dozen questions each time, and may never be of use.
        let stranger = looked.iter().all(|one| one.account.engine.is_none());
        if stranger { pause.max(pace.whole) } else { pause }
    }

    /// Another pace counts from the last look on, not only from the next.
    pub(super) fn keep_pace(&mut self, pace: &Pace) {
        let Some(asked) = self.asked else { return };
        let silent = self.looked.iter().all(|one| one.account.silent().is_some());
        self.every_s = self.pause(silent, &self.looked, pace);
        self.next = asked.plus(self.every_s);
        self.looked.iter_mut().for_each(|one| one.every_s = self.every_s);
    }

    /// Changes what it was found out to be, where it was.
    pub(super) fn refresh(&mut self, change: impl FnOnce(&mut Candidate)) {
        if let Some(settled) = &mut self.settled {
            change(settled);
        }
    }

    /// Keeps, of what was brought, what the next look need not ask: that which nothing fresh of `server` comes from.
    pub(super) fn lighten(&mut self, server: &model::Server, table: Option<&Table>) {
        light::sift(&mut self.kept, server, table);
        self.rare = (self.kept.observations.iter().map(|seen| seen.get.clone()).collect(), self.kept.beside.is_some());
    }

    /// Why it is looked at less often than wanted, where it is.
    pub(super) fn slow(&self, pace: &Pace) -> Option<String> {
        if self.every_s <= pace.every * 1.05 {
            return None;
        }
        let (every, took, waited) = (seconds(self.every_s), seconds(self.spent_s), seconds(self.waited_s));
        Some(if self.failed > 0 {
            format!("gives no answer ({waited} waited): asked every {every}")
        } else if pace.pause_waited(self.waited_s) >= self.every_s {
            format!("leaves some questions without an answer ({waited} waited): read every {every}")
        } else {
            format!("takes {took} to answer: read every {every}, so that it spends at most 1 % of its time on this")
        })
    }

    /// Whether it is asked later than it was to be.
    pub(super) fn is_late(&self, now: Time, pace: &Pace) -> bool {
        self.whole == 0 && now.since(self.next) > pace.every
    }
}

/// Seconds that servers spent on answering, in a look that began at `began`.
pub(super) fn spent(looked: &[Looked], began: Time) -> f64 {
    longest(looked, began, |seen| seen.outcome.is_ok())
}

/// Seconds for which such a look waited in vain: no work of the server's, as far as anybody knows.
fn waited(looked: &[Looked], began: Time) -> f64 {
    longest(looked, began, |seen| seen.outcome.is_err())
}

fn longest(looked: &[Looked], began: Time, of: impl Fn(&Observation) -> bool) -> f64 {
    let new = |seen: &&Observation| seen.get.starts_with('/') && seen.at.since(began) >= 0.0 && of(seen);
    looked.iter().map(|one| one.observations.iter().filter(new).map(|seen| seen.took).sum::<f64>()).fold(0.0, f64::max)
}

/// Whether it says anything of a cache, or is a router.
fn tells(one: &Looked) -> bool {
    let told = |set: &model::PoolSet| {
        let says = |signal: &Signal| set.readings.get(signal).is_some_and(|said| said.value.is_some());
        [Signal::KV_USED, Signal::KV_IN_USE, Signal::KV_STORED, Signal::KV_CAPACITY].iter().any(says)
    };
    one.account.sets.iter().any(told) || one.account.fact("role") == Some(Role::Router.name())
}

/// Seconds for people: `12 ms`, `3.0 s`, `5 min`.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 120.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}
