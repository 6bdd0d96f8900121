//! Every capture of every engine, read as the program reads a live server, against expectations that were reasoned from
//! other evidence than the program's output (`engines/*/captures/*/capture.toml`).

#[path = "captures/check.rs"]
mod check;
#[path = "captures/file.rs"]
mod file;
#[path = "captures/invariants.rs"]
mod invariants;
#[path = "captures/reader.rs"]
mod reader;
#[path = "captures/seeded.rs"]
mod seeded;
#[path = "../../engines/tests/support/tables.rs"]
mod tables;

use std::collections::BTreeSet;

use engines::Tables;
use file::{AnswerRow, Capture, Origin};
use model::{Answer, Blind, BlindKind, Level, Observation, Reading, Server, Signal, State};

/// Fails with all failures at once.
fn report(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n  {}\n", failures.len(), failures.join("\n  "));
}

#[test]
fn every_expectation_holds() {
    let tables = tables::tables();
    let mut failures = Vec::new();
    for capture in file::all() {
        for given in reader::ways(&capture) {
            let told = reader::read(&tables, &capture, given);
            failures.extend(check::failures(&capture, given, &told));
        }
        failures.extend(check::relay_failures(&tables, &capture));
    }
    report(&failures);
}

#[test]
fn invariants_hold_on_every_capture() {
    let tables = tables::tables();
    let mut failures = Vec::new();
    for capture in file::all() {
        for given in reader::ways(&capture) {
            let told = reader::read(&tables, &capture, given);
            failures.extend(
                invariants::broken(&told).into_iter().map(|how| format!("{} ({given:?}): {how}", capture.name)),
            );
        }
    }
    report(&failures);
}

/// Neither what is shown nor what is kept beside it depends on which port or path was asked first.
#[test]
fn the_order_of_answers_changes_nothing() {
    let tables = tables::tables();
    let mut failures = Vec::new();
    for capture in file::all() {
        let mut observations = capture.observations();
        let forth = told_at(&tables, &capture, &observations, 0.0);
        observations.reverse();
        let back = told_at(&tables, &capture, &observations, 0.0);
        if forth.server != back.server {
            failures.push(format!("{}: {:#?}\n  the other way round {:#?}", capture.name, forth.server, back.server));
        }
        for (one, other) in forth.account.sources.iter().zip(&back.account.sources) {
            if one.outcome != other.outcome {
                let (one, id, other) = (&one.outcome, &one.id, &other.outcome);
                failures.push(format!("{}: source {id}: {one:?}; the other way round {other:?}", capture.name));
            }
        }
        if forth.account.views != back.account.views {
            failures.push(format!("{}: the views of its workers differ", capture.name));
        }
    }
    report(&failures);
}

/// A minute later nothing of it may be believed, and what was used (by the newest that said it) is still there.
#[test]
fn what_was_said_long_ago_is_stale() {
    let tables = tables::tables();
    let mut failures = Vec::new();
    for capture in file::all() {
        let observations = capture.observations();
        let (now, later) =
            (told_at(&tables, &capture, &observations, 0.0), told_at(&tables, &capture, &observations, 60.0));
        for ((place, before), (_, after)) in readings(&now.server).into_iter().zip(readings(&later.server)) {
            let kept =
                before.value.is_none() || after.state == State::Stale || !place.ends_with(Signal::KV_USED.row().id);
            if after.fresh().is_some() || !kept {
                failures.push(format!("{}: {place}: {before:?}\n  a minute later {after:?}", capture.name));
            }
        }
        if later.server.verdict.level != Level::Unknown {
            failures.push(format!("{}: judged {:?} by what was said a minute ago", capture.name, later.server.verdict));
        }
        failures.extend(invariants::broken(&later).into_iter().map(|how| format!("{}, stale: {how}", capture.name)));
    }
    report(&failures);
}

