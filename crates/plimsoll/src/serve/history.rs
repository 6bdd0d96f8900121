//! The ledger, on a thread of its own: what is looked at never waits for a disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use ledger::{Event, Key, Ledger, Options, Reader, Sample, Shape};
use model::{RankId, Server, Signal, State};
use sense::clock::steady;

use super::own;

/// Looks and events that may wait for the disk.
const WAITING: usize = 4096;
/// A crash costs at most what was taken in so long.
const SYNC_S: f64 = 1.0;
/// What is due besides is done for so long at a time: looks wait meanwhile.
const TIDY_S: f64 = 0.05;
/// Until a stop is waited for.
const STOP_S: f64 = 1.5;
/// Bytes of the log on disk, and about those of the looks in memory that are in no chunk yet.
const LOG_BYTES: u64 = 16 << 20;

/// What the thread is told.
enum Told {
    Look { target: String, time: i64, silent: bool, keys: Vec<Place>, samples: Vec<Sample> },
    Event(Event),
    Stop,
}

/// Which series: rank, pool, tier, signal, unit.
pub(crate) type Place = (RankId, Arc<str>, Arc<str>, Signal, model::Unit);

/// The history that is being written.
pub(crate) struct History {
    sender: SyncSender<Told>,
    thread: Option<JoinHandle<()>>,
    /// Reads what was written.
    pub(crate) reader: Reader,
    /// How writing goes.
    pub(crate) state: Arc<Mutex<Writing>>,
    /// Where it is.
    pub(crate) folder: PathBuf,
    /// Its bound, bytes.
    pub(crate) most: u64,
    /// What was found when it was opened.
    pub(crate) notes: Vec<ledger::Note>,
}

/// How writing goes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Writing {
    /// Bytes on the disk.
    pub(crate) bytes: u64,
    /// Why nothing can be written now.
    pub(crate) failing: Option<String>,
    /// Looks and events that were not written since the beginning.
    pub(crate) lost: u64,
}

impl History {
    /// Opens the history in `folder`, which is made where it is not there, and begins to write.
    pub(crate) fn open(folder: &Path, most: u64) -> Result<History> {
        own::make(folder)?;
        let options = Options { bytes: most, log_bytes: LOG_BYTES.min(most / 4), ..Options::default() };
        let (ledger, notes) = Ledger::open(folder, options)?;
        let reader = ledger.reader();
        let state = Arc::new(Mutex::new(Writing { bytes: ledger.bytes(), ..Writing::default() }));
        let (sender, receiver) = sync_channel(WAITING);
        let own = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("history".to_owned())
            .spawn(move || Writer { ledger, shapes: HashMap::new(), state: own }.run(&receiver))?;
        let folder = folder.to_owned();
        Ok(History { sender, thread: Some(thread), reader, state, folder, most, notes })
    }

    /// Keeps a look at one server, taken at `time` (milliseconds since 1970).
    pub(crate) fn look(&self, server: &Server, time: i64) {
        let (keys, samples) = samples(server);
        let silent = server.unreachable.is_some();
        self.tell(Told::Look { target: server.url.clone(), time, silent, keys, samples });
    }

    /// Keeps an event.
    pub(crate) fn event(&self, event: Event) {
        self.tell(Told::Event(event));
    }

    /// How writing goes.
    pub(crate) fn writing(&self) -> Writing {
        lock(&self.state).clone()
    }

    fn tell(&self, told: Told) {
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.sender.try_send(told) {
            let mut state = lock(&self.state);
            state.lost += 1;
            state.failing.get_or_insert_with(|| "the disk is too slow: looks are lost".to_owned());
        }
    }

    /// Writes what is left, for as long as may be waited.
    pub(crate) fn stop(mut self) {
        let until = steady() + STOP_S;
        while matches!(self.sender.try_send(Told::Stop), Err(TrySendError::Full(_))) && steady() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let Some(thread) = self.thread.take() else { return };
        while !thread.is_finished() && steady() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        if thread.is_finished() {
            let _ = thread.join();
        }
    }
}

