//! What a router says of a server stands in for the server's own word, with its age, and never above it.

use fleet::{Subject, join};
use model::{Account, DEVICE, FULL, PoolSet, RankId, Reading, Readings, Signal, State, Time, Unit, View};

const NOW: Time = Time(1000.0);

fn numbers(used: f64, from: &str, at: Time) -> Readings {
    let reading = |value| Reading::reported(value, Unit::Tokens, from, at).within(Some(0.0));
    Readings::from([(Signal::KV_USED, reading(used)), (Signal::KV_CAPACITY, reading(100.0))])
}

fn own(used: f64, age: f64) -> PoolSet {
    let at = NOW.plus(-age);
    PoolSet {
        source: "own".to_owned(),
        trust: 0,
        rank: RankId::ZERO,
        pool: FULL.to_owned(),
        tier: DEVICE.to_owned(),
        at,
        live: true,
        idle: false,
        readings: numbers(used, "own", at),
    }
}

fn said(used: f64, age: f64) -> (String, View) {
    let readings = numbers(used, "router", NOW.plus(-age));
    (
        "http://r".to_owned(),
        View {
            source: "workers".to_owned(),
            worker: "http://w".to_owned(),
            by_fact: None,
            dp: Some(0),
            timed: true,
            own: false,
            readings,
        },
    )
}

/// Used, its state and whether it is the router's word.
fn shown(sets: Vec<PoolSet>, seen_by: Vec<(String, View)>) -> (Option<f64>, State, bool) {
    let account = Account { engine: Some("e".to_owned()), sets, ..Account::default() };
    let why = |_, _: &str, _: &str| "nobody says it".to_owned();
    let subject = Subject {
        url: "http://w".to_owned(),
        host: "w".to_owned(),
        pid: None,
        unit: None,
        account: &account,
        seen_by,
        why: &why,
    };
    let server = join(&subject, NOW).server;
    let used = server.ranks[0].pools[0].get(Signal::KV_USED).expect("always there").clone();
    (used.value, used.state, server.notes.iter().any(|note| note.id == "told-by-router"))
}

#[test]
fn a_fresh_word_of_its_own_stands() {
    assert_eq!(shown(vec![own(95.0, 1.0)], vec![said(1.0, 0.1)]), (Some(95.0), State::Reported, false));
}

#[test]
fn of_two_stale_words_the_newer_one_stands_as_stale() {
    assert_eq!(shown(vec![own(95.0, 20.0)], vec![said(1.0, 600.0)]), (Some(95.0), State::Stale, false));
    assert_eq!(shown(vec![own(95.0, 600.0)], vec![said(1.0, 20.0)]), (Some(1.0), State::Stale, true));
}

#[test]
fn a_silent_server_is_told_by_the_router_that_heard_it_last() {
    assert_eq!(shown(vec![], vec![said(1.0, 9.0), said(40.0, 2.0)]), (Some(40.0), State::Reported, true));
    assert_eq!(shown(vec![], vec![said(1.0, 90.0)]), (Some(1.0), State::Stale, true));
    assert_eq!(shown(vec![], vec![]), (None, State::NotReported, false));
}
