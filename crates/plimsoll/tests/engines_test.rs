//! Tables that are given at run time: `--engines DIR`, `plimsoll engines list|check`. A broken one is a clear error, and
//! what was built in stays in force.

use std::path::Path;
use std::process::Command;

use testkit::{Answer, Replay};

struct Ran {
    text: String,
    errors: String,
    code: Option<i32>,
}

fn run(arguments: &[&str]) -> Ran {
    let output =
        Command::new(env!("CARGO_BIN_EXE_plimsoll")).args(arguments).env("NO_COLOR", "1").output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { text: text(&output.stdout), errors: text(&output.stderr), code: output.status.code() }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, content) in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
    folder
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}

const MADE: &str = r#"
name = "made"
title = "Made"
kind = "engine"
role = "unified"
prefixes = ["made:"]
port = [{ serves = "api", fact = "port", default = 9999 }]
answer = [{ get = "/metrics", order = 99 }]
"#;

const MADE_SOURCES: &str = r#"
[[source]]
id = "metrics"
get = "/metrics"
format = "prometheus"
read = [
  { name = "used", signal = "kv.used", pool = "full" },
  { name = "size", signal = "kv.capacity", pool = "full" },
]
"#;

/// A server whose page nothing built in knows.
fn server() -> Replay {
    Replay::start().with("/metrics", Answer::page("made:used 30\nmade:size 120\n"))
}

#[test]
fn an_engine_is_added() {
    let given = folder(&[("made/engine.toml", MADE), ("made/sources.toml", MADE_SOURCES)]);
    let server = server();
    let without = run(&["status", &server.url()]);
    assert!(!without.text.contains("25.0 %"), "{}", without.text);
    let with = run(&["status", "--engines", &shown(given.path()), &server.url()]);
    // 30 of 120.
    assert!(with.text.contains("25.0 % in use") && with.text.contains("made"), "{}", with.text);
    assert_eq!(with.code, Some(0));
    let listed = run(&["engines", "list", "--engines", &shown(given.path())]);
    let row = listed.text.lines().find(|line| line.starts_with("made ")).expect("a row");
    assert!(row.ends_with("/made"), "{row}");
    assert!(listed.text.lines().any(|line| line.starts_with("sglang ") && line.ends_with("built in")));
}

/// A series that was renamed is mended in the field: a folder with sources.toml alone replaces that file of the built-in one.
#[test]
fn one_file_is_replaced() {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/sglang/sources.toml");
    let sources = std::fs::read_to_string(built_in).expect("sources.toml");
    let given = folder(&[("sglang/sources.toml", &sources.replace("kv_used_tokens", "kv_taken_tokens"))]);
    let page = "sglang:kv_taken_tokens 30\nsglang:kv_evictable_tokens 10\nsglang:kv_available_tokens 80\n";
    let server = Replay::start().with("/metrics", Answer::page(page));
    let without = run(&["status", "--json", &server.url()]);
    assert!(!without.text.contains("kv_taken_tokens"), "{}", without.text);
    let with = run(&["status", "--json", "--engines", &shown(given.path()), &server.url()]);
    assert!(with.text.contains("/metrics sglang:kv_taken_tokens"), "{}{}", with.text, with.errors);
}

#[test]
fn a_broken_file_is_a_clear_error_and_changes_nothing() {
    let broken = MADE_SOURCES.replace("signal = \"kv.used\"", "signal = \"kv.usd\"");
    let given = folder(&[("made/engine.toml", MADE), ("made/sources.toml", &broken)]);
    let checked = run(&["engines", "check", &shown(given.path())]);
    assert_eq!(checked.code, Some(3));
    assert!(checked.text.contains("made/sources.toml:7: no signal is called \"kv.usd\""), "{}", checked.text);
    // The line itself, and below it the mark at what is wrong.
    let lines: Vec<&str> = checked.text.lines().collect();
    let at = lines.iter().position(|line| line.contains(" 7 | ")).expect("the line");
    assert_eq!(lines[at + 1].find('^'), lines[at].find("\"kv.usd\""), "{}", checked.text);

    let sglang =
        folder(&[("sglang/sources.toml", "[[source]]\nid = \"x\"\nget = \"/health_generate\"\nformat = \"json\"\n")]);
    let checked = run(&["engines", "check", &shown(&sglang.path().join("sglang"))]);
    assert_eq!(checked.code, Some(3));
    assert!(
        checked.text.contains("sources.toml:3: source \"x\": \"/health_generate\" is no path that may be asked"),
        "{}",
        checked.text
    );
    // The built-in table answers all the same, and what is wrong is said.
    let page = "sglang:kv_used_tokens 30\nsglang:kv_evictable_tokens 10\nsglang:kv_available_tokens 80\n";
    let server = Replay::start().with("/metrics", Answer::page(page));
    let with = run(&["status", "--engines", &shown(sglang.path()), &server.url()]);
    assert!(with.text.contains("25.0 % in use"), "{}", with.text);
    assert!(with.text.contains("the built-in table stays in force"), "{}", with.text);
    assert!(server.asked().iter().all(|path| !path.starts_with("/health")), "{:?}", server.asked());
}

