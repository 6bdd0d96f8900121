//! What stands on the screen, and where: the first line, columns side by side, lines that fit.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Answer, Output, Replay, plimsoll};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A page of vLLM: 2,000 blocks of 16 tokens can be given out, of which `in_use` are held.
fn vllm(folder: &Path, name: &str, in_use: Option<f64>, waiting: u32) -> String {
    let labels = r#"{model_name="m",engine="0"}"#;
    let mut page = format!("vllm:num_requests_running{labels} 3\nvllm:num_requests_waiting{labels} {waiting}\n");
    page += &format!("vllm:prefix_cache_queries_total{labels} 5\n");
    if let Some(in_use) = in_use {
        page += &format!("vllm:kv_cache_usage_perc{labels} {in_use}\n");
        page += "vllm:cache_config_info{model_name=\"m\",engine=\"0\",num_gpu_blocks=\"2001\",block_size=\"16\"} 1\n";
    }
    written(folder, name, &page)
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a path").to_owned()
}

fn status(files: &[&str]) -> Output {
    plimsoll(PROGRAM, &[&["status"], files].concat())
}

/// The headline, which may be folded: up to the first empty line.
fn headline(files: &[&str]) -> String {
    let text = status(files).text;
    let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let folder = Path::new(files[0]).parent().expect("a folder").to_str().expect("a path");
    lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ").replace(&format!("{folder}/"), "")
}

#[test]
fn the_first_line_is_of_the_worst_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // 72 % with requests that wait is tight (verdicts.toml: from 70 % while requests wait), 80 % without is calm.
    let tight = vllm(folder, "tight.prom", Some(0.72), 9);
    let calm = vllm(folder, "calm.prom", Some(0.8), 0);
    let less = vllm(folder, "less.prom", Some(0.3), 0);
    let unknown = vllm(folder, "unknown.prom", None, 0);

    let said = headline(&[&calm, &tight]);
    assert!(said.starts_with("KV cache TIGHT unified tight.prom: 72.0 % in use"), "{said}");
    let said = headline(&[&calm, &tight, &unknown]);
    assert!(said.starts_with("KV cache TIGHT unified tight.prom: 72.0 % in use"), "{said}");
    assert!(said.ends_with("; 1 server is unknown"), "{said}");
    // Nothing is above calm: what is not known comes first.
    let said = headline(&[&calm, &unknown]);
    assert!(
        said.starts_with("KV cache UNKNOWN 1 of 2 servers is unknown; calm is unified calm.prom: 80.0 %"),
        "{said}"
    );
    // Of equals the fullest.
    let said = headline(&[&less, &calm]);
    assert!(said.starts_with("KV cache CALM unified calm.prom: 80.0 % in use"), "{said}");
    assert!(headline(&[&unknown]).starts_with("KV cache UNKNOWN no server tells how full it is"));
}

/// A recorded server, live again.
fn replayed(capture: &Path) -> Replay {
    let text = std::fs::read_to_string(capture.join("capture.toml")).expect("a capture");
    let parsed: toml::Table = toml::from_str(&text).expect("a capture");
    let mut replay = Replay::start();
    for answer in parsed.get("answer").and_then(toml::Value::as_array).into_iter().flatten() {
        let word = |key: &str| answer.get(key).and_then(toml::Value::as_str);
        let (Some(get), Some(file)) = (word("get"), word("file")) else { continue };
        let status = answer.get("status").and_then(toml::Value::as_integer).unwrap_or(200);
        let body = std::fs::read(capture.join(file)).expect("a file");
        let told = if word("content_type").is_some_and(|kind| kind.contains("json")) {
            Answer::json(body)
        } else {
            Answer::page(body)
        };
        replay = replay.with(get, told.status(status as u16));
    }
    replay
}

fn captures() -> Vec<PathBuf> {
    let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines");
    let within =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = within(engines).flat_map(|engine| within(engine.join("captures"))).collect();
    all.retain(|capture| capture.join("capture.toml").exists());
    all.sort();
    all
}

fn capture(name: &str) -> Replay {
    replayed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").join(name))
}

/// What a command says on a screen of so many columns.
fn on_screen(columns: usize, arguments: &[&str]) -> String {
    let mut command = Command::new(PROGRAM);
    let output = command.args(arguments).env("NO_COLOR", "1").env("COLUMNS", columns.to_string()).output();
    String::from_utf8_lossy(&output.expect("the program").stdout).into_owned()
}

