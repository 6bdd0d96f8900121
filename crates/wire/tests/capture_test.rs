//! Captures: what is written reads back, each answer with the line that holds it, and only what can hold one is referred to.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::io::Read as _;

use model::Time;
use serde_json::{Value, json};
use wire::capture::{Answer, Head, Index, Limits, Look, Site, Writer};

pub(crate) fn head() -> Head {
    Head { made_by: "plimsoll 0.1.0".to_owned(), started_at: Time(1.75e9), anonymised: true }
}

fn site(via: Option<&str>) -> Site {
    Site { via: via.map(str::to_owned), targets: vec!["http://a:1".to_owned()], ..Site::default() }
}

fn ask(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

const LONG: &str = "what is long enough to be worth a reference";

/// Two takes of two sites each.
fn written() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &head());
    for take in 1..=2_u32 {
        let at = |more: f64| Time(1.75e9 + f64::from(take) * 10.0 + more);
        for (index, via) in [None, Some("ssh://b")].into_iter().enumerate() {
            let index = index as f64;
            writer.begin(take.into(), at(index), &site(via)).unwrap();
            writer.answer(&ask(&["read", "/same"]), at(index + 0.1), &json!({"content": LONG})).unwrap();
            writer.answer(&ask(&["read", "/take"]), at(index + 0.25), &json!({"content": take})).unwrap();
            writer.end(take.into(), at(index + 0.5)).unwrap();
        }
        writer.end_take().unwrap();
    }
    file
}

