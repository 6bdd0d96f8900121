//! The fleet as it is known now: of every server its last look, joined and judged as one look at all would be.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{Snapshot, Time};

use super::Watch;
use super::bare::bare;
use super::known::Tally;
use crate::look::candidate::Looked;
use crate::look::join::{Before, History};
use crate::look::site::Seen;
use crate::look::{Look, follow, together};

/// Seconds before now whose looks show what one look cannot.
const WINDOW_S: f64 = 60.0;
/// Looks of the window that are kept: each costs as much memory as the one that is shown.
const WINDOW_LOOKS: usize = 4;

/// How one target is looked at.
#[derive(Debug, Clone)]
pub(crate) struct Health {
    /// Seconds since it last answered; none where it never did.
    pub(crate) age_s: Option<f64>,
    /// Seconds that it spent on the last look.
    pub(crate) spent_s: f64,
    /// Seconds of it for which answers were waited for that never came.
    pub(crate) waited_s: f64,
    /// Seconds between two looks.
    pub(crate) every_s: f64,
    /// How many looks there were.
    pub(crate) tally: Tally,
    /// Whether the last look brought an answer.
    pub(crate) up: bool,
    /// Why it is looked at less often than wanted.
    pub(crate) slow: Option<String>,
    /// A look at it came in since the fleet was last made.
    pub(crate) fresh: bool,
    /// When the look that is shown began.
    pub(crate) asked: Option<Time>,
    /// Its process, where it is known: what no other process of its host has.
    pub(crate) process: Option<(u32, f64)>,
}

/// The fleet, and how each of its servers is looked at, in its order.
pub(crate) struct Fleet {
    /// As one look at all.
    pub(crate) look: Look,
    /// In the order of its servers.
    pub(crate) health: Vec<Health>,
    /// Targets that are asked later than they were to be.
    pub(crate) late: usize,
}

impl Watch {
    /// The fleet as it is known now, for somebody who asks between two states that are shown.
    pub(crate) fn fleet_beside(&mut self) -> Look {
        self.joined(sense::clock::now(), false)
    }

    /// The fleet as it is known now, and what is new in it. What it is made of goes back with [`Watch::put_back`].
    pub(crate) fn fleet(&mut self) -> Fleet {
        let now = sense::clock::now();
        let look = self.joined(now, true);
        let pairs = || look.snapshot.servers.iter().zip(&look.looked);
        let health: Vec<Health> = look.looked.iter().map(|one| self.health(one, now)).collect();
        for (server, one) in pairs() {
            if let Some(known) = self.known.get_mut(&one.known) {
                if known.fresh && known.whole == 0 {
                    let table = server.engine.as_deref().and_then(|name| self.opened.here.tables.get(name));
                    known.lighten(server, table);
                }
                known.fresh = false;
            }
        }
        self.learn(&look.snapshot, &health);
        self.remember(&look.snapshot);
        let late = self.known.values().filter(|known| known.is_late(now, &self.pace)).count();
        Fleet { look, health, late }
    }

