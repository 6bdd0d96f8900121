//! Every kind of question: what of its answer is kept, and that what is not listed is not.

use std::path::PathBuf;

use engines::Tables;
use model::{Answer, Blind, BlindKind, Observation, Time};
use sense::place::{
    CommandLine, Commands, Kept, Key, Kin, Listing, PipeEnd, Pipes, SiftedFile, SiftedFolder, Stamp, Taken, Told,
};
use sense::{Content, Ends, Heard, Ran};

use super::{Removed, Rule, redact};

pub(super) fn kept(key: &[&str], told: Told) -> Kept {
    let key = Key(key.iter().map(|word| (*word).to_owned()).collect());
    Kept { key, at: Time(1_795_968_933.0), answered: Ok(told) }
}

pub(super) fn file(path: &str, text: impl Into<Vec<u8>>) -> Kept {
    kept(&["read", path], content(text))
}

pub(super) fn inside(path: &str, text: impl Into<Vec<u8>>) -> Kept {
    kept(&["under", "/proc/100/root", path], content(text))
}

fn content(text: impl Into<Vec<u8>>) -> Told {
    Told::Content(Content { bytes: text.into(), cut: false })
}

pub(super) fn ends(key: &[&str], head: impl Into<Vec<u8>>, tail: impl Into<Vec<u8>>, gap: u64) -> Kept {
    let (head, tail) = (head.into(), tail.into());
    let tail_from = head.len() as u64 + gap;
    let size = tail_from + tail.len() as u64;
    let key: Vec<&str> = ["ends"].iter().chain(key).chain(&["524288", "1048576"]).copied().collect();
    kept(
        &key,
        Told::Ends(Ends { size, modified: Time(1_795_968_930.0), owner: 0, identity: (1, 2), head, tail, tail_from }),
    )
}

pub(super) fn ran(key: &[&str], stdout: impl Into<Vec<u8>>) -> Kept {
    let key: Vec<&str> = ["run"].iter().chain(key).copied().collect();
    kept(&key, Told::Ran(Ran { stdout: stdout.into(), cut: false, stderr: String::new(), code: Some(0) }))
}

pub(super) fn commands(lines: &[(u32, &str)]) -> Kept {
    let found = lines.iter().map(|(pid, text)| CommandLine {
        pid: *pid,
        bytes: text.replace(' ', "\0").into_bytes(),
        cut: false,
    });
    kept(&["commands", "x"], Told::Commands(Commands { found: found.collect(), seen: 9, ..Commands::default() }))
}

pub(super) fn page(path: &str, status: u16, body: impl Into<Vec<u8>>) -> Kept {
    let url = format!("http://127.0.0.1:30000{path}");
    let answer = Answer { status, content_type: "text/plain".to_owned(), body: body.into(), ..Answer::default() };
    let seen = Observation {
        get: path.to_owned(),
        url: url.clone(),
        at: Time(1_795_968_933.0),
        took: 0.1,
        outcome: Ok(answer),
    };
    kept(&["get", "", &url], Told::Seen(seen))
}

pub(super) fn sifted(ending: &str, name: &str, bytes: &[u8]) -> Kept {
    let stamp = Stamp { device: 1, inode: 2, size: 3, modified_ns: 4, changed_ns: 5 };
    let file = SiftedFile { name: name.into(), stamp, taken: Taken::With(bytes.to_vec()) };
    let folder = SiftedFolder { id: (1, 2), folders: Vec::new(), files: vec![file], cut: false, passed: 0 };
    kept(&["sift", "/proc/100/root", "/srv/p", ending], Told::Sifted(folder))
}

fn kin(pairs: &[(u32, u32)]) -> Kept {
    kept(&["kin"], Told::Kin(pairs.iter().map(|(pid, ppid)| Kin { pid: *pid, ppid: *ppid, started: 1.0 }).collect()))
}

fn names(path: &str, names: &[&str]) -> Kept {
    kept(&["list", path], Told::Listing(Listing { names: names.iter().map(Into::into).collect(), cut: false }))
}

const SERVER: &str = "python3 -m sglang.launch_server --port 30000 --config conf.yaml";

fn safe(all: Vec<Kept>) -> (Vec<Kept>, Removed) {
    redact(&Tables::builtin(), all, None)
}

