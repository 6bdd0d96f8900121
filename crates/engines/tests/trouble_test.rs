//! What an engine says of itself that is trouble whatever its numbers are.

mod support;

use model::{Level, Signal};
use support::made;

const SOURCES: &str = r#"
[[source]]
id = "status"
get = "/status"
format = "json"
facts = { alive = "thread" }
read = [{ name = "in_use", signal = "kv.in_use", pool = "full" }]
"#;
const DOCTOR: &str = r#"
[[trouble]]
when = "thread=off"
level = "stuck"
why = "the thread is dead"
[[trouble]]
when = "thread=on"
level = "unknown"
why = "it only just began"
"#;

#[test]
fn a_fact_that_is_trouble_is_a_level_and_a_note_that_names_who_said_it() {
    let tables = made::tables_with(SOURCES, DOCTOR);
    let account = made::told(&tables, &[made::answer("/status", r#"{"alive": false, "in_use": 0.1}"#)], &[]);
    assert_eq!(account.troubles.len(), 1);
    assert_eq!((account.troubles[0].level, account.troubles[0].why.as_str()), (Level::Stuck, "the thread is dead"));
    let said: Vec<&str> =
        account.notes.iter().filter(|note| note.id == "engine-says").map(|note| &*note.text).collect();
    assert_eq!(said, ["the thread is dead, by /status alive"]);
    assert_eq!(made::value(&account, Signal::KV_IN_USE), Some(0.1));
}

#[test]
fn why_nothing_is_known_is_no_note() {
    let tables = made::tables_with(SOURCES, DOCTOR);
    let account = made::told(&tables, &[made::answer("/status", r#"{"alive": true}"#)], &[]);
    assert_eq!(account.troubles[0].level, Level::Unknown);
    assert!(account.notes.iter().all(|note| note.id != "engine-says"));
}

#[test]
fn a_trouble_that_nothing_tells_is_a_fault_of_the_table() {
    let wrong = DOCTOR.replace("thread=off", "thraed=off");
    let faults = made::faults(SOURCES, &wrong);
    assert!(faults.iter().any(|fault| fault.contains("thraed")), "{faults:?}");
}
