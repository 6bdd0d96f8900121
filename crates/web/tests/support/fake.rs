use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::json;
use tokio::sync::broadcast;
use web::{EventsAsk, HistoryAsk, Refused, ReportAsk, Source};

/// The only server that the fake knows.
pub const SERVER: &str = "http://10.0.0.1:30000";

/// Bytes of the history of a signal that is called so.
pub const LARGE: usize = 16 << 20;

/// A source of the tests' own: it watches nothing.
pub struct FakeSource {
    pub overview: Mutex<Arc<[u8]>>,
    pub frames: broadcast::Sender<Arc<[u8]>>,
    pub alive: AtomicBool,
    pub history: Mutex<Vec<HistoryAsk>>,
    pub events: Mutex<Vec<EventsAsk>>,
    /// While it is true, the disk does not answer.
    pub stuck: (Mutex<bool>, Condvar),
    /// Questions that are at the disk now, and most that were at once.
    pub at_disk: AtomicUsize,
    pub most_at_disk: AtomicUsize,
}

impl Default for FakeSource {
    fn default() -> Self {
        Self {
            overview: Mutex::new(bytes(&overview(""))),
            frames: broadcast::channel(16).0,
            alive: AtomicBool::new(true),
            history: Mutex::default(),
            events: Mutex::default(),
            stuck: (Mutex::new(false), Condvar::new()),
            at_disk: AtomicUsize::new(0),
            most_at_disk: AtomicUsize::new(0),
        }
    }
}

impl FakeSource {
    /// A source whose overview has this many bytes at least.
    pub fn of_bytes(size: usize) -> Self {
        let source = Self::default();
        *source.overview.lock().expect("a lock") = bytes(&overview(&"x".repeat(size)));
        source
    }

    pub fn stick(&self, stuck: bool) {
        *self.stuck.0.lock().expect("a lock") = stuck;
        self.stuck.1.notify_all();
    }

    fn disk(&self) {
        let now = self.at_disk.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_disk.fetch_max(now, Ordering::SeqCst);
        let stuck = self.stuck.0.lock().expect("a lock");
        drop(self.stuck.1.wait_while(stuck, |stuck| *stuck).expect("a lock"));
        self.at_disk.fetch_sub(1, Ordering::SeqCst);
    }
}

fn bytes(value: &serde_json::Value) -> Arc<[u8]> {
    value.to_string().into_bytes().into()
}

fn overview(headline: &str) -> serde_json::Value {
    let pool = json!({"rank": "dp0", "pool": "full", "tier": "device", "binds": true, "unit": "tokens",
        "capacity": [1000, "reported"], "used": [976, "reported"], "evictable": [null, "not_reported"],
        "available": [24, "derived"], "headroom": [24, "derived"], "in_use": [0.976, "reported", 0.005],
        "occupied": [null, "unreachable"]});
    let server = json!({"url": SERVER, "role": "decode", "engine": "fake", "version": null, "model": null, "host": null,
        "unit": null, "level": "strained", "reason": "97.6 % is in use", "signs": [{"id": "a", "what": "b"}], "gaps": 1,
        "unreachable": null, "told_by_router": false, "age_s": 3.2, "every_s": 5.0, "took_s": 0.012, "slow": null,
        "running": [12, "reported"], "waiting": [0, "reported"], "retracted_recent": [0, "inferred"], "pools": [pool]});
    json!({"schema": "plimsoll.overview/1", "made_by": "plimsoll 0.1.0", "taken_at": 1_796_035_395.4, "level": "strained",
        "headline": headline, "fleet": {"in_use_max": [0.976, "reported"]}, "servers": [server], "gaps": [],
        "watch": {"since": 1_796_030_000.0, "targets": 1, "late": 0, "looks": 5, "failed": 0,
            "history": {"state": "off", "why": null, "dir": null, "bytes": null, "limit_bytes": null, "from": null},
            "notes": [{"id": "fake", "text": "nothing is watched"}]}})
}

fn known(server: Option<&str>) -> Result<(), Refused> {
    match server {
        None | Some(SERVER) => Ok(()),
        Some(_) => Err(Refused::Unknown("no such server is in the history".to_owned())),
    }
}

impl Source for FakeSource {
    fn overview(&self) -> Arc<[u8]> {
        self.overview.lock().expect("a lock").clone()
    }

    fn snapshot(&self, server: Option<&str>) -> Option<Arc<[u8]>> {
        let document = json!({"schema": "plimsoll.status/1", "taken_at": 1_796_035_395.4, "servers": []});
        known(server).ok().map(|()| bytes(&document))
    }

    fn gaps(&self) -> Arc<[u8]> {
        bytes(&json!({"schema": "plimsoll.gaps/1", "taken_at": 1_796_035_395.4, "gaps": []}))
    }

    fn metrics(&self) -> Arc<[u8]> {
        b"# TYPE plimsoll_up gauge\nplimsoll_up 1\n"[..].into()
    }

    fn history(&self, ask: &HistoryAsk) -> Result<Vec<u8>, Refused> {
        self.history.lock().expect("a lock").push(ask.clone());
        self.disk();
        known(ask.server.as_deref())?;
        match ask.signals[0].as_str() {
            "broken" => return Err(Refused::Broken("the disk does not answer".to_owned())),
            "large" => return Ok(vec![b' '; LARGE]),
            "bad" => return Err(Refused::Bad("signal: no such signal".to_owned())),
            _ => (),
        }
        let series = json!({"server": SERVER, "rank": "dp0", "pool": "full", "tier": "device", "signal": ask.signals[0],
            "unit": "ratio", "kind": "gauge", "title": "in use",
            "looks": {"at": [1.0, 2.0], "value": [0.5, null], "state": "r-"},
            "steps": {"at": [0.0], "step_s": [60.0], "min": [null], "max": [null], "last": [null], "mean": [null],
                "fresh": [0], "stale": [0], "not_reported": [12], "unreachable": [0], "impossible": [0]}});
        let whole = json!({"schema": "plimsoll.history/1", "from": 0.0, "to": 2.0, "series": [series], "notes": []});
        Ok(whole.to_string().into_bytes())
    }

    fn events(&self, ask: &EventsAsk) -> Result<Vec<u8>, Refused> {
        self.events.lock().expect("a lock").push(ask.clone());
        self.disk();
        known(ask.server.as_deref())?;
        let event = json!({"at": 1.0, "server": SERVER, "kind": "restart", "text": "it started again", "value": null});
        let whole = json!({"schema": "plimsoll.events/1", "from": 0.0, "to": 2.0, "events": [event], "notes": []});
        Ok(whole.to_string().into_bytes())
    }

    fn report(&self, ask: &ReportAsk) -> Result<Vec<u8>, Refused> {
        Ok(format!("0\n{} {} {}", ask.command, ask.width, ask.targets.join(" ")).into_bytes())
    }

    fn frames(&self) -> broadcast::Receiver<Arc<[u8]>> {
        self.frames.subscribe()
    }

    fn health(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }
}
