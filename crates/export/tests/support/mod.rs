//! Snapshots built by hand, and pages read back.
#![allow(dead_code)] // each test uses a part

use std::collections::BTreeMap;

use export::{Health, History, Target};
use model::{
    Fleet, Level, Pool, Rank, RankId, Reading, Readings, Role, SelfReport, Server, Signal, Snapshot, Time, Unit,
    Verdict,
};
use testkit::made;
use wire::exposition::{Limits, parse_all};

/// The decode server of the examples.
pub(crate) const DECODE: &str = "http://10.0.0.1:30002";
/// When the snapshots are taken.
pub(crate) const NOW: Time = Time(1_796_035_395.0);

/// A reported reading, two seconds old.
pub(crate) fn said(value: f64, unit: Unit) -> Reading {
    let mut reading = Reading::reported(value, unit, "a page", NOW.plus(-2.0));
    reading.age_s = Some(2.0);
    reading
}

/// `reading`, said too long ago.
pub(crate) fn stale(mut reading: Reading, age: f64) -> Reading {
    reading.state = model::State::Stale;
    reading.age_s = Some(age);
    reading
}

/// A pool of the device with these numbers of `unit`, each by its signal.
pub(crate) fn pool(name: &str, unit: Unit, capacity: f64, used: f64, evictable: f64) -> Pool {
    let readings = Readings::from([
        (Signal::KV_CAPACITY, said(capacity, unit)),
        (Signal::KV_USED, said(used, unit)),
        (Signal::KV_EVICTABLE, said(evictable, unit)),
        (Signal::KV_AVAILABLE, said(capacity - used - evictable, unit)),
        (Signal::KV_HEADROOM, said(capacity - used, unit)),
        (Signal::KV_IN_USE, said(used / capacity, Unit::Ratio)),
        (Signal::KV_OCCUPIED, said((used + evictable) / capacity, Unit::Ratio)),
    ]);
    Pool { pool: name.to_owned(), ..made::pool(readings) }
}

/// A data-parallel rank with these pools.
pub(crate) fn rank(dp: u32, pools: Vec<Pool>) -> Rank {
    Rank { rank: RankId { dp: Some(dp), ..RankId::ZERO }, pools, readings: Readings::new() }
}

/// A server with these ranks.
pub(crate) fn server(url: &str, level: Level, ranks: Vec<Rank>) -> Server {
    Server {
        host: "10.0.0.1".to_owned(),
        engine: Some("sglang".to_owned()),
        version: Some("0.5.9".to_owned()),
        role: Role::Decode,
        model: Some("glm".to_owned()),
        unit: Some("sglang-decode.service".to_owned()),
        pid: Some(7),
        ranks,
        verdict: Verdict { level, reason: "97.6 % of the full pool is in use".to_owned() },
        ..made::server(url)
    }
}

/// A snapshot of these servers.
pub(crate) fn snapshot(servers: Vec<Server>) -> Snapshot {
    Snapshot {
        schema: "plimsoll.status/1",
        made_by: "plimsoll",
        taken_at: NOW,
        servers,
        hosts: Vec::new(),
        fleet: Fleet {
            in_use_max: said(0.976, Unit::Ratio),
            in_use_weighted: Reading::not_reported(Unit::Ratio, "nothing says it"),
        },
        gaps: Vec::new(),
        own: SelfReport::default(),
    }
}

/// One decode server as in the project's first question: 2,581,504 tokens, 61,956 of them left.
pub(crate) fn decode() -> Server {
    let mut one = rank(0, vec![pool(model::FULL, Unit::Tokens, 2_581_504.0, 2_519_548.0, 0.0)]);
    let in_use = said(0.976, Unit::Ratio).within(Some(0.005));
    one.pools[0].readings.insert(Signal::KV_IN_USE, in_use);
    one.readings = Readings::from([
        (Signal::REQ_RUNNING, said(12.0, Unit::Requests)),
        (Signal::REQ_WAITING, said(0.0, Unit::Requests)),
        (Signal::REQ_RETRACTED_TOTAL, said(3.0, Unit::Requests)),
        (Signal::REQ_RETRACTED_RECENT, Reading::not_reported(Unit::Requests, "no log")),
        (Signal::KV_EVICTED_TOTAL, Reading::not_reported(Unit::Tokens, "no prefix cache")),
        (Signal::PD_PREALLOC, said(1.0, Unit::Requests)),
        (Signal::PD_TRANSFER, said(2.0, Unit::Requests)),
        (Signal::GEN_RATE, stale(said(432.1, Unit::TokensPerSecond), 40.0)),
        (Signal::GEN_TOKENS_TOTAL, said(8_123_456.0, Unit::Tokens)),
    ]);
    server(DECODE, Level::Strained, vec![one])
}

/// Our own health, of the decode server.
pub(crate) fn health() -> Health {
    Health {
        version: "0.1.0".to_owned(),
        started_at: Some(Time(1_796_030_000.0)),
        targets: vec![Target {
            url: DECODE.to_owned(),
            up: true,
            age_s: Some(3.2),
            took_s: Some(0.012),
            every_s: 5.0,
            duty: Some(0.0024),
            looks: 1079,
            failed: 3,
            dropped: 0,
        }],
        signs: vec![(DECODE.to_owned(), "queue-never-drains")],
        history: Some(History { bytes: 123_456, limit_bytes: 1 << 30, lost_looks: 0, works: true }),
    }
}

/// A page by its series, each spelled `name{key="value",…}` with its labels unescaped; panics where one stands twice or a
/// line is none.
pub(crate) fn read(page: &str) -> BTreeMap<String, f64> {
    let (samples, summary) = parse_all(page.as_bytes(), &Limits::default());
    assert_eq!((summary.bad, summary.truncated), (0, false), "{:?}", summary.first_bad);
    let mut series = BTreeMap::new();
    for sample in samples {
        let labels: Vec<String> = sample.labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        let spelled = if labels.is_empty() {
            sample.name.to_string()
        } else {
            format!("{}{{{}}}", sample.name, labels.join(","))
        };
        assert!(series.insert(spelled.clone(), sample.value).is_none(), "{spelled} stands twice");
    }
    series
}
