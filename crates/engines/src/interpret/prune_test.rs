//! What is left out of an answer changes nothing: every recorded answer, read by every source of its engine, with and without
//! it; and answers of shapes that nobody recorded. The evidence is the reading of the whole tree.

use std::path::{Path, PathBuf};

use model::{Account, Answer, Facts, Observation, Time};
use serde_json::Value;

use super::{Body, facts, json, path};
use crate::Tables;
use crate::table::{Format, Source, Table, Wanted};

/// The answers in JSON that were recorded of an engine.
fn recorded(engine: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").join(engine).join("captures");
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let files = inside(&folder).into_iter().flat_map(|capture| inside(&capture));
    files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect()
}

/// All that comes of a tree, in words.
fn account(table: &Table, source: &Source, observation: &Observation, root: Value) -> String {
    let mut account = Account { facts: Facts::new(), ..Account::default() };
    let body = Body::tree(root);
    facts::learn(table, source, &body, &mut account);
    let Body::Json(root) = &body else { unreachable!("it was made of a tree") };
    let outcome = json::read(0, source, observation, root, &mut account);
    format!("{outcome:?} {account:?}")
}

#[test]
fn what_is_left_out_changes_nothing() {
    let tables = Tables::builtin();
    let (mut read, mut less) = (0, 0);
    for table in tables.iter() {
        for file in recorded(&table.engine.name) {
            let bytes = std::fs::read(&file).expect("a file");
            let Ok(whole) = json::parse(&bytes) else { continue };
            for (index, source) in table.sources.iter().enumerate().filter(|(_, one)| one.format == Format::Json) {
                let wanted = table.wanted(index).expect("one for each source");
                let pruned = json::parse_wanted(&bytes, wanted).expect("what can be read as a whole");
                less += usize::from(pruned.to_string().len() < whole.to_string().len());
                for first_line in [None, Some(3)] {
                    let answer = Answer { status: 200, body: bytes.clone(), first_line, ..Answer::default() };
                    let (get, url) = (source.get.clone(), file.display().to_string());
                    let seen = Observation { get, url, at: Time(1.8e9), took: 0.1, outcome: Ok(answer) };
                    assert_eq!(
                        account(table, source, &seen, pruned.clone()),
                        account(table, source, &seen, whole.clone()),
                        "{} as {}",
                        file.display(),
                        source.id
                    );
                    read += 1;
                }
            }
        }
    }
    assert!(read > 500 && less > 200, "{read} readings, {less} smaller trees");
}

/// A source with paths of every kind, and the paths.
fn made() -> (Wanted, Vec<&'static str>) {
    let text = r#"
id = "made"
get = "/made"
format = "json"
facts = { "a.b" = "one", "list[last].x" = "two", "list[1].y" = "three", "any[*].z" = "four", "whole" = "five", "$.top" = "six" }
"#;
    let source: Source = toml::from_str(text).expect("a source");
    let tables = Tables::builtin();
    let table = tables.iter().next().expect("a table");
    let paths = vec!["a.b", "list[last].x", "list[1].y", "any[*].z", "whole", "$.top"];
    (Wanted::of(table, &source), paths)
}

#[test]
fn shapes_that_nobody_recorded_are_read_alike() {
    let (wanted, paths) = made();
    for text in [
        r#"{"a":{"b":0.1,"c":{"b":2}},"b":3,"list":[{"x":1,"y":2},{"x":3,"y":4},{"x":5,"q":6}],"top":18446744073709551615}"#,
        // A path through all elements goes through all fields as well, in their order.
        r#"{"any":{"k":{"q":1},"j":{"z":-7e-3,"y":1},"i":{"z":8}},"whole":{"a":[1,{"b":null}],"list":[]}}"#,
        r#"{"any":[{"q":1},{"z":[1,2]},{"z":3}],"list":[],"whole":[{"x":{"y":1}}]}"#,
        // What stands twice counts as it stands the second time, wanted or not.
        r#"{"a":{"b":1},"a":{"c":2},"c":1,"c":{},"top":1,"top":2}"#,
        // Other kinds of values than the paths want.
        r#"{"a":[{"b":1}],"list":{"1":{"y":2}},"any":"z","top":true}"#,
        r#"[{"a":{"b":1}}]"#,
        r#""a""#,
        "17",
        "null",
        // Bare words of Python, where something is wanted and where nothing is.
        r#"{"a":{"b":NaN},"top":1}"#,
        r#"{"other":[-Infinity],"top":1}"#,
        r#" {"\u0061":{"b":"\u00e9\n"},"other":"\"}","top":"x"} "#,
    ] {
        let whole = json::parse(text.as_bytes()).expect(text);
        let pruned = json::parse_wanted(text.as_bytes(), &wanted).expect(text);
        for path in &paths {
            let found = |root| path::find(root, root, path, usize::MAX).into_iter().cloned().collect::<Vec<Value>>();
            assert_eq!(found(&pruned), found(&whole), "{path} in {text}");
            assert_eq!(path::first(&pruned, &pruned, path), found(&whole).first(), "{path} in {text}");
        }
    }
}

