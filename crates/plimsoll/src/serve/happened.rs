//! Events: what changed of a server between two states of the fleet. Kept beside the numbers, and shown on their time axis.

use std::collections::BTreeMap;

use ledger::Event;
use model::{Kind, Level, Role, Server, Signal, Time};

use crate::look::watch::{Health, Move, seconds};

/// What is remembered of a server to tell what changed.
#[derive(Debug, Clone, Default)]
struct Before {
    version: Option<String>,
    engine: Option<String>,
    started_at: Option<Time>,
    flags: BTreeMap<String, String>,
    gaps: BTreeMap<String, String>,
    level: Option<Level>,
    up: bool,
    /// Whether it was last told to be slow, and how many looks in a row say otherwise.
    slow: bool,
    unlike: u32,
    waiting: bool,
    /// Retractions of the last minute, by its log.
    retracted: f64,
    counters: BTreeMap<(model::RankId, Signal), f64>,
}

/// Tells events from one state of the fleet to the next.
#[derive(Debug, Default)]
pub(crate) struct Happenings {
    before: BTreeMap<String, Before>,
    /// When a verdict was last told, so that one which wavers is not told at every look.
    verdicts: BTreeMap<String, Time>,
}

/// Between two verdicts of one server that are told, seconds.
const VERDICT_S: f64 = 30.0;
/// So many looks in a row make a server slow, or quick again: the first look and one a minute ask for more than others.
const LASTS: u32 = 3;

impl Happenings {
    /// What happened to one server that was looked at anew; `flags` are those that its engine's table knows.
    pub(crate) fn of(
        &mut self,
        server: &Server,
        health: &Health,
        flags: BTreeMap<String, String>,
        now: Time,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let mut say = |kind: &str, text: String, value: Option<f64>| {
            events.push(event(now, &server.url, kind, &text, value));
        };
        let counters = counters(server);
        let mut next = Before {
            version: server.version.clone(),
            engine: server.engine.clone(),
            started_at: health.started_at,
            flags,
            gaps: server.gaps.iter().map(|gap| (gap.id.clone(), gap.what.clone())).collect(),
            level: Some(server.verdict.level),
            up: health.up,
            slow: false,
            unlike: 0,
            waiting: model::sum(&server.ranks, Signal::REQ_WAITING).is_some_and(|waiting| waiting > 0.0),
            retracted: model::sum(&server.ranks, Signal::REQ_RETRACTED_RECENT).unwrap_or_default(),
            counters,
        };
        let Some(before) = self.before.get(&server.url) else {
            let what = server.engine.as_deref().unwrap_or("nothing that is known here");
            say("found", format!("{} {what}: {}", server.role.name(), server.verdict.level.name()), None);
            self.before.insert(server.url.clone(), next);
            return events;
        };
        match (before.up, next.up) {
            (true, false) => {
                say("unreachable", server.unreachable.clone().unwrap_or_else(|| "no answer".to_owned()), None);
            }
            (false, true) => say("back", "it answers again".to_owned(), None),
            _ => {}
        }
        if !next.up {
            // What a silent server was stays true until it says otherwise.
            let level = next.level;
            next = Before { up: false, level, ..before.clone() };
        }
        if let (Some(old), Some(new)) = (&before.version, &next.version)
            && old != new
        {
            say("version", format!("{old} → {new}"), None);
        }
        if let (Some(old), Some(new)) = (&before.engine, &next.engine)
            && old != new
        {
            say("version", format!("{old} → {new}"), None);
        }
        if before.engine == next.engine {
            for (flag, value) in &next.flags {
                if let Some(old) = before.flags.get(flag).filter(|old| *old != value) {
                    say("flags", format!("{flag}: {old} → {value}"), None);
                }
            }
        }
        self.retractions(before, &next, &mut say);
        if !before.waiting && next.waiting {
            let waiting = model::sum(&server.ranks, Signal::REQ_WAITING).unwrap_or_default();
            say("queue", format!("requests wait: {waiting:.0}"), Some(waiting));
        }
        (next.slow, next.unlike) = (before.slow, before.unlike);
        if next.up {
            next.unlike = if health.slow.is_some() == before.slow { 0 } else { before.unlike + 1 };
        }
        if next.unlike >= LASTS {
            let again = || format!("read every {} again", seconds(health.every_s));
            say("slow", health.slow.clone().unwrap_or_else(again), Some(health.spent_s));
            (next.slow, next.unlike) = (!before.slow, 0);
        }
        if next.up && before.up {
            for (id, what) in next.gaps.iter().filter(|(id, _)| !before.gaps.contains_key(*id)) {
                say("gap-opened", format!("{id}: {what}"), None);
            }
            for (id, what) in before.gaps.iter().filter(|(id, _)| !next.gaps.contains_key(*id)) {
                say("gap-closed", format!("{id}: {what}"), None);
            }
        }
        if next.level != before.level && server.role != Role::Router {
            let last = self.verdicts.get(&server.url);
            let worse = next.level > before.level;
            if worse || last.is_none_or(|last| now.since(*last) >= VERDICT_S) {
                let old = before.level.map_or("unknown", Level::name);
                let text = format!("{old} → {}: {}", server.verdict.level.name(), server.verdict.reason);
                say("verdict", text, None);
                self.verdicts.insert(server.url.clone(), now);
            } else {
                // Told once it lasts.
                next.level = before.level;
            }
        }
        self.before.insert(server.url.clone(), next);
        events
    }

