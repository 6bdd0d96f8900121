//! Logs as looks bring them.

#![allow(dead_code)] // each test file uses its part

pub(crate) mod around;

use std::sync::OnceLock;

use engines::table::Table;
use engines::{Tables, interpret};
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

/// The one table whose logs are read.
pub(crate) fn table() -> &'static Table {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(Tables::builtin).get("sglang").expect("a table")
}

/// What `log` says.
pub(crate) fn interpreted(log: Log) -> Account {
    interpret(table(), &[], &[log], &Facts::new())
}

/// What a saved log says.
pub(crate) fn read(bytes: &[u8]) -> Account {
    interpreted(saved(bytes))
}

/// The row of the table that a message begins as, as its documentation says it.
pub(crate) fn row_of(message: &str) -> Option<String> {
    let fits = |line: &&engines::table::Line| {
        let at = line.starts.iter().filter_map(|start| message.find(start.as_str())).min();
        at.is_some_and(|at| line.with.iter().all(|text| message[at..].contains(text.as_str())))
    };
    table().lines.iter().find(fits).map(|line| line.id.clone())
}
