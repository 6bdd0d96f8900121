//! What is left is understood as the whole was: every capture and every wording of a log, before and after.

use std::path::{Path, PathBuf};

use engines::{Tables, interpret};
use model::{Account, Answer, Facts, Log, LogClock, Observation, Stretch, Time};
use sense::Ends;
use sense::place::{Kept, Told};
use serde::Deserialize;

use super::kinds_test::{ends, page, ran};
use super::redact;

#[derive(Deserialize)]
struct Capture {
    #[serde(default)]
    answer: Vec<AnswerRow>,
}

#[derive(Deserialize)]
struct AnswerRow {
    get: String,
    status: u16,
    file: Option<String>,
}

#[derive(Deserialize)]
struct Lines {
    row: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
}

fn engines() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines")
}

/// Every capture: its engine, its folder, its answers.
fn captures() -> Vec<(String, PathBuf, Vec<AnswerRow>)> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
        all.sort();
        all
    };
    let mut found = Vec::new();
    for engine in folders(&engines()) {
        for capture in folders(&engine.join("captures")) {
            let text = std::fs::read_to_string(capture.join("capture.toml")).expect("a capture");
            let name = engine.file_name().expect("a name").to_string_lossy().into_owned();
            found.push((name, capture, toml::from_str::<Capture>(&text).expect("a capture").answer));
        }
    }
    found
}

pub(super) fn one(tables: &Tables, kept: Kept) -> Told {
    let (mut all, _) = redact(tables, vec![kept], None);
    all.pop().expect("it is kept").answered.expect("an answer")
}

fn seen(told: Told) -> Observation {
    match told {
        Told::Seen(seen) => seen,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_capture_is_understood_as_before() {
    let tables = Tables::builtin();
    let (mut answers, mut all) = (0, captures());
    assert!(all.len() > 30, "{} captures", all.len());
    // Parts that routers pass on are made of the same pages.
    all.sort_by(|one, other| one.1.cmp(&other.1));
    for (engine, folder, rows) in all {
        let table = tables.get(&engine).expect("a table");
        let body = |row: &AnswerRow| {
            row.file.as_ref().map(|file| std::fs::read(folder.join(file)).expect("a body")).unwrap_or_default()
        };
        let before: Vec<Observation> = rows
            .iter()
            .map(|row| match page(&row.get, row.status, body(row)).answered {
                Ok(told) => seen(told),
                Err(blind) => panic!("{blind}"),
            })
            .collect();
        let after: Vec<Observation> =
            rows.iter().map(|row| seen(one(&tables, page(&row.get, row.status, body(row))))).collect();
        let account =
            |observations: &[Observation]| format!("{:#?}", interpret(table, observations, &[], &Facts::new()));
        assert_eq!(account(&after), account(&before), "{}", folder.display());
        for (before, after) in before.iter().zip(&after) {
            let known = |seen: &Observation| {
                tables.recognise(seen).map(|(table, port)| (table.engine.name.clone(), port.to_owned()))
            };
            assert_eq!(known(after), known(before));
            let body = |seen: &Observation| {
                seen.outcome.as_ref().map(|answer: &Answer| answer.body.clone()).expect("an answer")
            };
            let saved = |seen: &Observation| {
                engines::saved::answer(&tables, &body(seen))
                    .map(|(table, get)| (table.engine.name.clone(), get.to_owned()))
            };
            assert_eq!(saved(after), saved(before));
            let names = |seen: &Observation| {
                let page = body(seen);
                let limits = wire::exposition::Limits::whole();
                let told = wire::exposition::metadata(&page, &limits).map(|told| (told.name.into_owned(), told.line));
                told.collect::<Vec<_>>()
            };
            assert_eq!(names(after), names(before), "families are declared as before");
            answers += 1;
        }
    }
    assert!(answers > 60, "{answers} answers");
}

/// What a page of several servers means: which they are, and what each says.
fn taken_apart(tables: &Tables, page: &[u8]) -> Vec<String> {
    let apart = engines::apart(tables, page).expect("a page that something else serves");
    let notes: Vec<&str> = apart.notes.iter().map(|note| note.id).collect();
    let mut told = vec![format!("{} {} {:?} {notes:?}", apart.servers, apart.unnamed, apart.wrapper)];
    for page in apart.pages {
        let (table, get) = engines::saved::part(tables, &page).expect("an engine's page");
        let answer = Answer { status: 200, body: page.body, passed: page.passed, ..Answer::default() };
        let (url, at) = ("P".to_owned(), Time(1_796_000_300.0));
        let seen = Observation { get: get.to_owned(), url, at, took: 0.0, outcome: Ok(answer) };
        let account = interpret(table, &[seen], &[], &Facts::new());
        told.push(format!("{} {:?} {account:#?}", page.first_line, page.note));
    }
    // Names of servers may be blotted, and their order changes with them.
    told.sort();
    told
}

/// Labels that tell a wrapper and its servers are left, or another for each.
#[test]
fn pages_of_several_servers_are_taken_apart_as_before() {
    let tables = Tables::builtin();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrapped");
    let mut all = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "prom") {
            continue;
        }
        let body = std::fs::read(&path).expect("a page");
        let before = taken_apart(&tables, &body);
        let after = seen(one(&tables, page("/metrics", 200, body.clone()))).outcome.expect("an answer").body;
        assert_eq!(taken_apart(&tables, &after), before, "{}", path.display());
        let file = one(&tables, ends(&["file", "/srv/metrics.prom"], body, "", 0));
        let Told::Ends(Ends { head, tail, .. }) = file else { panic!("{file:?}") };
        assert_eq!(taken_apart(&tables, &[head, tail].concat()), before, "{} as a file", path.display());
        all += 1;
    }
    assert_eq!(all, 32, "pages");
}