    /// `again`: servers of which nothing new was heard stay as they were joined.
    fn joined(&mut self, now: Time, again: bool) -> Look {
        let mut seen: Vec<Seen> = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            let mut looked: Vec<Looked> = Vec::new();
            for (number, known) in self.known.iter_mut().filter(|(_, known)| known.site == at) {
                looked.extend(known.looked.drain(..).map(|one| Looked { known: *number, ..one }));
            }
            let eye = &place.site.eye;
            if place.site.eye.via.is_none() {
                follow::introduce(eye, &mut looked);
                for router in 0..looked.len() {
                    let blind = !follow::blind(eye, &looked, router).is_empty();
                    if let Some(known) = self.known.get_mut(&looked[router].known) {
                        known.blind = blind;
                    }
                }
                follow::relay(eye, &mut looked);
            }
            seen.push(Seen {
                looked,
                notes: place.seen.notes.clone(),
                denied: place.seen.denied,
                elsewhere: place.seen.elsewhere.clone(),
                now: Some(eye.place.now()),
                failed: place.seen.failed.clone(),
                took: place.seen.took,
            });
        }
        let sites: Vec<_> = self.places.iter().map(|place| place.site.clone()).collect();
        let spans = seen.iter().map(|seen| (now, seen.now.unwrap_or(now))).collect();
        let reached = seen.iter().map(|seen| seen.failed.is_none()).collect();
        let tables = &self.opened.here.tables;
        let before = Before { earlier: &self.earlier, usual: Some(&self.usual), again };
        let (snapshot, looked, more) = together::joined(&sites, tables, before, seen, now);
        let notes = self.opened.notes.iter().cloned().chain(more).collect();
        let here = Arc::clone(&self.opened.here);
        let monitors = self.opened.monitors.clone();
        Look { snapshot, looked, notes, sites, monitors, here, spans, reached, origin: None }
    }

    /// Gives back what the fleet was made of; the snapshot stays with the caller. What was found in joining is found anew with
    /// the next.
    pub(crate) fn put_back(&mut self, looked: Vec<Looked>) {
        for mut one in looked {
            (one.choices, one.findings, one.signs) = (Vec::new(), Vec::new(), Vec::new());
            if let Some(known) = self.known.get_mut(&one.known) {
                known.looked.push(one);
            }
        }
    }

    fn health(&self, one: &Looked, now: Time) -> Health {
        let known = self.known.get(&one.known);
        let process = one.candidate.process.as_ref().map(|process| process.run());
        let Some(known) = known else {
            // Its router alone tells of it: it is not asked.
            let tally = Tally::default();
            return Health {
                tally,
                age_s: None,
                spent_s: 0.0,
                waited_s: 0.0,
                every_s: 0.0,
                up: false,
                slow: None,
                fresh: false,
                asked: None,
                process,
            };
        };
        let answered = if known.whole > 0 { known.asked } else { known.answered };
        Health {
            age_s: answered.map(|at| now.since(at).max(0.0)),
            spent_s: known.spent_s,
            waited_s: known.waited_s,
            every_s: known.every_s,
            tally: known.tally,
            up: one.account.silent().is_none() && answered.is_some(),
            slow: known.slow(&self.pace),
            fresh: known.fresh,
            asked: known.asked,
            process,
        }
    }

    /// Learns what each server usually gets done, from looks that are new.
    fn learn(&mut self, snapshot: &Snapshot, health: &[Health]) {
        let history = History::of(&self.earlier);
        let mut usual = std::mem::take(&mut self.usual);
        let new =
            snapshot.servers.iter().zip(health).filter(|(server, health)| health.fresh && server.unreachable.is_none());
        for (server, _) in new {
            usual.entry(server.url.clone()).or_default().learn(&history.looks(server, snapshot.taken_at));
        }
        let there: BTreeSet<&str> = snapshot.servers.iter().map(|server| server.url.as_str()).collect();
        usual.retain(|url, _| there.contains(url.as_str()));
        self.usual = usual;
    }

    /// Keeps the snapshot for the window in which signs are sought, and verdicts judged.
    fn remember(&mut self, snapshot: &Snapshot) {
        let now = snapshot.taken_at;
        self.earlier.retain(|look| (0.0..=WINDOW_S).contains(&now.since(look.taken_at)));
        let apart = WINDOW_S / WINDOW_LOOKS as f64;
        if self.earlier.last().is_some_and(|last| now.since(last.taken_at) < apart) {
            return;
        }
        if self.earlier.len() >= WINDOW_LOOKS {
            self.earlier.remove(0);
        }
        self.earlier.push(Snapshot {
            servers: snapshot.servers.iter().map(bare).collect(),
            hosts: Vec::new(),
            gaps: Vec::new(),
            own: snapshot.own.clone(),
            fleet: snapshot.fleet.clone(),
            ..*snapshot
        });
    }

    /// Whether every target was asked at least once.
    pub(crate) fn is_whole(&self) -> bool {
        let places = self.places.iter().all(|place| place.seen.now.is_some() || place.seen.failed.is_some());
        places && self.known.values().all(|known| known.asked.is_some() || known.whole > 0)
    }

    /// How many targets are watched.
    pub(crate) fn targets(&self) -> usize {
        self.known.values().map(|known| known.looked.len().max(1)).sum()
    }
}
