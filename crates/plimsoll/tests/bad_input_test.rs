//! Bad input through the whole program: a clear message, no crash, no hang, no false zero. What goes wrong below HTTP
//! (resets, endless bodies, TLS) is tested in `crates/sense/tests`; here is what comes through as an answer. All servers
//! are fakes: real ones do not misbehave on demand.

use serde_json::Value;
use testkit::{Answer, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

fn look(targets: &[&str]) -> (i32, Value) {
    let output = plimsoll(PROGRAM, &[&["status", "--json"], targets].concat());
    assert_eq!(output.errors, "", "nothing goes to standard error");
    let value = output.json();
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    // People read the same without a crash.
    for command in ["status", "explain", "doctor"] {
        let text = plimsoll(PROGRAM, &[&[command], targets].concat());
        assert!(text.code == 0 || text.code == 1 || text.code == 3, "{command}: {text:?}");
        assert!(!text.text.is_empty(), "{command}");
    }
    (output.code, value)
}

/// A metrics page of one rank with these lines.
fn page(lines: &str) -> String {
    let labels = r#"{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"}"#;
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).fold(String::new(), |page, line| {
        let (name, value) = line.split_once(' ').expect("name and value");
        page + &format!("sglang:{name}{labels} {value}\n")
    })
}

fn with_page(lines: &str) -> Replay {
    Replay::start().with("/metrics", Answer::page(page(lines)))
}

fn pool(value: &Value) -> &Value {
    &value["servers"][0]["ranks"][0]["pools"][0]
}

fn notes(value: &Value, server: usize) -> String {
    value["servers"][server]["notes"].to_string()
}

const GOOD: &str = "max_total_num_tokens 1000\nkv_used_tokens 250\nkv_evictable_tokens 500\nkv_available_tokens 250";

#[test]
fn the_good_page_is_read() {
    let server = with_page(GOOD);
    let (code, value) = look(&[&server.url()]);
    assert_eq!(code, 0);
    assert_eq!(pool(&value)["in_use"]["value"], 0.25);
    assert_eq!(pool(&value)["occupied"]["value"], 0.75);
}

#[test]
fn values_that_cannot_be_are_impossible_and_never_a_number() {
    for (bad, said) in [("NaN", "NaN"), ("+Inf", "inf"), ("-11", "-11"), ("1e300", "1e300"), ("-0.39", "-0.39")] {
        let server = with_page(&GOOD.replace("kv_used_tokens 250", &format!("kv_used_tokens {bad}")));
        let (code, value) = look(&[&server.url()]);
        assert_eq!(code, 1, "{bad}: no figure");
        let used = &pool(&value)["used"];
        assert_eq!(used["state"], "impossible", "{bad}");
        assert_eq!(used["value"], Value::Null, "{bad}");
        assert!(used["reason"].as_str().expect("a reason").contains(said), "{bad}: {used}");
        assert_eq!(pool(&value)["in_use"]["value"], Value::Null, "{bad}");
        assert_eq!(value["servers"][0]["verdict"]["level"], "unknown", "{bad} feeds no verdict");
    }
}

#[test]
fn parts_above_the_whole_are_impossible() {
    let server = with_page(&GOOD.replace("kv_evictable_tokens 500", "kv_evictable_tokens 900"));
    let (_, value) = look(&[&server.url()]);
    for name in ["used", "evictable", "available"] {
        assert_eq!(pool(&value)[name]["state"], "impossible", "{name}");
    }
    assert_eq!(value["servers"][0]["verdict"]["level"], "unknown");
}

#[test]
fn a_sound_source_stands_in_for_an_impossible_one() {
    let loads = r#"{"version":"0.5.23","loads":[{"dp_rank":0,"num_used_tokens":300,"max_total_num_tokens":1000,"token_usage":0.3}]}"#;
    let server =
        with_page(&GOOD.replace("kv_used_tokens 250", "kv_used_tokens NaN")).with("/v1/loads", Answer::json(loads));
    let (code, value) = look(&[&server.url()]);
    assert_eq!(code, 0);
    assert_eq!(pool(&value)["used"]["value"], 300.0);
    assert_eq!(pool(&value)["used"]["state"], "reported");
}

#[test]
fn a_series_said_twice_with_two_values_is_impossible() {
    let server = with_page(&format!("{GOOD}\nkv_used_tokens 600"));
    let (_, value) = look(&[&server.url()]);
    assert_eq!(pool(&value)["used"]["state"], "impossible");
    assert!(pool(&value)["used"]["reason"].as_str().expect("a reason").contains("250, 600"));
    // Said twice alike is one word.
    let server = with_page(&format!("{GOOD}\nkv_used_tokens 250"));
    assert_eq!(pool(&look(&[&server.url()]).1)["used"]["value"], 250.0);
}