/// Lines over the edge that could have been broken: a single word, a line of a unit or of a configuration cannot.
fn over(columns: usize, text: &str) -> Vec<String> {
    let mut to_be_copied = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let text = line.trim_start();
        // What is to be copied begins below one of these, and ends where the text is less far to the right.
        to_be_copied =
            text.starts_with("drop-in") || text == "add" || to_be_copied && line.starts_with("              ");
        if line.chars().count() > columns && text.contains(' ') && !to_be_copied {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn no_line_goes_over_the_edge() {
    let captures = captures();
    assert!(captures.len() > 200, "{}", captures.len());
    let mut faults = Vec::new();
    for capture in &captures {
        let server = replayed(capture);
        for command in ["status", "doctor", "explain"] {
            let text = on_screen(80, &[command, &server.url()]);
            assert!(!text.is_empty(), "{command} {}", capture.display());
            let name = |line| format!("{command} {}: {line}", capture.display());
            faults.extend(over(80, &text).into_iter().map(name));
        }
    }
    faults.extend(over(80, &on_screen(80, &["engines", "list"])));
    assert!(faults.is_empty(), "{} lines:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_store_is_shown_by_what_it_holds() {
    let (engine, store) = (capture("vllm/captures/0.32.0-load"), capture("lmcache/captures/0.5.6-load"));
    let text = on_screen(100, &["status", &engine.url(), &store.url()]);
    // The capture's own expectation: 46,137,344 of 67,108,864 bytes.
    assert!(text.contains(" 68.8 % occupied\n") && !text.contains("?? in use unknown"), "{text}");
    // It has no requests; what is counted says what it counts.
    let block = text.split("\n\n").find(|block| block.contains("store 127.0.0.1")).expect("the store");
    assert!(!block.contains("requests"), "{block}");
    assert!(block.contains("events") && block.contains("evicted 5 blocks"), "{block}");
    // `fits at once 4` beside twelve that run was plainly false.
    assert!(text.contains("running 12") && text.contains("fit at full length 4"), "{text}");
    assert!(text.contains("preempted 113") && !text.contains("retracted 113"), "{text}");
}

/// A warm store is always full. One allocation that failed long ago is no trouble of now where it evicts; where it never did,
/// it makes no room.
#[test]
fn a_full_store_that_evicts_is_calm() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = std::fs::read_to_string("../../engines/mooncake/captures/0.3.13-full-evicts-nothing/metrics.prom");
    let page = page.expect("the page").replace("alloc_failures_total 172", "alloc_failures_total 1");
    let stuck = written(folder.path(), "stuck.prom", &page);
    assert!(headline(&[&stuck]).starts_with("KV cache TIGHT store stuck.prom: 100.0 % occupied"));
    assert!(status(&[&stuck]).text.contains("1 allocation found no room"));
    let evicts = page.replace("evicted_size_bytes 0", "evicted_size_bytes 4096");
    let evicts = evicts.replace("evicted_size_bytes_mem 0", "evicted_size_bytes_mem 4096");
    let warm = written(folder.path(), "warm.prom", &evicts);
    assert!(headline(&[&warm]).starts_with("KV cache CALM store warm.prom: 100.0 % occupied"));
    assert!(status(&[&warm]).text.contains("1 allocation failed since start"));
}

#[test]
fn explanations_are_for_people() {
    let store = capture("lmcache/captures/0.5.6-load");
    let text = on_screen(100, &["explain", &store.url()]);
    assert!(text.contains("64.0 MiB") && !text.contains("M bytes"), "{text}");
    for name in ["idle before reclaim", "failed allocations"] {
        let behind: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix(name)).collect();
        assert!(!behind.is_empty() && behind.iter().all(|behind| behind.starts_with(' ')), "{name}: {behind:?}");
    }
    let engine = capture("vllm/captures/0.32.0-load");
    let text = on_screen(100, &["explain", &engine.url()]);
    let facts = text.split("  facts\n").nth(1).expect("facts");
    assert!(facts.contains("num_gpu_blocks") && !facts.contains("\n    v1 "), "{facts}");
}

#[test]
fn who_is_not_known_is_said_in_a_clause() {
    let other = Replay::start().with("/props", Answer::json(r#"{"hello": 1}"#));
    let text = on_screen(100, &["status", &other.url()]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("answered 404; /props answered 200 with JSON of another program (`plimsoll explain`"),
        "{text}"
    );
    assert_eq!(text.matches("404").count(), 1, "{text}");
    // llama-server without a model of its own says so in /props.
    let router = on_screen(100, &["status", &capture("llamacpp/captures/b11434-router").url()]);
    assert!(router.contains("llamacpp 11434") && router.contains("router"), "{router}");
}

#[test]
fn what_no_idle_server_can_say_is_no_sign() {
    let idle = capture("llamacpp/captures/b4687-ctx0-idle");
    let text = on_screen(100, &["status", &idle.url()]);
    assert!(!text.contains("cannot be"), "{text}");
}

/// A page of llama.cpp as it was in 2024: 2,049 of 4,096 tokens stand in the cache, which is occupied and not used.
const OCCUPIED: &str = "\
# TYPE llamacpp:kv_cache_usage_ratio gauge
llamacpp:kv_cache_usage_ratio 0.500244
# TYPE llamacpp:kv_cache_tokens gauge
llamacpp:kv_cache_tokens 2049
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 2
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred 0
";

#[test]
fn what_is_known_is_said_also_where_in_use_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = written(folder.path(), "metrics.prom", OCCUPIED);
    let said = headline(&[&page]);
    assert_eq!(said, "KV cache UNKNOWN unified metrics.prom: 50.0 % occupied, in use is not told");
    let text = status(&[&page]).text;
    let why = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(why.contains("why 50.0 % is occupied, and how much of that is in use is not told"), "{text}");
}

/// However long the way to a file is, the first line holds the answer.
#[test]
fn a_long_path_leaves_the_figure_in_the_first_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("incident-2026-11-29/gpu-node-07/decode-server/pages");
    std::fs::create_dir_all(&deep).expect("folders");
    let page = vllm(&deep, "metrics.prom", Some(0.8), 0);
    let text = status(&[&page]).text;
    let first = text.lines().next().expect("a line");
    assert!(first.starts_with("KV cache  CALM  unified …/metrics.prom: 80.0 % in use"), "{first}");
    assert!(text.contains("decode-server/pages/metrics.prom"), "{text}");
}

/// What a router's `/workers` says: a prefill server and decode servers with so much of 2,048 tokens used.
fn workers(decode: &[u32]) -> String {
    let worker = |role: &str, host: usize, used: u32| {
        let load = serde_json::json!({"dp_rank": 0, "num_used_tokens": used, "max_total_num_tokens": 2048,
            "token_usage": f64::from(used) / 2048.0, "num_running_reqs": 1, "num_waiting_reqs": 0});
        serde_json::json!({"id": host.to_string(), "url": format!("http://10.0.0.{host}:30000"), "worker_type": role,
            "is_healthy": true, "labels": {"version": "0.5.23"},
            "engine_load": {"timestamp": "2026-11-29T14:12:36.0+00:00", "version": "0.5.23", "loads": [load]}})
    };
    let decode = decode.iter().enumerate().map(|(at, used)| worker("decode", at + 2, *used));
    let all: Vec<serde_json::Value> = std::iter::once(worker("prefill", 1, 0)).chain(decode).collect();
    serde_json::json!({"workers": all, "total": all.len()}).to_string()
}

/// A router's answer that names servers of which no file is: what is calm is not the fleet.
#[test]
fn workers_of_which_no_file_is_are_not_calm() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let recorded = |name: &str| format!("../../engines/sglang/captures/{name}/loads.json");
    let copied = |name: &str, file: &str| {
        let path = folder.join(file);
        std::fs::copy(recorded(name), &path).expect("a copy");
        path.to_str().expect("a path").to_owned()
    };
    // Roles are in these answers: `disaggregation.mode`.
    let (prefill, decode) =
        (copied("0.5.23-pd-prefill-load", "prefill.json"), copied("0.5.23-pd-decode-load", "decode.json"));
    let one = written(folder, "one.json", &workers(&[580]));
    let said = headline(&[&one, &prefill]);
    let absent = "no file is of the decode server that the router names: http://10.0.0.2:30000";
    assert!(said.starts_with(&format!("KV cache UNKNOWN {absent}; ")), "{said}");
    let said = headline(&[&one, &prefill, &decode]);
    assert!(said.starts_with("KV cache CALM decode"), "{said}");

    // 2,040 of 2,048 tokens: 99.6 %.
    let eight = written(folder, "eight.json", &workers(&[580, 2040, 2040, 2040, 2040, 2040, 2040, 2040]));
    let said = headline(&[&eight, &prefill, &decode]);
    let absent = "files are of 1 of the 8 decode servers that the router names; the router sees up to 99.6 % in use";
    assert!(said.starts_with(&format!("KV cache UNKNOWN {absent}, of ")), "{said}");

    // vLLM's page does not say a role: it may be any of them.
    let (first, second) = (vllm(folder, "a.prom", Some(0.2), 0), vllm(folder, "b.prom", Some(0.3), 0));
    let said = headline(&[&one, &first, &second]);
    assert!(said.starts_with("KV cache CALM unified b.prom: 30.0 % in use"), "{said}");
    let said = headline(&[&one, &first]);
    assert!(said.starts_with("KV cache UNKNOWN files are of 1 of the 2 servers that the router names"), "{said}");
}
