//! The layout and the invariants of absence (ARCHITECTURE.md), held by reading the repository itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Every file below `folder` with one of these endings, by its path from the root.
fn files(folder: &str, endings: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if entry.is_dir() {
                if !["target", ".git", "corpus", "artifacts"].contains(&name) {
                    folders.push(entry);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let path = entry.strip_prefix(root()).expect("below the root").display().to_string();
                if let Ok(text) = std::fs::read_to_string(&entry) {
                    found.insert(path, text);
                }
            }
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/")
        || path.contains("test") && path.rsplit('/').next().is_some_and(|name| name.contains("test"))
        || path.contains("/testkit/")
}

/// Code of the program itself.
fn code() -> BTreeMap<String, String> {
    let mut code = files("crates", &[".rs"]);
    code.retain(|path, _| !is_test(path));
    code
}

/// Lines of `text` without comments.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn files_stay_small() {
    let mut sizes: Vec<(usize, String)> = code().into_iter().map(|(path, text)| (text.lines().count(), path)).collect();
    sizes.sort();
    let median = sizes[sizes.len() / 2].0;
    let most = sizes.last().expect("files");
    assert!(median <= 150, "the median file has {median} lines");
    assert!(most.0 <= 450, "{} has {} lines", most.1, most.0);
}

#[test]
fn no_engine_is_named_in_rust() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("engines"))
        .expect("engines")
        .map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.extend(
        [
            "vllm",
            "llama",
            "ollama",
            "dynamo",
            "mooncake",
            "lmcache",
            "tensorrt",
            "aphrodite",
            "prometheus-alert",
            "victoria",
        ]
        .map(str::to_owned),
    );
    let mut faults = Vec::new();
    for (path, text) in code() {
        for (number, line) in lines(&text) {
            // The recording's own addresses and texts are data of the demo.
            if names.iter().any(|name| line.to_lowercase().contains(name.as_str())) {
                faults.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn only_sense_touches_the_observed_side() {
    let words = [
        "std::fs",
        "fs::",
        "TcpStream",
        "UdpSocket",
        "UnixStream",
        "process::Command",
        "tokio::net",
        "tokio::fs",
        "tokio::process",
    ];
    // The program's own files and ports: the targets file that the user names, the demo's loopback servers, drop-ins where
    // the user wants them, captures, its own cache, tables of engines.
    let own = [
        "crates/plimsoll/src/look/access.rs",
        "crates/plimsoll/src/commands/demo/serve.rs",
        "crates/plimsoll/src/commands/drop_in.rs",
        "crates/plimsoll/src/look/kept.rs",
        "crates/plimsoll/src/commands/capture/output.rs",
        "crates/plimsoll/src/tables.rs",
        // The files and the socket of a service.
        "crates/plimsoll/src/serve/own.rs",
        "crates/plimsoll/src/serve/socket.rs",
        // The ledger's own directory.
        "crates/ledger/src/disk.rs",
        "crates/ledger/src/lock.rs",
        // Where visitors come in, and the page's files while somebody works on them.
        "crates/web/src/listener.rs",
        "crates/web/src/assets/disk.rs",
    ];
    let mut faults = Vec::new();
    for (path, text) in code() {
        if path.starts_with("crates/sense/") || path.ends_with("build.rs") || own.contains(&path.as_str()) {
            continue;
        }
        for (number, line) in lines(&text) {
            if words.iter().any(|word| line.contains(word)) {
                faults.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

/// Whatever a visitor sends, the site calls nobody: there is nothing in it that could.
#[test]
fn web_only_listens() {
    let words = ["connect(", "connect_", "::client", "Connector", "lookup_host", "to_socket_addrs", "Command"];
    // A socket's file is knocked at before it is taken for a dead one's.
    let own = ("crates/web/src/listener.rs", "match std::os::unix::net::UnixStream::connect(path) {");
    let mut faults = Vec::new();
    for (path, text) in code().into_iter().filter(|(path, _)| path.starts_with("crates/web/")) {
        for (number, line) in lines(&text) {
            if (path.as_str(), line.trim()) != own && words.iter().any(|word| line.contains(word)) {
                faults.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn sense_only_reads() {
    let words = [
        "File::create",
        "OpenOptions",
        "fs::write",
        "fs::remove",
        "fs::rename",
        "create_dir",
        ".write_all",
        "Method::POST",
        "Method::PUT",
        "Method::DELETE",
        "kill(",
    ];
    let mut faults = Vec::new();
    // A shell on another host is told what to read over the standard input of our own ssh.
    // A publisher is told, in these very words, that somebody listens.
    let own = [
        ("crates/sense/src/place/ssh/session.rs", "stdin.write_all"),
        ("crates/sense/src/event/listen.rs", "stream.write_all(&GREETING)"),
        ("crates/sense/src/event/listen.rs", "stream.write_all(&[ready(), subscribe(self.topic)].concat())"),
    ];
    for (path, text) in code().into_iter().filter(|(path, _)| path.starts_with("crates/sense/")) {
        for (number, line) in lines(&text) {
            if own.iter().any(|(file, words)| path == *file && line.contains(words)) {
                continue;
            }
            if words.iter().any(|word| line.contains(word)) {
                faults.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn only_sense_reads_the_clock() {
    let mut faults = Vec::new();
    for (path, text) in code() {
        if path.starts_with("crates/sense/") {
            continue;
        }
        for (number, line) in lines(&text) {
            if line.contains("SystemTime::now") || line.contains("Instant::now") || line.contains("Timestamp::now") {
                faults.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn siblings_do_not_depend_on_each_other() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("model", &[][..]),
        ("wire", &["model"]),
        ("engines", &["model", "wire"]),
        ("sense", &["model", "wire"]),
        ("fleet", &["model"]),
        ("judge", &["model"]),
        ("ledger", &[]),
        ("export", &["model"]),
        ("lint", &["model", "wire"]),
        ("testkit", &["model"]),
        ("web", &[]),
        ("plimsoll", &["engines", "export", "fleet", "judge", "ledger", "lint", "model", "sense", "web", "wire"]),
    ]);
    for (path, text) in files("crates", &["Cargo.toml"]) {
        let name = path.split('/').nth(1).expect("a crate");
        let may =
            allowed.get(name).unwrap_or_else(|| panic!("{name}: say here and in ARCHITECTURE.md what it may use"));
        let normal = text.split("[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
        for other in
            allowed.keys().filter(|other| normal.lines().any(|line| line.starts_with(&format!("{other}.workspace"))))
        {
            assert!(may.contains(other), "{path}: {name} may not depend on {other}");
        }
        assert!(text.contains("[lints]\nworkspace = true"), "{path}: the workspace's lints");
    }
}

#[test]
fn every_engine_is_a_whole_folder() {
    for entry in std::fs::read_dir(root().join("engines")).expect("engines") {
        let folder = entry.expect("a folder").path();
        for file in ["engine.toml", "knobs.toml", "sources.toml", "doctor.toml", "NOTES.md", "captures"] {
            assert!(folder.join(file).exists(), "{} has no {file}", folder.display());
        }
    }
}

#[test]
fn fixtures_hold_no_sentences_of_others() {
    for (path, text) in files("engines", &[".prom"]).into_iter().chain(files("crates", &[".prom"])) {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("# HELP")) {
            assert!(line.ends_with(" -"), "{path}:{}: keep `# HELP name -`", number + 1);
        }
    }
}

#[test]
fn the_architecture_names_its_tests() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    assert!(text.lines().count() <= 220, "ARCHITECTURE.md is to be read in one sitting");
    let tests: String =
        files("crates", &[".rs"]).into_iter().filter(|(path, _)| is_test(path)).map(|(_, text)| text).collect();
    let named: Vec<&str> = text.split("test `").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    assert!(named.len() >= 8, "each invariant names its test");
    for name in named {
        assert!(tests.contains(name), "ARCHITECTURE.md names the test {name}, which is not there");
    }
}

#[test]
fn the_usual_papers_are_there() {
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "LICENSE",
        "Cargo.lock",
        "deny.toml",
        ".ci/run",
        "test",
    ] {
        assert!(root().join(file).exists(), "{file}");
    }
}
