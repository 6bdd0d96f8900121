//! Answers that tempt to a wrong number: local builds without a version, hybrid pools told as one, gauges that stand still,
//! flags that a proxy hides, counters that count twice. The inputs are made by hand from what the published packages do
//! (engines/sglang/NOTES.md); the servers are fakes.

use serde_json::{Value, json};
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

fn look(command: &str, server: &Replay) -> Value {
    let value = plimsoll(PROGRAM, &[command, "--json", &server.url()]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    value
}

fn info(version: &str, more: Value) -> Answer {
    let mut info = json!({ "model_path": "m", "served_model_name": "m", "version": version, "max_total_num_tokens": 100_000,
        "tp_size": 1, "dp_size": 1, "pp_size": 1, "disaggregation_mode": "null", "disable_radix_cache": false,
        "enable_metrics": false, "internal_states": [{}] });
    if let (Some(info), Value::Object(more)) = (info.as_object_mut(), more) {
        info.extend(more);
    }
    Answer::json(info.to_string())
}

fn loads(version: &str, used: u64, ratio: f64, waiting: u64) -> Answer {
    let one = json!({ "dp_rank": 0, "num_used_tokens": used, "max_total_num_tokens": 100_000, "token_usage": ratio,
        "num_running_reqs": 3, "num_waiting_reqs": waiting });
    Answer::json(json!({ "version": version, "loads": [one] }).to_string())
}

fn page(lines: &[(&str, &str, f64)]) -> Answer {
    Answer::page(
        lines.iter().map(|(name, labels, value)| format!("sglang:{name}{{{labels}}} {value}\n")).collect::<String>(),
    )
}

fn pools(value: &Value) -> &Vec<Value> {
    value["servers"][0]["ranks"][0]["pools"].as_array().expect("pools")
}

#[test]
fn a_checkout_without_a_version_is_asked_and_read_like_any_other() {
    // What setuptools_scm calls a checkout without tags.
    let version = "0.0.0.dev1+g1234567";
    let server = Replay::start()
        .with("/server_info", info(version, json!({})))
        .with("/v1/loads", loads(version, 90_000, 0.9, 0));
    let value = look("status", &server);
    assert_eq!(pools(&value)[0]["used"]["value"], 90_000.0);
    assert_eq!(value["servers"][0]["version"], version);
    let report = look("doctor", &server);
    let gap = report["gaps"].as_array().expect("gaps").iter().find(|gap| gap["id"] == "kv-series").expect("the gap");
    assert_eq!(gap["fix"]["flag"], "--enable-metrics", "not an upgrade: {gap}");
}

#[test]
fn a_ratio_of_several_pools_is_the_fullest_pools_and_no_tokens_are_made_of_it() {
    // 0.5.2 with a sliding-window model: num_used_tokens and token_usage are each the larger of two pools'.
    let labels = r#"tp_rank="0",pp_rank="0""#;
    let lines = [
        ("num_used_tokens", labels, 30_000.0),
        ("token_usage", labels, 0.97),
        ("num_running_reqs", labels, 9.0),
        ("num_queue_reqs", labels, 40.0),
    ];
    let on = Replay::start().with("/get_server_info", info("0.5.2", json!({}))).with("/metrics", page(&lines));
    // The same with metrics off, by /v1/loads of a later version.
    let off = Replay::start()
        .with("/server_info", info("0.5.19", json!({})))
        .with("/v1/loads", loads("0.5.19", 30_000, 0.97, 12));
    for server in [on, off] {
        let value = look("status", &server);
        let pools = pools(&value);
        assert_eq!(pools[0]["pool"], "full");
        assert_eq!(pools[0]["used"]["state"], "not_reported");
        assert_eq!(pools[0]["in_use"]["value"], Value::Null);
        assert_eq!(pools[1]["pool"], "fullest");
        assert_eq!(pools[1]["in_use"]["value"], 0.97);
        assert_eq!(value["servers"][0]["verdict"]["level"], "strained");
    }
}

#[test]
fn gauges_that_stand_still_while_nothing_runs_are_not_read() {
    // 0.5.9: swa_token_usage is written at batches only; token_usage, the larger of both, is refreshed and says idle.
    let labels = r#"tp_rank="0",pp_rank="0",engine_type="unified""#;
    let lines = [
        ("num_used_tokens", labels, 0.0),
        ("token_usage", labels, 0.0),
        ("swa_token_usage", labels, 0.9712),
        ("num_running_reqs", labels, 0.0),
        ("num_queue_reqs", labels, 0.0),
        ("max_total_num_tokens", labels, 100_000.0),
    ];
    let server = Replay::start()
        .with("/server_info", info("0.5.9", json!({ "enable_metrics": true })))
        .with("/metrics", page(&lines));
    let value = look("status", &server);
    assert_eq!(value["servers"][0]["verdict"]["level"], "calm", "{value}");
}

#[test]
fn a_page_that_a_proxy_hides_is_not_a_flag_that_is_missing() {
    let server = Replay::start()
        .with("/server_info", info("0.5.23", json!({ "enable_metrics": true })))
        .with("/v1/loads", loads("0.5.23", 10, 0.0001, 0));
    let report = look("doctor", &server);
    let gap = report["gaps"].as_array().expect("gaps").iter().find(|gap| gap["id"] == "kv-series").expect("a gap");
    assert_eq!(gap["fix"]["flag"], Value::Null, "nobody restarts for a flag that is set: {gap}");
    assert!(gap["evidence"].as_str().expect("evidence").contains("enable_metrics"), "{gap}");
}

#[test]
fn a_counter_that_counts_every_tensor_rank_is_refused() {
    // Before 0.5.23 the registry sums evicted_tokens_total over the tensor-parallel ranks: four times the truth here.
    let labels = r#"tp_rank="0",pp_rank="0""#;
    let lines = [
        ("kv_used_tokens", labels, 1.0),
        ("max_total_num_tokens", labels, 100_000.0),
        ("evicted_tokens_total", r#"cache_type="RadixCache""#, 4000.0),
    ];
    let server = Replay::start()
        .with("/server_info", info("0.5.19", json!({ "enable_metrics": true, "tp_size": 4 })))
        .with("/metrics", page(&lines));
    let evicted = look("status", &server)["servers"][0]["ranks"][0]["evicted_total"].clone();
    assert_eq!(evicted["state"], "not_reported");
    assert!(evicted["reason"].as_str().expect("a reason").contains("tensor"), "{evicted}");
}

#[test]
fn a_number_of_all_ranks_together_is_said_as_that() {
    let rank = |dp: u32| format!(r#"dp_rank="{dp}",tp_rank="0",pp_rank="0""#);
    let (zero, one) = (rank(0), rank(1));
    let lines = [
        ("kv_used_tokens", zero.as_str(), 1.0),
        ("max_total_num_tokens", &zero, 100_000.0),
        ("kv_used_tokens", &one, 2.0),
        ("max_total_num_tokens", &one, 100_000.0),
        ("generation_tokens_total", r#"model_name="m""#, 12_345.0),
        ("evicted_tokens_total", r#"cache_type="RadixCache""#, 67_890.0),
    ];
    let server = Replay::start()
        .with("/server_info", info("0.5.19", json!({ "enable_metrics": true, "dp_size": 2 })))
        .with("/metrics", page(&lines));
    let value = look("status", &server);
    let ranks = value["servers"][0]["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), 2);
    for rank in ranks {
        let reason = |name: &str| rank[name]["reason"].as_str().expect("a reason").to_owned();
        let together = reason("generated_tokens_total");
        assert!(together.contains("12345") && together.contains("together"), "{together}");
        // Of what its table knows to be a sum it says why it is no rank's.
        let sum = reason("evicted_total");
        assert!(sum.contains("the sum of all replicas"), "{sum}");
    }
}

#[test]
fn a_pool_that_the_model_does_not_have_is_not_empty() {
    // A model with sliding windows only: the full pool's gauges are all 0, and max_total_num_tokens is the other pool's.
    let labels = r#"tp_rank="0",pp_rank="0""#;
    let lines = [
        ("kv_used_tokens", labels, 0.0),
        ("kv_evictable_tokens", labels, 0.0),
        ("kv_available_tokens", labels, 0.0),
        ("max_total_num_tokens", labels, 100_000.0),
        ("swa_used_tokens", labels, 60_000.0),
        ("swa_evictable_tokens", labels, 0.0),
        ("swa_available_tokens", labels, 40_000.0),
    ];
    let server = Replay::start()
        .with("/server_info", info("0.5.23", json!({ "enable_metrics": true })))
        .with("/metrics", page(&lines));
    let value = look("status", &server);
    assert_eq!(pools(&value)[0]["headroom"]["value"], Value::Null, "no headroom of a pool that is not there");
    assert_eq!(pools(&value)[1]["pool"], "swa");
    assert_eq!(pools(&value)[1]["in_use"]["value"], 0.6);
}

#[test]
fn what_a_peer_says_cannot_paint_the_screen() {
    let evil = "m\u{1b}[2J\nKV cache  CALM  everything is fine\u{202e}";
    let server = Replay::start()
        .with("/server_info", info("0.5.23", json!({ "served_model_name": evil })))
        .with("/v1/loads", loads("0.5.23", 10, 0.0001, 0));
    for command in ["status", "doctor", "explain"] {
        let text = plimsoll(PROGRAM, &[command, &server.url()]).text;
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{command}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("KV cache  CALM  everything")), "{command}: {text}");
    }
}

#[test]
fn an_unknown_fact_is_no_finding() {
    let mut answer = json!({ "model_path": "m", "version": "0.5.23", "max_total_num_tokens": 100_000 });
    answer["disable_radix_cache"] = json!(false);
    let server = Replay::start()
        .with("/server_info", Answer::json(answer.to_string()))
        .with("/v1/loads", loads("0.5.23", 10, 0.0001, 0));
    let report = look("doctor", &server);
    let findings = report["servers"][0]["findings"].as_array().expect("findings");
    let events = findings.iter().find(|finding| finding["id"] == "kv-events").expect("a finding");
    assert_eq!(events["state"], "not_asked", "the answer has no kv_events_config: {events}");
}

#[test]
fn two_elements_for_one_rank_are_not_believed() {
    let element = |used: u64| json!({ "dp_rank": 0, "num_used_tokens": used, "max_total_num_tokens": 2048 });
    let answer = json!({ "version": "0.5.23", "loads": [element(1500), element(1990)] });
    let server = Replay::start().with("/v1/loads", Answer::json(answer.to_string()));
    let value = look("status", &server);
    let used = &pools(&value)[0]["used"];
    assert_eq!(used["state"], "impossible");
    assert!(used["reason"].as_str().expect("a reason").contains("1500, 1990"), "{used}");
}

#[test]
fn a_rank_that_is_no_rank_is_not_rank_zero() {
    for odd in [json!(4_294_967_296_u64), json!(-1), json!("abc"), json!(1.5)] {
        let good = json!({ "dp_rank": 0, "num_used_tokens": 10, "max_total_num_tokens": 2048 });
        let bad = json!({ "dp_rank": odd, "num_used_tokens": 2000, "max_total_num_tokens": 2048 });
        let server = Replay::start()
            .with("/v1/loads", Answer::json(json!({ "version": "0.5.23", "loads": [good, bad] }).to_string()));
        let value = look("status", &server);
        assert_eq!(pools(&value)[0]["used"]["value"], 10.0, "{odd}");
        assert!(value["servers"][0]["notes"].to_string().contains("no rank"), "{odd}");
    }
}

#[test]
fn calm_is_said_only_when_all_ranks_are_known() {
    let one = |dp: u32, used: u32, of: u32| json!({ "dp_rank": dp, "num_used_tokens": used, "max_total_num_tokens": of, "token_usage": f64::from(used) / 2048.0 });
    let told = |more: Value, loads: Vec<Value>| {
        let server = Replay::start()
            .with("/server_info", info("0.5.23", more))
            .with("/v1/loads", Answer::json(json!({ "version": "0.5.23", "loads": loads }).to_string()));
        look("status", &server)["servers"][0]["verdict"].clone()
    };
    let both = json!({ "dp_size": 2 });
    assert_eq!(told(both.clone(), vec![one(0, 800, 2048), one(1, 700, 2048)])["level"], "calm");
    // A rank that publishes nothing yet, or is not in the list at all, may be full.
    let void = told(both.clone(), vec![one(0, 800, 2048), one(1, 0, 0)]);
    assert_eq!(void["level"], "unknown");
    assert!(void["reason"].to_string().contains("1 of 2 ranks do not say how full they are"), "{void}");
    let missing = told(both.clone(), vec![one(0, 800, 2048)]);
    assert_eq!(missing["level"], "unknown", "{missing}");
    // What is bad stays bad.
    assert_eq!(told(both, vec![one(0, 2040, 2048), one(1, 0, 0)])["level"], "strained");
}

#[test]
fn gauges_that_show_nothing_yet_are_not_read_while_work_is_seen() {
    // The gauges stand at the last batch, 0; the scheduler's own snapshot of this moment counts 99,600 tokens at work.
    let server = Replay::start()
        .with("/server_info", info("0.5.23", json!({ "enable_metrics": true })))
        .with("/metrics", page(&[("kv_used_tokens", "", 0.0), ("max_total_num_tokens", "", 100_000.0)]))
        .with("/v1/loads", loads("0.5.23", 99_600, 0.996, 40));
    let value = look("status", &server);
    assert_eq!(pools(&value)[0]["used"]["value"], 99_600.0, "{value}");
    assert_eq!(value["servers"][0]["verdict"]["level"], "strained");
}

#[test]
fn a_pool_that_is_full_to_a_page_over_is_full_and_not_unknown() {
    let server = Replay::start()
        .with("/server_info", info("0.5.23", json!({})))
        .with("/v1/loads", loads("0.5.23", 100_001, 1.0, 4));
    let value = look("status", &server);
    assert_eq!(value["servers"][0]["verdict"]["level"], "strained");
    assert_eq!(pools(&value)[0]["headroom"]["value"], 0.0);
}

#[test]
fn times_that_the_answer_says_are_believed_when_they_can_be() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs_f64();
    let answer = |stamp: Value| {
        let one = json!({ "dp_rank": 0, "num_used_tokens": 10, "max_total_num_tokens": 2048, "timestamp": stamp });
        Replay::start().with("/v1/loads", Answer::json(json!({ "version": "0.5.23", "loads": [one] }).to_string()))
    };
    let state = |server: &Replay| pools(&look("status", server))[0]["used"]["state"].clone();
    assert_eq!(state(&answer(json!(now - 1.0))), "reported");
    assert_eq!(state(&answer(json!(now - 3600.0))), "stale");
    assert_eq!(state(&answer(json!((now - 3600.0) * 1000.0))), "stale", "milliseconds");
    // Times that cannot be are no times: the number stands with the remark that its age is not known.
    for odd in [json!(now + 1.0e6), json!(1.0e300), json!("yesterday")] {
        let value = look("status", &answer(odd.clone()));
        let used = &pools(&value)[0]["used"];
        assert_eq!(used["state"], "reported", "{odd}");
        assert!(used["reason"].is_string(), "{odd}: {used}");
    }
    // Samples of a page may carry a time as well.
    let stamp = ((now - 3600.0) * 1000.0) as u64;
    let line = |name: &str, value: u32| format!("sglang:{name}{{tp_rank=\"0\"}} {value} {stamp}\n");
    let page = line("kv_used_tokens", 10) + &line("max_total_num_tokens", 2048);
    assert_eq!(state(&Replay::start().with("/metrics", Answer::page(page))), "stale");
}

#[test]
fn a_bare_infinity_costs_its_field_and_not_the_answer() {
    let answer = r#"{"version":"0.5.23 NaN","loads":[{"dp_rank":0,"num_used_tokens":10,"max_total_num_tokens":2048,"gen_throughput":Infinity,"cache_hit_rate":NaN}]}"#;
    let server = Replay::start().with("/v1/loads", Answer::json(answer));
    let value = look("status", &server);
    assert_eq!(pools(&value)[0]["used"]["value"], 10.0);
    assert_eq!(value["servers"][0]["version"], "0.5.23 NaN", "words in strings stay");
}

#[test]
fn thousands_of_ranks_are_cut_with_a_note() {
    let page: String =
        (0..3000).map(|dp| format!("sglang:kv_used_tokens{{dp_rank=\"{dp}\",tp_rank=\"0\"}} 1\n")).collect();
    let server = Replay::start().with("/metrics", Answer::page(page));
    let value = look("status", &server);
    assert_eq!(value["servers"][0]["ranks"].as_array().expect("ranks").len(), 1024);
    assert!(value["servers"][0]["notes"].to_string().contains("more than 1024 ranks"));
}
