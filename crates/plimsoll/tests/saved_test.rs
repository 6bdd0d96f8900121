//! Files that people save and paste, each through the real binary: recognised by content, read as a live server is, named
//! by file and line, and refused with what they look like. `saved/` holds small pieces of recorded logs, and hand-written
//! units and manifests whose secrets are canaries.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::{Output, plimsoll, schema_faults};

#[path = "saved/joined.rs"]
mod joined;
#[path = "saved/recorded.rs"]
mod recorded_servers;
#[path = "saved/starts.rs"]
mod starts;

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A file of `saved/`.
fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved").join(name).to_str().expect("a path").to_owned()
}

/// A file of a recorded SGLang 0.5.23 with metrics on, in the middle of a load; `capture.toml` beside it has the evidence.
fn recorded(name: &str) -> String {
    let folder = "../../engines/sglang/captures/0.5.23-on-load";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name).canonicalize();
    path.expect("a capture").to_str().expect("a path").to_owned()
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(path).expect("a file")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).expect("a file");
        self.path(name).to_str().expect("a path").to_owned()
    }
}

/// All three commands, as text and as JSON that holds its schema; what `status --json` said.
fn look(files: &[&str]) -> (i32, Value) {
    let mut first = None;
    for command in ["status", "explain", "doctor"] {
        let said = plimsoll(PROGRAM, &[&[command, "--json"], files].concat());
        assert_eq!(said.errors, "", "{command} {files:?}");
        let value = said.json();
        assert_eq!(schema_faults(&value), Vec::<String>::new(), "{command} {files:?}");
        let text = plimsoll(PROGRAM, &[&[command], files].concat());
        assert_eq!((text.code, text.errors.as_str()), (said.code, ""), "{command} {files:?}");
        for output in [&said, &text] {
            assert!(!output.text.contains("canary"), "{command} {files:?} shows a secret: {}", output.text);
            assert!(!output.text.contains("not known from here"), "{command} {files:?}: {}", output.text);
        }
        first.get_or_insert((said.code, value));
    }
    first.expect("three looks")
}

/// What `status --json` says, which holds its schema.
fn status(files: &[&str]) -> (i32, Value) {
    let said = plimsoll(PROGRAM, &[&["status", "--json"], files].concat());
    let value = said.json();
    assert_eq!(schema_faults(&value), Vec::<String>::new(), "{files:?}");
    (said.code, value)
}

fn doctor(files: &[&str]) -> (i32, Value) {
    let said = plimsoll(PROGRAM, &[&["doctor", "--json"], files].concat());
    (said.code, said.json())
}

fn refused(file: &str) -> String {
    let mut said = String::new();
    for command in ["status", "explain", "doctor"] {
        let output = plimsoll(PROGRAM, &[command, file]);
        assert_eq!((output.code, output.text.as_str()), (2, ""), "{command} {file}: {output:?}");
        said = output.errors;
    }
    said
}

fn pool(value: &Value) -> &Value {
    &value["servers"][0]["ranks"][0]["pools"][0]
}

fn used(value: &Value) -> &Value {
    &pool(value)["used"]["value"]
}

fn source(reading: &Value) -> &str {
    reading["source"].as_str().expect("a source")
}

fn notes(value: &Value) -> String {
    value["servers"].as_array().expect("servers").iter().map(|server| server["notes"].to_string()).collect()
}

/// Seconds since 1970.
fn seconds(stamp: &str) -> f64 {
    stamp.parse::<jiff::Timestamp>().expect("a time").as_millisecond() as f64 / 1000.0
}

/// The number of the line that begins with `start`, by looking.
fn line_of(path: &str, start: &str) -> usize {
    1 + text_of(path).lines().position(|line| line.trim_start().starts_with(start)).expect("a line")
}

