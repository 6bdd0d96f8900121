//! Documents that are made from the program or its tables stay in step with them. `BLESS=1` renews them.

#![allow(dead_code)] // of the captures' readers it uses a part

#[path = "docs/engines.rs"]
mod engine_table;
#[path = "captures/file.rs"]
mod file;
#[path = "captures/reader.rs"]
mod reader;
#[path = "../../engines/tests/support/tables.rs"]
mod tables;

use std::path::{Path, PathBuf};

use testkit::plimsoll;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Holds a file against what it should be.
fn in_step(file: &str, expected: &str) {
    let path = root().join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, expected).expect("a file");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{file} is out of step; renew it with BLESS=1 cargo test -p plimsoll --test docs_test");
}

#[test]
fn signals() {
    let mut text = String::from(
        "# Signals\n\nMade from `signals.toml`.\n\n| signal | JSON | unit | of | means |\n|---|---|---|---|---|\n",
    );
    for signal in model::Signal::all() {
        let row = signal.row();
        let of = if row.scope == model::Scope::Pool { "pool" } else { "rank" };
        text += &format!("| {} | `{}` | {} | {of} | {} |\n", row.title, row.json, row.unit.name(), row.help);
    }
    in_step("docs/signals.md", &text);
}

#[test]
fn engines_by_version_and_signal() {
    in_step("docs/engines.md", &engine_table::text());
}

/// The screen in the README is what the demo shows, but for ports, times and the recording's age of the moment.
#[test]
fn readme_shows_real_output() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let shown: Vec<&str> = readme
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a screen")
        .lines()
        .skip(1)
        .collect();
    let demo = plimsoll(env!("CARGO_BIN_EXE_plimsoll"), &["demo", "--at", "28.2"]).text;
    let screen: Vec<&str> = demo.lines().skip_while(|line| !line.starts_with("KV cache")).take(shown.len()).collect();
    let plain = |lines: &[&str]| lines.iter().map(|line| without_ports_and_ages(line)).collect::<Vec<_>>();
    assert_eq!(plain(&screen), plain(&shown), "README.md shows another screen than the demo");
}

/// The screen of a file in the README is what the recorded two lines give.
#[test]
fn readme_shows_a_file() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let shown = readme.split("$ plimsoll status decode.log\n").nth(1).and_then(|rest| rest.split("```").next());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy("tests/saved/two.log", folder.path().join("decode.log")).expect("a copy");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["status", "decode.log"])
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("it runs");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    let shown = shown.expect("a screen of a file");
    assert!(screen.starts_with(shown), "README.md shows another screen than this:\n{screen}");
}

fn without_ports_and_ages(line: &str) -> String {
    let words = line.split_whitespace().map(|word| match word.split_once("127.0.0.1:") {
        Some((front, _)) => format!("{front}127.0.0.1:PORT"),
        None => word.to_owned(),
    });
    let mut words: Vec<String> = words.collect();
    for index in 0..words.len().saturating_sub(2) {
        if words[index + 1] == "s" && words[index + 2] == "ago" {
            words[index] = String::from("AGE");
        }
    }
    words.join(" ")
}

#[test]
fn security_lists_every_path() {
    let text = std::fs::read_to_string(root().join("SECURITY.md")).expect("SECURITY.md");
    let tables = engines::Tables::builtin();
    let mut paths = tables.allowed();
    paths.extend(lint::monitors().allowed());
    for path in paths {
        let bare = path.split('?').next().unwrap_or(&path).to_owned();
        assert!(text.contains(&format!("`{bare}`")), "SECURITY.md does not list {bare}");
    }
}

#[test]
fn readme_gives_the_commands_that_ci_runs() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let run = std::fs::read_to_string(root().join(".ci/run")).expect(".ci/run");
    assert!(readme.contains("./test  ") && run.contains("exec ./test\n"));
}

#[test]
fn signs() {
    let mut text = String::from(
        "# Signs\n\nKnown troubles that a server's numbers show by themselves, made from `crates/judge/signs.toml`. `plimsoll status` \
         says them below a server, worst first, each with its evidence and what to do, and `--json` has them as `signs` (a \
         server's `id`, `what`, `evidence`, `next`, `window_s`). A sign changes no verdict.\n\nOnly fresh numbers are evidence: what \
         is stale, not reported or impossible says nothing either way. Many signs need more than one look: they are seen in \
         `plimsoll status --capture FILE`, where the looks of the minute before are the window, and stay silent in a single \
         look.\n",
    );
    for row in judge::SIGNS {
        text += &format!("\n## {}\n\n{}\n\n", row.id, row.means);
        text += &format!("- **Evidence:** {}\n- **What to do:** {}\n", row.evidence, row.next);
    }
    in_step("docs/signs.md", &text);
}

/// The README tells the limits of the verdicts as they are.
#[test]
fn readme_tells_the_limits() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let file = std::fs::read_to_string(root().join("crates/judge/verdicts.toml")).expect("verdicts.toml");
    let limits: toml::Table = file.parse().expect("TOML");
    for level in ["tight", "strained"] {
        let percent = |key: &str| format!("{:.0} %", limits[level][key].as_float().expect("a limit") * 100.0);
        let told = format!(
            "| {} | in use from {}, or from {} while requests wait",
            level.to_uppercase(),
            percent("in_use"),
            percent("in_use_while_waiting")
        );
        assert!(readme.contains(&told), "README.md does not say: {told}");
    }
}
