//! A server that is taken again a moment later is what joining it anew gives. The evidence is joining it anew.

use fleet::{Again, Moment, Subject, join};
use model::{
    Account, DEVICE, FULL, PoolSet, RankId, RankValue, Reading, Readings, Signal, SourceOutcome, SourceStatus, Time,
    Unit,
};

const FRESH_S: f64 = 15.0;

fn moment(now: f64) -> Moment {
    Moment { now: Time(now), fresh_s: FRESH_S }
}

fn set(source: &str, trust: u16, at: f64, used: f64) -> PoolSet {
    let said = |value| Reading::reported(value, Unit::Tokens, source, Time(at)).within(Some(0.0));
    let readings = Readings::from([(Signal::KV_CAPACITY, said(1000.0)), (Signal::KV_USED, said(used))]);
    let (pool, tier) = (FULL.to_owned(), DEVICE.to_owned());
    let (source, at, rank) = (source.to_owned(), Time(at), RankId::ZERO);
    PoolSet { source, trust, rank, pool, tier, at, live: trust == 0, idle: false, readings }
}

/// Two sources of one pool, said ten seconds apart and not alike, and a number of the rank.
fn account() -> Account {
    let reading = Reading::reported(3.0, Unit::Requests, "one", Time(104.0));
    let (get, at) = ("/one".to_owned(), Time(110.0));
    let outcome = SourceOutcome::Answered;
    Account {
        engine: Some("engine".to_owned()),
        sets: vec![set("one", 0, 110.0, 300.0), set("other", 1, 100.0, 800.0)],
        values: vec![RankValue { trust: 0, rank: RankId::ZERO, signal: Signal::REQ_RUNNING, reading }],
        sources: vec![SourceStatus { id: "one".to_owned(), get, http: true, at, took: 0.1, outcome, passed_by: None }],
        ..Account::default()
    }
}

fn joined(account: &Account, now: f64) -> model::Server {
    let why = |_: Signal, _: &str, _: &str| "nothing says it".to_owned();
    let (url, host) = ("http://h:1".to_owned(), "h".to_owned());
    let subject = Subject { url, host, pid: None, unit: None, account, seen_by: Vec::new(), why: &why };
    join(&subject, moment(now)).server
}

#[test]
fn it_is_what_joining_anew_gives_or_nothing() {
    let account = account();
    let again = Again::of(&joined(&account, 111.0), &account, moment(111.0)).expect("all of it is fresh");
    let mut taken = 0;
    for tenths in 1110..1300_u32 {
        let now = f64::from(tenths) / 10.0;
        if let Some(server) = again.server(moment(now)) {
            assert_eq!(server, joined(&account, now), "at {now}");
            taken += 1;
        }
    }
    // Up to the first number that grows stale, which is none of those that are shown: 15 s after 100.
    assert_eq!(taken, 41);
    assert!(again.server(moment(110.9)).is_none(), "the clock went back");
    assert!(again.server(Moment { now: Time(112.0), fresh_s: 30.0 }).is_none(), "it is looked at less often");
}

#[test]
fn what_moves_with_time_is_joined_anew() {
    let mut account = account();
    assert!(Again::of(&joined(&account, 124.0), &account, moment(124.0)).is_none(), "a stale number");
    account.values[0].reading = Reading::impossible(Unit::Requests, "said -1", "one", Time(110.0));
    assert!(Again::of(&joined(&account, 111.0), &account, moment(111.0)).is_none(), "a number that cannot be");
}
