//! What a router says of a server stands in for the server's own word, with its age, and never above it.

use fleet::{Subject, join};
use model::{Account, DEVICE, FULL, PoolSet, RankId, Reading, Readings, Role, Signal, State, Time, Unit, View, Worker};

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

/// A router that counts for itself, or does not say when the worker said it, is no worker's word.
#[test]
fn what_a_router_counts_or_cannot_date_stands_for_nobody() {
    let change = |change: &dyn Fn(&mut View)| {
        let (router, mut view) = said(1.0, 2.0);
        change(&mut view);
        vec![(router, view)]
    };
    let nothing = (None, State::NotReported, false);
    assert_eq!(shown(vec![], change(&|view| view.own = true)), nothing);
    assert_eq!(shown(vec![], change(&|view| view.timed = false)), nothing);
    assert_eq!(shown(vec![], change(&|view| view.by_fact = Some("id".to_owned()))), nothing);
    assert_eq!(shown(vec![], change(&|_| ())), (Some(1.0), State::Reported, true));
}

#[test]
fn a_worker_of_which_a_router_alone_tells_says_so() {
    let worker = Worker {
        url: "grpc://w:1".to_owned(),
        role: Some(Role::Decode),
        healthy: Some(true),
        version: Some("1".into()),
    };
    let account = fleet::told_alone("http://r", &worker, "grpc is not spoken", NOW);
    let why = |_, _: &str, _: &str| "nobody says it".to_owned();
    let (url, host) = (worker.url.clone(), "w".to_owned());
    let seen_by = vec![said(40.0, 2.0)];
    let subject = Subject { url, host, pid: None, unit: None, account: &account, seen_by, why: &why };
    let server = join(&subject, NOW).server;
    assert_eq!((server.role, server.version.as_deref()), (Role::Decode, Some("1")));
    assert_eq!(server.unreachable.as_deref(), Some("grpc is not spoken"));
    assert!(server.is_told_by_router());
    let used = server.ranks[0].pools[0].get(Signal::KV_USED).expect("always there");
    assert!(used.source.as_deref().is_some_and(|source| source.contains("router")), "{used:?}");
    let fleet = fleet::totals(&[server]);
    assert_eq!(fleet.in_use_max.value, Some(0.4));
    assert!(fleet.in_use_max.inputs[0].ends_with("by its router's word"), "{:?}", fleet.in_use_max.inputs);
}
