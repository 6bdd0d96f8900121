//! Several files: of one server joined, of two kept apart, whatever their order.

use std::path::Path;

use super::{Folder, data, doctor, look, notes, pool, recorded, source, status, text_of, used};

fn urls(value: &serde_json::Value) -> Vec<String> {
    let servers = value["servers"].as_array().expect("servers").iter();
    servers.map(|server| server["url"].as_str().expect("a url").to_owned()).collect()
}

fn at<'a>(value: &'a serde_json::Value, part: &str) -> &'a serde_json::Value {
    let mut found = value["servers"].as_array().expect("servers").iter();
    found.find(|server| server["url"].as_str().expect("a url").contains(part)).expect("a server")
}

/// Page, loads, server info and log of one server, within two seconds of each other. The page does not say when it was
/// written, so that the loads count: 1484 of 2048.
#[test]
fn what_one_server_said_is_joined() {
    let files = [recorded("metrics.prom"), recorded("loads.json"), recorded("server_info.json"), data("two.log")];
    for turn in 0..files.len() {
        let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
        files.rotate_left(turn);
        let (code, value) = status(&files);
        assert_eq!((code, value["servers"].as_array().expect("servers").len()), (0, 1), "{files:?}");
        assert_eq!(used(&value), 1484.0);
        assert!(source(&pool(&value)["used"]).contains("loads.json:1"));
        assert_eq!(value["servers"][0]["model"], "model");
    }
}

#[test]
fn two_servers_are_kept_apart() {
    for files in [[data("prefill.log"), data("decode.log")], [data("decode.log"), data("prefill.log")]] {
        let (code, value) = look(&[&files[0], &files[1]]);
        assert_eq!((code, urls(&value).len()), (0, 2));
        let used = |name: &str| at(&value, name)["ranks"][0]["pools"][0]["used"]["value"].clone();
        // The last line of decode.log: `#token: 790`; the last of prefill.log says `token usage: 0.11` and no tokens.
        assert_eq!(used("decode.log"), 790.0);
        assert_eq!(at(&value, "prefill.log")["ranks"][0]["pools"][0]["in_use"]["value"], 0.11);
        assert_eq!(
            (&at(&value, "decode.log")["role"], &at(&value, "prefill.log")["role"]),
            (&"decode".into(), &"prefill".into())
        );
    }
}

/// A router's answer alone tells of a gRPC worker: 72000 of 100000 by the worker's own word. A page beside it may be that
/// very worker's, and counts once.
#[test]
fn a_routers_saved_answer_tells_of_workers_that_nothing_else_tells_of() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/smg/captures/1.13.0-grpc/workers.json");
    let list = path.to_str().expect("a path");
    let (_, value) = look(&[list]);
    assert_eq!(urls(&value).len(), 2, "{value:#}");
    assert_eq!(at(&value, "grpc://127.0.0.1:40777")["verdict"]["level"], "tight");
    assert_eq!(value["fleet"]["in_use_max"]["value"], 0.72);
    let (_, value) = look(&[list, &recorded("metrics.prom")]);
    assert_eq!(urls(&value).len(), 2, "{value:#}");
    assert!(urls(&value).iter().all(|url| !url.starts_with("grpc")), "{value:#}");
}

/// Nothing in the page tells of which of two servers it is: it is joined with neither, in any order.
#[test]
fn what_may_be_of_either_is_joined_with_neither() {
    let folder = Folder::new();
    let (one, other) = (data("two.log"), folder.put("other.log", text_of(&data("two.log"))));
    let page = recorded("metrics.prom");
    for files in [[&page, &one, &other], [&one, &page, &other], [&one, &other, &page]] {
        let (_, value) = status(&[files[0], files[1], files[2]]);
        assert_eq!(urls(&value).len(), 3, "{:?}", urls(&value));
    }
    // A page of another size of pool is of another server.
    let large = text_of(&page).replace("} 2048.0", "} 65536.0");
    let large = folder.put("large.prom", large);
    let (_, value) = status(&[&large, &one]);
    assert_eq!(urls(&value).len(), 2, "{:?}", urls(&value));
}

