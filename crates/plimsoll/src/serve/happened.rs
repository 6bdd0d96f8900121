//! Events: what changed of a server between two states of the fleet. Kept beside the numbers, and shown on their time axis.

use std::collections::{BTreeMap, BTreeSet};

use ledger::Event;
use model::{Kind, Level, Role, Server, Signal, Time};

use crate::look::watch::{Health, Move, seconds};

/// What is remembered of a server to tell what changed.
#[derive(Debug, Clone, Default)]
struct Before {
    version: Option<String>,
    engine: Option<String>,
    process: Option<(u32, f64)>,
    flags: BTreeMap<String, String>,
    gaps: BTreeMap<String, String>,
    level: Option<Level>,
    up: bool,
    /// Whether it was last told to be slow, and how many looks in a row say otherwise.
    slow: bool,
    unlike: u32,
    /// Looks in a row that said that nobody waits; none where the last that told said that somebody does.
    idle: u32,
    /// Retractions of the last minute, by its log.
    retracted: f64,
    counters: Counters,
    /// Its counters told that it began anew, and its new process was not found yet.
    restarted: bool,
}

/// Counters by rank, signal and who says it: two sources need not count alike.
type Counters = BTreeMap<(model::RankId, Signal, String), f64>;

/// Tells events from one state of the fleet to the next.
#[derive(Debug, Default)]
pub(crate) struct Happenings {
    before: BTreeMap<String, Before>,
    /// When a verdict was last told, so that one which wavers is not told at every look.
    verdicts: BTreeMap<String, Time>,
}

/// Between two verdicts of one server that are told, seconds.
const VERDICT_S: f64 = 30.0;
/// So many looks in a row make a server slow, or quick again: the first look and one a minute ask for more than others. And
/// so many make a queue a thing of the past.
const LASTS: u32 = 3;

/// The kind of the event that a server is no longer watched.
pub(crate) const GONE: &str = "gone";

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
        let waiting = model::whole_sum(&server.ranks, Signal::REQ_WAITING);
        let mut next = Before {
            version: server.version.clone(),
            engine: server.engine.clone(),
            process: health.process,
            flags,
            gaps: server.gaps.iter().map(|gap| (gap.id.clone(), gap.what.clone())).collect(),
            level: Some(server.verdict.level),
            up: health.up,
            slow: false,
            unlike: 0,
            idle: 0,
            retracted: model::whole_sum(&server.ranks, Signal::REQ_RETRACTED_RECENT).unwrap_or_default(),
            counters,
            restarted: false,
        };
        let Some(before) = self.before.get(&server.url) else {
            let what = server.engine.as_deref().unwrap_or("nothing that is known here");
            say("found", format!("{} {what}: {}", server.role.name(), server.verdict.level.name()), None);
            next.idle = if waiting.is_some_and(|waiting| waiting > 0.0) { 0 } else { LASTS };
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
        let restarted = retractions(before, &next, &mut say);
        next.restarted = restarted || before.restarted;
        // A queue that comes and goes is told when it comes, and again when it was gone for some looks.
        next.idle = match waiting {
            Some(waiting) if waiting > 0.0 => {
                if before.idle >= LASTS {
                    say("queue", format!("requests wait: {waiting:.0}"), Some(waiting));
                }
                0
            }
            Some(_) => before.idle.saturating_add(1),
            None => before.idle,
        };
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

    /// The clock was set forward by so many seconds, or back where they are negative.
    pub(crate) fn clock_set(&mut self, by: f64) {
        self.verdicts.values_mut().for_each(|at| *at = at.plus(by));
    }

    /// Those that went without a word: servers on a page of several, on hosts that are looked at as a whole, and such as
    /// only a router told of.
    pub(crate) fn gone(&mut self, there: &BTreeSet<&str>, now: Time) -> Vec<Event> {
        let gone = self.before.keys().filter(|url| !there.contains(url.as_str())).cloned();
        let gone: Vec<String> = gone.collect();
        for url in &gone {
            self.before.remove(url);
        }
        self.verdicts.retain(|url, _| there.contains(url.as_str()));
        gone.into_iter().map(|url| event(now, &url, "gone", "nothing tells of it any more", None)).collect()
    }

    /// What came of searching: servers that moved, restarted or went.
    pub(crate) fn moved(&mut self, mut moves: Vec<Move>, now: Time) -> Vec<Event> {
        // A restart that its counters told is not told again when its new process is found.
        moves.retain(|what| match what {
            Move::Restarted(url, _) => {
                !self.before.get_mut(url).is_some_and(|before| std::mem::take(&mut before.restarted))
            }
            _ => true,
        });
        let told = |what: Move| match what {
            Move::Restarted(url, pid) => {
                event(now, &url, "restart", &format!("process {pid} now"), Some(f64::from(pid)))
            }
            Move::Moved(old, new) => event(now, &new, "restart", &format!("it was at {old} before"), None),
            Move::Gone(url, why) => event(now, &url, GONE, &why, None),
        };
        for what in &moves {
            match what {
                // The new process is told of here; its counters begin anew without being told again.
                Move::Restarted(url, _) => {
                    if let Some(before) = self.before.get_mut(url) {
                        before.counters.clear();
                        before.process = None;
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

/// Counters that rose are retractions; all of a process that fell tell that it began anew: true where they do.
fn retractions(before: &Before, next: &Before, say: &mut impl FnMut(&str, String, Option<f64>)) -> bool {
    let pairs: Vec<(Signal, f64, f64)> =
        next.counters.iter().filter_map(|(key, now)| Some((key.1, *before.counters.get(key)?, *now))).collect();
    let counted = pairs.iter().filter(|(_, old, _)| *old > 0.0);
    let fell = counted.clone().filter(|(_, old, now)| now < old).count();
    let new_process = before.process.zip(next.process).map(|(old, new)| old != new);
    if new_process.unwrap_or(fell > 0 && fell == counted.count()) {
        let how = if new_process == Some(true) { "its process is a new one" } else { "all its counters began anew" };
        say("restart", how.to_owned(), None);
        return true;
    }
    let rise: f64 = pairs
        .iter()
        .filter(|(signal, ..)| *signal == Signal::REQ_RETRACTED_TOTAL)
        .map(|(_, old, now)| (now - old).max(0.0))
        .sum();
    if rise > 0.0 {
        let requests = if rise > 1.0 { "requests were" } else { "request was" };
        say("retracted", format!("{rise:.0} {requests} thrown out for want of cache"), Some(rise));
    } else if !next.counters.keys().any(|(_, signal, _)| *signal == Signal::REQ_RETRACTED_TOTAL)
        && next.retracted > before.retracted
    {
        let text = format!("{:.0} in the last minute, by its log", next.retracted);
        say("retracted", text, Some(next.retracted - before.retracted));
    }
    false
}

/// Every counter that the server itself says.
fn counters(server: &Server) -> Counters {
    let of = |rank: &model::Rank| {
        let id = rank.rank;
        let counters = rank.readings.iter().filter(|(signal, _)| signal.row().kind == Kind::Counter);
        let told = counters.filter(|(_, reading)| reading.state == model::State::Reported);
        told.filter_map(move |(signal, reading)| Some(((id, *signal, reading.source.clone()?), reading.value?)))
            .collect::<Vec<_>>()
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
