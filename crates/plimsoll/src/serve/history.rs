//! The ledger, on a thread of its own: what is looked at never waits for a disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use ledger::{Event, Key, Ledger, Options, Reader, Sample};
use model::{RankId, Server, Signal, State};
use sense::clock::steady;

use super::own;
use super::writer::Writer;

/// Looks and events that may wait for the disk.
pub(crate) const WAITING: usize = 4096;
/// Samples that may wait in them: some 50 MB.
const WAITING_SAMPLES: usize = 1 << 19;
/// Seconds that looks wait for the disk before that is said: some are usual where others write much.
const SLOW_S: f64 = 4.0;
/// Until a stop is waited for.
const STOP_S: f64 = 1.5;
/// Bytes of the log on disk, and about those of the looks in memory that are in no chunk yet.
const LOG_BYTES: u64 = 16 << 20;

/// What the thread is told, and at which steady second.
pub(super) struct Told {
    pub(super) at: f64,
    pub(super) what: What,
}

/// What is to be done.
pub(super) enum What {
    Look { target: String, time: i64, silent: bool, keys: Vec<Place>, samples: Vec<Sample> },
    Event(Event),
    Stop,
}

impl What {
    fn time(&self) -> i64 {
        match self {
            What::Look { time, .. } => *time,
            What::Event(event) => event.time,
            What::Stop => 0,
        }
    }

    /// How much of the room for those that wait it takes.
    pub(super) fn samples(&self) -> usize {
        if let What::Look { samples, .. } = self { samples.len() } else { 1 }
    }
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
    /// Looks and events that the thread has not taken yet, and samples in them.
    pub(super) waiting: u64,
    pub(super) samples: usize,
    /// Those that it took since the last sync.
    pub(super) unsynced: u64,
    /// When the first of those was told.
    pub(super) since: Option<f64>,
    /// Since when the thread is at the disk.
    pub(super) busy: Option<f64>,
    /// Those that could not wait, which the history does not say yet: how many, and the time of the first.
    pub(super) missed: Option<(u64, i64)>,
}

impl Writing {
    /// Looks and events that a crash of this host would cost now.
    fn unkept(&self) -> u64 {
        self.waiting + self.unsynced
    }

    /// Seconds for which the disk has kept them waiting.
    fn behind(&self, now: f64) -> f64 {
        [self.since, self.busy].into_iter().flatten().map(|since| now - since).fold(0.0, f64::max)
    }

    /// Says that the disk is too slow, where it is, at the steady second `now`.
    fn seen(mut self, now: f64) -> Writing {
        let behind = self.behind(now);
        if self.failing.is_none() && (behind > SLOW_S || self.missed.is_some()) {
            let more = self.missed.map_or(String::new(), |(lost, _)| format!(", and {lost} that came later are lost"));
            let text =
                format!("the disk is too slow: {} looks and events wait for it since {behind:.0} s", self.unkept());
            self.failing = Some(text + &more);
        }
        self
    }
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
        let writer = Writer::new(ledger, Arc::clone(&state));
        let thread = std::thread::Builder::new().name("history".to_owned()).spawn(move || writer.run(&receiver))?;
        let folder = folder.to_owned();
        Ok(History { sender, thread: Some(thread), reader, state, folder, most, notes })
    }

    /// Keeps a look at one server, taken at `time` (milliseconds since 1970).
    pub(crate) fn look(&self, server: &Server, time: i64) {
        let (keys, samples) = samples(server);
        let silent = server.unreachable.is_some();
        self.tell(What::Look { target: server.url.clone(), time, silent, keys, samples });
    }

    /// Keeps an event.
    pub(crate) fn event(&self, event: Event) {
        self.tell(What::Event(event));
    }

    /// How writing goes.
    pub(crate) fn writing(&self) -> Writing {
        lock(&self.state).clone().seen(steady())
    }

    /// What cannot wait is lost, counted, and said in the history once it is written again.
    fn tell(&self, what: What) {
        let (time, samples) = (what.time(), what.samples());
        let mut state = lock(&self.state);
        let room = state.waiting == 0 || state.samples + samples <= WAITING_SAMPLES;
        let sent = if room { self.send(what) } else { false };
        if sent {
            state.waiting += 1;
            state.samples += samples;
        } else {
            state.lost += 1;
            state.missed.get_or_insert((0, time)).0 += 1;
        }
    }

    fn send(&self, what: What) -> bool {
        self.sender.try_send(Told { at: steady(), what }).is_ok()
    }

    /// Writes what is left, for as long as may be waited, and says what is not kept then.
    pub(crate) fn stop(mut self) -> Option<String> {
        let until = steady() + STOP_S;
        let stop = || Told { at: steady(), what: What::Stop };
        while matches!(self.sender.try_send(stop()), Err(TrySendError::Full(_))) && steady() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let thread = self.thread.take()?;
        while !thread.is_finished() && steady() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        if thread.is_finished() {
            let _ = thread.join();
        }
        let left = lock(&self.state).clone();
        let (unkept, why) = (left.unkept(), left.failing.as_deref().unwrap_or("the disk does not answer"));
        (unkept > 0).then(|| {
            let behind = left.behind(steady());
            format!("history: {why}: {unkept} looks and events of the last {behind:.0} s may be lost\n")
        })
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

pub(super) fn key(place: &Place) -> Key {
    let (rank, pool, tier, signal, unit) = place;
    Key::new([&rank_name(*rank), &**pool, &**tier, signal.row().json, unit.name()])
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
