//! The thread that has the ledger, and alone waits for the disk.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ledger::{Event, Ledger, Sample, Shape};
use sense::clock::steady;

use super::happened;
use super::history::{Place, Told, What, Writing, key, lock};

/// A crash costs at most what was taken in so long.
const SYNC_S: f64 = 1.0;
/// What is due besides is done for so long at a time: looks wait meanwhile.
const TIDY_S: f64 = 0.05;

/// What the thread has.
pub(super) struct Writer {
    ledger: Ledger,
    shapes: HashMap<String, (Vec<Place>, Shape)>,
    state: Arc<Mutex<Writing>>,
}

impl Writer {
    pub(super) fn new(ledger: Ledger, state: Arc<Mutex<Writing>>) -> Writer {
        Writer { ledger, shapes: HashMap::new(), state }
    }

    /// Writes what it is told, until it is told to stop or nobody is left who could.
    pub(super) fn run(mut self, receiver: &Receiver<Told>) {
        let mut synced = steady();
        loop {
            let wait = Duration::from_secs_f64((SYNC_S - (steady() - synced)).clamp(0.0, SYNC_S));
            match receiver.recv_timeout(wait) {
                Ok(Told { what: What::Stop, .. }) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(told) => self.take(told),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if steady() - synced >= SYNC_S {
                self.sync();
                synced = steady();
                self.tidy();
            }
        }
        self.sync();
    }

    /// Does something for which the disk may be waited, so that others see since when.
    fn at_disk<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        lock(&self.state).busy = Some(steady());
        let done = work(self);
        lock(&self.state).busy = None;
        done
    }

    fn take(&mut self, told: Told) {
        let Told { at, what } = told;
        let samples = what.samples();
        let taken = self.at_disk(|own| own.put(what));
        let mut state = lock(&self.state);
        state.waiting -= 1;
        state.samples -= samples;
        match taken {
            Ok(()) => {
                state.unsynced += 1;
                state.since.get_or_insert(at);
            }
            Err(error) => {
                state.lost += 1;
                state.failing = Some(error.to_string());
            }
        }
    }

    fn put(&mut self, what: What) -> Result<(), ledger::Error> {
        match what {
            What::Event(event) => {
                if event.kind == happened::GONE {
                    self.shapes.remove(&event.target);
                }
                self.ledger.event(event)
            }
            What::Look { target, time, silent, keys, samples } => {
                let (keys, samples) = match self.shapes.get(&target).filter(|_| silent) {
                    Some((known, _)) => unreachable(known, keys, samples),
                    None => (keys, samples),
                };
                let known = self.shapes.get(&target).filter(|(known, _)| *known == keys);
                let shape = if let Some((_, shape)) = known {
                    shape.clone()
                } else {
                    let shape = self.ledger.shape(&target, keys.iter().map(key).collect())?;
                    self.shapes.insert(target, (keys, shape.clone()));
                    shape
                };
                self.ledger.append(&shape, time, &samples)
            }
            What::Stop => Ok(()),
        }
    }

    /// Promises what was taken, and says in the history what could not wait until now.
    fn sync(&mut self) {
        if lock(&self.state).unsynced > 0 {
            let done = self.at_disk(|own| own.ledger.sync());
            let mut state = lock(&self.state);
            match done {
                Ok(()) => (state.unsynced, state.since, state.failing) = (0, None, None),
                Err(error) => state.failing = Some(error.to_string()),
            }
        }
        let missed = lock(&self.state).missed;
        if let Some((count, from)) = missed {
            let text = format!("{count} looks and events from {from} on could not wait for the disk and are lost");
            let (kind, value) = ("gap".to_owned(), Some(count as f64));
            let gap = Event { time: from, target: String::new(), kind, text, value };
            if self.at_disk(|own| own.ledger.event(gap)).is_ok() {
                let mut state = lock(&self.state);
                state.unsynced += 1;
                // What was lost meanwhile is said the next time.
                state.missed = state.missed.and_then(|(now, _)| (now > count).then_some((now - count, from)));
            }
        }
    }

    /// What is due.
    fn tidy(&mut self) {
        let now = (sense::clock::now().0 * 1000.0) as i64;
        let until = steady() + TIDY_S;
        loop {
            match self.at_disk(|own| own.ledger.tidy(now)) {
                Ok(true) if steady() < until => {}
                Ok(_) => break,
                Err(error) => {
                    lock(&self.state).failing = Some(error.to_string());
                    break;
                }
            }
        }
        lock(&self.state).bytes = self.ledger.bytes();
    }
}

/// A look at a server that is silent: each of its series is unreachable, but for what a router tells of it.
fn unreachable(known: &[Place], keys: Vec<Place>, samples: Vec<Sample>) -> (Vec<Place>, Vec<Sample>) {
    let said = keys.into_iter().zip(samples).filter(|(_, sample)| *sample != Sample::Unreachable);
    let mut all: Vec<(Place, Sample)> = known.iter().map(|place| (place.clone(), Sample::Unreachable)).collect();
    for (place, sample) in said {
        match all.iter_mut().find(|(known, _)| *known == place) {
            Some((_, held)) => *held = sample,
            None => all.push((place, sample)),
        }
    }
    all.into_iter().unzip()
}