/// What is left of one answer.
fn text(kept: &Kept) -> String {
    match kept.answered.as_ref().expect("an answer") {
        Told::Content(content) => content.text(),
        Told::Ran(ran) => String::from_utf8_lossy(&ran.stdout).into_owned(),
        Told::Ends(ends) => [&ends.head[..], b"|", &ends.tail].concat().escape_ascii().to_string(),
        Told::Seen(seen) => String::from_utf8_lossy(&seen.outcome.as_ref().expect("an answer").body).into_owned(),
        Told::Listing(listing) => format!("{:?}", listing.names),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_is_not_listed_is_not_kept() {
    let all = vec![
        file("/etc/shadow", "root:x"),
        file("/proc/100/mem", "x"),
        file("/proc/100/task/100/environ", "A=1"),
        file("/srv/variables", "A=1"),
        inside("/etc/shadow", "root:x"),
        inside("/srv/other.yaml", "a: 1"),
        kept(&["lines", "/srv/prompts.txt", "x"], content("x")),
        names("/srv", &["a"]),
        kept(&["link", "/etc/x"], Told::Link("/srv".into())),
        ends(&["inside", "100", "/dev/shm/other"], "abc", "", 0),
        ran(&["id"], "uid=0"),
        kept(&["whatever"], content("x")),
        // An answer to another question.
        kept(&["kin"], content("x")),
    ];
    let many = all.len() as u64;
    let (kept, removed) = safe(all);
    assert_eq!(kept, []);
    assert_eq!(removed.of(Rule::Answers), many);
}

#[test]
fn whose_processes() {
    let other = "/usr/bin/curl -H secret-header http://x";
    let (all, removed) = safe(vec![
        commands(&[
            (100, SERVER),
            (101, other),
            (102, "prometheus --web.listen-address=:9090"),
            (103, "python3 -m other"),
        ]),
        file("/proc/100/cmdline", SERVER.replace(' ', "\0")),
        file("/proc/101/cmdline", other.replace(' ', "\0")),
        file("/proc/100/environ", "HF_TOKEN=x\0PATH=/bin\0"),
    ]);
    let Ok(Told::Commands(commands)) = &all[0].answered else { panic!("{all:?}") };
    assert_eq!(commands.found.iter().map(|line| line.pid).collect::<Vec<_>>(), [100, 102]);
    assert_eq!(commands.seen, 9, "how many were seen stays");
    assert_eq!(
        all.iter().map(|kept| kept.key.0.last().expect("a word").as_str()).collect::<Vec<_>>(),
        ["x", "/proc/100/cmdline", "/proc/100/environ"]
    );
    assert_eq!(text(&all[2]), "PATH=/bin\0");
    assert_eq!((removed.of(Rule::CommandLines), removed.of(Rule::Variables)), (3, 1));
}

#[test]
fn pipes_of_interest_with_all_that_their_holders_read() {
    let end = |pipe, pid| PipeEnd { pipe, pid, fd: 1 };
    // 100 with its child 110 writes pipe 1, which 200 reads; 200 also reads pipe 2 of 300. Pipe 3 is of others.
    let pipes = Pipes {
        ends: vec![end(1, 110), end(1, 200), end(2, 200), end(2, 300), end(3, 300), end(3, 301)],
        seen: 9,
        denied: 1,
        cut: false,
    };
    let all =
        vec![commands(&[(100, SERVER)]), kin(&[(110, 100), (200, 1), (300, 1)]), kept(&["pipes"], Told::Pipes(pipes))];
    let (all, removed) = safe(all);
    let Ok(Told::Pipes(pipes)) = &all[2].answered else { panic!("{all:?}") };
    assert_eq!(
        pipes.ends.iter().map(|end| (end.pipe, end.pid)).collect::<Vec<_>>(),
        [(1, 110), (1, 200), (2, 200), (2, 300)]
    );
    assert_eq!((pipes.seen, pipes.denied, removed.of(Rule::Others)), (9, 1, 2));
}

#[test]
fn names_in_folders() {
    let docker = "/var/lib/docker/containers";
    let denied = |path: &str| Kept { answered: Err(Blind::new(BlindKind::Denied, "no")), ..names(path, &[]) };
    let (all, _) = safe(vec![
        names("/home", &["me", "other"]),
        denied("/home/other/.local/share/docker/containers"),
        names("/home/me/.local/share/docker/containers", &["aa11", "bb22"]),
        names(docker, &["cc33", "dd44", "cc333"]),
        ends(&["file", &format!("{docker}/cc33/cc33-json.log")], "", "", 0),
        ends(&["below", "/home/me", ".local/share/docker/containers/aa11/aa11-json.log"], "", "", 0),
        names("/var/log/containers", &["a_b_c-1.log", "d_e_f-2.log"]),
        kept(&["link", "/var/log/containers/d_e_f-2.log"], Told::Link("/var/log/pods/x".into())),
        names("/etc/systemd/system/x.service.d", &["10.conf", "secret.txt"]),
        names("/proc/100/fd", &["0", "1"]),
    ]);
    let listed: Vec<String> = all.iter().filter(|kept| kept.key.0[0] == "list").map(text).collect();
    assert_eq!(
        listed,
        ["[\"me\"]", "[\"aa11\"]", "[\"cc33\"]", "[\"d_e_f-2.log\"]", "[\"10.conf\"]", "[\"0\", \"1\"]"]
    );
    assert!(all.iter().all(|kept| kept.answered.is_ok()), "what could not be listed in a home is not even named");
}

#[test]
fn files_by_what_they_are_for() {
    let rows: Vec<(Kept, &str)> = vec![
        (
            file("/etc/systemd/system/x.service", "[Service]\nEnvironmentFile=-/srv/vars\nEnvironment=A_TOKEN=x\n"),
            "[Service]\nEnvironmentFile=-/srv/vars\nEnvironment=A_TOKEN=[secret]\n",
        ),
        (file("/srv/vars", "API_KEY=x\nB=1\n"), "API_KEY=[secret]\nB=1\n"),
        (file("/home/me/own/u.service", "[Service]\nSetCredential=x\n"), "[Service]\nSetCredential=[secret]\n"),
        (
            ran(
                &["systemctl", "u.service", "1"],
                "FragmentPath=/home/me/own/u.service\nDropInPaths=\nExecStart={ path=/x ; argv[]=/x --api-key y ; ignore_errors=no }\n",
            ),
            "FragmentPath=/home/me/own/u.service\nDropInPaths=\nExecStart={ path=/x ; argv[]=/x --api-key [secret] ; ignore_errors=no }\n",
        ),
        (inside("/srv/work/conf.yaml", "api-key: x\nport: 1\n"), "api-key: \"[secret]\"\nport: 1\n"),
        (inside("/etc/localtime", "TZif2\0"), "TZif2\0"),
        (inside("/p/x.dist-info/METADATA", "Name: x\nVersion: 1.2\n\nVersion: 3 api_key=y\n"), "Version: 1.2\n"),
        (inside("/p/x.dist-info/direct_url.json", "{\"url\":\"https://me:x@h/r\"}"), "{\"url\":\"https://h/r\"}"),
        (inside("/p/x/__init__.py", "import os\nAPI_KEY = 'x'\n__version__ = \"1.2\"\n"), "__version__ = \"1.2\"\n"),
        (
            inside("/p/__editable___x_finder.py", "import sys\nMAPPING: dict = {'x': '/srv/x'}\nKEY = 'y'\n"),
            "MAPPING = {'x': '/srv/x'}\n",
        ),
        (file("/proc/stat", "cpu 1\nbtime 5\n"), "btime 5\n"),
        (file("/proc/100/status", "Name:\tx\nUid:\t1\nSeccomp:\t0\n"), "Name:\tx\nUid:\t1\n"),
        (file("/proc/100/fdinfo/3", "pos:\t0\nflags:\t02\nlock:\tx\n"), "pos:\t0\nflags:\t02\n"),
        (file("/sys/devices/system/node/online", "0\n"), "0\n"),
        (
            kept(&["lines", "/proc/100/maps", "/site-packages/"], content("7f-8f r /x/site-packages/y.so\n")),
            "7f-8f r /x/site-packages/y.so\n",
        ),
        (ran(&["nvidia-smi", "list"], "0, GPU-1, 5, 6, 00:00\n"), "0, GPU-1, 5, 6, 00:00\n"),
        (page("/metrics", 500, "the key is x"), ""),
        (page("/api/v2/status", 200, "{\"config\":{\"original\":\"smtp_auth_password: x\"}}"), ""),
    ];
    let (mut all, mut wanted): (Vec<Kept>, Vec<&str>) = rows.into_iter().unzip();
    all.push(commands(&[(100, SERVER)]));
    wanted.push("");
    let before = all.clone();
    let (after, _) = safe(all);
    assert_eq!(after.len(), before.len());
    for ((before, after), wanted) in before.iter().zip(&after).zip(wanted).take(after.len() - 1) {
        assert_eq!(after.key, before.key);
        assert_eq!(text(after), wanted, "{:?}", after.key);
    }
}

const UP: &str = "[2026-11-29 16:13:00] up and my prompt\n";
const BATCH: &str = "[2026-11-29 16:15:23 TP0] Decode batch, #running-req: 3, #token: 4040, token usage: 0.62, gen throughput (token/s): 9.5, #queue-req: 0, and more\n";

/// Also where the command line that names it is a script.
#[test]
fn settings_that_a_script_names() {
    let mut script = commands(&[]);
    if let Ok(Told::Commands(all)) = &mut script.answered {
        let bytes = b"bash\0-c\0cd /srv; exec python3 -m sglang.launch_server --config=own/set.yaml\0".to_vec();
        all.found.push(CommandLine { pid: 100, bytes, cut: false });
    }
    let (all, _) = safe(vec![script, inside("/srv/own/set.yaml", "port: 1\n"), inside("/srv/set.yaml", "port: 1\n")]);
    assert_eq!(
        all.iter().map(|kept| kept.key.0.last().expect("a word").as_str()).collect::<Vec<_>>(),
        ["x", "/srv/own/set.yaml"]
    );
}

#[test]
fn logs() {
    let asked = "[2026-11-29 16:15:24] Receive: text='hello\nDecode batch, #running-req: 9, #token: 9, token usage: 0.9, #queue-req: 0\n'\n";
    let whole = format!("{UP}{BATCH}{asked}");
    let lean = "[2026-11-29 16:13:00]\\n[2026-11-29 16:15:23 TP0] Decode batch, #running-req: 3, #token: 4040, token usage: 0.62, gen throughput (token/s): 9.5, #queue-req: 0 …";
    let lean = lean.replace('…', "\\xe2\\x80\\xa6");
    let descriptor = kept(&["link", "/proc/100/fd/5"], Told::Link("/dev/shm/sglang_load_1".into()));
    let (all, removed) = safe(vec![
        // all of it at once, cut in a line where nothing is between, cut where something is
        ends(&["file", "/srv/a.log"], whole.clone(), "", 0),
        ends(&["descriptor", "100", "1"], &whole[..60], &whole[60..], 0),
        ends(&["below", "/srv", "b.log"], UP, format!("cut off\n{BATCH}"), 7),
        descriptor,
    ]);
    // The stamps of a stretch's first lines stay.
    let asked = "\\n[2026-11-29 16:15:24]\\n\\n-\\n";
    assert_eq!(text(&all[0]), format!("{lean}{asked}|"));
    assert_eq!(text(&all[1]), format!("{lean}{asked}|"));
    let tail = lean.split("\\n").nth(1).expect("a line");
    assert_eq!(text(&all[2]), format!("[2026-11-29 16:13:00]\\n|\\n{tail}\\n"));
    let Ok(Told::Ends(ends)) = &all[2].answered else { panic!("{all:?}") };
    assert_eq!(
        (ends.size, ends.tail_from),
        (UP.len() as u64 + 15 + BATCH.len() as u64, UP.len() as u64 + 7),
        "as they were"
    );
    assert!(removed.of(Rule::LogLines) > 0);
}

#[test]
fn journals() {
    let record = |second: u32, message: &str| {
        format!(
            "{{\"__CURSOR\":\"s=1\",\"_BOOT_ID\":\"b\",\"__REALTIME_TIMESTAMP\":\"17959689{second:02}000000\",\"_PID\":\"7\",\"MESSAGE\":{}}}\n",
            serde_json::Value::from(message)
        )
    };
    let mut records: Vec<String> = (0..40).map(|second| record(second, "a prompt")).collect();
    records[20] = record(20, BATCH.trim_end());
    records[21] = record(21, "Decode batch of nobody, key=x");
    let (all, _) = safe(vec![ran(&["journalctl", "x.service", "system", "start"], records.concat())]);
    let told = text(&all[0]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 40, "as many records as before");
    assert_eq!(lines[0], "{\"MESSAGE\":\"\",\"_PID\":\"7\",\"__REALTIME_TIMESTAMP\":\"1795968900000000\"}");
    assert_eq!(lines[39], lines[0].replace("1795968900", "1795968939"));
    // Of one more at each end the time alone, which tells that there is one.
    assert_eq!(lines[23], "{\"__REALTIME_TIMESTAMP\":\"1795968923000000\",\"MESSAGE\":\"\"}");
    assert_eq!((lines[17], lines[22]), ("{}", "{}"));
    assert!(
        lines[20].contains("token usage: 0.62") && lines[20].contains("_PID") && !lines[20].contains("_BOOT_ID"),
        "{}",
        lines[20]
    );
    assert!(!told.contains("prompt") && !told.contains("key=x"), "{told}");
    records.reverse();
    let (reversed, _) = safe(vec![ran(&["journalctl", "x.service", "system", "newest"], records.concat())]);
    assert_eq!(text(&reversed[0]).lines().rev().collect::<Vec<_>>(), lines);
}

#[test]
fn what_servers_of_one_kind_tell_each_other() {
    let folder = "/srv/found/v1/mdc";
    let card = r#"{"instance_id":15268843087089180697,"card_json":{"kv_cache_block_size":16,"chat_template":"say","api_key":"x"}}"#;
    let event = |payload: &str| serde_json::from_str(&format!("{{\"payload\":{payload}}}")).expect("an event");
    let heard = |events| Told::Heard(Heard { took: 0.5, events, passed: 1, cut: false });
    let listen = ["listen", "", "tcp://127.0.0.1:44669", "kv_metrics"];
    let (all, removed) = safe(vec![
        names(folder, &["a", "b"]),
        names("/srv/found/v1/others", &["a"]),
        ends(&["below", "/srv/found", "v1/mdc/a"], card, "", 0),
        ends(&["below", "/srv/found", "v1/mdc/b"], "no JSON, and private", "", 0),
        kept(
            &listen,
            heard(vec![
                event(r#"{"worker_id":614832500690255271,"kv_used_blocks":29}"#),
                event(r#"{"kv_used_blocks":1,"prompt":"hello","api_key":"sk-abcdefghijklmnopqrst"}"#),
            ]),
        ),
        kept(&["listen"], content("an answer to another question")),
    ]);
    assert_eq!(all.len(), 4, "a folder of no tree, and what is no event, are left out");
    assert_eq!(text(&all[0]), "[\"a\", \"b\"]");
    let leaf = text(&all[1]);
    assert!(leaf.contains("15268843087089180697") && leaf.contains("kv_cache_block_size\\\":16"), "{leaf}");
    assert!(!leaf.contains("say") && !leaf.contains("\"x\\\""), "{leaf}");
    assert_eq!(text(&all[2]), "|");
    let Ok(Told::Heard(heard)) = &all[3].answered else { panic!("{all:?}") };
    assert_eq!(heard.events[0], event(r#"{"worker_id":614832500690255271,"kv_used_blocks":29}"#));
    let odd = heard.events[1].to_string();
    assert!(odd.contains("\"kv_used_blocks\":1") && !odd.contains("hello") && !odd.contains("sk-abc"), "{odd}");
    assert!(removed.of(Rule::Texts) > 0 && removed.of(Rule::Secrets) > 0);
}

#[test]
fn sources() {
    let released = b"key: str = 'x'\n";
    let own = b"API_KEY = 'x'  # sk-abcdefghijklmn\nfrom prometheus_client import Gauge\nG = Gauge('a_b', 'c')\n";
    let record = [b"p/a.py,sha256=".as_slice(), &sense::installed::sum_of(released), b",1\n"].concat();
    let (all, _) = safe(vec![
        inside("/site/p-1.dist-info/RECORD", record),
        sifted(".py", "a.py", released),
        sifted(".py", "b.py", own),
        sifted(
            ".pth",
            "c.pth",
            b"/srv/x\nimport os; os.key = 'x'\nimport __editable___p_finder; __editable___p_finder.install()\n",
        ),
    ]);
    let taken = |kept: &Kept| match &kept.answered {
        Ok(Told::Sifted(folder)) => folder.files[0].taken.clone(),
        other => panic!("{other:?}"),
    };
    let with = |text: &[u8]| Taken::With(text.to_vec());
    assert_eq!(taken(&all[1]), with(released), "what everybody has stays byte by byte");
    assert_eq!(
        taken(&all[2]),
        with(b"API_KEY = '[secret]'  # [secret]\nfrom prometheus_client import Gauge\nG = Gauge('a_b', 'c')\n")
    );
    assert_eq!(taken(&all[3]), with(b"/srv/x\n\nimport __editable___p_finder\n"));
}

/// What was not seen is told without secrets, and only where it would be told.
#[test]
fn blind_spots() {
    let blind = |key: &[&str]| Kept {
        answered: Err(Blind::new(BlindKind::Gone, "http://me:abc@h: gone")),
        ..kept(key, Told::Link(PathBuf::new()))
    };
    let (all, _) =
        safe(vec![blind(&["get", "", "http://h/metrics"]), blind(&["read", "/etc/shadow"]), blind(&["resolve", "h"])]);
    assert_eq!(all.len(), 2);
    for kept in all {
        assert_eq!(kept.answered.expect_err("blind").text, "http://h: gone");
    }
}
