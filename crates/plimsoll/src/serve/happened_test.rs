//! Events of a server whose looks are made up.

use std::collections::BTreeMap;

use model::{Level, Rank, RankId, Reading, Role, Server, Signal, Time, Unit, Verdict};
use testkit::made;

use super::happened::Happenings;
use crate::look::watch::{Health, Move, Tally};

fn server() -> Server {
    Server { role: Role::Decode, ..made::server("http://10.0.0.1:30002") }
}

fn health(look: char) -> Health {
    Health {
        age_s: Some(0.0),
        spent_s: 0.1,
        waited_s: 0.0,
        every_s: 5.0,
        tally: Tally::default(),
        up: look != 'u',
        slow: (look != 'q').then(|| "long".to_owned()),
        fresh: true,
        asked: None,
        process: None,
    }
}

/// The kinds of events that a row of looks gives, `s` one that took long, `q` a quick one, `u` one without an answer.
fn told(looks: &str) -> Vec<String> {
    let mut happenings = Happenings::default();
    let of = |at: usize, look: char, happenings: &mut Happenings| {
        happenings.of(&server(), &health(look), BTreeMap::new(), Time(at as f64 * 5.0))
    };
    let events = looks.chars().enumerate().flat_map(|(at, look)| of(at, look, &mut happenings));
    events.map(|event| format!("{} {}", event.kind, event.text)).filter(|event| !event.starts_with("found")).collect()
}

/// The first look asks for everything, and so does one a minute.
#[test]
fn one_long_look_makes_no_server_slow() {
    assert_eq!(told("sqqqsqqqqssqqs"), Vec::<String>::new());
}

#[test]
fn slow_and_quick_again_are_told_once_each() {
    assert_eq!(told("qsssssssqsqqqqqq"), ["slow long", "slow read every 5.0 s again"]);
}

/// That one is asked seldom while it is away is no news of how long it takes.
#[test]
fn a_silent_server_is_not_slow() {
    assert_eq!(told("qquuuuuqq"), ["unreachable no answer", "back it answers again"]);
}

/// Whatever the pool's level is: what matters is that there are more than before.
#[test]
fn retractions_of_the_log_are_told_as_they_become_more() {
    let mut happenings = Happenings::default();
    let mut told = Vec::new();
    for (at, (recent, level)) in [
        (0.0, Level::Strained),
        (2.0, Level::Strained),
        (2.0, Level::Tight),
        (5.0, Level::Strained),
        (1.0, Level::Calm),
    ]
    .into_iter()
    .enumerate()
    {
        let recent = Reading::reported(recent, Unit::Requests, "journal", Time(at as f64));
        let readings = [(Signal::REQ_RETRACTED_RECENT, recent)].into_iter().collect();
        let ranks = vec![Rank { rank: RankId::ZERO, readings, pools: Vec::new() }];
        let server = Server { ranks, verdict: Verdict { level, reason: String::new() }, ..server() };
        let events = happenings.of(&server, &health('q'), BTreeMap::new(), Time(at as f64 * 5.0));
        told.extend(events.into_iter().filter(|event| event.kind == "retracted").map(|event| event.value));
    }
    assert_eq!(told, [Some(2.0), Some(3.0)]);
}

/// Looks of which each says a signal so, by that source.
fn of_looks(signal: Signal, looks: &[(f64, &str)]) -> Vec<String> {
    let mut happenings = Happenings::default();
    let mut told = Vec::new();
    for (at, (value, source)) in looks.iter().enumerate() {
        let at = Time(at as f64 * 5.0);
        let said = Reading::reported(*value, Unit::Requests, *source, at);
        let readings = [(signal, said)].into_iter().collect();
        let ranks = vec![Rank { rank: RankId::ZERO, readings, pools: Vec::new() }];
        let events = happenings.of(&Server { ranks, ..server() }, &health('q'), BTreeMap::new(), at);
        told.extend(events.into_iter().filter(|event| event.kind != "found"));
    }
    told.into_iter().map(|event| format!("{} {}", event.kind, event.text)).collect()
}

/// One that comes and goes at every look is one queue.
#[test]
fn a_queue_is_told_when_it_comes_after_a_rest() {
    let looks = [0.0, 4.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0].map(|waiting| (waiting, "page"));
    assert_eq!(of_looks(Signal::REQ_WAITING, &looks), ["queue requests wait: 4", "queue requests wait: 3"]);
}

/// Two sources need not count alike: what one says more than another is no retraction, and less no restart.
#[test]
fn counters_are_compared_by_source() {
    let looks = [(5.0, "page"), (5.0, "page"), (90.0, "log"), (91.0, "log"), (5.0, "page"), (5.0, "page")];
    let told = of_looks(Signal::REQ_RETRACTED_TOTAL, &looks);
    assert_eq!(told, ["retracted 1 request was thrown out for want of cache"]);
}

/// Its counters tell it at the next look, the search of its host up to a quarter of a minute later.
#[test]
fn a_restart_is_told_once() {
    let mut happenings = Happenings::default();
    let mut restarts = |said: f64, moves: Vec<Move>, at: f64| {
        let counter = Reading::reported(said, Unit::Requests, "page", Time(at));
        let readings = [(Signal::REQ_RETRACTED_TOTAL, counter)].into_iter().collect();
        let ranks = vec![Rank { rank: RankId::ZERO, readings, pools: Vec::new() }];
        let mut events = happenings.moved(moves, Time(at));
        events.extend(happenings.of(&Server { ranks, ..server() }, &health('q'), BTreeMap::new(), Time(at)));
        events.into_iter().filter(|event| event.kind == "restart").map(|event| event.text).collect::<Vec<_>>()
    };
    let found = || vec![Move::Restarted(server().url, 77)];
    assert_eq!(restarts(9.0, Vec::new(), 0.0), Vec::<String>::new());
    assert_eq!(restarts(1.0, Vec::new(), 5.0), ["all its counters began anew"]);
    assert_eq!(restarts(2.0, found(), 10.0), Vec::<String>::new());
    // The next one, which the search sees first.
    assert_eq!(restarts(0.0, found(), 15.0), ["process 77 now"]);
}

#[test]
fn what_nothing_tells_of_any_more_is_gone_once() {
    let mut happenings = Happenings::default();
    happenings.of(&server(), &health('q'), BTreeMap::new(), Time(0.0));
    let url = server().url;
    assert!(happenings.gone(&[url.as_str()].into(), Time(5.0)).is_empty());
    let gone = happenings.gone(&[].into(), Time(10.0));
    assert_eq!(
        gone.iter().map(|event| (event.kind.as_str(), event.target.as_str())).collect::<Vec<_>>(),
        [("gone", &*url)]
    );
    assert!(happenings.gone(&[].into(), Time(15.0)).is_empty());
}
