//! What stands on the screen, and where: the first line, columns side by side, lines that fit.

use std::path::Path;

use testkit::{Output, plimsoll};

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
