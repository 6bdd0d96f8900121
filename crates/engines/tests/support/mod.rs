//! Logs as looks bring them.

#![allow(dead_code)] // each test file uses its part

pub(crate) mod around;
pub(crate) mod made;
pub(crate) mod tables;

use std::sync::OnceLock;

use engines::table::Table;
use engines::{Tables, Telling, interpret};
use model::{Account, Facts, Log, LogClock, Stretch, Time};

/// `date -u -d '2026-11-29 16:15:23' +%s`: what the tests' lines say.
pub(crate) const SAID: Time = Time(1_795_968_923.0);
/// When the tests look.
pub(crate) const AT: Time = Time(1_795_968_933.0);

/// A saved log, read to its end.
pub(crate) fn saved(bytes: &[u8]) -> Log {
    let stretch = Stretch { bytes: bytes.to_vec(), first_line: Some(1), from_start: true, name: None };
    Log {
        name: "log".to_owned(),
        at: AT,
        took: 0.0,
        since: None,
        clock: LogClock::Offset(0.0),
        written: None,
        outcome: Ok(vec![stretch]),
    }
}

/// The log that a running server is found to write, as far as it was read: it tells of the server until now.
pub(crate) fn found(bytes: &[u8]) -> Log {
    Log { since: Some(AT.plus(-86_400.0)), ..saved(bytes) }
}

/// The log of a server that runs, written to a moment ago.
pub(crate) fn live(bytes: &[u8]) -> Log {
    Log { written: Some(AT.plus(-1.0)), ..saved(bytes) }
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(tables::tables)
}

/// The table whose logs most tests read.
pub(crate) fn table() -> &'static Table {
    table_of("sglang")
}

/// The table of an engine.
pub(crate) fn table_of(engine: &str) -> &'static Table {
    tables().get(engine).expect("a table")
}

/// What `log` says; what is left of it in a capture says the same.
pub(crate) fn interpreted(log: Log) -> Account {
    interpreted_by(table(), log)
}

/// The same of another engine's log.
pub(crate) fn interpreted_by(table: &Table, log: Log) -> Account {
    let lean = lean(&log);
    let logs = [log];
    let account = interpret(table, &[], &logs, &Facts::new());
    if let Some(lean) = lean {
        let again = interpret(table, &[], std::slice::from_ref(&lean), &Facts::new());
        let told =
            |log: &Log| String::from_utf8_lossy(&log.outcome.as_ref().expect("it was read")[0].bytes).into_owned();
        assert_eq!(format!("{again:#?}"), format!("{account:#?}"), "{}\n---\n{}", told(&logs[0]), told(&lean));
    }
    account
}

/// Bytes up to which a log is also read as it is kept.
const MOST_LEAN: usize = 1 << 20;

/// The log as a capture keeps it; none of a long one, since this is not made for a million lines.
fn lean(log: &Log) -> Option<Log> {
    static TELLING: OnceLock<Telling> = OnceLock::new();
    let all = log.outcome.as_ref().ok()?;
    if all.iter().map(|stretch| stretch.bytes.len()).sum::<usize>() > MOST_LEAN {
        return None;
    }
    let telling = TELLING.get_or_init(|| Telling::of(tables()));
    let stretch = |stretch: &Stretch| {
        let scrub = |text: &str, _| model::without_secrets(text);
        Stretch { bytes: telling.keep(&stretch.bytes, stretch.from_start, &scrub).0, ..stretch.clone() }
    };
    Some(Log { outcome: Ok(all.iter().map(stretch).collect()), ..log.clone() })
}

/// What a saved log says.
pub(crate) fn read(bytes: &[u8]) -> Account {
    interpreted(saved(bytes))
}

/// What the saved log of another engine says.
pub(crate) fn read_of(engine: &str, text: &str) -> Account {
    interpreted_by(table_of(engine), saved(text.as_bytes()))
}

/// The row of the table that a message begins as, as its documentation says it.
pub(crate) fn row_of(table: &Table, message: &str) -> Option<String> {
    let fits = |line: &&engines::table::Line| {
        let at = line.starts.iter().filter_map(|start| message.find(start.as_str())).min();
        at.is_some_and(|at| line.with.iter().all(|text| message[at..].contains(text.as_str())))
    };
    table.lines.iter().find(fits).map(|line| line.id.clone())
}