/// The series of a server and what the look said of each.
fn samples(server: &Server) -> (Vec<Place>, Vec<Sample>) {
    let none: Arc<str> = Arc::from("");
    let (mut keys, mut samples) = (Vec::new(), Vec::new());
    for rank in &server.ranks {
        for pool in &rank.pools {
            let (name, tier): (Arc<str>, Arc<str>) = (Arc::from(pool.pool.as_str()), Arc::from(pool.tier.as_str()));
            for (signal, reading) in &pool.readings {
                keys.push((rank.rank, Arc::clone(&name), Arc::clone(&tier), *signal, reading.unit));
                samples.push(sample(reading));
            }
        }
        for (signal, reading) in &rank.readings {
            keys.push((rank.rank, Arc::clone(&none), Arc::clone(&none), *signal, reading.unit));
            samples.push(sample(reading));
        }
    }
    (keys, samples)
}

fn sample(reading: &model::Reading) -> Sample {
    match (reading.state, reading.value) {
        (State::Reported | State::Derived | State::Inferred, Some(value)) => Sample::Value(value),
        (State::Stale, Some(value)) => Sample::Stale(value),
        (State::Unreachable, _) => Sample::Unreachable,
        // What was said stands in the reason, not as a number.
        (State::Impossible, value) => Sample::Impossible(value.unwrap_or(f64::NAN)),
        _ => Sample::NotReported,
    }
}

/// The rank as it is called: `dp0`, `dp3 tp1`; `dp?` where its source does not say which.
pub(crate) fn rank_name(rank: RankId) -> String {
    let part =
        |name: &str, number: Option<u32>| number.filter(|number| *number > 0).map(|number| format!("{name}{number}"));
    let dp = rank.dp.map_or_else(|| "dp?".to_owned(), |dp| format!("dp{dp}"));
    let parts = [Some(dp), part("tp", rank.tp), part("pp", rank.pp)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The rank's name where a server has only one.
pub(crate) const ONLY: &str = "dp0";

struct Writer {
    ledger: Ledger,
    shapes: HashMap<String, (Vec<Place>, Shape)>,
    state: Arc<Mutex<Writing>>,
}

impl Writer {
    fn run(mut self, receiver: &Receiver<Told>) {
        let mut synced = steady();
        let mut dirty = false;
        loop {
            let wait = Duration::from_secs_f64((SYNC_S - (steady() - synced)).clamp(0.0, SYNC_S));
            match receiver.recv_timeout(wait) {
                Ok(Told::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(told) => {
                    dirty = true;
                    let taken = self.take(told);
                    self.note(taken, 1);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if steady() - synced >= SYNC_S {
                if dirty {
                    let done = self.ledger.sync();
                    let written = done.is_ok();
                    self.note(done, 0);
                    dirty = !written;
                }
                synced = steady();
                self.tidy();
            }
        }
        let done = self.ledger.sync();
        self.note(done, 0);
    }

    fn take(&mut self, told: Told) -> Result<(), ledger::Error> {
        match told {
            Told::Event(event) => self.ledger.event(event),
            Told::Look { target, time, silent, keys, samples } => {
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
            Told::Stop => Ok(()),
        }
    }

    /// What is due.
    fn tidy(&mut self) {
        let now = (sense::clock::now().0 * 1000.0) as i64;
        let until = steady() + TIDY_S;
        loop {
            match self.ledger.tidy(now) {
                Ok(true) if steady() < until => {}
                Ok(_) => break,
                Err(error) => {
                    self.note(Err(error), 0);
                    break;
                }
            }
        }
        lock(&self.state).bytes = self.ledger.bytes();
    }

    fn note(&mut self, done: Result<(), ledger::Error>, lost: u64) {
        let mut state = lock(&self.state);
        match done {
            Ok(()) if lost == 0 => state.failing = None,
            Ok(()) => {}
            Err(error) => {
                state.lost += lost;
                state.failing = Some(error.to_string());
            }
        }
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

fn key(place: &Place) -> Key {
    let (rank, pool, tier, signal, unit) = place;
    Key::new([&rank_name(*rank), &**pool, &**tier, signal.row().json, unit.name()])
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