/// A server that does not answer is unreachable in every reading, and none of them is 0. One that has no pages was not
/// asked.
#[test]
fn what_cannot_be_asked_is_unreachable() {
    let tables = tables::tables();
    let mut failures = Vec::new();
    // A log alone asks nothing.
    for capture in file::all().into_iter().filter(|capture| capture.file.answer.iter().any(AnswerRow::is_page)) {
        let mut observations = capture.observations();
        for observation in &mut observations {
            observation.outcome = Err(Blind::new(BlindKind::Refused, "connection refused"));
        }
        let told = told_at(&tables, &capture, &observations, 0.0);
        for (place, reading) in readings(&told.server) {
            if reading.state != State::Unreachable || reading.value.is_some() {
                failures.push(format!("{}: {place}: {reading:?}", capture.name));
            }
        }
        if told.server.unreachable.is_none() || told.server.verdict.level != Level::Unknown {
            failures.push(format!("{}: {:?}, {:?}", capture.name, told.server.unreachable, told.server.verdict));
        }
    }
    report(&failures);
}

fn told_at(tables: &Tables, capture: &Capture, observations: &[Observation], later: f64) -> reader::Told {
    reader::tell(
        tables,
        &capture.engine,
        observations.into(),
        &model::Facts::new(),
        capture.now().plus(later),
        Vec::new(),
    )
}

/// Every reading of a server's ranks, with its place.
fn readings(server: &Server) -> Vec<(String, Reading)> {
    let mut found = Vec::new();
    for rank in &server.ranks {
        let own = rank
            .readings
            .iter()
            .map(|(signal, reading)| (format!("{:?} {}", rank.rank, signal.row().id), reading.clone()));
        found.extend(own);
        for pool in &rank.pools {
            let place = |signal: &Signal| format!("{:?} {} {} {}", rank.rank, pool.pool, pool.tier, signal.row().id);
            found.extend(pool.readings.iter().map(|(signal, reading)| (place(signal), reading.clone())));
        }
    }
    found
}

/// Each port of each capture is asked the questions that tell engines apart, in their order, as a live one is.
#[test]
fn answers_alone_name_the_engine() {
    let tables = tables::tables();
    let mut failures = Vec::new();
    for capture in file::all() {
        let pages = capture.file.answer.iter().filter(|answer| answer.is_page());
        let ports: BTreeSet<&str> = pages.map(|answer| answer.on.as_str()).collect();
        for on in ports {
            let asked = tables.questions().into_iter().map(|question| asked(&capture, on, question));
            let named = asked.map(|observation| recognised(&tables, &observation)).find(Option::is_some).flatten();
            let wanted = (capture.engine.clone(), on.to_owned());
            if named.as_ref() != Some(&wanted) {
                failures.push(format!("{}: its port {on} is taken for {named:?}", capture.name));
            }
        }
    }
    report(&failures);
}

/// An answer that alone names another engine (routers pass on what workers say) may do so only where an answer that
/// names the right one is asked before.
#[test]
fn no_answer_misleads() {
    let tables = tables::tables();
    let questions = tables.questions();
    let place = |get: &str| questions.iter().position(|question| *question == get);
    let mut failures = Vec::new();
    for capture in file::all() {
        let wanted = |on: &str| Some((capture.engine.clone(), on.to_owned()));
        let right = |on: &str| {
            let answers = capture.file.answer.iter().filter(|answer| answer.on == on);
            let named = answers.filter(|answer| recognised(&tables, &capture.observation(answer)) == wanted(on));
            named.filter_map(|answer| place(&answer.get)).min()
        };
        for answer in &capture.file.answer {
            let named = recognised(&tables, &capture.observation(answer));
            let safe = right(&answer.on).is_some_and(|right| place(&answer.get).is_none_or(|here| here > right));
            if named.is_some() && named != wanted(&answer.on) && !safe {
                failures.push(format!("{}: {} alone names {named:?}", capture.name, answer.get));
            }
        }
    }
    report(&failures);
}

#[test]
fn planted_faults_are_said() {
    let tables = tables::tables();
    report(&seeded::failures(&tables));
}

#[test]
fn a_router_that_is_far_off_is_said() {
    let tables = tables::tables();
    report(&seeded::router_view_failures(&tables));
}