#[test]
fn what_is_no_json_is_told_alike() {
    let (wanted, _) = made();
    for text in [
        &b""[..],
        b"<html>",
        b"{\"other\":1",
        b"{\"other\":1}}",
        b"{\"other\":[1,]}",
        b"{\"other\":tru}",
        b"{\"other\":\"\xff\"}",
        b"{\"top\":\"\xff\"}",
        b"{\"top\":01}",
        b"Not found",
    ] {
        let whole = json::parse(text).expect_err("no JSON");
        assert_eq!(json::parse_wanted(text, &wanted), Err(whole));
    }
}

/// The evidence is what each answer says by itself.
#[test]
fn only_the_very_same_answer_is_not_taken_apart_again() {
    let tables = Tables::builtin();
    let json = |table: &&Table| {
        let reads =
            |source: &Source| source.format == Format::Json && source.when.is_none() && source.unless.is_empty();
        table.sources.iter().position(|source| reads(source) && source.facts.contains_key("version"))
    };
    let (table, index) =
        tables.iter().find_map(|table| Some((table, json(&table)?))).expect("one that says its version");
    let source = &table.sources[index];
    let seen = |version: &str, at: f64| {
        let body = format!("{{\"version\":\"{version}\"}}").into_bytes();
        let answer = Answer { status: 200, body, ..Answer::default() };
        let (get, url) = (source.get.clone(), format!("http://h:1{}", source.get));
        Observation { get, url, at: Time(at), took: 0.1, outcome: Ok(answer) }
    };
    let mut trees = super::Trees::default();
    let mut version = |observation: &Observation| {
        let observations = std::slice::from_ref(observation);
        let account = super::interpret_again(&tables, table, observations, &[], &Facts::new(), &mut trees);
        account.fact("version").map(str::to_owned)
    };
    let first = seen("1.2.3", 1.8e9);
    assert_eq!(version(&first).as_deref(), Some("1.2.3"));
    assert_eq!(version(&seen("1.2.4", 1.8e9 + 5.0)).as_deref(), Some("1.2.4"), "a later answer");
    assert_eq!(version(&first).as_deref(), Some("1.2.3"), "the trees are of the last look alone");
    assert_eq!(version(&seen("1.2.33", 1.8e9)).as_deref(), Some("1.2.33"), "another length");
    // The body is given up for its tree, and the same is read without it.
    let mut kept = [seen("1.2.33", 1.8e9)];
    trees.keep(Some(table), &mut kept);
    assert!(kept[0].outcome.as_ref().is_ok_and(|answer| answer.body.is_empty()));
    assert_eq!(super::interpret_known(table, &kept, &Facts::new(), &trees).fact("version"), Some("1.2.33"));
    let (mut own, mut strange, mut nobodys) = (kept.to_vec(), kept.to_vec(), kept.to_vec());
    let others = Tables::builtin();
    trees.drop_strange(Some(table), &mut own);
    trees.drop_strange(others.get(&table.engine.name), &mut strange);
    trees.drop_strange(None, &mut nobodys);
    assert_eq!((own.len(), strange.len(), nobodys.len()), (1, 0, 0), "no other table can read it");
    trees.keep(Some(table), &mut []);
    assert!(trees.find(table, index, &seen("1.2.33", 1.8e9)).is_none(), "dropped");
    // Another table may read what this one left out.
    let again = Tables::builtin();
    let other = again.get(&table.engine.name).expect("the same engine");
    super::interpret_again(&tables, table, std::slice::from_ref(&first), &[], &Facts::new(), &mut trees);
    assert!(trees.find(table, index, &first).is_some() && trees.find(other, index, &first).is_none());
}