#[test]
fn a_sound_folder_is_said_to_be() {
    let given = folder(&[("made/engine.toml", MADE), ("made/sources.toml", MADE_SOURCES)]);
    let checked = run(&["engines", "check", &shown(&given.path().join("made"))]);
    assert_eq!(checked.code, Some(0), "{}", checked.text);
    assert!(checked.text.contains("made: sound, Made as 1 answer, 0 lines, 0 flags"), "{}", checked.text);
}

#[test]
fn what_cannot_be_read_is_wrong_usage() {
    for arguments in [["engines", "check", "/nowhere/at/all"], ["status", "--engines", "/nowhere/at/all"]] {
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.errors);
        assert!(ran.errors.contains("/nowhere/at/all"), "{}", ran.errors);
    }
    let empty = folder(&[("note.txt", "nothing")]);
    let ran = run(&["engines", "check", &shown(empty.path())]);
    assert!(ran.code == Some(2) && ran.errors.contains("no folder of an engine"), "{}", ran.errors);
}

#[test]
fn misspelled_facts_are_found() {
    let doctor = "[[need]]\nid = \"n\"\nwhat = \"w\"\nsource = \"metrics\"\ncase = [{ when = \"verison<1\", state = \"off\" }]\n";
    let given =
        folder(&[("made/engine.toml", MADE), ("made/sources.toml", MADE_SOURCES), ("made/doctor.toml", doctor)]);
    let checked = run(&["engines", "check", &shown(given.path())]);
    assert!(
        checked.text.contains("doctor.toml:5: condition \"verison<1\": nothing tells the fact \"verison\""),
        "{}",
        checked.text
    );
}

/// However a path that runs a model or changes something is spelled, no table may have it asked.
#[test]
fn no_spelling_of_a_forbidden_path_passes() {
    let paths = "/generate //health /./health /v1/../health /%68ealth /;/health /v1//chat/completions /api/generate /invocations \
                 /v1/score /collective_rpc /unload /HEALTH http://evil/x";
    none_passes(paths);
}

/// Words by which engines, stores and routers run, change or end something: each is a path or a query of one of them.
#[test]
fn no_path_that_does_something_passes() {
    none_passes(
        "/reload /-/reload /quit /-/quit /restart /kill /drain /set_internal_state /set-trace-level /open_session /close_session \
         /cancel /profile /start_profile /debug/pprof/profile /init_weights_update_group /admin/flush /cache/erase /evict /purge \
         /v1/load_adapter /v1/load_lora_adapter /models/load /models/unload /v2/models/x/infer /v2/repository/models/x/load \
         /v1/realtime /predict /rank /encode /add_worker /remove_worker /api/create /api/copy /apply-template",
    );
    none_passes(
        "/loglevel /slots/0?action=erase /slots?action=save /metrics?reset=true /status?a=b&clear /status?do=FLUSH",
    );
    none_passes("/status?%61ction=erase /status?a=b;action=erase /status?a=b?action=erase /metrics#/generate");
}

/// What only tells is asked, also where its name is near one of those.
#[test]
fn paths_that_tell_pass() {
    let paths = "/ /v1/loads?include=all /get_load /get_loads /server_info?config_format=json /is_sleeping /slots /settings /runs";
    for path in paths.split_whitespace() {
        let checked = run(&["engines", "check", &shown(made(path).path())]);
        assert_eq!(checked.code, Some(0), "{path}: {}", checked.text);
    }
}

/// Tables that would have these paths asked: one to read it, one to know an engine by it. No engine of them may count.
fn none_passes(paths: &str) {
    for path in paths.split_whitespace() {
        let answers = MADE.replace("\"/metrics\"", &format!("{path:?}"));
        let known_by = folder(&[("made/engine.toml", &answers), ("made/sources.toml", MADE_SOURCES)]);
        for given in [made(path), known_by] {
            let checked = run(&["engines", "check", &shown(given.path())]);
            assert_eq!(checked.code, Some(3), "{path}: {}", checked.text);
            assert!(
                checked.text.contains("may be asked") || checked.text.contains("may not be asked"),
                "{}",
                checked.text
            );
        }
    }
}

