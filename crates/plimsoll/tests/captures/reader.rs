//! The program under test, as far as these tests use it: recognise, interpret, join, judge.

use engines::table::Table;
use engines::{Tables, process};
use fleet::Subject;
use model::{Account, Facts, Fleet, Log, Observation, Server, Signal, Time, View};

use super::file::{Capture, Given};

/// What the program makes of a capture.
pub(crate) struct Told {
    /// Understood.
    pub(crate) account: Account,
    /// Joined and judged.
    pub(crate) server: Server,
    /// Of a router: its workers, by their address, where what it says of them may stand in for their own word.
    pub(crate) alone: Vec<(String, Server)>,
    /// The fleet of this one server, and of its workers by its word.
    pub(crate) fleet: Fleet,
}

/// The table of an engine.
pub(crate) fn table<'a>(tables: &'a Tables, engine: &str) -> &'a Table {
    tables.get(engine).unwrap_or_else(|| panic!("no table is called {engine}"))
}

/// Facts of the capture's command line, if it is known and to be used.
pub(crate) fn flags(tables: &Tables, capture: &Capture, given: Given) -> Facts {
    if given == Given::Answers {
        return Facts::new();
    }
    let argv = &capture.file.argv;
    let found =
        process::recognise(tables, argv).unwrap_or_else(|| panic!("{}: nothing recognises its argv", capture.name));
    assert_eq!(found.engine, capture.engine, "{}: argv", capture.name);
    process::from_arguments(table(tables, &found.engine), &found.arguments.unwrap_or_default(), "command line")
}

/// The ways in which a capture can be read.
pub(crate) fn ways(capture: &Capture) -> Vec<Given> {
    if capture.file.argv.is_empty() { vec![Given::Answers] } else { vec![Given::Answers, Given::Argv] }
}

/// Reads a capture.
pub(crate) fn read(tables: &Tables, capture: &Capture, given: Given) -> Told {
    let flags = flags(tables, capture, given);
    let told = Heard { observations: &capture.observations(), logs: &capture.logs() };
    tell(tables, &capture.engine, told, &flags, capture.now(), Vec::new())
}

/// What a server answered and wrote.
#[derive(Clone, Copy)]
pub(crate) struct Heard<'a> {
    pub(crate) observations: &'a [Observation],
    pub(crate) logs: &'a [Log],
}

impl<'a> From<&'a [Observation]> for Heard<'a> {
    fn from(observations: &'a [Observation]) -> Heard<'a> {
        Heard { observations, logs: &[] }
    }
}

/// Reads what was heard of a server of `engine`, of which routers say `seen_by`.
pub(crate) fn tell(
    tables: &Tables,
    engine: &str,
    heard: Heard<'_>,
    flags: &Facts,
    now: Time,
    seen_by: Vec<(String, View)>,
) -> Told {
    let account = engines::interpret(table(tables, engine), heard.observations, heard.logs, flags);
    join(tables, engine, account, now, seen_by)
}

/// Joins and judges what a server of `engine` said, of which routers say `seen_by`.
pub(crate) fn join(tables: &Tables, engine: &str, account: Account, now: Time, seen_by: Vec<(String, View)>) -> Told {
    let alone = alone(&account, now);
    let table = table(tables, engine);
    let why = |signal: Signal, pool: &str, tier: &str| engines::why(table, &account, signal, pool, tier);
    let subject = Subject {
        url: "http://127.0.0.1:30000".to_owned(),
        host: "127.0.0.1".to_owned(),
        pid: None,
        unit: None,
        account: &account,
        seen_by,
        why: &why,
    };
    let mut server = fleet::join(&subject, now).server;
    server.verdict = judge::verdict(&server);
    let all: Vec<Server> = std::iter::once(&server).chain(alone.iter().map(|(_, one)| one)).cloned().collect();
    let fleet = fleet::totals(&all);
    Told { account, server, alone, fleet }
}

/// The workers of a router that nobody asks, by its word.
fn alone(router: &Account, now: Time) -> Vec<(String, Server)> {
    let url = "http://127.0.0.1:30000";
    let told = router.workers.iter().filter_map(|worker| {
        let views = router.views.iter().filter(|view| view.worker == worker.url && fleet::may_stand(view));
        let seen_by: Vec<(String, View)> = views.map(|view| (url.to_owned(), view.clone())).collect();
        if seen_by.is_empty() {
            return None;
        }
        let account = fleet::told_alone(url, worker, "it was not asked", now);
        let why = |_: Signal, _: &str, _: &str| "nobody says it".to_owned();
        let (url, host) = (worker.url.clone(), String::new());
        let subject = Subject { url, host, pid: None, unit: None, account: &account, seen_by, why: &why };
        let mut server = fleet::join(&subject, now).server;
        server.verdict = judge::verdict(&server);
        Some((worker.url.clone(), server))
    });
    told.collect()
}
