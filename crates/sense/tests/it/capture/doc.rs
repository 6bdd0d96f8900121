//! `docs/capture.md` names every kind of question and every field of every answer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use model::{Answer, Blind, BlindKind, Observation, Time};
use sense::capture::{Recording, Site, Writer};
use sense::installed::Scanned;
use sense::place::{
    Ask, Budget, CommandLine, Commands, Content, Ends, Kin, Listing, PipeEnd, Pipes, Sieve, SiftedFile, SiftedFolder,
    Stamp, Taken, Told,
};
use sense::{Command, Heard, Keep, Kept, Process, Publisher, Ran, Wanted};
use serde_json::{Value, json};
use wire::python::{Kind, Metric};

use super::{NOW, head, unpacked};

const DOC: &str = include_str!("../../../../../docs/capture.md");

/// One question of each kind and way.
fn asks() -> Vec<Ask> {
    let path = || "/a".into();
    let sieve = Sieve {
        ending: ".py".into(),
        needles: Vec::new(),
        longest: 1,
        known: Arc::default(),
        budget: Arc::new(Budget::new(1, 1)),
    };
    let (unit, user) = ("u.service".to_owned(), None);
    let patience = Duration::from_secs(1);
    let run = |command| Ask::Run { command, patience };
    let ends = |wanted| Ask::Ends { wanted, head: 1, tail: 1 };
    vec![
        Ask::Read { path: path(), cap: 1 },
        Ask::Under { root: path(), path: path(), cap: 1 },
        Ask::Lines { path: path(), words: vec!["w".into()], cap: 1 },
        Ask::List { path: path(), cap: 1 },
        Ask::Link { path: path() },
        ends(Wanted::File(path())),
        ends(Wanted::Below { folder: path(), path: path() }),
        ends(Wanted::Inside { pid: 1, path: path() }),
        ends(Wanted::Descriptor { pid: 1, fd: 1 }),
        Ask::Sift { root: path(), folder: path(), sieve },
        Ask::Commands { words: Vec::new() },
        Ask::Kin,
        Ask::Pipes,
        run(Command::Journal { unit: unit.clone(), user, since: None, until: None, newest: None }),
        run(Command::UnitProperties { unit, user }),
        run(Command::GpuMemory),
        run(Command::GpuList),
        Ask::Resolve { host: "h".into() },
        Ask::Get { target: Box::new("1".parse().unwrap()), path: "/m".into(), query: None },
        Ask::Listen { publisher: publisher(), topic: "t".into(), keep: Keep::default(), patience },
    ]
}

fn publisher() -> Publisher {
    let listening_itself = vec![([127, 0, 0, 1], 1).into()];
    let process = Process { listening_itself, same_netns_as_us: Some(true), ..crate::events::process() };
    Publisher::of(&process, 1).unwrap()
}