/// 1118 of 0.55 and 1178 of 0.58, each ± 0.005: 1118/0.555 = 2014.4, 1178/0.575 = 2048.7; so 2015 to 2048 tokens (it was
/// started with --max-total-tokens 2048).
#[test]
fn a_two_line_log_tells_used_capacity_in_use_and_a_verdict() {
    let file = data("two.log");
    let (code, value) = look(&[&file]);
    assert_eq!(code, 0);
    assert_eq!(value["taken_at"], seconds("2026-11-29T13:53:58Z"));
    let pool = pool(&value);
    assert_eq!(pool["used"]["value"], 1178.0);
    assert_eq!(source(&pool["used"]), format!("{file}:2 #token"));
    assert_eq!((&pool["capacity"]["value"], &pool["capacity"]["precision"]), (&2031.0.into(), &17.0.into()));
    assert_eq!(pool["capacity"]["state"], "inferred");
    assert_eq!((&pool["in_use"]["value"], &pool["in_use"]["precision"]), (&0.58.into(), &0.005.into()));
    assert_eq!(pool["used"]["age_s"], 0.0);
    let verdict = &value["servers"][0]["verdict"];
    assert_eq!(verdict["level"], "calm");
    assert!(verdict["reason"].as_str().expect("a reason").contains("retractions and progress are not judged"));
    assert_eq!(value["self"]["requests"], 0, "nothing is asked");
}

#[test]
fn a_page_is_named_by_its_lines_and_has_no_invented_age() {
    let file = recorded("metrics.prom");
    let (code, value) = look(&[&file]);
    assert_eq!(code, 0);
    let pool = pool(&value);
    assert_eq!(pool["used"]["value"], 1364.0);
    let line = line_of(&file, "sglang:kv_used_tokens{");
    assert_eq!(source(&pool["used"]), format!("{file}:{line} sglang:kv_used_tokens"));
    assert_eq!(pool["used"]["state"], "reported");
    for reading in ["used", "capacity", "in_use"] {
        assert_eq!(pool[reading]["age_s"], Value::Null, "{reading}");
    }
    assert!(pool["used"]["reason"].as_str().expect("a reason").contains("does not say when"));
    let text = |command| plimsoll(PROGRAM, &[command, &file]).text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text("explain").contains("(of unknown age)"), "{}", text("explain"));
    assert!(text("status").contains("how old its numbers are is not known"), "{}", text("status"));
}

/// 1484 used of 2048: the log's line of the same second (`capture.toml`).
#[test]
fn an_answer_is_named_by_the_line_of_its_key() {
    let folder = Folder::new();
    let one_line = recorded("loads.json");
    let (_, value) = look(&[&one_line]);
    assert_eq!(used(&value), 1484.0);
    assert_eq!(source(&pool(&value)["used"]), format!("{one_line}:1 num_used_tokens"));
    assert_eq!(value["taken_at"], seconds("2026-11-29T13:54:02.326Z"));
    let parsed: Value = serde_json::from_str(&text_of(&one_line)).expect("JSON");
    let pretty = folder.put("pretty.json", serde_json::to_string_pretty(&parsed).expect("text"));
    let (_, value) = look(&[&pretty]);
    let line = line_of(&pretty, "\"num_used_tokens\"");
    assert_eq!(source(&pool(&value)["used"]), format!("{pretty}:{line} num_used_tokens"));
    assert_eq!(value["servers"][0]["version"], "0.5.23");
}