fn captured(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").join(path).canonicalize();
    path.expect("a capture").to_str().expect("a path").to_owned()
}

/// With --enable-kv-cache-sharding the page's 50,000 is one rank's share of the 200,000 that the loads say, and it is server info
/// alone that says so. Without it they may be two servers, and so they may where another answer denies it.
#[test]
fn what_one_file_says_tells_what_anothers_size_means() {
    let of = |name: &str| captured(&format!("sglang/captures/0.5.23-prefill-kv-sharding/{name}"));
    let (page, loads, info) = (of("metrics.prom"), of("loads.json"), of("server_info.json"));
    for files in [[&page, &loads, &info], [&info, &page, &loads], [&loads, &info, &page]] {
        let (_, value) = status(&[files[0], files[1], files[2]]);
        assert_eq!(urls(&value).len(), 1, "{:?}", urls(&value));
        assert_eq!((used(&value), &pool(&value)["capacity"]["value"]), (&120_000.0.into(), &200_000.0.into()));
    }
    assert_eq!(urls(&status(&[&page, &loads]).1).len(), 2);
    let folder = Folder::new();
    let denied = text_of(&info).replace("\"enable_kv_cache_sharding\": true", "\"enable_kv_cache_sharding\": false");
    assert_ne!(denied, text_of(&info), "it says so");
    let other = folder.put("other.json", denied.replace("\"port\": ", "\"port\": 1"));
    let (_, value) = status(&[&page, &loads, &info, &other]);
    assert!(urls(&value).len() > 2, "{:?}", urls(&value));
}

/// Aphrodite prints vLLM's lines: its log is its own beside its own answers, vLLM's beside vLLM's, and of neither beside both.
#[test]
fn the_log_of_a_fork_is_of_whose_files_are_beside_it() {
    let log = captured("aphrodite/captures/0.24.1-log/server.log");
    let (fork, original) =
        (captured("aphrodite/captures/0.24.1-log/models.json"), captured("vllm/captures/0.32.0-windows/models.json"));
    for (answer, engine) in [(&fork, "aphrodite"), (&original, "vllm")] {
        let (_, value) = status(&[&log, answer]);
        assert_eq!((urls(&value).len(), &value["servers"][0]["engine"]), (1, &engine.into()), "{value:#}");
    }
    for files in [[&log, &fork, &original], [&original, &fork, &log]] {
        let (_, value) = status(&[files[0], files[1], files[2]]);
        assert_eq!(urls(&value).len(), 3, "{:?}", urls(&value));
    }
}

/// A router's page of its workers' pages is one server a worker; each keeps its own lines.
#[test]
fn a_page_of_several_workers_is_several_servers() {
    let folder = Folder::new();
    let line = |worker: &str, name: &str, value: u32| {
        format!("sglang:{name}{{model_name=\"m\",tp_rank=\"0\",worker_addr=\"http://{worker}\"}} {value}\n")
    };
    let page: String = [("a:1", 100), ("b:2", 900)]
        .map(|(worker, used)| line(worker, "max_total_num_tokens", 1000) + &line(worker, "kv_used_tokens", used))
        .concat();
    let file = folder.put("engine_metrics.prom", page);
    let (_, value) = status(&[&file]);
    let used = |part: &str| at(&value, part)["ranks"][0]["pools"][0]["used"].clone();
    assert_eq!((&used("(http://a:1)")["value"], &used("(http://b:2)")["value"]), (&100.0.into(), &900.0.into()));
    assert!(source(&used("(http://b:2)")).starts_with(&format!("{file}:4 ")));
}