/// Answers that have every field.
fn answers() -> Vec<Result<Told, Blind>> {
    let bytes = || b"\xff".to_vec();
    let blind = || Blind::new(BlindKind::Gone, "");
    let metric = Metric {
        name: String::new(),
        kind: Kind::Gauge,
        labels: Vec::new(),
        when: Vec::new(),
        class: None,
        function: None,
        attribute: None,
        line: 1,
    };
    let stamp = Stamp { device: 1, inode: 1, size: 1, modified_ns: 1, changed_ns: 1 };
    let scanned = Scanned { metrics: vec![metric], remarks: Vec::new(), sha256: [1; 32] };
    let taken = [Taken::Known, Taken::Without, Taken::With(bytes()), Taken::Scanned(scanned)];
    let files = taken.map(|taken| SiftedFile { name: "n".into(), stamp, taken }).to_vec();
    let answer = Answer {
        status: 200,
        content_type: String::new(),
        body: bytes(),
        first_line: Some(1),
        open_ended: true,
        passed: None,
    };
    let seen = |outcome| Observation { get: String::new(), url: String::new(), at: NOW, took: 1.0, outcome };
    let found = vec![CommandLine { pid: 1, bytes: bytes(), cut: true }];
    let ends = Ends { size: 1, modified: NOW, owner: 1, identity: (1, 1), head: bytes(), tail: bytes(), tail_from: 1 };
    vec![
        Ok(Told::Content(Content { bytes: bytes(), cut: true })),
        Ok(Told::Listing(Listing { names: Vec::new(), cut: true })),
        Ok(Told::Link("/a".into())),
        Ok(Told::Ends(ends)),
        Ok(Told::Sifted(SiftedFolder { id: (1, 1), folders: Vec::new(), files, cut: true, passed: 1 })),
        Ok(Told::Commands(Commands { found, hidden: true, cut: true, ..Commands::default() })),
        Ok(Told::Kin(vec![Kin { pid: 1, ppid: 1, started: 1.0 }])),
        Ok(Told::Pipes(Pipes { ends: vec![PipeEnd { pipe: 1, pid: 1, fd: 1 }], cut: true, ..Pipes::default() })),
        Ok(Told::Ran(Ran { stdout: bytes(), cut: true, stderr: String::new(), code: None })),
        Ok(Told::Addresses(vec!["::1".parse().unwrap()])),
        Ok(Told::Seen(seen(Ok(answer)))),
        Ok(Told::Seen(seen(Err(blind())))),
        Ok(Told::Heard(Heard { took: 1.0, events: vec![json!({})], passed: 1, cut: true })),
        Err(blind()),
    ]
}

/// Every key of every object, and what stands for a whole one (`known`).
fn names(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                out.insert(name.clone());
                if let (true, Some(text)) = (["taken", "kind"].contains(&&**name), field.as_str()) {
                    out.insert(text.to_owned());
                }
                names(field, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, out)),
        _ => {}
    }
}

#[test]
fn the_document_names_everything() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &head());
    let keys = asks().into_iter().map(|ask| ask.key());
    let mut kept: Vec<Kept> =
        keys.map(|key| Kept { key, at: NOW, answered: Err(Blind::new(BlindKind::Gone, "")) }).collect();
    let key = kept[0].key.clone();
    let twice = answers().into_iter().chain(answers());
    kept.extend(twice.map(|answered| Kept { key: key.clone(), at: NOW, answered }));
    writer.look(1, &Site::default(), Time(1.0), &kept, NOW).unwrap();
    writer.end_take().unwrap();
    let mut wanted = BTreeSet::new();
    for line in unpacked(&file).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        names(&line, &mut wanted);
        if let Some(ask) = line["ask"].as_array() {
            // The words that are no names of something.
            let words = ask.iter().filter_map(Value::as_str);
            let fixed =
                words.filter(|word| word.len() > 1 && !word.contains(['/', '.']) && word.parse::<f64>().is_err());
            wanted.extend(fixed.map(str::to_owned));
        }
    }
    for kind in ["name", "refused", "no_route", "deadline", "cut", "too_large", "tls", "not_http", "denied", "gone"] {
        wanted.insert(kind.to_owned());
    }
    assert!(wanted.len() > 90, "{wanted:?}");
    let named = |word: &String| DOC.contains(&format!("`{word}`")) || DOC.contains(&format!("\"{word}\""));
    let missing: Vec<_> = wanted.iter().filter(|word| !named(word)).collect();
    assert!(missing.is_empty(), "docs/capture.md does not name {missing:?}");
    for limit in ["256 MiB", "512 MiB", "64 MiB", "4,000,000", "100,000"] {
        assert!(DOC.contains(limit), "docs/capture.md does not name the limit {limit}");
    }
}

/// The example in the document is a capture.
#[test]
fn the_example_is_one() {
    let example = DOC.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let recording = Recording::read(example.as_bytes().to_vec()).unwrap();
    assert_eq!((recording.notes(), recording.takes().len()), (&[][..], 2));
    for take in 0..2 {
        let (_, _, notes) = recording.site(take, 0).unwrap();
        assert_eq!(notes, []);
        assert_eq!(recording.kept(take, 0).unwrap().0.len(), 4);
    }
}