/// Each recorded answer alone is taken for what it is, or, where it does not say whose it is, for nothing; never for another's.
#[test]
fn every_recorded_answer_is_taken_for_what_it_is() {
    let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines");
    let (mut seen, mut silent) = (0, 0);
    for engine in std::fs::read_dir(engines).expect("engines").map(|entry| entry.expect("an entry").path()) {
        for capture in std::fs::read_dir(engine.join("captures")).expect("captures") {
            let capture = capture.expect("an entry").path();
            let told: toml::Table =
                toml::from_str(&text_of(capture.join("capture.toml").to_str().expect("a path"))).expect("TOML");
            for answer in told.get("answer").and_then(toml::Value::as_array).into_iter().flatten() {
                let (get, file) = (answer["get"].as_str().expect("a path"), answer.get("file"));
                let Some(file) =
                    file.and_then(toml::Value::as_str).filter(|_| answer["status"].as_integer() == Some(200))
                else {
                    continue;
                };
                // What no page is, is not saved from one: a card of a tree looks like the page that has it elsewhere.
                if !get.starts_with('/') {
                    continue;
                }
                let path = capture.join(file);
                let said = plimsoll(PROGRAM, &["explain", "--json", path.to_str().expect("a path")]);
                // Several workers in one page; a router's own word under a path of its workers.
                if get == "/engine_metrics" || file == "get_server_info.txt" {
                    continue;
                }
                let name = engine.file_name().expect("a name").to_str().expect("text");
                if said.code == 2 && said.errors.contains("that is known here") {
                    assert!(!["sglang", "sglang-router", "smg"].contains(&name), "{path:?} is taken for nothing");
                    silent += 1;
                    continue;
                }
                let value = said.json();
                // Workers that a router's answer tells of are called by their addresses.
                let of_file = |server: &&Value| !server["url"].as_str().unwrap_or_default().contains("://");
                let servers: Vec<&Value> =
                    value["servers"].as_array().expect("servers").iter().filter(of_file).collect();
                assert_eq!(servers.len(), 1, "{path:?}");
                let asked = servers[0]["asked"][0]["get"].as_str().unwrap_or_default().to_owned();
                // /get_server_info of an older server holds what /server_info does, and a router passes on a worker's.
                let same = asked.trim_end_matches('/') == get.trim_end_matches('/')
                    || asked == "/server_info" && get == "/get_server_info";
                assert!(same, "{name} {path:?}: {get} was taken for {asked}");
                seen += 1;
            }
        }
    }
    assert!(seen > 250 && silent * 5 < seen, "{seen} answers were told apart, {silent} were not");
}

#[test]
fn what_stands_around_the_text_is_taken_off() {
    let folder = Folder::new();
    let log = text_of(&data("two.log"));
    let (loads, page) = (text_of(&recorded("loads.json")), text_of(&recorded("metrics.prom")));
    let quoted = |text: &str| text.lines().map(|line| format!("> {line}\n")).collect::<String>();
    let cases = [
        ("standing.log", log.clone(), 1178.0, 2),
        ("crlf.log", log.replace('\n', "\r\n"), 1178.0, 2),
        ("bom.log", format!("\u{feff}{log}"), 1178.0, 2),
        ("quoted.txt", quoted(&log), 1178.0, 2),
        ("fence.md", format!("It says:\n```\n{log}```\nWhy?\n"), 1178.0, 4),
        ("C:\\logs\\decode.log", log.clone(), 1178.0, 2),
        ("bom.json", format!("\u{feff}{loads}"), 1484.0, 1),
        ("curl-i.txt", format!("HTTP/1.1 200 OK\r\nserver: uvicorn\r\n\r\n{loads}"), 1484.0, 4),
        ("prompt.txt", format!("$ curl -s localhost:30000/v1/loads\n{loads}root@gpu7:~# \n"), 1484.0, 2),
        ("words.txt", format!("Here is what it says:\n{loads}\nIs that much?\n"), 1484.0, 2),
        ("fence.json.md", format!("```json\n{loads}\n```\n"), 1484.0, 2),
    ];
    for (name, text, expected, line) in cases {
        let file = folder.put(name, &text);
        let (code, value) = status(&[&file]);
        assert_eq!((code, used(&value)), (0, &expected.into()), "{name}");
        assert!(source(&pool(&value)["used"]).starts_with(&format!("{file}:{line} ")), "{name}: {value}");
    }
    let page_line = line_of(&recorded("metrics.prom"), "sglang:kv_used_tokens{");
    for (name, text, before) in [
        ("quoted.prom", quoted(&page), 0),
        ("prompt.prom", format!("user@gpu7:~$ curl -s localhost:30000/metrics\n{page}"), 1),
        ("crlf.prom", page.replace('\n', "\r\n"), 0),
    ] {
        let file = folder.put(name, &text);
        let (_, value) = status(&[&file]);
        assert_eq!(used(&value), 1364.0, "{name}");
        let expected = format!("{file}:{} ", page_line + before);
        assert!(source(&pool(&value)["used"]).starts_with(&expected), "{name}: {}", pool(&value)["used"]);
    }
}

