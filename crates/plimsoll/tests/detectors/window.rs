//! Windows of looks: made from a case, or of captures as they are.

use std::sync::LazyLock;

use engines::{Tables, Whereabouts};
use model::{
    Blind, BlindKind, Facts, Kind, Observation, RankId, RankValue, Reading, Scope, Server, Sign, Signal, Time, Verdict,
    View,
};

use super::case::{Case, Router, Row};
use super::file::{self, Capture, Given};
use super::reader;

/// All captures, read once.
static CAPTURES: LazyLock<Vec<Capture>> = LazyLock::new(file::all);

/// When windows of cases begin.
const START: Time = Time(1_796_000_000.0);

/// The signs of a window.
pub(crate) fn signs(looks: &[(Time, Server)]) -> Vec<Sign> {
    let looks: Vec<(Time, &Server)> = looks.iter().map(|(at, server)| (*at, server)).collect();
    judge::signs(&looks)
}

/// The verdict over a window.
pub(crate) fn verdict(looks: &[(Time, Server)]) -> Verdict {
    let looks: Vec<(Time, &Server)> = looks.iter().map(|(at, server)| (*at, server)).collect();
    judge::verdict_over(&looks, None).expect("a look")
}

/// A capture as it is.
pub(crate) fn recorded(tables: &Tables, capture: &Capture, given: Given) -> (Time, Server) {
    let flags = reader::flags(tables, capture, given);
    let account =
        engines::interpret(reader::table(tables, &capture.engine), &capture.observations(), &capture.logs(), &flags);
    (capture.now(), server(tables, &capture.engine, account, capture.now(), Vec::new()))
}

/// Looks of a window that one look is made into, and seconds between them.
const LOOKS: u32 = 4;
const STEP_S: f64 = 15.0;
/// By how much of itself a counter goes on from look to look, and use falls; tokens that a running request is given.
const MOVED: f64 = 0.01;
const TOKENS: f64 = 64.0;

/// A window in which nothing moves: the same numbers at every look, each said anew.
pub(crate) fn still(look: &(Time, Server)) -> Vec<(Time, Server)> {
    (0..LOOKS).map(|index| later(look, f64::from(index) * STEP_S)).collect()
}

/// A window in which work goes on: each counter that has counted anything counts on at its own pace, and where requests run
/// they are given tokens, others take their places, use moves, and the queue may well grow. Where nothing runs, gauges stay.
pub(crate) fn at_work(look: &(Time, Server)) -> Vec<(Time, Server)> {
    let mut looks = still(look);
    for (index, (_, server)) in looks.iter_mut().enumerate() {
        let step = index as f64;
        for rank in &mut server.ranks {
            let running = rank.fresh(Signal::REQ_RUNNING).unwrap_or(0.0);
            for (signal, reading) in &mut rank.readings {
                let Some(value) = &mut reading.value else { continue };
                *value += match *signal {
                    Signal::REQ_RUNNING if running > 0.0 => step % 2.0,
                    Signal::REQ_WAITING if running > 0.0 && *value > 0.0 => step,
                    Signal::GEN_TOKENS_TOTAL => step * (MOVED * *value + TOKENS * running),
                    _ if signal.row().kind == Kind::Counter => step * MOVED * *value,
                    _ => 0.0,
                };
            }
            for pool in rank.pools.iter_mut().filter(|_| running > 0.0) {
                for signal in [Signal::KV_USED, Signal::KV_IN_USE] {
                    if let Some(value) = pool.readings.get_mut(&signal).and_then(|reading| reading.value.as_mut()) {
                        *value *= 1.0 - MOVED * step;
                    }
                }
            }
        }
    }
    looks
}

/// The same look so many seconds later.
fn later((at, server): &(Time, Server), seconds: f64) -> (Time, Server) {
    let mut server = server.clone();
    for rank in &mut server.ranks {
        let pools = rank.pools.iter_mut().flat_map(|pool| pool.readings.values_mut());
        for reading in pools.chain(rank.readings.values_mut()) {
            reading.at = reading.at.map(|at| at.plus(seconds));
        }
    }
    (at.plus(seconds), server)
}

/// The looks of a case.
pub(crate) fn made(tables: &Tables, case: &Case) -> Vec<(Time, Server)> {
    case.look.iter().map(|row| look(tables, case, row)).collect()
}

fn named(name: &str) -> &'static Capture {
    CAPTURES.iter().find(|capture| capture.name == name).unwrap_or_else(|| panic!("no capture is called {name}"))
}