/// decode.log.1 holds the start of the run, decode.log goes on: the capacity of the one, the tokens of the other, each named
/// by its own file and line.
#[test]
fn rotated_logs_are_one() {
    let folder = Folder::new();
    let start = "[2026-11-29 13:53:15] max_total_num_tokens=2048, chunked_prefill_size=4096, max_prefill_tokens=16384, max_running_requests=1024, context_len=4096, available_cpu_mem=17.35 GB\n";
    let old = folder.put("decode.log.1", start);
    let new = folder.put("decode.log", text_of(&data("two.log")));
    for files in [[&old, &new], [&new, &old]] {
        let (_, value) = status(&[files[0], files[1]]);
        assert_eq!(urls(&value).len(), 1, "{:?}", urls(&value));
        assert_eq!((used(&value), &pool(&value)["capacity"]["value"]), (&1178.0.into(), &2048.0.into()));
        assert!(source(&pool(&value)["used"]).starts_with(&format!("{new}:2 ")));
        assert!(source(&pool(&value)["capacity"]).starts_with(&format!("{old}:1 ")), "{}", pool(&value)["capacity"]);
    }
    // Written at the same time they are two servers' logs, whatever they are called.
    let beside = folder.put("decode.log.2", text_of(&data("two.log")));
    assert_eq!(urls(&status(&[&new, &beside]).1).len(), 2);
}

#[test]
fn a_unit_and_a_log_are_of_one_server() {
    let (unit, log) = (data("decode.service"), data("decode.log"));
    let (code, value) = status(&[&unit, &log]);
    assert_eq!((code, urls(&value)), (0, vec![format!("{unit}:7 + {log}")]));
    assert_eq!(used(&value), 790.0);
    let (code, value) = doctor(&[&unit, &log]);
    assert_eq!(code, 3);
    assert_eq!(value["gaps"][0]["fix"]["where"], format!("ExecStart in {unit}:7"));
    assert!(value["gaps"][0]["price"].as_str().expect("a price").contains("2 running"), "the log says #running-req: 2");
}

/// The unit says --enable-metrics, the log's dump of before does not.
#[test]
fn a_unit_that_was_changed_since_is_a_note() {
    let folder = Folder::new();
    let unit = text_of(&data("decode.service")).replace("decode \\", "decode --enable-metrics \\");
    let unit = folder.put("changed.service", unit);
    let (_, value) = status(&[&unit, &data("dump.log")]);
    assert_eq!(urls(&value).len(), 2, "the models differ: /srv/m and m");
    let same = folder.put("same.log", text_of(&data("dump.log")).replace("model_path='m'", "model_path='/srv/m'"));
    let (_, value) = status(&[&unit, &same]);
    assert_eq!(urls(&value).len(), 1);
    let said = notes(&value);
    assert!(said.contains("start-differs") && said.contains("changed.service:10 --enable-metrics = on"), "{said}");
}

/// The log is of 13:53:58 in a zone eight hours ahead; nothing says so, and that is said.
#[test]
fn times_of_two_zones_are_a_note() {
    let folder = Folder::new();
    let log = folder.put("zone.log", text_of(&data("two.log")).replace("13:53:58", "21:53:58"));
    let text = testkit::plimsoll(super::PROGRAM, &["status", &log, &recorded("loads.json")]).text;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("the log ends 28796 s after the answer was given, if its times without a zone are UTC"),
        "{text}"
    );
}

/// A router's own samples name no worker. They are of none, and are not copied to each: with 64 workers that was a gigabyte.
#[test]
fn lines_that_name_no_worker_are_of_none() {
    let folder = Folder::new();
    let mut page: String = (0..300)
        .map(|worker| format!("sglang:max_total_num_tokens{{worker_addr=\"http://w:{worker:03}\"}} 1000\n"))
        .collect();
    for number in 0..60_000 {
        page += &format!("sglang:token_usage{{x=\"{number}\"}} 0.5\n");
    }
    let file = folder.put("relay.prom", page);
    let (_, value) = status(&[&file]);
    assert_eq!(urls(&value).len(), 256);
    let said = testkit::plimsoll(super::PROGRAM, &["status", &file]).text;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("names 300 servers; only 256 of them were read"));
    assert!(said.contains("60000 of its samples name no server"));
    for server in value["servers"].as_array().expect("servers") {
        assert_eq!(server["ranks"][0]["pools"][0]["in_use"]["value"], serde_json::Value::Null, "0.5 is of no worker");
    }
}

