//! Any bytes as a file that somebody saved or pasted: taken apart, recognised, understood and joined without a panic; no
//! number comes out that cannot be, and every line that is named is one of the file.

use std::sync::OnceLock;

use engines::{Tables, saved};
use model::{Account, Answer, FULL, Facts, Log, LogClock, Observation, Signal, Stretch, Time};
use wire::launch::{self, Looks};
use wire::transcript;

const NOW: Time = Time(1.8e9);

/// Panics where an invariant of reading saved files does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    let tables = TABLES.get_or_init(Tables::builtin);
    let plain = transcript::unquoted(data);
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    assert_eq!(lines(&plain), lines(data), "quotation marks are no lines");
    for part in transcript::parts(&plain) {
        assert!(part.first_line as usize <= lines(data) + 1, "{part:?}");
        match engines::apart(tables, &part.body) {
            Some(apart) => apart.pages.iter().for_each(|page| {
                answer(tables, &page.body, part.first_line + page.first_line - 1, lines(data) + 1);
            }),
            None => answer(tables, &part.body, part.first_line, lines(data) + 1),
        }
        if let Some(json) = part.json() {
            assert!(json.first_line >= part.first_line);
            answer(tables, &json.body, json.first_line, lines(data) + 1);
        }
    }
    let inner = transcript::unfenced(&plain);
    assert!(lines(&inner) <= lines(data) + 1);
    starts(tables, &String::from_utf8_lossy(&inner));
    log(tables, &plain);
}

fn answer(tables: &Tables, body: &[u8], first_line: u32, most: usize) {
    let Some((table, get)) = saved::answer(tables, body) else { return };
    let at = saved::said_at(table, get, body);
    assert!(at.is_none_or(|at| at.0.is_finite()), "{at:?}");
    let answer = Answer { status: 200, body: body.to_vec(), first_line: Some(first_line), ..Answer::default() };
    let observation =
        Observation { get: get.to_owned(), url: "F".to_owned(), at: at.unwrap_or(NOW), took: 0.0, outcome: Ok(answer) };
    let mut account = engines::interpret(table, &[observation], &[], &Facts::new());
    for set in &account.sets {
        for source in set.readings.values().filter_map(|reading| reading.source.as_deref()) {
            let line = source.strip_prefix("F:").and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
            assert!(line.is_some_and(|line| (1..=most).contains(&line)), "{source} of {most} lines");
        }
    }
    joined(&account, at.unwrap_or(NOW));
    saved::forget_times(table, &mut account, &[get], false);
    joined(&account, NOW);
}

fn log(tables: &Tables, bytes: &[u8]) {
    let log = Log {
        name: "F".to_owned(),
        at: NOW,
        took: 0.0,
        since: None,
        clock: LogClock::Unknown,
        written: None,
        outcome: Ok(vec![Stretch { bytes: bytes.to_vec(), first_line: Some(1), from_start: true, name: None }]),
    };
    let Some(saved::Written { table, span, .. }) = saved::written(tables, &log) else { return };
    let newest = span.map_or(NOW, |(newest, oldest)| {
        assert!(oldest <= newest);
        newest
    });
    let account = engines::interpret(table, &[], &[Log { at: newest, ..log }], &Facts::new());
    joined(&account, newest);
}

fn starts(tables: &Tables, text: &str) {
    let found = match launch::looks_like(text) {
        Looks::Unit => launch::unit(text).found,
        Looks::Compose | Looks::Kubernetes => launch::yaml(text).found,
        Looks::Shell => launch::shell(text).found,
        Looks::Dump => {
            let _ = saved::dumped(tables, text, "F:1");
            return;
        }
        Looks::No => return,
    };
    for launch in found {
        let argv = launch.argv();
        let _ = engines::process::recognise(tables, &argv);
        if let Some(image) = &launch.image {
            let _ = engines::process::recognise_image(tables, image, &argv);
        }
        assert!(launch.end() as usize <= text.lines().count().max(1), "{launch:?}");
    }
}

/// No number of a pool is above its capacity, below zero or none.
fn joined(account: &Account, now: Time) {
    let why = |_, _: &str, _: &str| "nothing says it".to_owned();
    let subject = fleet::Subject {
        url: "F".to_owned(),
        host: String::new(),
        pid: None,
        unit: None,
        account,
        seen_by: Vec::new(),
        why: &why,
    };
    let server = fleet::join(&subject, now).server;
    let _ = judge::verdict(&server);
    for pool in server.ranks.iter().flat_map(|rank| &rank.pools) {
        let value = |signal| pool.get(signal).and_then(|reading| reading.value);
        let off = |signal| pool.get(signal).and_then(|reading| reading.precision).unwrap_or(0.0);
        for reading in pool.readings.values() {
            assert!(reading.value.is_none_or(|value| value.is_finite() && value >= 0.0), "{reading:?}");
        }
        if let (Some(used), Some(capacity), FULL) = (value(Signal::KV_USED), value(Signal::KV_CAPACITY), &*pool.pool) {
            let slack = off(Signal::KV_USED) + off(Signal::KV_CAPACITY) + 0.01 * capacity + 1.0;
            assert!(used <= capacity + slack, "{used} of {capacity}");
        }
    }
}