/// Both lines of the log count again, broken at any width, also with words of a chat around them.
#[test]
fn lines_that_a_terminal_broke_are_made_whole() {
    let folder = Folder::new();
    for width in [60, 72, 80, 100] {
        let mut text = String::from("Hi, see here:\n");
        for line in text_of(&data("two.log")).lines() {
            for piece in line.as_bytes().chunks(width) {
                text += &format!("{}\n", String::from_utf8_lossy(piece));
            }
        }
        let file = folder.put("broken.txt", &text);
        let (_, value) = status(&[&file]);
        assert_eq!(pool(&value)["capacity"]["value"], 2031.0, "{width}: both lines are read");
        let second = 1 + text.lines().enumerate().filter(|(_, line)| line.starts_with('[')).nth(1).expect("a line").0;
        assert_eq!(source(&pool(&value)["used"]), format!("{file}:{second} #token"), "{width}");
    }
}

/// The header's `Date` is the time of the answer behind it; what it is older than is aged by it.
#[test]
fn a_header_dates_a_page() {
    let folder = Folder::new();
    let date = "date: Sun, 29 Nov 2026 13:54:01 GMT";
    let page = text_of(&recorded("metrics.prom"));
    let file = folder.put("dated.prom", format!("HTTP/1.1 200 OK\r\n{date}\r\n\r\n{page}"));
    let (_, value) = status(&[&file]);
    assert_eq!(value["taken_at"], seconds("2026-11-29T13:54:01Z"));
    assert_eq!((used(&value), &pool(&value)["used"]["age_s"]), (&1364.0.into(), &0.0.into()));
}

#[test]
fn a_log_without_times_has_no_age() {
    let folder = Folder::new();
    let bare: String = text_of(&data("two.log"))
        .lines()
        .map(|line| line.split_once("] ").expect("a time").1.to_owned() + "\n")
        .collect();
    let file = folder.put("bare.log", &bare);
    let (code, value) = status(&[&file]);
    assert_eq!((code, used(&value)), (0, &1178.0.into()));
    assert_eq!(pool(&value)["used"]["age_s"], Value::Null);
    assert_eq!(pool(&value)["used"]["state"], "reported");
    // A clock that runs ahead of ours: the newest time inside is now all the same.
    let ahead = folder.put("ahead.log", text_of(&data("two.log")).replace("2026-11-29", "2031-02-03"));
    let (_, value) = status(&[&ahead]);
    assert_eq!(value["taken_at"], seconds("2031-02-03T13:53:58Z"));
    assert_eq!((used(&value), &pool(&value)["used"]["age_s"]), (&1178.0.into(), &0.0.into()));
}

