//! Logs whose lines say how long their program runs. The wordings are of one engine that writes them so; each expected age is
//! worked out beside it.

mod support;

use model::{Account, Log, Signal};
use support::{AT, found, interpreted_by, live, saved, table_of};

const LOADING: &str = "0.00.016.916 I srv    load_model: loading model 'tiny.gguf'\n";
const FAILED: &str = "E srv    send_error: task id = 4, error: Context size has been exceeded.\n";
const IDLE: &str = "I slot      release: id  3 | task 4 | stop processing: n_tokens = 943, truncated = 0\n";

fn read(log: Log) -> Account {
    interpreted_by(table_of("llamacpp"), log)
}

/// How many were thrown out in the last minute, where that is known.
fn retracted(account: &Account) -> Option<f64> {
    account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT)?.reading.value
}

fn note(account: &Account) -> String {
    account.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().join("; ")
}

/// Three failures: 30, 80 and 85 seconds after the start, and a line of 100 s.
fn log() -> String {
    format!("{LOADING}0.30.000.000 {FAILED}1.20.000.000 {FAILED}1.25.000.000 {FAILED}1.40.000.000 {IDLE}")
}

#[test]
fn where_the_start_of_the_process_is_known_they_count_from_there() {
    // It started 110 s before the look: the failures are 80, 30 and 25 s old.
    let account = read(Log { since: Some(AT.plus(-110.0)), ..found(log().as_bytes()) });
    assert_eq!(retracted(&account), Some(2.0));
    assert!(note(&account).contains("25 s ago, and 2 more before it"), "{}", note(&account));
    // 20 s later all but two are out of the minute, and both still count.
    let account = read(Log { since: Some(AT.plus(-140.0)), ..found(log().as_bytes()) });
    assert_eq!(retracted(&account), Some(2.0));
    let account = read(Log { since: Some(AT.plus(-142.0)), ..found(log().as_bytes()) });
    assert_eq!(retracted(&account), Some(1.0));
}

#[test]
fn where_it_is_not_the_last_line_is_of_the_last_change() {
    // The file was changed a second before the look, by its line of 100 s: up to that it tells, and that of 85 s is 15 s before.
    let account = read(live(log().as_bytes()));
    assert_eq!(retracted(&account), Some(2.0));
    let recent = account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT).expect("a count");
    assert_eq!((recent.reading.at, &recent.reading.reason), (Some(AT.plus(-1.0)), &None));
    assert!(note(&account).contains("15 s ago"), "{}", note(&account));
}

#[test]
fn a_saved_log_tells_how_far_apart_its_lines_are_and_no_time() {
    let account = read(saved(log().as_bytes()));
    assert_eq!(retracted(&account), Some(2.0));
    let recent = account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT).expect("a count");
    assert!(recent.reading.reason.as_ref().is_some_and(|why| why.contains("does not say when")), "{recent:?}");
    assert!(note(&account).contains("15 s before the end of the log"), "{}", note(&account));
    let tables = support::tables::tables();
    let written = engines::saved::written(&tables, &saved(log().as_bytes())).expect("a log that is known");
    assert_eq!((written.table.engine.name.as_str(), written.span), ("llamacpp", None));
}

#[test]
fn a_run_before_is_no_part_of_this_one() {
    let before = format!("9.00.000.000 {FAILED}9.00.500.000 {FAILED}");
    // 90 s after its own start: the one of 40 s counts, whatever ran for nine minutes before.
    let run = format!("0.10.000.000 {IDLE}0.40.000.000 {FAILED}1.30.000.000 {IDLE}");
    assert_eq!(retracted(&read(saved((before.clone() + &run).as_bytes()))), Some(1.0));
    // Nothing tells what was a minute before the end where the first line of the run is later, …
    let short = format!("0.10.000.000 {IDLE}0.40.000.000 {FAILED}");
    assert_eq!(retracted(&read(saved((before.clone() + &short).as_bytes()))), None);
    // … unless its first line is there.
    assert_eq!(retracted(&read(saved((before + LOADING + &short).as_bytes()))), Some(1.0));
    // Lines of several threads may be a hair out of order.
    let hair = format!("{LOADING}0.10.000.400 {FAILED}0.10.000.100 {FAILED}0.10.000.700 {IDLE}");
    assert_eq!(retracted(&read(saved(hair.as_bytes()))), Some(2.0));
}

#[test]
fn the_time_of_a_shipper_says_more() {
    // Two minutes and 20 s before the look, by the shipper.
    let record = |clock: &str, text: &str| {
        let text = serde_json::Value::from(text);
        format!("{{\"log\":{text},\"stream\":\"stderr\",\"time\":\"2026-11-29T{clock}.000000000Z\"}}\n")
    };
    let log = record("16:10:00", LOADING)
        + &record("16:13:33", &format!("0.30.000.000 {FAILED}"))
        + &record("16:15:13", &format!("2.10.000.000 {FAILED}"));
    let account = read(found(log.as_bytes()));
    assert_eq!(retracted(&account), Some(1.0));
    assert!(note(&account).contains("20 s ago, and 1 more before it"), "{}", note(&account));
}

/// A program that passes on lines of those that it starts, which have run for less long: by neither are they timed.
#[test]
fn lines_that_are_passed_on_are_of_the_time_between_those_around_them() {
    let log = |first: &str, second: &str| {
        format!("{LOADING}{first} {IDLE}[41123] 0.05.000.000 {FAILED}{second} {IDLE}2.00.000.000 {IDLE}")
    };
    assert_eq!(retracted(&read(saved(log("1.10.000.000", "1.20.000.000").as_bytes()))), Some(1.0));
    assert_eq!(retracted(&read(saved(log("0.10.000.000", "0.20.000.000").as_bytes()))), Some(0.0));
    // The minute begins at 1:00, and it may have been before that or after.
    assert_eq!(retracted(&read(saved(log("0.50.000.000", "1.10.000.000").as_bytes()))), None);
}