/// The answer is of 13:54:02 UTC, the log of 21:53:58 and 05:53:58 in zones that it does not name: now is the answer's time,
/// and the log's numbers have no age. With a zone (`Z`, as docker writes it) they have.
#[test]
fn times_without_a_zone_do_not_decide_what_now_is() {
    let folder = Folder::new();
    let answer = recorded("loads.json");
    for hour in ["21", "05"] {
        let log = folder.put("zone.log", text_of(&data("two.log")).replace("13:53:58", &format!("{hour}:53:58")));
        let (_, value) = status(&[&log, &answer]);
        assert_eq!(value["taken_at"], super::seconds("2026-11-29T13:54:02.326Z"), "{hour}");
        assert_eq!(used(&value), 1484.0, "{hour}: the answer says when it was given");
        assert!(pool(&value)["used"]["age_s"].as_f64().expect("an age") < 1.0);
        // Two logs that the answer may be of, so that it is of neither: theirs have no age.
        let other = folder.put("other.log", text_of(&log));
        let (_, value) = status(&[&log, &other, &answer]);
        let own = &at(&value, "zone.log")["ranks"][0]["pools"][0]["used"];
        assert_eq!((&own["value"], &own["age_s"]), (&1178.0.into(), &serde_json::Value::Null));
        assert!(own["reason"].as_str().expect("a reason").contains("does not say its zone"), "{own}");
    }
    let zoned: String =
        text_of(&data("two.log")).lines().map(|line| format!("2026-11-29T13:55:00.000000000Z {line}\n")).collect();
    let zoned = folder.put("zoned.log", zoned);
    let (_, value) = status(&[&zoned, &answer]);
    assert_eq!(value["taken_at"], super::seconds("2026-11-29T13:55:00Z"));
}

/// The lines of two servers in one file, as compose, Kubernetes and grep print them: each is a server, whoever wrote last.
#[test]
fn a_log_that_two_servers_wrote_is_two() {
    let folder = Folder::new();
    let batch = |used: u32, share: &str| {
        format!(
            "[2026-11-29 13:53:58] Decode batch, #running-req: 2, #token: {used}, token usage: {share}, #queue-req: 0\n"
        )
    };
    for (one, other) in [("a-1  | ", "b-1  | "), ("[pod/a/c] ", "[pod/b/c] "), ("a.log:", "b.log:")] {
        let (full, free) = (format!("{one}{}", batch(980, "0.98")), format!("{other}{}", batch(50, "0.05")));
        for text in [format!("Attaching to both\n{full}{free}"), format!("Attaching to both\n{free}{full}")] {
            let line = 1 + text.lines().position(|line| line == full.trim_end()).expect("a line");
            let file = folder.put("both.txt", &text);
            let (_, value) = status(&[&file]);
            assert_eq!(urls(&value).len(), 2, "{text}");
            let of = |name: &str| at(&value, name)["ranks"][0]["pools"][0]["used"].clone();
            let name = |prefix: &str| format!("({})", prefix.trim_matches(|c| " |[]:".contains(c)));
            assert_eq!(of(&name(one))["value"], 980.0, "{text}");
            assert_eq!(of(&name(other))["value"], 50.0, "{text}");
            assert!(source(&of(&name(one))).starts_with(&format!("{file}:{line} ")));
        }
    }
    // One writer is one server, and so is a log of which some lines say no writer.
    let one = folder.put("one.txt", format!("a-1  | {}a-1  | {}", batch(980, "0.98"), batch(50, "0.05")));
    assert_eq!(urls(&status(&[&one]).1).len(), 1);
    let forged = folder.put("forged.txt", format!("{}a.x:Decode batch\nb.x:Decode batch\n", batch(980, "0.98")));
    let (_, value) = status(&[&forged]);
    assert_eq!((urls(&value).len(), used(&value)), (1, &980.0.into()));
}