#[test]
fn missing_labels_do_not_make_a_second_rank() {
    let server = Replay::start().with(
        "/metrics",
        Answer::page(page(GOOD) + "sglang:num_running_reqs 3\nsglang:num_queue_reqs{tp_rank=\"0\"} 2\n"),
    );
    let (_, value) = look(&[&server.url()]);
    assert_eq!(value["servers"][0]["ranks"].as_array().expect("ranks").len(), 1);
    assert_eq!(value["servers"][0]["ranks"][0]["running"]["value"], 3.0);
    assert_eq!(value["servers"][0]["ranks"][0]["waiting"]["value"], 2.0);
}

#[test]
fn a_bad_line_costs_that_line() {
    let server = Replay::start().with(
        "/metrics",
        Answer::page(format!("{}sglang:kv_used_tokens{{a=\"b 7\nnot a line at all {{\n", page(GOOD))),
    );
    let (code, value) = look(&[&server.url()]);
    assert_eq!(code, 0);
    assert_eq!(pool(&value)["used"]["value"], 250.0);
    assert!(notes(&value, 0).contains("lines-unread"), "{}", notes(&value, 0));
}

#[test]
fn answers_that_are_no_page_are_named() {
    for (answer, named) in [
        (Answer::page("<!DOCTYPE html><title>Sign in</title>"), "HTML"),
        (Answer::page(""), "empty body"),
        (Answer::page("\u{1}\u{2}\u{0}binary"), "no text"),
        (Answer::page("{\"detail\":\"x\"}"), "JSON"),
    ] {
        let server = Replay::start().with("/metrics", answer);
        let (code, value) = look(&[&server.url()]);
        assert_eq!(code, 1);
        assert_eq!(pool(&value)["used"]["state"], "not_reported");
        let notes = notes(&value, 0);
        assert!(notes.contains(named), "{named}: {notes}");
    }
}

#[test]
fn a_page_of_an_unknown_version_is_read_as_far_as_it_goes() {
    let loads = r#"{"version":"9.9.9+local","loads":[{"dp_rank":0,"num_used_tokens":300,"max_total_num_tokens":1000,"brand_new":1}]}"#;
    let server = Replay::start().with("/v1/loads", Answer::json(loads));
    let (code, value) = look(&[&server.url()]);
    assert_eq!(code, 0);
    assert_eq!(pool(&value)["in_use"]["value"], 0.3);
    assert_eq!(value["servers"][0]["version"], "9.9.9+local");
}

