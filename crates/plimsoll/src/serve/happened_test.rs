//! Events of a server whose looks are made up.

use std::collections::BTreeMap;

use model::{Level, Rank, RankId, Reading, Role, Server, Signal, Time, Unit, Verdict};

use testkit::made;

use super::happened::Happenings;
use crate::look::watch::{Health, Tally};

fn server() -> Server {
    Server { role: Role::Decode, ..made::server("http://10.0.0.1:30002") }
}

fn health(look: char) -> Health {
    Health {
        age_s: Some(0.0),
        spent_s: 0.1,
        every_s: 5.0,
        tally: Tally::default(),
        up: look != 'u',
        slow: (look != 'q').then(|| "long".to_owned()),
        fresh: true,
        asked: None,
        started_at: None,
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