#[test]
fn captures_are_clean() {
    let mut failures = Vec::new();
    for capture in file::all() {
        let mut fail = |what: String| failures.push(format!("{}: {what}", capture.name));
        let mut files: BTreeSet<String> = capture.file.answer.iter().filter_map(|answer| answer.file.clone()).collect();
        files.extend(capture.file.log.iter().map(|log| log.file.clone()));
        files.insert("capture.toml".to_owned());
        let there = std::fs::read_dir(&capture.folder).into_iter().flatten().filter_map(Result::ok);
        let there: BTreeSet<String> = there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        if files != there {
            fail(format!("named {files:?}, but there is {there:?}"));
        }
        let known = capture.file.fact.iter().any(|fact| fact.name == "engine");
        if capture.file.how.is_empty() || !known || capture.file.expect.is_empty() && capture.file.worker.is_empty() {
            fail("it expects nothing, or does not say how it was made".to_owned());
        }
        let whys = capture.file.expect.iter().map(|row| &row.why).chain(capture.file.fact.iter().map(|row| &row.why));
        for why in whys.chain(capture.file.worker.iter().map(|row| &row.why)) {
            if why.len() < 10 || why.contains("the program") {
                fail(format!("no evidence: {why:?}"));
            }
        }
        if capture.file.origin == Origin::Source
            && !["read in the published package of", "read in the public source of"]
                .iter()
                .any(|words| capture.file.how.contains(words))
        {
            fail("a page from source says what was read".to_owned());
        }
        for file in &files {
            let text = std::fs::read_to_string(capture.folder.join(file)).unwrap_or_default();
            for bad in ["/home/", "/root/", "/tmp/", "/work/", "\"api_key\":\"", "\"admin_api_key\":\""] {
                if text.contains(bad) {
                    fail(format!("{file} holds {bad}"));
                }
            }
            if text.lines().any(|line| line.starts_with("# HELP ") && !line.ends_with(" -")) {
                fail(format!("{file} keeps a help text"));
            }
        }
    }
    report(&failures);
}

fn asked(capture: &Capture, on: &str, question: &str) -> Observation {
    let found = capture.file.answer.iter().find(|answer| answer.on == on && answer.get == question);
    let missing = || Observation {
        get: question.to_owned(),
        url: format!("http://127.0.0.1:30000{question}"),
        at: capture.taken(),
        took: 0.0,
        outcome: Ok(Answer { status: 404, ..Answer::default() }),
    };
    found.map_or_else(missing, |answer| capture.observation(answer))
}

fn recognised(tables: &Tables, observation: &Observation) -> Option<(String, String)> {
    tables.recognise(observation).map(|(table, serves)| (table.engine.name.clone(), serves.to_owned()))
}

/// `broken` is said of what should be there and is not. These captures are of such servers; every other is sound, or off.
const BROKEN: &str = include_str!("captures/broken.toml");

#[derive(serde::Deserialize)]
struct Broken {
    /// By `engine/capture`: the needs that are broken there, and why that is so.
    broken: std::collections::BTreeMap<String, (Vec<String>, String)>,
}

#[test]
fn doctor_calls_nothing_broken_that_is_not() {
    let tables = tables::tables();
    let expected: Broken = toml::from_str(BROKEN).expect("broken.toml");
    let mut failures = Vec::new();
    for capture in file::all() {
        for given in reader::ways(&capture) {
            let told = reader::read(&tables, &capture, given);
            let table = reader::table(&tables, &capture.engine);
            let findings = engines::examine(table, &told.account, &told.server, &engines::Whereabouts::default());
            let is_broken = |finding: &&model::Finding| finding.state == model::FindingState::Broken;
            let broken: BTreeSet<&str> = findings.iter().filter(is_broken).map(|finding| finding.id.as_str()).collect();
            let known = expected.broken.get(&capture.name);
            let known: BTreeSet<&str> = known.iter().flat_map(|(needs, _)| needs).map(String::as_str).collect();
            if !broken.is_subset(&known) {
                let evidence: Vec<&str> =
                    findings.iter().filter(is_broken).map(|finding| finding.evidence.as_str()).collect();
                failures.push(format!("{} ({given:?}): {broken:?}: {evidence:?}", capture.name));
            }
        }
    }
    report(&failures);
}