/// A sound engine of which this path is read.
fn made(path: &str) -> tempfile::TempDir {
    let sources = MADE_SOURCES.replace("\"/metrics\"", &format!("{path:?}"));
    folder(&[("made/engine.toml", MADE), ("made/sources.toml", &sources)])
}

/// A file that is no text costs its own folder, and nothing else.
#[test]
fn a_file_that_cannot_be_read_costs_its_folder() {
    let given = folder(&[("made/engine.toml", MADE), ("made/sources.toml", MADE_SOURCES), ("evil/engine.toml", MADE)]);
    std::fs::write(given.path().join("evil/sources.toml"), b"\xff\xfe").expect("a file");
    let server = server();
    let with = run(&["status", "--engines", &shown(given.path()), &server.url()]);
    assert!(
        with.text.contains("25.0 % in use") && with.text.contains("evil/sources.toml"),
        "{}{}",
        with.text,
        with.errors
    );
}

/// A table says what is asked and read with our rights: one that others may write counts for nothing, and is said, also by
/// the check of that folder.
#[test]
fn tables_that_others_may_write_are_refused() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let given = folder(&[("made/engine.toml", MADE), ("made/sources.toml", MADE_SOURCES)]);
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
    };
    let list = || run(&["engines", "list", "--engines", &shown(given.path())]);
    let refused = |said: &str| {
        let checked = run(&["engines", "check", &shown(given.path())]);
        assert!(checked.code == Some(3) && checked.text.contains(said), "{}", checked.text);
        assert!(!checked.text.contains("sound"), "{}", checked.text);
    };
    let counts = |ran: &Ran| ran.text.lines().any(|line| line.starts_with("made "));
    let (inner, file) = (given.path().join("made"), given.path().join("made/sources.toml"));
    for (path, sound) in [(&inner, 0o755), (&file, 0o644)] {
        mode(path, sound | 0o002);
        let ran = list();
        let said = format!("{}: it is not read: anybody may write it", path.display());
        assert!(ran.code == Some(3) && !counts(&ran) && ran.text.contains(&said), "{}", ran.text);
        refused(&said);
        mode(path, sound);
    }
    mode(given.path(), 0o777);
    let ran = list();
    assert!(ran.code == Some(2) && ran.errors.contains("anybody may write it"), "{}", ran.errors);
    refused(&format!("{}: it is not read: anybody may write it", given.path().display()));
    mode(given.path(), 0o755);
    assert!(counts(&list()));
    // Only root may give a file away.
    if chown(&file, Some(65534), None).is_ok() {
        let ran = list();
        assert!(!counts(&ran) && ran.text.contains("it belongs to user 65534"), "{}", ran.text);
        refused("it belongs to user 65534");
    }
}

/// A table that would ask a server hundreds of things in each look is refused as a whole.
#[test]
fn so_many_sources_are_refused() {
    let source = |index: usize| format!("[[source]]\nid = \"s{index}\"\nget = \"/s{index}\"\nformat = \"json\"\n");
    let many: String = (0..25).map(source).collect();
    let given = folder(&[("made/engine.toml", MADE), ("made/sources.toml", &many)]);
    let checked = run(&["engines", "check", &shown(given.path())]);
    assert_eq!(checked.code, Some(3));
    // The 25th begins behind 24 of four lines, and its id is in its second.
    assert!(checked.text.contains("made/sources.toml:98: more than 24 sources"), "{}", checked.text);
}

/// Each fault shows its line, so that of what is long and wrong throughout only so much is told.
#[test]
fn faults_without_end_are_told_in_part() {
    let long: Vec<String> = (0..33).map(|index| format!("f{index}=1")).collect();
    let need = |when: &str| {
        format!(
            "[[need]]\nid = \"n\"\nwhat = \"w\"\nsource = \"metrics\"\ncase = [{{ when = \"{when}\", state = \"off\" }}]\n"
        )
    };
    let given = |doctor: &str| {
        folder(&[("made/engine.toml", MADE), ("made/sources.toml", MADE_SOURCES), ("made/doctor.toml", doctor)])
    };
    let one = given(&need(&long.join(", ")));
    let checked = run(&["engines", "check", &shown(one.path())]);
    assert!(checked.text.contains("a condition has 32 terms at most"), "{}", checked.text);
    let many: String = (0..150).map(|index| need(&format!("f{index}=1"))).collect();
    let many = given(&many);
    let checked = run(&["engines", "check", &shown(many.path())]);
    assert_eq!(checked.text.matches("nothing tells the fact").count(), 100, "{}", checked.text);
    assert!(checked.text.contains("and 50 more faults"), "{}", checked.text);
}