fn unpacked(file: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

fn read(file: &[u8]) -> Index {
    Index::read(file, Limits::default()).unwrap()
}

fn answers(index: &Index, file: &[u8], look: &Look) -> Vec<Answer> {
    let (answers, notes) = index.answers(file, look);
    assert_eq!(notes, []);
    answers
}

/// What an answer's line holds under `content`.
fn content(answer: &Answer) -> Value {
    serde_json::from_slice::<Value>(&answer.line).unwrap()["content"].clone()
}

#[test]
fn written_reads_back() {
    let file = written();
    for file in [&file, unpacked(&file).as_bytes()] {
        let index = read(file);
        assert_eq!((index.version, &index.head, &index.notes[..]), (2, &head(), &[][..]));
        assert_eq!(index.sites, [site(None), site(Some("ssh://b"))]);
        let seen: Vec<_> =
            index.looks.iter().map(|look| (look.number, look.site, look.at.0 - 1.75e9, look.now.0 - 1.75e9)).collect();
        assert_eq!(seen, [(1, 0, 10.0, 10.5), (1, 1, 11.0, 11.5), (2, 0, 20.0, 20.5), (2, 1, 21.0, 21.5)]);
        // In any order: each look is found without the ones before it.
        for (place, look) in index.looks.iter().enumerate().rev() {
            let found = answers(&index, file, look);
            let asked: Vec<_> = found.iter().map(|answer| (answer.ask.join(" "), answer.at.since(look.at))).collect();
            assert_eq!(asked[0], ("read /same".to_owned(), 1.75e9 + 0.1 - 1.75e9));
            assert_eq!(asked[1], ("read /take".to_owned(), 0.25));
            assert_eq!((content(&found[0]), content(&found[1])), (json!(LONG), json!(place / 2 + 1)));
        }
    }
}

/// The form itself, which other programs read.
#[test]
fn the_lines_are_these() {
    let text = unpacked(&written());
    let lines: Vec<&str> = text.lines().take(9).collect();
    assert_eq!(
        lines[0],
        r#"{"plimsoll_capture":2,"made_by":"plimsoll 0.1.0","started_at":1750000000.0,"anonymised":true}"#
    );
    assert_eq!(
        lines[1],
        r#"{"look":1,"at":1750000010.0,"site":{"via":null,"targets":["http://a:1"],"files":false,"logs":[],"monitors":[],"listed":[]}}"#
    );
    assert_eq!(lines[2], format!(r#"{{"ask":["read","/same"],"at":1750000010.1,"content":"{LONG}"}}"#));
    assert_eq!(lines[3], r#"{"ask":["read","/take"],"at":1750000010.25,"content":1}"#);
    assert_eq!(lines[4], r#"{"look":1,"now":1750000010.5}"#);
    assert_eq!(lines[6], r#"{"ask":["read","/same"],"at":1750000011.1,"as":3}"#);
    assert_eq!(lines[7], r#"{"ask":["read","/take"],"at":1750000011.25,"content":1}"#);
}

/// A minute of looks at what does not change costs little more than one.
#[test]
fn what_stays_the_same_costs_little() {
    let size = |takes: u64| {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, &head());
        for take in 0..takes {
            writer.begin(take, Time(1.0), &site(None)).unwrap();
            for number in 0..200_u64 {
                let text: String = (0..100).map(|part| format!("{}\n", number.wrapping_mul(part * 7919))).collect();
                writer.answer(&ask(&["read", &format!("/{number}")]), Time(1.0), &json!({"content": text})).unwrap();
            }
            writer.end(take, Time(2.0)).unwrap();
            writer.end_take().unwrap();
        }
        (file.len(), unpacked(&file).len())
    };
    let (one, sixty) = (size(1), size(60));
    assert!(sixty.0 < 2 * one.0 && sixty.1 < 5 * one.1, "{one:?} {sixty:?}");
}

/// A capture of one look with these lines.
fn with(lines: &[&str]) -> Vec<u8> {
    let mut text = r#"{"plimsoll_capture":2,"started_at":1}"#.to_owned();
    text += "\n{\"look\":1,\"at\":5,\"site\":{}}\n";
    for line in lines {
        text = text + line + "\n";
    }
    (text + "{\"look\":1,\"now\":9}\n").into_bytes()
}

#[test]
fn references_lead_to_answers_and_nowhere_else() {
    let file = with(&[
        r#"{"ask":["read","/a"],"at":5,"content":"a"}"#, // line 3
        r#"{"ask":["read","/b"],"at":6,"as":3}"#,
        r#"{"ask":["a chain"],"at":6,"as":4}"#,
        r#"{"ask":["itself"],"at":6,"as":6}"#,
        r#"{"ask":["forward"],"at":6,"as":12}"#,
        r#"{"ask":["the head"],"at":6,"as":1}"#,
        r#"{"ask":["a look"],"at":6,"as":2}"#,
        r#"{"ask":["nothing"],"at":6,"as":0}"#,
        r#"{"ask":["far"],"at":6,"as":18446744073709551615}"#,
        r#"{"ask":["read","/c"],"at":6,"content":"c"}"#, // line 12
        r#"{"ask":["no number"],"at":6,"as":"3"}"#,
        r#"{"ask":["below nothing"],"at":6,"as":-3}"#,
        r#"{"ask":["half"],"at":6,"as":3.5}"#,
        r#"{"ask":["read","/d"],"at":7,"as":12}"#,
    ]);
    let index = read(&file);
    assert_eq!(index.notes, []);
    let (answers, notes) = index.answers(&file, &index.looks[0]);
    let found: Vec<_> =
        answers.iter().map(|answer| (answer.ask.join(" "), answer.at.0, content(answer).to_string())).collect();
    let (a, c) = ("\"a\"".to_owned(), "\"c\"".to_owned());
    assert_eq!(
        found,
        [
            ("read /a".to_owned(), 5.0, a.clone()),
            ("read /b".to_owned(), 6.0, a),
            ("read /c".to_owned(), 6.0, c.clone()),
            ("read /d".to_owned(), 7.0, c)
        ]
    );
    let said: Vec<_> = notes.iter().map(|note| (note.id, note.text.as_str())).collect();
    assert_eq!(
        said,
        [
            ("answers-unread", "3 answers of the look could not be read"),
            ("answers-nowhere", "7 answers of the look refer to lines that hold none")
        ]
    );
}

/// What is of a program to come is passed over, and what is wrong costs its line.
#[test]
fn odd_lines_cost_themselves() {
    let file = with(&[
        r#"{"ask":["read","/a"],"at":5,"content":"a","more":{"deep":[1]}}"#,
        r#"{"remark":"a line of another kind"}"#,
        "",
        "no JSON",
        r#"["look",1]"#,
        r#"{"ask":["twice"],"ask":["twice"],"at":5}"#,
        r#"{"ask":["too far"],"at":1e999}"#,
        r#"{"ask":["no number"],"at":NaN}"#,
        r#"{"ask":["timeless"],"content":""}"#,
        r#"{"ask":"no list","at":5}"#,
        r#"{"look":1.5,"now":7}"#,
        r#"{"look":-1,"now":7}"#,
        r#"{"look":2,"now":7}"#,
        "\u{0}\u{1}",
        r#"{"ask":["read","/z"],"at":5,"content":"z"}"#,
    ]);
    let index = read(&file);
    let said: Vec<_> = index.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(said, ["9 lines of the capture could not be read", "1 lines of the capture belong to no look"]);
    let (answers, _) = index.answers(&file, &index.looks[0]);
    let asked: Vec<_> = answers.iter().map(|answer| answer.ask.join(" ")).collect();
    assert_eq!((asked, index.looks[0].now), (vec!["read /a".to_owned(), "read /z".to_owned()], Time(9.0)));
    assert_eq!(index.looks.len(), 1);
}

#[test]
fn two_files_in_one_are_told() {
    let file = [written(), written()].concat();
    let index = read(&file);
    assert_eq!((index.looks.len(), index.notes[0].id), (4, "capture-second"));
    assert_eq!(index.notes.len(), 1, "{:?}", index.notes);
}

/// Version 1: each round of asking is a look, with the newest answer to everything until then.
#[test]
fn rounds_of_version_1() {
    let mut text = r#"{"plimsoll_capture":1,"made_by":"lab","started_at":100,"host":{}}"#.to_owned() + "\n";
    let mut line = |at: f64, target: &str, get: &str, body: &str| {
        text +=
            &json!({"at": at, "took_s": 0.1, "target": target, "get": get, "status": 200, "body": body}).to_string();
        text += "\n";
    };
    for round in 0..3 {
        let at = 100.0 + 2.0 * f64::from(round);
        if round != 1 {
            line(at, "http://a:1", "/info", &format!("info {round}"));
        }
        line(at + 0.3, "http://a:1", "/metrics", &format!("a {round}"));
        line(at + 0.2, "http://b:2", "/metrics", &format!("b {round}"));
        // asked again within a second: the same round
        line(at + 0.4, "http://a:1", "/metrics", &format!("a {round} again"));
    }
    text += "{\"at\":100,\"process\":{\"pid\":1}}\n{\"at\":1e400}\n";
    let file = text.into_bytes();
    let index = read(&file);
    assert_eq!((index.version, index.notes.len()), (1, 1), "{:?}", index.notes);
    assert_eq!(index.sites[0].targets, ["http://a:1", "http://b:2"]);
    let looks: Vec<_> = index.looks.iter().map(|look| (look.number, look.at.0, look.now.0)).collect();
    assert_eq!(looks, [(1, 100.0, 100.4), (2, 102.2, 102.4), (3, 104.0, 104.4)]);
    let bodies = |look: usize| -> Vec<String> {
        let found = answers(&index, &file, &index.looks[look]);
        let body = |answer: &Answer| serde_json::from_slice::<Value>(&answer.line).unwrap()["body"].clone();
        found.iter().map(|answer| format!("{}: {}", answer.ask[2], body(answer).as_str().unwrap())).collect()
    };
    let of = |info: &str, round: &str| {
        [
            format!("http://a:1/info: info {info}"),
            format!("http://a:1/metrics: a {round} again"),
            format!("http://b:2/metrics: b {round}"),
        ]
    };
    assert_eq!([bodies(0), bodies(1), bodies(2)], [of("0", "0"), of("0", "1"), of("2", "2")]);
}
