//! What is shown: the newest state of the fleet, made into documents when somebody asks for them, once each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use model::{Gap, Level, Note, Sign, Snapshot};
use serde::Serialize;
use tokio::sync::{broadcast, mpsc, oneshot};
use web::{EventsAsk, HistoryAsk, Refused, ReportAsk};

use super::overview::{Change, Overview, Watching};
use super::{metrics, past};
use crate::look::watch::Health;
use crate::report::{Signed, Status};

/// Frames that a slow reader may lag behind before it is given the whole again.
const FRAMES: usize = 64;

/// The fleet as it is shown.
pub(crate) struct Shown {
    /// The fleet.
    pub(crate) snapshot: Snapshot,
    /// Of each server, in its order.
    pub(crate) signs: Vec<Vec<Sign>>,
    /// How each is looked at, in its order.
    pub(crate) health: Vec<Health>,
    /// Remarks about the look as a whole.
    pub(crate) notes: Vec<Note>,
    /// The level of the first line.
    pub(crate) level: Level,
    /// The first line.
    pub(crate) headline: String,
    /// plimsoll's own state.
    pub(crate) watch: Watching,
    /// Looks that the history lost.
    pub(crate) lost: u64,
    /// What was made of it so far.
    pub(crate) made: Made,
}

/// Documents, each made when somebody first asks for it.
#[derive(Default)]
pub(crate) struct Made {
    overview: OnceLock<Arc<[u8]>>,
    status: OnceLock<Arc<[u8]>>,
    gaps: OnceLock<Arc<[u8]>>,
    metrics: OnceLock<Arc<[u8]>>,
}

impl Shown {
    /// `plimsoll.status/1` of all servers, or of the one at `server`.
    fn status(&self, server: Option<&str>) -> Option<Vec<u8>> {
        let snapshot = &self.snapshot;
        let wanted = |url: &str| server.is_none_or(|server| server == url);
        if server.is_some() && !snapshot.servers.iter().any(|one| wanted(&one.url)) {
            return None;
        }
        let signed = snapshot.servers.iter().zip(&self.signs).filter(|(one, _)| wanted(&one.url));
        let gaps: Vec<Gap> =
            snapshot.gaps.iter().filter(|gap| gap.server.as_deref().is_none_or(&wanted)).cloned().collect();
        let status = Status {
            schema: snapshot.schema,
            made_by: snapshot.made_by,
            taken_at: snapshot.taken_at,
            servers: signed.map(|(server, signs)| Signed { server, signs }).collect(),
            hosts: &snapshot.hosts,
            notes: &self.notes,
            fleet: &snapshot.fleet,
            gaps: &gaps,
            own: &snapshot.own,
        };
        serde_json::to_vec(&status).ok()
    }
}

#[derive(Serialize)]
struct Missing<'a> {
    schema: &'static str,
    taken_at: f64,
    gaps: &'a [Gap],
}

/// A report that a command on this host wants, and where it goes.
pub(crate) type Wanted = (ReportAsk, oneshot::Sender<Result<Vec<u8>, Refused>>);

/// What the page and the API are given.
pub(crate) struct Store {
    shown: RwLock<Arc<Shown>>,
    reader: Mutex<Option<ledger::Reader>>,
    frames: broadcast::Sender<Arc<[u8]>>,
    reports: mpsc::Sender<Wanted>,
    /// Seconds since 1970 at which the loop was last alive, as bits.
    alive: AtomicU64,
}

/// The loop is taken for dead after so many seconds.
const DEAD_S: f64 = 60.0;

impl Store {
    /// Shows `shown` first; reports are asked of whoever has the receiver.
    pub(crate) fn new(shown: Shown, reader: Option<ledger::Reader>) -> (Arc<Store>, mpsc::Receiver<Wanted>) {
        let (frames, _) = broadcast::channel(FRAMES);
        let (reports, receiver) = mpsc::channel(4);
        let store = Store {
            shown: RwLock::new(Arc::new(shown)),
            reader: Mutex::new(reader),
            frames,
            reports,
            alive: AtomicU64::default(),
        };
        store.beat();
        (Arc::new(store), receiver)
    }

