//! What is to be said where the answers do not say it: nobody known, still starting, no list.

use engines::table::Table;
use model::{Account, BlindKind, Note, Observation, Time};

use super::candidate::Candidate;

/// That a router answers, and the list of its workers could not be read: what else names some of them is no list.
pub(super) fn unlisted(table: &Table, account: &Account) -> Option<Note> {
    let lists = table.sources.iter().filter(|source| source.workers.is_some());
    let told: Vec<&model::SourceStatus> = lists.filter_map(|source| account.source(&source.id)).collect();
    let is_told = |status: &&model::SourceStatus| matches!(status.outcome, model::SourceOutcome::Answered);
    if account.silent().is_some() || told.iter().any(is_told) {
        return None;
    }
    let unread = told.into_iter().find(|status| {
        use model::SourceOutcome::{Broken, Denied, Unreachable};
        matches!(status.outcome, Broken(_) | Denied(_) | Unreachable(_))
    })?;
    let text = format!("GET {}: {}: which workers it has is not known", unread.get, unread.outcome.text());
    Some(Note::new(super::UNLISTED, text))
}

/// Seconds that a large model may take to load: a process this young that does not listen yet is nothing broken.
const LOADING_S: f64 = 1800.0;

/// That a process which is there does not listen yet, where that is all that came of asking.
pub(super) fn still_starting(candidate: &Candidate, observations: &[Observation], now: Time) -> Option<Note> {
    let process = candidate.process.as_ref()?;
    let refused = |seen: &Observation| seen.outcome.as_ref().is_err_and(|blind| blind.kind == BlindKind::Refused);
    let over_http: Vec<&Observation> = observations.iter().filter(|seen| seen.get.starts_with('/')).collect();
    let age = now.since(process.started_at);
    let young = (0.0..LOADING_S).contains(&age) && process.listening.is_empty();
    let text = || {
        format!(
            "its process {} is there for {age:.0} s and does not listen yet: it may still load its model",
            process.pid
        )
    };
    (young && !over_http.is_empty() && over_http.into_iter().all(refused)).then(|| Note::new("not-listening", text()))
}

/// The account of something that no table knows: what each question brought, in words.
pub(super) fn unknown(observations: &[Observation]) -> Account {
    let mut account = Account::default();
    for observation in observations {
        let outcome = match &observation.outcome {
            Ok(answer) => model::SourceOutcome::Empty(format!(
                "GET {} answered {}{}",
                observation.get,
                answer.status,
                shape(&answer.body)
            )),
            Err(blind) => model::SourceOutcome::Unreachable(blind.text.clone()),
        };
        account.sources.push(model::SourceStatus {
            id: observation.get.clone(),
            get: observation.get.clone(),
            http: true,
            at: observation.at,
            took: observation.took,
            outcome,
            passed_by: None,
        });
    }
    if observations.iter().any(|observation| observation.outcome.is_ok()) {
        let text = format!("it answers, but as no engine that is known here: {}", in_short(observations));
        account.notes.push(Note::new("not-recognised", text));
    }
    account
}

/// What many questions brought, in a clause: `15 paths asked: 13 answered 404; GET /props 200 with JSON of another program`.
fn in_short(observations: &[Observation]) -> String {
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for observation in observations {
        let kind = match &observation.outcome {
            // What a refusal looks like tells nothing of who it is.
            Ok(answer) if answer.status == 404 => "404".to_owned(),
            Ok(answer) => format!("{}{}", answer.status, shape(&answer.body)),
            Err(_) => "nothing".to_owned(),
        };
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, gets)) => gets.push(&observation.get),
            None => kinds.push((kind, vec![&observation.get])),
        }
    }
    kinds.sort_by_key(|(_, gets)| std::cmp::Reverse(gets.len()));
    let words = |(kind, gets): &(String, Vec<&str>)| match gets.as_slice() {
        [one] => format!("{one} answered {kind}"),
        many => format!("{} answered {kind}", many.len()),
    };
    let paths = if observations.len() == 1 { "path" } else { "paths" };
    let kinds: Vec<String> = kinds.iter().map(words).collect();
    format!("{} {paths} asked: {} (`plimsoll explain` lists them)", observations.len(), kinds.join("; "))
}

fn shape(body: &[u8]) -> &'static str {
    match wire::exposition::looks_like(body) {
        wire::exposition::Kind::Html => " with HTML (a proxy or a login page?)",
        wire::exposition::Kind::Empty => " with an empty body",
        wire::exposition::Kind::Json => " with JSON of another program",
        wire::exposition::Kind::Exposition => " with Prometheus text of another program",
        wire::exposition::Kind::Binary => " with bytes that are no text",
        wire::exposition::Kind::Text => " with some text",
    }
}
