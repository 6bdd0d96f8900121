//! What bounds a look as a whole, whatever peers do: time, bytes, and that nobody is asked twice in vain.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Blind, BlindKind, Observation, Time};
use sense::http::Scheme;
use sense::place::Foreseen;
use sense::{Heard, Keep, Publisher, Target};

use super::Eye;
use super::identity::Space;

/// Targets asked at once.
pub(super) const AT_ONCE: usize = 64;
/// Seconds for all servers of a look together.
const LOOK_S: f64 = 10.0;
/// Seconds for one target, all its requests together.
const TARGET_S: f64 = 7.0;
/// Bytes of answers, unpacked, that one look takes in.
const BUDGET: u64 = 256 << 20;

/// The state of a look's limits.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Seconds for one target, all its requests together.
    target_s: f64,
    ends: Mutex<Option<Time>>,
    brought: AtomicU64,
    given_up: Mutex<BTreeMap<Door, String>>,
    awaited: Mutex<BTreeMap<String, usize>>,
}

impl Default for Guard {
    /// That of a single look.
    fn default() -> Guard {
        Guard::patient(TARGET_S)
    }
}

/// What is given up as one: the paths behind it do not matter.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Door {
    space: Space,
    scheme: Scheme,
    host: String,
    port: u16,
}

impl Guard {
    /// One that gives each target so many seconds.
    pub(super) fn patient(target_s: f64) -> Guard {
        Guard {
            target_s,
            ends: Mutex::default(),
            brought: AtomicU64::default(),
            given_up: Mutex::default(),
            awaited: Mutex::default(),
        }
    }

    /// A look's time runs from `now` on.
    pub(super) fn begin(&self, now: Time) {
        *lock(&self.ends) = Some(now.plus(LOOK_S));
    }
}

impl Eye {
    /// Whom an answer is awaited from.
    pub(super) fn awaited(&self) -> Vec<String> {
        lock(&self.guard.awaited).keys().cloned().collect()
    }

    /// When a target that is asked from now on must be done.
    pub(super) fn until(&self) -> Time {
        let own = self.until_alone();
        lock(&self.guard.ends).filter(|ends| *ends < own).unwrap_or(own)
    }

    /// When a target that belongs to no look must be done.
    pub(super) fn until_alone(&self) -> Time {
        self.place.now().plus(self.guard.target_s)
    }

    /// GETs `path` of `target`, if the limits still allow it and nobody found out that it is in vain, until `until` at
    /// the latest.
    pub(super) async fn get(&self, target: &Target, path: &str, until: Time) -> Observation {
        if let Some(why) = self.refusal(target, until) {
            return self.blind(target, path, 0.0, &format!("not asked: {why}"));
        }
        let left = until.since(self.place.now()).max(0.0);
        let waiting = Waiting::new(&self.guard, target);
        let asked = tokio::time::timeout(Duration::from_secs_f64(left), self.place.get(target, path)).await;
        drop(waiting);
        match asked {
            Ok(observation) => {
                let bytes = observation.outcome.as_ref().map_or(0, |answer| answer.body.len() as u64);
                self.guard.brought.fetch_add(bytes, Ordering::Relaxed);
                observation
            }
            Err(_) => {
                self.blind(target, path, left, &format!("given up after {left:.1} s: the time for this look was over"))
            }
        }
    }

    /// Listens to a publisher for `patience`, or for what is left of the look.
    pub(super) async fn listen(
        &self,
        publisher: &Publisher,
        topic: &str,
        keep: &Keep,
        patience: Duration,
    ) -> Result<Heard, Blind> {
        let left = self.until().since(self.place.now()).max(0.0);
        if left <= 0.0 {
            let text = format!("{} was not listened to: the time for this look was over", publisher.url());
            return Err(Blind::new(BlindKind::Gone, text));
        }
        self.place.listen(publisher, topic, keep, patience.min(Duration::from_secs_f64(left))).await
    }

    /// Tells the place which pages of targets will be asked, of those that still may be, until `until` at the latest.
    pub(super) async fn foresee(&self, pages: Vec<(Target, Vec<Foreseen>)>, until: Time) {
        let open = pages.into_iter().filter(|(target, _)| self.refusal(target, until).is_none()).collect();
        let left = until.since(self.place.now()).max(0.0);
        // What does not come in time is asked, or refused, by itself.
        let _ = tokio::time::timeout(Duration::from_secs_f64(left), self.place.foresee(open)).await;
    }

    /// Notes that nothing at the target's address is worth another request.
    pub(super) fn give_up(&self, target: &Target, why: &str) {
        lock(&self.guard.given_up).entry(self.door(target)).or_insert_with(|| why.to_owned());
    }

    fn blind(&self, target: &Target, path: &str, took: f64, text: &str) -> Observation {
        let url = target.base.url(path);
        let outcome = Err(Blind::new(BlindKind::Gone, format!("GET {url}: {text}")));
        Observation { get: path.to_owned(), url, at: self.place.now(), took, outcome }
    }

    fn refusal(&self, target: &Target, until: Time) -> Option<String> {
        if let Some(why) = lock(&self.guard.given_up).get(&self.door(target)) {
            return Some(why.clone());
        }
        if self.guard.brought.load(Ordering::Relaxed) >= BUDGET {
            return Some(format!("this look had brought {} MiB by then", BUDGET >> 20));
        }
        (until.since(self.place.now()) <= 0.0).then(|| {
            format!("the time for one target ({} s) or for this look ({LOOK_S} s) was over", self.guard.target_s)
        })
    }

    fn door(&self, target: &Target) -> Door {
        let base = &target.base;
        Door { space: self.atlas.space(target), scheme: base.scheme, host: base.host.clone(), port: base.port }
    }
}

/// A target that is being awaited, for as long as this lives.
struct Waiting<'a> {
    guard: &'a Guard,
    url: String,
}

impl<'a> Waiting<'a> {
    fn new(guard: &'a Guard, target: &Target) -> Waiting<'a> {
        let url = target.to_string();
        *lock(&guard.awaited).entry(url.clone()).or_default() += 1;
        Waiting { guard, url }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut awaited = lock(&self.guard.awaited);
        if let Some(count) = awaited.get_mut(&self.url) {
            *count -= 1;
            if *count == 0 {
                awaited.remove(&self.url);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