/// 1178 cut to 11: the line before it counts, 1118.
#[test]
fn a_number_that_the_end_of_the_file_cuts_is_not_read() {
    let folder = Folder::new();
    let text = text_of(&data("two.log"));
    let end = text.rfind("#token: 11").expect("the last line") + "#token: 11".len();
    let (_, value) = status(&[&folder.put("cut.log", &text[..end])]);
    assert_eq!(used(&value), 1118.0);
}

#[test]
fn one_file_by_two_names_is_one_server() {
    let folder = Folder::new();
    let file = folder.put("two.log", text_of(&data("two.log")));
    let link = folder.path("link.log");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    assert_eq!(urls(&status(&[&file, link.to_str().expect("a path")]).1).len(), 1);
}

#[test]
fn a_files_name_cannot_write_to_the_terminal() {
    let folder = Folder::new();
    let name = "a\u{1b}]0;x\u{7}\n\u{9b}31m\u{202e}CALM.log";
    let file = folder.put(name, text_of(&data("two.log")));
    let gone = folder.path(&format!("gone{name}"));
    for file in [file.as_str(), gone.to_str().expect("a path")] {
        for command in [&["status"][..], &["explain"], &["doctor"], &["status", "--json"]] {
            let said = testkit::plimsoll(super::PROGRAM, &[command, &[file]].concat());
            let text = said.text + &said.errors;
            assert!(!text.chars().any(|c| matches!(c, '\u{1b}' | '\u{7}' | '\u{9b}' | '\u{202e}')), "{text:?}");
        }
    }
}

/// A worker's page and its card name it, once in hex and once in decimal: the capacity of one is none of another's.
#[test]
fn a_page_and_a_card_of_two_workers_are_two_servers() {
    let file = |name: &str, file: &str| format!("../../engines/dynamo-worker/captures/{name}/{file}");
    let (page, card) = (file("1.6.1-vllm-card", "metrics.prom"), file("1.6.1-vllm-card", "card.json"));
    let (other_page, other_card) = (file("1.6.1-vllm-load", "metrics.prom"), file("1.6.1-vllm-off-load", "card.json"));
    let told = |files: &[&str]| urls(&look(files).1);
    // 0x21665aaa2e46f11f is 2406710737843450143.
    assert_eq!(told(&[&page, &card]).len(), 1);
    assert_eq!(told(&[&other_page, &other_card]).len(), 2);
    let all = told(&[&other_page, &card, &page, &other_card]);
    assert!(all.contains(&format!("{card} + {page}")) || all.contains(&format!("{page} + {card}")), "{all:?}");
}

/// A page without a time is no newer than what the same server said beside it: with another server's newer files both are old.
#[test]
fn a_page_without_a_time_does_not_outlive_what_is_beside_it() {
    let file = |name: &str, file: &str| format!("../../engines/sglang/captures/{name}/{file}");
    let of = |name: &str| ["loads.json", "metrics.prom", "server_info.json"].map(|one| file(name, one));
    let (old, newer) = (of("0.5.23-pd-prefill-load"), of("0.5.15-load"));
    let given: Vec<&str> = old.iter().chain(&newer).map(String::as_str).collect();
    let (_, value) = look(&given);
    let prefill = at(&value, "0.5.23-pd-prefill-load");
    // 47 minutes lie between the two captures.
    for name in ["used", "in_use"] {
        assert_eq!(prefill["ranks"][0]["pools"][0][name]["state"], "stale", "{name}: {prefill:#}");
    }
    assert_eq!(prefill["verdict"]["level"], "unknown");
}