/// Numbers are never written anew.
#[test]
fn no_number_of_a_capture_changes() {
    let tables = Tables::builtin();
    for (_, folder, rows) in captures() {
        for row in rows.iter().filter(|row| row.status == 200) {
            let Some(file) = &row.file else { continue };
            let body = std::fs::read(folder.join(file)).expect("a body");
            let after = seen(one(&tables, page(&row.get, 200, body.clone()))).outcome.expect("an answer").body;
            let lines = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
            assert_eq!(lines(&after), lines(&body));
            if file.strip_suffix(".json").is_some() {
                let numbers = |bytes: &[u8]| numbers(&serde_json::from_slice(bytes).expect("JSON"));
                assert_eq!(numbers(&after), numbers(&body), "{}", folder.display());
            } else {
                let values = |bytes: &[u8]| {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    let samples = text.lines().filter(|line| !line.starts_with('#'));
                    samples.map(|line| line.rsplit(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
                };
                assert_eq!(values(&after), values(&body));
            }
        }
    }
}

fn numbers(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Number(number) => vec![number.to_string()],
        serde_json::Value::Array(items) => items.iter().flat_map(numbers).collect(),
        serde_json::Value::Object(fields) => fields.values().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

/// A log as a look makes it of what was read.
fn log(stretches: Vec<Stretch>) -> Log {
    Log {
        name: "log".to_owned(),
        at: Time(1_795_968_933.0),
        took: 0.0,
        since: Some(Time(1_795_960_000.0)),
        clock: LogClock::Offset(0.0),
        written: Some(Time(1_795_968_930.0)),
        outcome: Ok(stretches),
    }
}

fn of_ends(told: Told) -> Log {
    let Told::Ends(Ends { head, tail, tail_from, .. }) = told else { panic!("{told:?}") };
    let whole = |bytes: Vec<u8>, from_start: bool| Stretch {
        bytes,
        first_line: from_start.then_some(1),
        from_start,
        name: None,
    };
    if tail_from == head.len() as u64 {
        return log(vec![whole([head, tail].concat(), true)]);
    }
    log(vec![whole(head, true), whole(tail, false)])
}

fn account(tables: &Tables, log: &Log) -> String {
    let accounts: Vec<Account> =
        tables.iter().map(|table| interpret(table, &[], std::slice::from_ref(log), &Facts::new())).collect();
    format!("{accounts:#?}")
}

/// All wordings in one log, with requests between, read whole, in two parts, and as a journal.
#[test]
fn every_wording_is_read_as_before() {
    let tables = Tables::builtin();
    let text = std::fs::read_to_string(engines().join("sglang/lines.toml")).expect("lines.toml");
    let rows = toml::from_str::<Lines>(&text).expect("lines.toml").row;
    let stamped = |(index, row): (usize, &Row)| {
        let prompt = "[2026-11-29 16:15:20] Receive: obj=GenerateReqInput(text='a prompt\nmax_total_num_tokens=1, context_len=1\n')\n";
        format!("{prompt}[2026-11-29 16:15:{:02} DP{} TP0] {}\n", 20 + index % 10, index % 2, row.text)
    };
    // A run's arguments end what is read of it: once for all rows behind it.
    for chunk in rows.chunks(9) {
        let whole: String = chunk.iter().enumerate().map(stamped).collect();
        for at in [0, whole.len() / 3, whole.len()] {
            let at = whole.floor_char_boundary(at);
            for gap in [0, 11] {
                let kept = || ends(&["file", "/srv/log"], &whole[..at], &whole[at..], gap);
                let before = account(&tables, &of_ends(kept().answered.expect("an answer")));
                assert_eq!(account(&tables, &of_ends(one(&tables, kept()))), before, "{at} {gap} {whole}");
            }
        }
        let quoted = |line: &str| serde_json::Value::from(line).to_string();
        let record = |line: &str| {
            format!(
                "{{\"_HOSTNAME\":\"h\",\"__REALTIME_TIMESTAMP\":\"1795968924500000\",\"MESSAGE\":{}}}\n",
                quoted(line)
            )
        };
        let records: String = whole.lines().map(record).collect();
        let stdout = |told: Told| match told {
            Told::Ran(ran) => log(vec![Stretch { bytes: ran.stdout, from_start: true, ..Stretch::default() }]),
            other => panic!("{other:?}"),
        };
        let kept = || ran(&["journalctl", "x.service", "system", "start"], records.clone());
        let before = account(&tables, &stdout(kept().answered.expect("an answer")));
        let after = stdout(one(&tables, kept()));
        assert_eq!(account(&tables, &after), before, "{records}");
        let left = String::from_utf8_lossy(&after.outcome.expect("a log")[0].bytes).into_owned();
        assert!(!left.contains("prompt") && !left.contains("_HOSTNAME"), "{left}");
    }
}

/// Where nothing is secret, nothing of a file that starts a server changes.
#[test]
fn files_without_secrets_stay_byte_by_byte() {
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved");
    let text = std::fs::read_to_string(saved.join("decode.service")).expect("a file");
    // Two canaries lie in it.
    let clean = text.replace("canary-unit-env", "[secret]").replace("canary-unit-key", "[secret]");
    assert_ne!(clean, text);
    assert_eq!(super::unit::unit(&text, &mut super::Removed::default()), clean);
}

/// No name that a table reads is taken for a text, nor a string of it for a secret.
#[test]
fn what_the_tables_read_is_not_taken_out() {
    for table in Tables::builtin().iter() {
        for source in &table.sources {
            let paths = source.facts.keys().chain(&source.worker).chain(source.rank.values()).chain(&source.relay);
            let knobs = table
                .knobs
                .iter()
                .filter(|_| source.knobs)
                .filter(|knob| !knob.secret)
                .filter_map(|knob| knob.info.as_ref());
            for name in paths.chain(knobs).flat_map(|path| path.split(['.', '/', '[', ']'])) {
                assert!(!super::json::TEXTS.contains(&name), "{name} is read");
                assert!(!model::looks_secret(name), "{name} is read");
            }
        }
    }
}

/// The page for people lists every rule and every key.
#[test]
fn the_rules_are_documented() {
    let page = engines().join("../docs/redaction.md");
    let page = std::fs::read_to_string(page).expect("docs/redaction.md");
    for rule in super::Rule::ALL {
        assert!(page.contains(&format!("| `{}` |", rule.id())) && !rule.title().is_empty(), "{}", rule.id());
    }
    let listed = page.split("wherever they stand:").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let mut listed: Vec<&str> = listed.split('`').filter(|key| !key.trim().is_empty()).collect();
    let mut keys = super::json::TEXTS.to_vec();
    listed.sort_unstable();
    keys.sort_unstable();
    assert_eq!(listed, keys);
    let endings = super::json::ENDINGS.map(|ending| format!("`{ending}`"));
    let [rest @ .., last] = &endings;
    assert!(page.contains(&format!("ends in {} or {last};", rest.join(", "))), "{endings:?}");
    for name in sense::installed::VARIABLES {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