    /// Counters that rose are retractions; all of a process that fell tell that it began anew.
    #[allow(clippy::unused_self)]
    fn retractions(&self, before: &Before, next: &Before, say: &mut impl FnMut(&str, String, Option<f64>)) {
        let pairs: Vec<(Signal, f64, f64)> = next
            .counters
            .iter()
            .filter_map(|((rank, signal), now)| Some((*signal, *before.counters.get(&(*rank, *signal))?, *now)))
            .collect();
        let counted = pairs.iter().filter(|(_, old, _)| *old > 0.0);
        let fell = counted.clone().filter(|(_, old, now)| now < old).count();
        let new_process = match (before.started_at, next.started_at) {
            (Some(old), Some(new)) => Some((old.since(new)).abs() > 1.0),
            _ => None,
        };
        if new_process.unwrap_or(fell > 0 && fell == counted.count()) {
            let how =
                if new_process == Some(true) { "its process is a new one" } else { "all its counters began anew" };
            say("restart", how.to_owned(), None);
            return;
        }
        let rise: f64 = pairs
            .iter()
            .filter(|(signal, ..)| *signal == Signal::REQ_RETRACTED_TOTAL)
            .map(|(_, old, now)| (now - old).max(0.0))
            .sum();
        if rise > 0.0 {
            let requests = if rise > 1.0 { "requests were" } else { "request was" };
            say("retracted", format!("{rise:.0} {requests} thrown out for want of cache"), Some(rise));
        } else if !next.counters.keys().any(|(_, signal)| *signal == Signal::REQ_RETRACTED_TOTAL)
            && next.retracted > before.retracted
        {
            let text = format!("{:.0} in the last minute, by its log", next.retracted);
            say("retracted", text, Some(next.retracted - before.retracted));
        }
    }

    /// What came of searching: servers that moved, restarted or went.
    pub(crate) fn moved(&mut self, moves: Vec<Move>, now: Time) -> Vec<Event> {
        let told = |what: Move| match what {
            Move::Restarted(url, pid) => {
                event(now, &url, "restart", &format!("process {pid} now"), Some(f64::from(pid)))
            }
            Move::Moved(old, new) => event(now, &new, "restart", &format!("it was at {old} before"), None),
            Move::Gone(url, why) => event(now, &url, "gone", &why, None),
        };
        for what in &moves {
            match what {
                // The new process is told of here; its counters begin anew without being told again.
                Move::Restarted(url, _) => {
                    if let Some(before) = self.before.get_mut(url) {
                        before.counters.clear();
                        before.started_at = None;
                    }
                }
                Move::Gone(url, _) | Move::Moved(url, _) => {
                    self.before.remove(url);
                    self.verdicts.remove(url);
                }
            }
        }
        moves.into_iter().map(told).collect()
    }
}

/// Every counter that the server itself says.
fn counters(server: &Server) -> BTreeMap<(model::RankId, Signal), f64> {
    let of = |rank: &model::Rank| {
        let id = rank.rank;
        let counters = rank.readings.iter().filter(|(signal, _)| signal.row().kind == Kind::Counter);
        let told = counters.filter(|(_, reading)| reading.state == model::State::Reported);
        told.filter_map(move |(signal, reading)| Some(((id, *signal), reading.value?))).collect::<Vec<_>>()
    };
    server.ranks.iter().flat_map(of).collect()
}

/// An event at a time. It is kept on disk and shown to visitors, so whatever it is made of, it holds no secret that is
/// one by its look.
pub(crate) fn event(at: Time, server: &str, kind: &str, text: &str, value: Option<f64>) -> Event {
    let text: String = crate::slip::shown(text).chars().take(1000).collect();
    Event { time: millis(at), target: server.chars().take(1000).collect(), kind: kind.to_owned(), text, value }
}

/// Milliseconds since 1970.
pub(crate) fn millis(time: Time) -> i64 {
    (time.0 * 1000.0) as i64
}