#[test]
fn a_door_that_wants_credentials_is_said_and_opened() {
    for status in [401, 403] {
        let server = with_page(GOOD).with("/v1/loads", Answer::json(r#"{"error":"Unauthorized"}"#).status(status));
        let output = plimsoll(PROGRAM, &["doctor", "--json", &server.url()]).json();
        let gap = output["gaps"]
            .as_array()
            .expect("gaps")
            .iter()
            .find(|gap| gap["id"] == "light-reading")
            .expect("a gap")
            .clone();
        assert!(gap["evidence"].as_str().expect("evidence").contains(&status.to_string()), "{gap}");
        assert!(gap["fix"]["where"].as_str().expect("where").contains("--bearer-file"), "{gap}");
    }
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("token");
    std::fs::write(&file, "canary-4711\n").expect("a file");
    let server = with_page(GOOD);
    let file = file.to_str().expect("a path");
    let output = plimsoll(PROGRAM, &["explain", "--bearer-file", file, &server.url()]);
    assert!(server.headers().iter().any(|header| header.eq_ignore_ascii_case("authorization: Bearer canary-4711")));
    assert!(!output.text.contains("canary-4711") && !output.errors.contains("canary-4711"));
}

#[test]
fn credentials_are_not_sent_to_workers_that_a_router_names() {
    let worker = with_page(GOOD);
    let router = Replay::router(&[&worker.url()]);
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("token");
    std::fs::write(&file, "canary-4711").expect("a file");
    let path = file.to_str().expect("a path");
    let (_, value) = {
        let output = plimsoll(PROGRAM, &["status", "--json", "--bearer-file", path, &router.url()]);
        (output.code, output.json())
    };
    assert_eq!(value["servers"].as_array().expect("servers").len(), 2);
    let told = |server: &Replay| server.headers().iter().any(|header| header.contains("canary-4711"));
    assert!(told(&router));
    assert!(!told(&worker));
    // Unless the targets file lists the worker.
    let targets = home.path().join("targets.toml");
    let text = format!(
        "[[target]]\nurl = {:?}\n[[target]]\nurl = {:?}\nbearer_file = \"token\"\n",
        router.url(),
        worker.url()
    );
    std::fs::write(&targets, text).expect("a file");
    plimsoll(PROGRAM, &["status", "--targets-file", targets.to_str().expect("a path")]);
    assert!(told(&worker));
}

#[test]
fn a_broken_targets_file_shows_line_and_caret() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("targets.toml");
    std::fs::write(&file, "[[target]]\nurl = \"http://h:1\"\nbaerer_file = \"x\"\n").expect("a file");
    let output = plimsoll(PROGRAM, &["status", "--targets-file", file.to_str().expect("a path")]);
    assert_eq!(output.code, 2);
    assert!(output.errors.contains("baerer_file") && output.errors.contains('^'), "{}", output.errors);
}

#[test]
fn a_broken_targets_file_shows_no_value() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("targets.toml");
    for text in [
        "[[target]]\nurl = \"http://me:canary-4711@h:1\n",
        "[[target]]\nurl = http://me:canary-4711@h:1\n",
        "canary-4711",
        "canary-4711==",
        "target = 'http://me:pa\"canary-4711@h'\n",
        "[[target]]\nurl = \"\"\"\nx\ncanary-4711",
        "target = \"http://me:canary-4711@h:1\"\n",
        "[[target]]\nurl = \"http://me:canary-4711@h:x\"\n",
        "[[target]]\nurl = \"\"\"\nhttp://me:canary-4711@h:1\n",
        "[[target]]\nurl = \"http://me:canary-4711@h:1\"\nurl = \"http://me:canary-4711@h:1\"\n",
    ] {
        std::fs::write(&file, text).expect("a file");
        let output = plimsoll(PROGRAM, &["status", "--targets-file", file.to_str().expect("a path")]);
        assert_eq!(output.code, 2, "{text}: {}", output.errors);
        assert!(!output.errors.contains("canary-4711"), "{text}: {}", output.errors);
    }
}

#[test]
fn a_password_without_a_user_is_refused() {
    for options in
        [&["--password-file", "x"][..], &["--password-env", "X"], &["--bearer-env", "X", "--password-env", "Y"]]
    {
        let output = plimsoll(PROGRAM, &[&["status"], options, &["http://127.0.0.1:9"]].concat());
        assert_eq!(output.code, 2);
        assert!(output.errors.contains("a password needs a user"), "{}", output.errors);
    }
}

#[test]
fn a_targets_file_that_is_no_file_is_refused_at_once() {
    for path in ["/dev/zero", "/dev"] {
        let output = plimsoll(PROGRAM, &["status", "--targets-file", path]);
        assert_eq!(output.code, 2);
        assert!(output.errors.contains("only regular files"), "{}", output.errors);
    }
}

#[test]
fn a_router_leads_to_its_workers() {
    let worker = with_page(GOOD);
    let router = Replay::router(&[&worker.url()]);
    let (code, value) = look(&[&router.url()]);
    assert_eq!(code, 0);
    let urls: Vec<&Value> = value["servers"].as_array().expect("servers").iter().map(|server| &server["url"]).collect();
    assert_eq!(urls, [&Value::from(worker.url()), &Value::from(router.url())]);
    assert_eq!(value["servers"][1]["role"], "router");
    assert_eq!(value["servers"][1]["router_view"][0]["worker"], worker.url());
}

#[test]
fn a_router_whose_workers_are_gone_still_answers() {
    let gone = "http://127.0.0.1:1";
    let router = Replay::router(&[gone]);
    let (code, value) = look(&[&router.url()]);
    assert_eq!(code, 1);
    let worker = &value["servers"][0];
    assert_eq!(worker["url"], gone);
    assert_eq!(worker["role"], "decode");
    assert!(worker["unreachable"].as_str().expect("why").contains("refused"));
    assert_eq!(worker["ranks"][0]["pools"][0]["used"]["state"], "unreachable");
}

#[test]
fn routers_in_a_loop_are_asked_once() {
    let (one, two) = (Replay::router::<&str>(&[]), Replay::router::<&str>(&[]));
    let list = |url: &str| {
        Answer::json(format!(
            r#"{{"workers":[{{"url":"{url}","worker_type":"regular","is_healthy":true,"labels":{{}}}}]}}"#
        ))
    };
    one.set("/workers", list(&two.url()));
    two.set("/workers", list(&one.url()));
    let output = plimsoll(PROGRAM, &["status", "--json", &one.url()]);
    assert_eq!(output.json()["servers"].as_array().expect("servers").len(), 2);
    assert_eq!(one.asked().iter().filter(|path| *path == "/workers").count(), 1);
    // A router that names itself is one server.
    let own = Replay::router::<&str>(&[]);
    own.set("/workers", list(&own.url()));
    assert_eq!(
        plimsoll(PROGRAM, &["status", "--json", &own.url()]).json()["servers"].as_array().expect("servers").len(),
        1
    );
}