#[test]
fn standard_input_is_read() {
    for (content, expected) in [(text_of(&data("two.log")), 1178.0), (text_of(&recorded("loads.json")), 1484.0)] {
        let mut child = Command::new(PROGRAM)
            .args(["status", "--json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), content.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("it ends");
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((used(&value), value["servers"][0]["url"].as_str()), (&expected.into(), Some("standard input")));
        assert_eq!(schema_faults(&value), Vec::<String>::new());
    }
}

/// What somebody sends who saved every path: one file of no known kind costs that file, and a small answer that names no
/// engine is read beside a page that does.
#[test]
fn a_file_of_no_known_kind_beside_others_costs_that_file() {
    let folder = Folder::new();
    let page = folder.put("metrics.prom", b"vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\n");
    let version = folder.put("version.json", b"{\"version\": \"0.32.0\"}");
    let missing = folder.put("loads.json", b"{\"detail\": \"Not Found\"}");
    for order in [[&page, &version, &missing], [&missing, &version, &page]] {
        let files: Vec<&str> = order.iter().map(|file| file.as_str()).collect();
        let (code, value) = status(&files);
        assert_eq!((code, value["servers"].as_array().map(Vec::len)), (0, Some(1)), "{value}");
        assert_eq!(pool(&value)["in_use"]["value"], 0.25);
        assert_eq!(value["servers"][0]["version"], "0.32.0");
        let notes = value["notes"].to_string();
        assert!(
            notes.contains("loads.json was not read: it looks like") && !notes.contains("version.json was not"),
            "{notes}"
        );
    }
    // Of two engines it could be either's.
    let other = folder.put("other.prom", b"sglang:num_used_tokens 30\nsglang:token_usage 0.5\n");
    let (_, value) = status(&[&page, &version, &other]);
    assert!(value["notes"].to_string().contains("version.json was not read"), "{}", value["notes"]);
    refused(&version);
}

#[test]
fn what_is_of_no_known_kind_is_refused_with_what_it_looks_like() {
    let folder = Folder::new();
    let own = |command| plimsoll(PROGRAM, &[command, "--json", &data("two.log")]).text;
    let refusal = br#"{"error":{"code":501,"message":"start it with --slots"}}"#;
    let cases: [(&str, Vec<u8>, &str); 15] = [
        ("empty", Vec::new(), "an empty file"),
        ("blank", b" \n\n".to_vec(), "an empty file"),
        ("binary", b"\0\x01\x02abc\0".to_vec(), "no text"),
        ("page.html", b"<html><body>Sign in</body></html>".to_vec(), "HTML"),
        ("other.json", b"{\"a\": 1}".to_vec(), "JSON of another program"),
        ("refusal.json", refusal.to_vec(), "a refusal: \"start it with --slots\""),
        ("cut.json", b"{\"loads\": [{\"num_used_to".to_vec(), "cut or broken"),
        ("other.prom", b"# TYPE go_threads gauge\ngo_threads 9\n".to_vec(), "Prometheus text of another program"),
        ("capture.toml", b"origin = \"captured\"\n[[answer]]\nget = \"/metrics\"\n".to_vec(), "TOML"),
        ("words.txt", b"Hello, how full is it?\n".to_vec(), "text of another kind"),
        ("log.gz", b"\x1f\x8b\x08\0\0\0\0\0".to_vec(), "gzip"),
        ("log.zst", b"\x28\xb5\x2f\xfd\0\0".to_vec(), "zstd"),
        ("utf16.log", b"\xff\xfe[\0".to_vec(), "UTF-16"),
        ("status.json", own("status").into_bytes(), "plimsoll itself said (plimsoll.status/1)"),
        ("doctor.json", own("doctor").into_bytes(), "plimsoll itself said (plimsoll.doctor/1)"),
    ];
    for (name, content, expected) in cases {
        let said = refused(&folder.put(name, content));
        assert!(said.contains(expected) && said.contains(name), "{name}: {said}");
    }
    std::fs::create_dir(folder.path("folder")).expect("a folder");
    Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo");
    let all_in_it = "is a folder: give the files in it (";
    for (name, expected) in [("folder", all_in_it), ("pipe", "is a pipe"), ("gone.log", "No such file")] {
        let said = refused(folder.path(name).to_str().expect("a path"));
        assert!(said.contains(expected), "{name}: {said}");
    }
    assert!(refused("/dev/zero").contains("is a device"));
    // Neither is a host: no name is looked up.
    assert!(refused("no-such.log").contains("No such file") && refused("C:\\no-such.log").contains("No such file"));
}

/// Whoever gives all that is in a folder gives the folders in it, too.
#[test]
fn a_folder_beside_files_costs_nothing() {
    let folder = Folder::new();
    let inner = folder.path("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let inner = inner.to_str().expect("a path");
    for files in [[inner, &data("two.log")], [&data("two.log"), inner]] {
        let (code, value) = status(&files);
        assert_eq!((code, used(&value)), (0, &1178.0.into()));
        assert!(value["notes"].to_string().contains(&format!("{inner} is a folder")), "{}", value["notes"]);
    }
    let said = refused(&format!("{inner}/"));
    assert!(said.contains(&format!("({inner}/*)")), "{said}");
}

/// Whatever it is called, and packed or not: its first line says it.
#[test]
fn a_capture_is_said_to_be_one_and_how_it_is_read() {
    let folder = Folder::new();
    let taken = folder.path("taken.capture");
    let taken = taken.to_str().expect("a path");
    let output = plimsoll(PROGRAM, &["capture", "-o", taken, &data("two.log")]);
    assert_eq!(output.code, 0, "{output:?}");
    let packed = std::fs::read(taken).expect("the capture");
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(packed.as_slice()), &mut plain).expect("gzip");
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.jsonl.zst");
    let cases = [
        ("of.log", packed.clone()),
        ("cut.gz", packed[..packed.len() / 2].to_vec()),
        ("plain.jsonl", plain),
        ("demo.zst", std::fs::read(demo).expect("the recording")),
        ("later.json", b"{\"plimsoll_capture\":99}\n".to_vec()),
    ];
    for (name, content) in cases {
        let file = folder.put(name, content);
        let said = refused(&file);
        assert!(said.contains(&format!("{file} is a capture that plimsoll made")), "{name}: {said}");
        assert!(said.contains(&format!("`plimsoll status --capture {file}`")), "{name}: {said}");
    }
    let (_, value) = status(&["--capture", taken]);
    assert_eq!(used(&value), 1178.0);
    let (_, value) = status(&[taken, &data("two.log")]);
    assert_eq!(used(&value), 1178.0);
    assert!(value["notes"].to_string().contains("is a capture that plimsoll made"), "{}", value["notes"]);
}

#[test]
fn a_file_that_may_not_be_read_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let file = folder.put("closed.log", text_of(&data("two.log")));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).expect("rights");
    let open = std::fs::File::open(&file).is_ok();
    // Root may read it all the same.
    if !open {
        assert!(refused(&file).contains("ermission"));
    }
}