fn look(tables: &Tables, case: &Case, row: &Row) -> (Time, Server) {
    let base = named(row.base.as_ref().unwrap_or(&case.base));
    let shift = START.plus(row.at).since(base.taken());
    let now = base.now().plus(shift + row.late);
    let mut observations = base.observations();
    for observation in &mut observations {
        observation.at = observation.at.plus(shift);
    }
    for change in [&case.all, row] {
        edit(&mut observations, change, &case.name);
    }
    if row.down {
        for observation in &mut observations {
            observation.outcome = Err(Blind::new(BlindKind::Refused, "connection refused"));
        }
    }
    let mut account = engines::interpret(reader::table(tables, &base.engine), &observations, &[], &Facts::new());
    for (name, value) in case.all.say.iter().chain(&row.say) {
        let signal = Signal::from_name(name).unwrap_or_else(|| panic!("{}: no signal {name}", case.name));
        let source = format!("http://127.0.0.1:30000/metrics {name}");
        let reading = Reading::reported(*value, signal.unit(), source, START.plus(row.at));
        if signal.row().scope == Scope::Pool {
            let full = account.sets.iter_mut().filter(|set| set.pool == model::FULL && set.tier == model::DEVICE);
            full.for_each(|set| drop(set.readings.insert(signal, reading.clone())));
        } else {
            account.values.push(RankValue { trust: 0, rank: RankId::ZERO, signal, reading });
        }
    }
    let views = case.router.as_ref().map(|router| views(tables, router, now)).unwrap_or_default();
    let mut server = server(tables, &base.engine, account, now, views);
    server.pid = row.pid;
    (now, server)
}

/// The server, with its gaps.
fn server(tables: &Tables, engine: &str, account: model::Account, now: Time, seen_by: Vec<(String, View)>) -> Server {
    let told = reader::join(tables, engine, account, now, seen_by);
    let table = reader::table(tables, engine);
    let findings = engines::examine(table, &told.account, &told.server, &Whereabouts::default());
    let gaps = findings.iter().filter_map(|finding| finding.gap(&told.server.url)).collect();
    Server { gaps, ..told.server }
}

/// What the router says of the server, a second ago.
fn views(tables: &Tables, router: &Router, now: Time) -> Vec<(String, View)> {
    let capture = named(&router.base);
    let mut observations = capture.observations();
    for observation in &mut observations {
        observation.at = now.plus(-1.0);
        let Ok(answer) = &mut observation.outcome else { continue };
        let mut text = String::from_utf8_lossy(&answer.body).into_owned();
        for (from, to) in &router.replace {
            text = text.replace(from, to);
        }
        answer.body = text.into_bytes();
    }
    let account = engines::interpret(reader::table(tables, &capture.engine), &observations, &[], &Facts::new());
    let of_worker = account.views.into_iter().filter(|view| view.worker.ends_with(&router.worker));
    let views: Vec<(String, View)> = of_worker.map(|view| ("http://127.0.0.1:29000".to_owned(), view)).collect();
    assert!(!views.is_empty(), "{} says nothing of {}", router.base, router.worker);
    views
}

fn edit(observations: &mut [Observation], change: &Row, case: &str) {
    let mut unset: Vec<&String> = change.set.keys().collect();
    for observation in observations.iter_mut() {
        let Ok(answer) = &mut observation.outcome else { continue };
        if change.gone.contains(&observation.get) {
            *answer = model::Answer { status: 404, ..model::Answer::default() };
            continue;
        }
        let mut text = String::from_utf8_lossy(&answer.body).into_owned();
        if observation.get == "/metrics" {
            let kept = |line: &&str| !change.cut.iter().any(|cut| line.contains(cut.as_str()));
            let lines = text.lines().filter(kept).chain(change.add.iter().map(String::as_str));
            text = lines.map(|line| format!("{line}\n")).collect();
        }
        for (name, value) in &change.set {
            let edited = set(&text, name, value);
            if edited != text || says(&text, name) {
                unset.retain(|other| *other != name);
            }
            text = edited;
        }
        answer.body = text.into_bytes();
    }
    assert!(unset.is_empty(), "{case}: nothing is called {unset:?}");
}

fn says(text: &str, name: &str) -> bool {
    text.contains(&format!("\"{name}\":")) || text.lines().any(|line| series(line) == name)
}

fn series(line: &str) -> &str {
    line.split(['{', ' ']).next().unwrap_or_default()
}

/// The text with another value of a series, or of a key of JSON.
fn set(text: &str, name: &str, value: &toml::Value) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.starts_with(['{', '[']) {
        let key = format!("\"{name}\":");
        let mut parts = text.split(&key);
        let mut edited = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find([',', '}', ']']).unwrap_or(part.len());
            edited += &format!("{key}{value}{}", &part[end..]);
        }
        return edited;
    }
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((front, _)) if series(line) == name => format!("{front} {value}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}