#[test]
fn a_path_in_the_address_is_kept() {
    let server = Replay::start().with("/gpu7/metrics", Answer::page(page(GOOD)));
    let url = format!("{}/gpu7", server.url());
    let (code, value) = look(&[&url]);
    assert_eq!(code, 0);
    assert_eq!(value["servers"][0]["url"], url);
    assert!(server.asked().iter().all(|path| path.starts_with("/gpu7/")));
}

#[test]
fn a_snapshot_that_was_never_published_is_not_an_empty_pool() {
    let loads = r#"{"version":"0.5.15","loads":[{"dp_rank":0,"num_used_tokens":0,"max_total_num_tokens":0,"token_usage":0.0}]}"#;
    let server = Replay::start().with("/v1/loads", Answer::json(loads));
    let (code, value) = look(&[&server.url()]);
    assert_eq!(code, 1);
    for name in ["used", "capacity", "in_use"] {
        assert_eq!(pool(&value)[name]["state"], "not_reported", "{name}");
    }
}

/// 1,100 data-parallel ranks of which 1,024 are read: those are half full, the others nobody knows.
#[test]
fn a_list_that_was_cut_is_not_calm() {
    let rank = |dp: u32| {
        format!(
            "sglang:max_total_num_tokens{{dp_rank=\"{dp}\",engine_type=\"unified\"}} 1000\n\
             sglang:kv_used_tokens{{dp_rank=\"{dp}\",engine_type=\"unified\"}} {}\n\
             sglang:kv_evictable_tokens{{dp_rank=\"{dp}\",engine_type=\"unified\"}} 0\n\
             sglang:kv_available_tokens{{dp_rank=\"{dp}\",engine_type=\"unified\"}} {}\n",
            if dp < 1024 { 500 } else { 1000 },
            if dp < 1024 { 500 } else { 0 },
        )
    };
    let of = |ranks: u32| {
        let server = Replay::start().with("/metrics", Answer::page((0..ranks).map(rank).collect::<String>()));
        plimsoll(PROGRAM, &["status", "--json", &server.url()]).json()["servers"][0]["verdict"].clone()
    };
    assert_eq!(of(20)["level"], "calm");
    let cut = of(1100);
    assert_eq!(cut["level"], "unknown");
    assert!(cut["reason"].as_str().expect("a reason").starts_with("not all that it says was read"), "{cut}");
}

/// Saved while it was written, or copied in part: 2 is what is left of 250.
#[test]
fn a_saved_page_that_is_cut_within_its_last_number_gives_no_such_number() {
    let whole = page("max_total_num_tokens 1000\nkv_evictable_tokens 500\nkv_available_tokens 250\nkv_used_tokens 250");
    let cut = whole.strip_suffix("50\n").expect("the last number");
    let folder = tempfile::tempdir().expect("a folder");
    let used = |page: &str| {
        let path = folder.path().join("page.txt");
        std::fs::write(&path, page).expect("a file");
        let (_, value) = look(&[path.to_str().expect("a path")]);
        pool(&value)["used"].clone()
    };
    assert_eq!((&used(&whole)["value"], &used(&whole)["state"]), (&250.0.into(), &"reported".into()));
    // What is left says 1,000 less 500 less 250.
    assert_eq!((&used(cut)["value"], &used(cut)["state"]), (&250.0.into(), &"derived".into()));
}

/// Two pages pasted into one file: the numbers of one server are shown, and that the other's are there is said.
#[test]
fn pages_of_two_engines_in_one_file_are_not_read_as_one_in_silence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("both.txt");
    let look = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        look(&[path.to_str().expect("a path")]).1
    };
    let other = "vllm:num_requests_running{engine=\"0\"} 1\nvllm:kv_cache_usage_perc{engine=\"0\"} 0.25\n";
    let both = look(&(page(GOOD) + other));
    assert!(notes(&both, 0).contains("stand in it, too, and were not read"), "{}", notes(&both, 0));
    assert_eq!(both["servers"][0]["verdict"]["level"], "unknown");
    for alone in [page(GOOD), other.to_owned()] {
        assert!(!notes(&look(&alone), 0).contains("were not read"), "{alone}");
    }
}