#[test]
fn a_log_of_ten_gigabytes_is_read_from_its_end() {
    let folder = Folder::new();
    let file = folder.put("sparse.log", "");
    let open = std::fs::OpenOptions::new().append(true).open(&file).expect("a file");
    open.set_len(10 << 30).expect("a sparse file");
    std::io::Write::write_all(&mut &open, format!("\n{}", text_of(&data("two.log"))).as_bytes()).expect("written");
    let (code, value) = look(&[&file]);
    assert_eq!((code, used(&value)), (0, &1178.0.into()));
}

#[test]
fn files_and_addresses_are_not_mixed() {
    let said = |arguments: &[&str]| -> Output { plimsoll(PROGRAM, arguments) };
    let file = data("two.log");
    for arguments in [&["status", &file, "127.0.0.1:1"][..], &["doctor", "--prometheus", "http://127.0.0.1:1", &file]] {
        let output = said(arguments);
        assert_eq!((output.code, output.text.as_str()), (2, ""), "{output:?}");
        assert!(output.errors.contains("is a file"), "{output:?}");
    }
    // Without a command before it as well; and a file given twice is one file.
    assert_eq!(said(&[&file]).code, 0);
    assert_eq!(used(&said(&["status", "--json", &file, &file]).json()), 1178.0);
}
