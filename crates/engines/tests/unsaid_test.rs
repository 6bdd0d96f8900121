//! Series that stand on a page without a number, and whose series prove a page on. The engine is made up.

mod support;

use model::{Account, Observation, Signal, Silence, SourceOutcome};
use support::made::{answer, tables_with, told};

const SOURCES: &str = r#"
[[source]]
id = "metrics"
get = "/metrics"
format = "prometheus"
empty = "off"
own = ["made:"]
read = [
  { name = "old_usage", signal = "kv.in_use", pool = "full", when = "version<2" },
  { name = "usage", signal = "kv.in_use", pool = "full" },
  { name = "thrown_total", signal = "req.retracted_total" },
  { name = "running", signal = "req.running" },
  { name = "stored", signal = "kv.stored", pool = "full", tier = "host" },
]
"#;

fn said(page: &str) -> (Account, String) {
    heard(answer("/metrics", page))
}

/// As of a file that may have been cut.
fn saved(page: &str) -> (Account, String) {
    let mut observation = answer("/metrics", page);
    if let Ok(answer) = &mut observation.outcome {
        answer.first_line = Some(1);
    }
    heard(observation)
}

fn heard(observation: Observation) -> (Account, String) {
    let tables = tables_with(SOURCES, "");
    let account = told(&tables, &[observation], &[]);
    let table = tables.get("made").expect("a table");
    let why = engines::why(table, &account, Signal::KV_IN_USE, "full", model::DEVICE);
    (account, why)
}

fn unsaid(account: &Account) -> Vec<(&str, Silence)> {
    account.unsaid.iter().map(|unsaid| (unsaid.name.as_str(), unsaid.how)).collect()
}

#[test]
fn what_is_declared_is_not_yet_there() {
    let (account, why) = said("# TYPE made:usage gauge\n# TYPE made:thrown counter\nmade:running 0\n");
    assert_eq!(unsaid(&account), [("usage", Silence::Declared), ("thrown_total", Silence::Declared)]);
    assert_eq!(why, "usage is declared on /metrics, and has no sample so far");
    // Also where nothing else is there: the page is on.
    let (account, why) = said("# HELP made:usage -\n# TYPE made:usage gauge\n");
    assert_eq!(account.fact("metrics"), Some("on"));
    assert!(matches!(account.sources[0].outcome, SourceOutcome::Empty(_)), "{:?}", account.sources);
    assert_eq!(why, "usage is declared on /metrics, and has no sample so far");
    // What has a sample is not, whatever is declared.
    assert!(unsaid(&said("# TYPE made:usage gauge\nmade:usage 0.5\n").0).is_empty());
}

#[test]
fn a_last_line_without_an_end_is_the_reason() {
    let (account, why) = saved("made:running 3\nmade:usage{model=\"m\"} 0.5");
    assert_eq!(unsaid(&account), [("usage", Silence::Cut)]);
    assert_eq!(why, "the line of usage is the last one of /metrics and has no end: its number may have been cut");
    // An answer that was read to its stated end is whole.
    let (account, _) = said("made:running 3\nmade:usage{model=\"m\"} 0.5");
    assert_eq!((unsaid(&account), account.sets.len()), (vec![], 1));
}

#[test]
fn a_row_that_counts_is_named_before_one_of_which_that_is_open() {
    let (_, why) = said("made:running 3\n");
    assert_eq!(why, "usage is not in the answer of /metrics");
}

#[test]
fn only_series_of_its_own_prove_a_page_on() {
    let sources = SOURCES.replace("own = [\"made:\"]", "own = [\"made:u\", \"made:r\"]");
    let tables = tables_with(&sources, "");
    let account = told(&tables, &[answer("/metrics", "made:stored 5\n")], &[]);
    assert_eq!(account.fact("metrics"), Some("off"));
    let table = tables.get("made").expect("a table");
    let why = engines::why(table, &account, Signal::KV_IN_USE, "full", model::DEVICE);
    assert_eq!(why, "/metrics answers without the series of Made: they are switched off");
    let account = told(&tables, &[answer("/metrics", "made:stored 5\nmade:running 0\n")], &[]);
    assert_eq!(account.fact("metrics"), Some("on"));
}

#[test]
fn each_is_kept_once_however_often_it_is_declared() {
    let (account, _) = said(&"# TYPE made:usage gauge\n# TYPE made:thrown counter\n".repeat(5_000));
    assert_eq!(unsaid(&account), [("usage", Silence::Declared), ("thrown_total", Silence::Declared)]);
}

#[test]
fn a_cut_line_is_the_reason_though_its_family_is_declared() {
    let (account, why) = saved("# TYPE made:usage gauge\nmade:running 3\nmade:usage{model=\"m\"} 0.5");
    assert_eq!(unsaid(&account), [("usage", Silence::Cut)]);
    assert_eq!(why, "the line of usage is the last one of /metrics and has no end: its number may have been cut");
}
