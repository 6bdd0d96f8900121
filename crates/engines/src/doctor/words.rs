//! What a finding says: its evidence, where a flag goes, what mends it, what that costs, what answers meanwhile.

use model::{Account, FindingState, Rank, Server, Signal, SourceOutcome};

use super::Whereabouts;
use crate::from_files;
use crate::table::{Case, Need, Table};

/// What tells that a case applies.
pub(super) fn case_evidence(account: &Account, case: &Case, outcome: Option<&SourceOutcome>) -> String {
    let mut parts = vec![case.why.clone()];
    if let Some(outcome) = outcome.filter(|outcome| **outcome != SourceOutcome::Answered) {
        parts.push(outcome.text().to_owned());
    }
    if let Some(fact) = case.when.as_ref().and_then(|when| account.facts.get(when.fact()))
        && !parts.contains(&fact.source)
    {
        parts.push(format!("{} = {}", fact.source, fact.value));
    }
    parts.retain(|part| !part.is_empty());
    parts.dedup();
    parts.join("; ")
}

pub(super) fn joined(one: &str, other: &str) -> String {
    if one.is_empty() { other.to_owned() } else { format!("{one}; {other}") }
}

pub(super) fn where_it_goes(place: &Whereabouts, server: &Server) -> String {
    if let Some(line) = from_files::place(place) {
        return line;
    }
    // A scope (a login session, for instance) and a user's manager have no ExecStart that starts this server.
    let unit = place.unit.as_ref().filter(|unit| unit.ends_with(".service") && !unit.starts_with("user@"));
    match (&place.container, unit, place.pid) {
        (Some(container), _, _) => format!("the command of container {container}"),
        (None, Some(unit), _) => match place.unit_user {
            Some(user) => format!("ExecStart of {unit} (as user {user}: systemctl --user edit {unit})"),
            None => match &place.file {
                Some(file) => format!("ExecStart of {unit}, {file}"),
                None => format!("ExecStart of {unit} (systemctl edit {unit})"),
            },
        },
        (None, None, Some(pid)) => match &place.command {
            Some(command) => format!("the command line of pid {pid}: {command} …"),
            None => format!("the command line of pid {pid}"),
        },
        (None, None, None) => format!("the command line that starts the server at {}", server.url),
    }
}

/// What to do where no flag of the engine helps.
pub(super) fn mend(state: FindingState, need: &Need, account: &Account) -> String {
    match (state, account.source(&need.source).map(|status| &status.outcome)) {
        (FindingState::NotOffered, _) => "nothing here: no flag of this version shows it".to_owned(),
        (_, Some(SourceOutcome::Off(_))) => {
            "the way to the page: a proxy or a root path in front of it, or a port of its own".to_owned()
        }
        (_, Some(SourceOutcome::Denied(_))) => {
            "credentials for plimsoll: --bearer-file FILE or --bearer-env NAME".to_owned()
        }
        (_, Some(SourceOutcome::Unreachable(_))) => "the way to the server: see the evidence".to_owned(),
        _ if account.fact("version").is_none() => {
            "unknown: it does not say its version; is it the engine itself, or a copy of its names?".to_owned()
        }
        _ if !need.ranks.is_empty() => match (account.fact("nnodes"), account.fact("dist_init_addr")) {
            (Some(nodes), Some(first)) if nodes != "1" => {
                format!("the other nodes of {nodes} (all started with {first}): look there")
            }
            _ => "the nodes or ports of the ranks that are not seen".to_owned(),
        },
        _ => "the server's log: it should be there in this version".to_owned(),
    }
}

/// What a restart costs this very server, by what it says of itself.
pub(super) fn price(table: &Table, account: &Account, server: &Server) -> String {
    let mut parts = vec![table.engine.restart.clone()];
    let sum = |signal| model::sum(&server.ranks, signal);
    match (sum(Signal::REQ_RUNNING), sum(Signal::REQ_WAITING)) {
        (Some(running), Some(waiting)) => parts.push(format!("{running} running and {waiting} waiting now")),
        (Some(running), None) => parts.push(format!("{running} running now")),
        (None, Some(waiting)) => parts.push(format!("{waiting} waiting now")),
        (None, None) => {}
    }
    match account.fact("radix_off") {
        Some("on") => parts.push("no prefix cache to lose".to_owned()),
        Some("off") => parts.push("the prefix cache is lost and must be computed again".to_owned()),
        _ => {}
    }
    if let Some(seconds) = account.fact("start_seconds").and_then(|seconds| seconds.parse::<f64>().ok()) {
        parts.push(format!("{seconds:.0} s to start, as it took the last time"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// The answer that is there all the same.
pub(super) fn meanwhile(server: &Server, need: &Need) -> String {
    let pool = server.ranks.iter().filter_map(Rank::binding).max_by(|a, b| a.1.total_cmp(&b.1));
    let about_fullness = [Signal::KV_USED, Signal::KV_IN_USE].iter().any(|signal| need.signals.contains(signal));
    match pool.filter(|_| about_fullness) {
        Some((pool, in_use)) => {
            let mut told = [Signal::KV_USED, Signal::KV_IN_USE].into_iter().filter_map(|signal| pool.get(signal));
            let source = told.find_map(|reading| reading.source.as_deref()).unwrap_or("another source");
            format!("{:.1} % in use now, by {source}", in_use * 100.0)
        }
        None => recent(server, need).unwrap_or_else(|| need.meanwhile.clone()),
    }
}

/// Retractions of the last minute, where a log told them.
fn recent(server: &Server, need: &Need) -> Option<String> {
    let told = |rank: &Rank| rank.readings.get(&Signal::REQ_RETRACTED_RECENT).and_then(|recent| recent.source.clone());
    let source = server.ranks.iter().find_map(told).filter(|_| need.signals.contains(&Signal::REQ_RETRACTED_TOTAL))?;
    Some(format!("{} in the last minute, by {source}", model::sum(&server.ranks, Signal::REQ_RETRACTED_RECENT)?))
}
