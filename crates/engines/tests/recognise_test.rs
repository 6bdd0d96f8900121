//! Command lines that are an engine, and those that only look like one. Real processes for the usual spellings are in
//! `crates/plimsoll/tests/spellings_test.rs`; here are wrappers that are not on every machine.

use engines::Tables;
use engines::process::{from_arguments, from_config, recognise, settings};

fn words(line: &str) -> Vec<String> {
    line.split('|').map(str::to_owned).collect()
}

/// The engine that `line` runs (words separated by `|`), and the port that its flags say.
fn check(line: &str, expected: Option<(&str, &str)>) {
    let tables = Tables::builtin();
    let found = recognise(&tables, &words(line));
    let found = found.map(|found| {
        let table = tables.get(&found.engine).expect("a table");
        let flags = from_arguments(table, &found.arguments.unwrap_or_default(), "test");
        (found.engine, flags["port"].value.clone())
    });
    let expected = expected.map(|(engine, port)| (engine.to_owned(), port.to_owned()));
    assert_eq!(found, expected, "{line}");
}

#[test]
fn wrappers() {
    let engine = Some(("sglang", "30002"));
    check("numactl|--cpunodebind=0|--membind=0|python|-m|sglang.launch_server|--port|30002", engine);
    check("numactl|-N|1|-m|1|/opt/venv/bin/python3|-m|sglang.launch_server|--port=30002", engine);
    check("tini|--|python3|-m|sglang.launch_server|--port|30002", engine);
    check("/usr/bin/dumb-init|--|bash|-c|python -m sglang.launch_server --port 30002", engine);
    check("sudo|-u|llm|python|-m|sglang.launch_server|--port|30002", engine);
    check("uv|run|--python|3.11|python|-m|sglang.launch_server|--port|30002", engine);
    check("uv|run|sglang|serve|m|--port|30002", engine);
    check("conda|run|-n|llm|python|-m|sglang.launch_server|--port|30002", engine);
    check("taskset|0xff|python|-m|sglang.launch_server|--port|30002", engine);
    check("gosu|llm|python|-m|sglang.launch_server|--port|30002", engine);
    check("nsys|profile|-o|out|python|-m|sglang.launch_server|--port|30002", engine);
    check(
        "bash|-euo|pipefail|-c|source /opt/env; exec python -m sglang.launch_server \\\n --port \\\n 30002 2>&1 | tee log",
        engine,
    );
    check("sh|-c|CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server --port '30002'", engine);
}

#[test]
fn defaults_are_the_engines_own() {
    check("python|-m|sglang.launch_server|--model-path|m", Some(("sglang", "30000")));
    check("smg|launch", Some(("smg", "30000")));
}

#[test]
fn others_are_not_engines() {
    check("docker|run|--rm|image|python|-m|sglang.launch_server|--port|30002", None);
    check("ssh|host|python -m sglang.launch_server --port 30002", None);
    check("vim|sglang/launch_server.py", None);
    check("grep|sglang.launch_server", None);
    check("python|-m|sglang.launch_server_client", None);
    check("python|-m|pytest|sglang.launch_server", None);
    check("python|-c|print('sglang.launch_server')", None);
    check("sglang::scheduler_TP0", None);
    check("sglang::detokenizer", None);
    check("bash|-c|echo python -m sglang.launch_server --port 30002", None);
    check("", None);
}

#[test]
fn flags_and_configuration_file() {
    let tables = Tables::builtin();
    let table = tables.get("sglang").expect("a table");
    let mut flags = from_arguments(table, &words("--tp|8|--dp-size=2|--disable-radix-cache|--port|1|--port|2"), "argv");
    let value = |flags: &model::Facts, name: &str| flags.get(name).map(|fact| fact.value.clone());
    assert_eq!(value(&flags, "tp_size").as_deref(), Some("8"));
    assert_eq!(value(&flags, "dp_size").as_deref(), Some("2"));
    assert_eq!(value(&flags, "radix_off").as_deref(), Some("on"));
    // argparse keeps the last of two.
    assert_eq!(value(&flags, "port").as_deref(), Some("2"));
    assert_eq!(value(&flags, "metrics").as_deref(), Some("off"));

    // The command line outweighs the file, the file outweighs defaults.
    let file = settings("port: 7\nenable-metrics: true\ndisaggregation-mode: decode\n").expect("YAML");
    from_config(table, &mut flags, &file, "server.yaml");
    assert_eq!(value(&flags, "port").as_deref(), Some("2"));
    assert_eq!(value(&flags, "metrics").as_deref(), Some("on"));
    assert_eq!(value(&flags, "role").as_deref(), Some("decode"));
    assert!(settings("- a\n- b\n").is_err());
    assert!(settings("a: [").is_err());
}

#[test]
fn configuration_files_that_grow_or_nest_are_refused() {
    assert!(settings(&"- ".repeat(5000)).is_err());
    assert!(settings(&"? ".repeat(5000)).is_err());
    assert!(settings(&format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(1000), "*a, ".repeat(1000))).is_err());
    assert!(settings(&"a: 1\n".repeat(100_000)).is_err());
    assert!(settings(&format!("{}a: 1\n", " ".repeat(5000))).is_err());
    // What flags hold is not refused.
    let good = "model-path: org/model\nmax-total-tokens: 65536\nkv-events-config: '{\"endpoint\":\"tcp://*:5557\"}'\nlora-paths:\n  - a=b\n  - c\n";
    assert_eq!(settings(good).map(|settings| settings.len()), Ok(4));
}

/// The address of the API by the flags of a line.
fn api(line: &str) -> Option<u16> {
    let tables = Tables::builtin();
    let found = recognise(&tables, &words(line)).expect("an engine");
    let table = tables.get(&found.engine).expect("a table");
    let flags = from_arguments(table, &found.arguments.unwrap_or_default(), "test");
    let ports = table.engine.ports(&flags);
    ports.into_iter().find(|(rule, _)| rule.serves == "api").map(|(_, port)| port)
}

/// By the help of `--smg-http-sidecar-port` (SGLang 0.5.19): the port after `--port`, which is 30000 by default.
#[test]
fn a_grpc_worker_has_its_page_on_the_port_after_its_own() {
    assert_eq!(api("python|-m|sglang.launch_server|--port|31000|--enable-metrics"), Some(31000));
    assert_eq!(api("python|-m|sglang.launch_server|--smg-grpc-mode|--port|31000|--enable-metrics"), Some(31001));
    assert_eq!(api("python|-m|sglang.launch_server|--grpc-mode"), Some(30001));
    assert_eq!(api("python|-m|sglang.launch_server|--grpc-mode|--grpc-http-sidecar-port|9|--port|31000"), Some(9));
    // There is no port after the last, and what cannot be read is no port at all.
    assert_eq!(api("python|-m|sglang.launch_server|--grpc-mode|--port|65535"), None);
    assert_eq!(api("python|-m|sglang.launch_server|--grpc-mode|--port|$PORT"), None);
}
