//! What is shown, and what may be asked of it.

use std::sync::Arc;

use tokio::sync::broadcast;

/// What the page and the API show; made by whoever watches. All bytes are whole documents.
///
/// The methods that give an `Arc` are called on the thread that serves and must not wait for anything; the others may read
/// a disk, and are called on a thread of their own, few at once.
pub trait Source: Send + Sync + 'static {
    /// `plimsoll.overview/1`. The same `Arc` as long as nothing changed: what is packed of it is kept by that.
    fn overview(&self) -> Arc<[u8]>;
    /// `plimsoll.status/1` of all servers, or of one; `None`: there is no such server.
    fn snapshot(&self, server: Option<&str>) -> Option<Arc<[u8]>>;
    /// `plimsoll.gaps/1`.
    fn gaps(&self) -> Arc<[u8]>;
    /// Prometheus text 0.0.4. Not asked while [`Source::health`] says no.
    fn metrics(&self) -> Arc<[u8]>;
    /// `plimsoll.history/1`; may block.
    fn history(&self, ask: &HistoryAsk) -> Result<Vec<u8>, Refused>;
    /// `plimsoll.events/1`; may block.
    fn events(&self, ask: &EventsAsk) -> Result<Vec<u8>, Refused>;
    /// The exit code of `status` or `explain` on a line of its own, then what it would print; may block. Asked on the Unix
    /// socket only.
    fn report(&self, ask: &ReportAsk) -> Result<Vec<u8>, Refused>;
    /// Ready frames of server-sent events, from now on (`event: servers\ndata: {…}\n\n`).
    fn frames(&self) -> broadcast::Receiver<Arc<[u8]>>;
    /// Whether the loop that watches still runs.
    fn health(&self) -> bool;
}

/// What is asked of the history. Checked: times are finite and in order, counts within their bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryAsk {
    /// One server's address; all if absent.
    pub server: Option<String>,
    /// Names of signals; never empty.
    pub signals: Vec<String>,
    /// One rank (`""` where a server has only one); all if absent.
    pub rank: Option<String>,
    /// One pool; all if absent.
    pub pool: Option<String>,
    /// One tier; all if absent.
    pub tier: Option<String>,
    /// From when on, Unix seconds. Else `window_s` is there.
    pub from: Option<f64>,
    /// Until when, Unix seconds; now if absent.
    pub to: Option<f64>,
    /// How long before the end it begins, seconds. Only without `from`.
    pub window_s: Option<f64>,
    /// Most points of a series; always given.
    pub points: Option<usize>,
}

/// What is asked of the events. Checked like [`HistoryAsk`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventsAsk {
    /// One server's address; all if absent.
    pub server: Option<String>,
    /// Kinds of events; all if empty.
    pub kinds: Vec<String>,
    /// From when on, Unix seconds. Else `window_s` is there.
    pub from: Option<f64>,
    /// Until when, Unix seconds; now if absent.
    pub to: Option<f64>,
    /// How long before the end it begins, seconds. Only without `from`.
    pub window_s: Option<f64>,
}

/// What a command on this host wants printed from what the server already knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportAsk {
    /// `status` or `explain`.
    pub command: String,
    /// JSON instead of text.
    pub json: bool,
    /// Columns of the screen.
    pub width: usize,
    /// Whether the screen has colours.
    pub colour: bool,
    /// Addresses of servers; all if empty.
    pub targets: Vec<String>,
}

/// Why there is no answer, as a sentence that the visitor sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The question makes no sense: 400.
    Bad(String),
    /// It asks for what is not there: 404.
    Unknown(String),
    /// It cannot be answered now: 503.
    Broken(String),
}
