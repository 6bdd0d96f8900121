//! Lines that programs write into the log of the one that started them: what they count, their note, and no more.

mod support;

use engines::Tables;
use engines::table::files::Folder;
use model::{Account, Log, Signal};
use support::{AT, found, interpreted_by, live, read_of, saved, table_of};

const FAILED: &str = "srv    send_error: task id = 4, error: Context size has been exceeded.\n";
const FULL: &str =
    "srv  update_slots: failed to find free space in the KV cache, retrying with smaller batch size, off = 0\n";

fn retracted(account: &Account) -> Option<f64> {
    account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT)?.reading.value
}

fn notes(account: &Account) -> Vec<&str> {
    account.notes.iter().map(|note| note.text.as_str()).collect()
}

/// A line of its own at `clock`.
fn own(clock: &str) -> String {
    format!("time=2026-11-29T{clock}.000Z level=INFO source=server.go:900 msg=\"waiting\"\n")
}

/// A request that ended at `clock`.
fn request(clock: &str) -> String {
    format!("[GIN] 2026/11/29 - {clock} | 500 |  1.203114125s |       127.0.0.1 | POST     \"/api/chat\"\n")
}

#[test]
fn borrowed_lines_count_and_are_noted() {
    let log =
        own("16:10:00") + &own("16:15:20") + FULL + FAILED + "llama_context: n_ctx = 8192\n" + &request("16:15:21");
    let account = read_of("ollama", &log);
    assert_eq!(retracted(&account), Some(1.0));
    assert_eq!(account.sets.len(), 0, "of which model a number is nothing says");
    let notes = notes(&account);
    assert!(notes.iter().any(|text| text.contains("because the pool was full")), "{notes:?}");
    assert!(notes.iter().any(|text| text.contains("found no room in the pool")), "{notes:?}");
    // A quotation of it is none.
    let quoted = own("16:15:20").replace("waiting", FAILED.trim_end());
    assert_eq!(retracted(&read_of("ollama", &(own("16:10:00") + &quoted))), Some(0.0));
}

#[test]
fn they_are_of_the_time_between_the_lines_around_them() {
    let of = |log: &str| retracted(&interpreted_by(table_of("ollama"), found(log.as_bytes())));
    // The look is at 16:15:33: before 16:14:33 nothing counts.
    assert_eq!(of(&(own("16:10:00") + FAILED + &request("16:14:00") + &request("16:15:00"))), Some(0.0));
    assert_eq!(of(&(own("16:10:00") + &own("16:14:40") + FAILED + &request("16:15:00"))), Some(1.0));
    // It may have been in the last minute or before: nothing is said.
    assert_eq!(of(&(own("16:10:00") + FAILED + &request("16:15:00"))), None);
    assert_eq!(of(&(own("16:10:00") + FAILED)), None);
    let account = interpreted_by(table_of("ollama"), live((own("16:10:00") + FAILED).as_bytes()));
    assert_eq!(retracted(&account), None);
    let account = interpreted_by(table_of("ollama"), found((own("16:10:00") + FAILED).as_bytes()));
    let notes = notes(&account);
    assert!(notes.iter().any(|text| text.contains("at most 333 s ago")), "{notes:?}");
}

#[test]
fn they_do_not_tell_whose_log_it_is() {
    let tables = support::tables::tables();
    let whose =
        |log: &str| engines::saved::written(&tables, &saved(log.as_bytes())).map(|log| log.table.engine.name.clone());
    assert_eq!(whose(&(FAILED.to_owned() + FULL)).as_deref(), Some("llamacpp"));
    // One line of its own tells that those of the other stand between them, however many these are.
    assert_eq!(whose(&(own("16:15:20") + &FAILED.repeat(9))).as_deref(), Some("ollama"));
    assert_eq!(whose(&(FAILED.repeat(9) + &request("16:15:20"))).as_deref(), Some("ollama"));
}

#[test]
fn what_is_borrowed_must_be_there() {
    let engine = |borrows: &str| {
        let text = format!(
            "name = \"made\"\ntitle = \"Made\"\nkind = \"engine\"\nrole = \"unified\"\nprefixes = [\"made:\"]\n\
             answer = [{{ get = \"/metrics\", order = 99 }}]\nborrows = [{borrows}]\n"
        );
        let files = [Some(text), None, None, None];
        let folder = Folder { name: "made".to_owned(), path: "made".to_owned(), files };
        Tables::builtin().with(&[folder])
    };
    let ids = |tables: &Tables| {
        let table = tables.get("made")?;
        Some(table.lines.iter().map(|line| line.id.clone()).collect::<Vec<_>>())
    };
    let (tables, faults) = engine("{ engine = \"llamacpp\", lines = [\"full\"] }");
    assert_eq!((faults.len(), ids(&tables)), (0, Some(vec!["llamacpp full".to_owned()])));
    // Once more, and it is borrowed once.
    let (tables, _) = tables.with(&[]);
    assert_eq!(ids(&tables).map(|ids| ids.len()), Some(1));
    for (borrows, wrong) in [
        ("{ engine = \"nobody\", lines = [\"full\"] }", "no other engine is called \"nobody\""),
        ("{ engine = \"made\", lines = [\"full\"] }", "no other engine is called \"made\""),
        ("{ engine = \"llamacpp\", lines = [\"fall\"] }", "llamacpp has no line \"fall\""),
    ] {
        let (tables, faults) = engine(borrows);
        assert!(faults.iter().any(|fault| fault.to_string().contains(wrong)), "{faults:#?}");
        assert_eq!(ids(&tables), None);
    }
}

/// Thousands of them, with nothing around that says a time, cost what thousands of lines cost.
#[test]
fn many_of_them_take_no_long_time() {
    let begun = std::time::Instant::now();
    let log = own("16:10:00") + &FAILED.repeat(20_000);
    let account =
        engines::interpret(table_of("ollama"), &[], &[Log { at: AT, ..found(log.as_bytes()) }], &model::Facts::new());
    assert_eq!(retracted(&account), None, "none of them says when");
    assert!(begun.elapsed().as_secs_f64() < 20.0, "{:?}", begun.elapsed());
}
