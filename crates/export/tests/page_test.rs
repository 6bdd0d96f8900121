//! What stands on the page, and what does not. Expected numbers are those that the snapshots were built from.

mod support;

use export::{Health, page};
use model::{Level, Note, Rank, Reading, Readings, Signal, Time, Unit};
use support::{DECODE, decode, health, pool, rank, read, said, server, snapshot, stale};

const POOL: &str = r#"{server="http://10.0.0.1:30002",rank="dp0",pool="full",tier="device"}"#;

/// The series of the one pool.
fn of_pool(name: &str) -> String {
    format!("{name}{POOL}")
}

fn of_server(name: &str) -> String {
    format!("{name}{{server=\"{DECODE}\"}}")
}

#[test]
fn a_decode_server() {
    let series = read(&page(&snapshot(vec![decode()]), &health()));
    for (name, value) in [
        ("plimsoll_kv_capacity_tokens", 2_581_504.0),
        ("plimsoll_kv_used_tokens", 2_519_548.0),
        ("plimsoll_kv_evictable_tokens", 0.0),
        ("plimsoll_kv_available_tokens", 61_956.0),
        ("plimsoll_kv_headroom_tokens", 61_956.0),
        ("plimsoll_kv_in_use_ratio", 0.976),
        ("plimsoll_kv_in_use_precision_ratio", 0.005),
        ("plimsoll_kv_in_use_age_seconds", 2.0),
        ("plimsoll_kv_binds", 1.0),
    ] {
        assert_eq!(series.get(&of_pool(name)), Some(&value), "{name}");
    }
    let rank = |name: &str| format!("{name}{{server=\"{DECODE}\",rank=\"dp0\"}}");
    for (name, value) in [
        ("plimsoll_running_requests", 12.0),
        ("plimsoll_waiting_requests", 0.0),
        ("plimsoll_retracted_requests_total", 3.0),
        ("plimsoll_pd_prealloc_requests", 1.0),
        ("plimsoll_pd_transfer_requests", 2.0),
        ("plimsoll_gen_tokens_total", 8_123_456.0),
    ] {
        assert_eq!(series.get(&rank(name)), Some(&value), "{name}");
    }
    for (name, value) in [
        ("plimsoll_up", 1.0),
        ("plimsoll_server_in_use_ratio", 0.976),
        ("plimsoll_gaps", 0.0),
        ("plimsoll_scrape_age_seconds", 3.2),
        ("plimsoll_scrape_duration_seconds", 0.012),
        ("plimsoll_scrape_interval_seconds", 5.0),
        ("plimsoll_scrape_duty_ratio", 0.0024),
        ("plimsoll_looks_total", 1079.0),
        ("plimsoll_looks_failed_total", 3.0),
        ("plimsoll_looks_dropped_total", 0.0),
    ] {
        assert_eq!(series.get(&of_server(name)), Some(&value), "{name}");
    }
    for (spelled, value) in [
        ("plimsoll_fleet_in_use_max_ratio", 0.976),
        ("plimsoll_history_bytes", 123_456.0),
        ("plimsoll_snapshot_timestamp_seconds", 1_796_035_395.0),
        ("plimsoll_duplicates", 0.0),
        (r#"plimsoll_build_info{version="0.1.0",schema="1"}"#, 1.0),
        (r#"plimsoll_sign{server="http://10.0.0.1:30002",sign="queue-never-drains"}"#, 1.0),
        (
            r#"plimsoll_server_info{server="http://10.0.0.1:30002",host="10.0.0.1",role="decode",engine="sglang",version="0.5.9",model="glm",unit="sglang-decode.service"}"#,
            1.0,
        ),
    ] {
        assert_eq!(series.get(spelled), Some(&value), "{spelled}");
    }
}

/// Missing, stale, unreachable and impossible are no numbers, and are counted.
#[test]
fn what_may_not_be_believed_has_no_series() {
    let mut one = rank(0, vec![pool("full", Unit::Tokens, 1000.0, 500.0, 0.0)]);
    let readings = &mut one.pools[0].readings;
    readings.insert(Signal::KV_IN_USE, stale(said(0.5, Unit::Ratio), 90.0));
    readings.insert(Signal::KV_USED, Reading::impossible(Unit::Tokens, "-11 tokens", "a page", Time(1.0)));
    readings.insert(Signal::KV_EVICTABLE, Reading::not_reported(Unit::Tokens, "this version does not say"));
    readings.insert(Signal::KV_AVAILABLE, Reading::unreachable(Unit::Tokens, "refused"));
    readings.insert(Signal::KV_HEADROOM, said(f64::NAN, Unit::Tokens));
    readings.insert(Signal::KV_OCCUPIED, Reading::inferred(0.0, Unit::Ratio, "radix=off", None));
    one.readings.insert(Signal::REQ_RUNNING, Reading::derived(0.0, Unit::Requests, &[], &[]));
    let text = page(&snapshot(vec![server(DECODE, Level::Unknown, vec![one])]), &Health::default());
    let series = read(&text);
    for name in ["in_use_ratio", "used_tokens", "evictable_tokens", "available_tokens", "headroom_tokens"] {
        assert!(!text.contains(&format!("plimsoll_kv_{name}")), "{name}");
    }
    assert!(!text.contains("NaN") && !text.contains("plimsoll_server_in_use_ratio"));
    // 0 where it is said, also by a rule.
    assert_eq!(series[&of_pool("plimsoll_kv_occupied_ratio")], 0.0);
    assert_eq!(series[&format!("plimsoll_running_requests{{server=\"{DECODE}\",rank=\"dp0\"}}")], 0.0);
    // Its age says that it was said once.
    assert_eq!(series[&of_pool("plimsoll_kv_in_use_age_seconds")], 90.0);
    for (state, count) in [
        ("reported", 2.0), // capacity and the NaN
        ("derived", 1.0),
        ("inferred", 1.0),
        ("stale", 1.0),
        ("not_reported", 1.0),
        ("unreachable", 1.0),
        ("impossible", 1.0),
    ] {
        let spelled = format!("plimsoll_readings{{server=\"{DECODE}\",state=\"{state}\"}}");
        assert_eq!(series[&spelled], count, "{state}");
    }
}

/// A target that takes connections and never answers: nothing of that took 0 s, and no duty was measured.
#[test]
fn a_look_that_was_given_up_took_no_time_that_is_told() {
    for (took_s, duty) in [(Some(0.0), Some(0.0)), (None, None)] {
        let mut own = health();
        own.targets[0].up = false;
        (own.targets[0].took_s, own.targets[0].duty) = (took_s, duty);
        let series = read(&page(&snapshot(vec![decode()]), &own));
        for name in ["plimsoll_scrape_duration_seconds", "plimsoll_scrape_duty_ratio"] {
            assert_eq!(series.get(&of_server(name)), None, "{name}");
        }
        assert_eq!(series[&of_server("plimsoll_scrape_age_seconds")], 3.2);
    }
}

#[test]
fn exactly_one_level_is_one() {
    for level in [Level::Unknown, Level::Calm, Level::Tight, Level::Strained, Level::Thrashing, Level::Stuck] {
        let series = read(&page(&snapshot(vec![server(DECODE, level, Vec::new())]), &Health::default()));
        let levels: Vec<(&String, &f64)> =
            series.iter().filter(|(name, _)| name.starts_with("plimsoll_verdict{")).collect();
        assert_eq!(levels.len(), 6);
        assert_eq!(levels.iter().map(|(_, value)| **value).sum::<f64>(), 1.0);
        let name = format!("plimsoll_verdict{{server=\"{DECODE}\",level=\"{}\"}}", level.name());
        assert_eq!(series[&name], 1.0);
    }
}

/// Blocks and bytes never wear tokens' name.
#[test]
fn other_units_have_other_series() {
    let mut one =
        rank(0, vec![pool("full", Unit::Blocks, 100.0, 25.0, 50.0), pool("mamba", Unit::States, 8.0, 2.0, 0.0)]);
    one.readings.insert(Signal::KV_EVICTED_TOTAL, said(77.0, Unit::Bytes));
    let text = page(&snapshot(vec![server(DECODE, Level::Calm, vec![one])]), &Health::default());
    let series = read(&text);
    assert_eq!(series[&of_pool("plimsoll_kv_used_blocks")], 25.0);
    assert_eq!(series[&of_pool("plimsoll_kv_used_states").replace("full", "mamba")], 2.0);
    assert_eq!(series[&of_pool("plimsoll_kv_in_use_ratio")], 0.25);
    assert_eq!(series[&format!("plimsoll_kv_evicted_bytes_total{{server=\"{DECODE}\",rank=\"dp0\"}}")], 77.0);
    assert!(!text.contains("_tokens"));
}

#[test]
fn up_and_down() {
    let mut down = server("http://b:1", Level::Unknown, Vec::new());
    down.unreachable = Some("refused".to_owned());
    let mut told = server("grpc://c:1", Level::Calm, Vec::new());
    told.notes.push(Note::new(model::TOLD_BY_ROUTER, "by its router's word"));
    let up = server("http://a:1", Level::Calm, Vec::new());
    let mut own = health();
    own.targets[0].url = "http://d:1".to_owned();
    own.targets[0].up = false;
    let silent = server("http://d:1", Level::Unknown, Vec::new());
    let series = read(&page(&snapshot(vec![down, told, up, silent]), &own));
    let up = |url: &str| series.get(&format!("plimsoll_up{{server=\"{url}\"}}")).copied();
    assert_eq!(up("http://a:1"), Some(1.0));
    assert_eq!(up("http://b:1"), Some(0.0));
    assert_eq!(up("grpc://c:1"), None, "nobody asks it");
    assert_eq!(up("http://d:1"), Some(0.0), "its newest look failed");
    assert_eq!(series["plimsoll_told_by_router{server=\"grpc://c:1\"}"], 1.0);
}

/// The first of what has the same labels counts, and the rest is counted.
#[test]
fn no_series_stands_twice() {
    let ranks = || -> Vec<Rank> {
        vec![
            rank(0, vec![pool("full", Unit::Tokens, 10.0, 9.0, 0.0), pool("full", Unit::Tokens, 20.0, 1.0, 0.0)]),
            rank(0, vec![pool("swa", Unit::Tokens, 10.0, 9.0, 0.0)]),
        ]
    };
    let servers = vec![server(DECODE, Level::Stuck, ranks()), server(DECODE, Level::Calm, ranks())];
    let mut own = health();
    own.targets.extend(health().targets);
    own.signs.extend(health().signs);
    let series = read(&page(&snapshot(servers), &own)); // panics where one stands twice
    assert_eq!(series[&of_pool("plimsoll_kv_used_tokens")], 9.0);
    assert_eq!(series[&format!("plimsoll_verdict{{server=\"{DECODE}\",level=\"stuck\"}}")], 1.0);
    // a server, a target, a pool and a rank
    assert_eq!(series["plimsoll_duplicates"], 4.0);
}

/// Of a server the fullest rank counts, of a rank the fullest pool that binds.
#[test]
fn a_server_is_as_full_as_its_fullest_rank() {
    let mut host = pool("full", Unit::Tokens, 100.0, 99.0, 0.0);
    host.tier = "host".to_owned();
    host.binds = false;
    let ranks = vec![
        rank(0, vec![pool("full", Unit::Tokens, 100.0, 30.0, 0.0), pool("swa", Unit::Tokens, 10.0, 8.0, 0.0)]),
        rank(1, vec![pool("full", Unit::Tokens, 100.0, 40.0, 0.0), host]),
    ];
    let series = read(&page(&snapshot(vec![server(DECODE, Level::Calm, ranks)]), &Health::default()));
    assert_eq!(series[&of_server("plimsoll_server_in_use_ratio")], 0.8);
    let host = of_pool("plimsoll_kv_binds").replace("dp0", "dp1").replace("device", "host");
    assert_eq!(series[&host], 0.0);
}

/// Copies count once, and a part is not told as the whole.
#[test]
fn requests_of_a_server() {
    let one = |dp: u32, tp: u32, waiting: Reading| {
        let mut one = rank(dp, Vec::new());
        one.rank.tp = Some(tp);
        one.readings.insert(Signal::REQ_WAITING, waiting);
        one
    };
    let said = |value: f64| said(value, Unit::Requests);
    let waiting = |ranks: Vec<Rank>| {
        let series = read(&page(&snapshot(vec![server(DECODE, Level::Calm, ranks)]), &Health::default()));
        series.get(&of_server("plimsoll_server_waiting_requests")).copied()
    };
    assert_eq!(waiting(vec![one(0, 0, said(3.0)), one(0, 1, said(3.0)), one(1, 0, said(4.0))]), Some(7.0));
    assert_eq!(waiting(vec![one(0, 0, said(3.0)), one(1, 0, stale(said(4.0), 60.0))]), None);
    assert_eq!(waiting(Vec::new()), None);
}

/// Families by name, each with one head and all its samples; the same page whatever is worst.
#[test]
fn the_order_is_always_the_same() {
    let mut other = decode();
    other.url = "http://10.0.0.2:30002".to_owned();
    let text = page(&snapshot(vec![decode(), other.clone()]), &health());
    assert_eq!(text, page(&snapshot(vec![other, decode()]), &health()));
    let heads: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(heads.is_sorted_by(|one, next| one < next), "{heads:?}");
    let mut head = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            head = rest.split(' ').next().expect("a name");
        } else if !line.starts_with('#') {
            assert_eq!(line.split(['{', ' ']).next(), Some(head));
        }
    }
}

#[test]
fn a_router_view_is_no_series() {
    let mut router = server("http://r:1", Level::Unknown, Vec::new());
    router.role = model::Role::Router;
    router.router_view.push(model::RouterView {
        worker: DECODE.to_owned(),
        role: None,
        healthy: Some(true),
        dp: None,
        readings: Readings::from([(Signal::KV_USED, said(5.0, Unit::Tokens))]),
    });
    let text = page(&snapshot(vec![router]), &Health::default());
    assert!(!text.contains("plimsoll_kv_"), "{text}");
}

#[test]
fn nothing_is_a_page_too() {
    let mut empty = snapshot(Vec::new());
    empty.fleet.in_use_max = Reading::not_reported(Unit::Ratio, "no server was found");
    let series = read(&page(&empty, &Health::default()));
    assert!(!series.keys().any(|name| name.contains("in_use")));
    assert_eq!(series["plimsoll_host_gaps"], 0.0);
}