    /// Shows this from now on, and tells who listens what changed.
    pub(crate) fn show(&self, shown: Shown, events: &[ledger::Event]) {
        let shown = Arc::new(shown);
        let before = {
            let mut slot = self.shown.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *slot, Arc::clone(&shown))
        };
        self.beat();
        if self.frames.receiver_count() == 0 {
            return;
        }
        if let Ok(text) = serde_json::to_string(&Change::of(&shown, &before)) {
            self.frame("servers", &text);
        }
        for event in events {
            self.happened(event);
        }
    }

    /// Tells who listens of an event.
    pub(crate) fn happened(&self, event: &ledger::Event) {
        if let Ok(text) = serde_json::to_string(&past::Event::of(event)) {
            self.frame("happened", &text);
        }
    }

    /// The loop is alive.
    pub(crate) fn beat(&self) {
        self.alive.store(sense::clock::now().0.to_bits(), Ordering::Relaxed);
    }

    fn frame(&self, kind: &str, data: &str) {
        // Nobody listens any more: that is theirs.
        let _ = self.frames.send(format!("event: {kind}\ndata: {data}\n\n").into_bytes().into());
    }

    fn now(&self) -> Arc<Shown> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn reader(&self) -> Result<ledger::Reader, Refused> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reader.ok_or_else(|| Refused::Broken("no history is kept: see the notes of /api/v1/overview".to_owned()))
    }
}

fn made(slot: &OnceLock<Arc<[u8]>>, make: impl FnOnce() -> Vec<u8>) -> Arc<[u8]> {
    Arc::clone(slot.get_or_init(|| make().into()))
}

impl web::Source for Store {
    fn overview(&self) -> Arc<[u8]> {
        let shown = self.now();
        made(&shown.made.overview, || serde_json::to_vec(&Overview::of(&shown)).unwrap_or_default())
    }

    fn snapshot(&self, server: Option<&str>) -> Option<Arc<[u8]>> {
        let shown = self.now();
        match server {
            None => Some(made(&shown.made.status, || shown.status(None).unwrap_or_default())),
            Some(_) => shown.status(server).map(Into::into),
        }
    }

    fn gaps(&self) -> Arc<[u8]> {
        let shown = self.now();
        made(&shown.made.gaps, || {
            let snapshot = &shown.snapshot;
            let gaps = Missing { schema: "plimsoll.gaps/1", taken_at: snapshot.taken_at.0, gaps: &snapshot.gaps };
            serde_json::to_vec(&gaps).unwrap_or_default()
        })
    }

    fn metrics(&self) -> Arc<[u8]> {
        if !web::Source::health(self) {
            // What stands still must not pass for what is true now: no series is better than an old one.
            return b"# the loop that watches does not run\n".as_slice().into();
        }
        let shown = self.now();
        made(&shown.made.metrics, || metrics::page(&shown).into_bytes())
    }

    fn history(&self, ask: &HistoryAsk) -> Result<Vec<u8>, Refused> {
        past::history(&self.reader()?, ask, sense::clock::now().0)
    }

    fn events(&self, ask: &EventsAsk) -> Result<Vec<u8>, Refused> {
        past::events(&self.reader()?, ask, sense::clock::now().0)
    }

    fn report(&self, ask: &ReportAsk) -> Result<Vec<u8>, Refused> {
        let gone = || Refused::Broken("it is being stopped".to_owned());
        let (sender, receiver) = oneshot::channel();
        self.reports
            .try_send((ask.clone(), sender))
            .map_err(|_| Refused::Broken("others ask at the same time".to_owned()))?;
        receiver.blocking_recv().map_err(|_| gone())?
    }

    fn frames(&self) -> broadcast::Receiver<Arc<[u8]>> {
        self.frames.subscribe()
    }

    fn health(&self) -> bool {
        let alive = f64::from_bits(self.alive.load(Ordering::Relaxed));
        (sense::clock::now().0 - alive).abs() < DEAD_S
    }
}
