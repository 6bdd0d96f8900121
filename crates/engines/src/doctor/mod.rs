//! What an operator needs from a server and how each need stands there, by the engine's `doctor.toml`.

mod series;
mod words;

use std::collections::BTreeSet;

use model::{Account, Finding, FindingState, Fix, Server, Signal, Silence, SourceOutcome, State};

use self::series::{defined, places, series};
pub use self::series::{series_of, telling_series_of};
use self::words::{case_evidence, joined, meanwhile, mend, price, where_it_goes};
use crate::from_files;
use crate::missing::{offered, said_nothing, unsaid};
use crate::offered::Build;
use crate::table::condition::Holds;
use crate::table::version::Version;
use crate::table::{Case, CaseState, Need, Source, Table};

/// Where a flag goes: how the server is started, as far as it can be seen from here.
#[derive(Debug, Clone, Default)]
pub struct Whereabouts {
    /// The systemd unit.
    pub unit: Option<String>,
    /// The user whose own systemd runs the unit; none for the system's.
    pub unit_user: Option<u32>,
    /// The container's short id.
    pub container: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// What it runs in the table's words: program, module and verb, never an argument.
    pub command: Option<String>,
    /// The file that holds the command, and the line at which it begins: `x.service:12`.
    pub file: Option<String>,
    /// The command as that file has it.
    pub launch: Option<wire::launch::Launch>,
    /// Its installed source, where that was read.
    pub build: Option<Build>,
    /// What is known comes from files: nothing was asked.
    pub saved: bool,
}

/// Examines one server. `account` is what it said, `server` the same after joining.
pub fn examine(table: &Table, account: &Account, server: &Server, place: &Whereabouts) -> Vec<Finding> {
    let holds = |condition: &Option<_>| {
        condition
            .as_ref()
            .is_none_or(|when: &crate::table::condition::Condition| when.holds(|name| account.fact(name)) == Holds::Yes)
    };
    if let Some(why) = &server.unreachable {
        return vec![unreached(server, why)];
    }
    let silent = account.silent().map(|why| unreached(server, why));
    let applying = table.needs.iter().filter(|need| holds(&need.applies));
    let needs = applying.map(|need| {
        // What the table says of a version does not hold for a build whose own source has the series.
        let built = place.build.as_ref().is_some_and(|build| !defined(table, build, account, need).is_empty());
        let applies = |case: &&Case| holds(&case.when) && !(built && case.state == CaseState::NotOffered);
        let case = need.case.iter().find(applies).filter(|case| case.state != CaseState::Look);
        one(table, account, server, place, need, case)
    });
    silent.into_iter().chain(needs).collect()
}

/// The one finding about a server that cannot be asked at all.
pub fn unreached(server: &Server, why: &str) -> Finding {
    let told = server
        .ranks
        .iter()
        .flat_map(|rank| &rank.pools)
        .find_map(|pool| pool.get(Signal::KV_USED).filter(|used| used.value.is_some()));
    Finding {
        id: "reach".to_owned(),
        what: "an answer of the server itself".to_owned(),
        state: FindingState::Broken,
        optional: false,
        evidence: why.to_owned(),
        fix: Some(Fix {
            flag: None,
            place: "the way from here to the server: its port, its host flag, a firewall, its process".to_owned(),
            series: Vec::new(),
        }),
        price: String::new(),
        meanwhile: match told.and_then(|used| used.source.as_deref()) {
            Some(source) => format!("what {source} says of it"),
            None => "nothing".to_owned(),
        },
    }
}

fn one(
    table: &Table,
    account: &Account,
    server: &Server,
    place: &Whereabouts,
    need: &Need,
    case: Option<&Case>,
) -> Finding {
    let source = table.sources.iter().find(|source| source.id == need.source);
    let status = account.source(&need.source);
    let (mut state, mut evidence) = match (case, source) {
        (Some(case), _) => (case.state.into(), case_evidence(account, case, status.map(|status| &status.outcome))),
        (None, Some(source)) => seen(table, account, server, place, need, speaker(table, account, source)),
        (None, None) => (FindingState::Broken, String::new()),
    };
    let mut flag = case.and_then(|case| case.flag.clone());
    // Of what is there nobody asks by which series it would be told.
    let open = source.filter(|_| state.is_gap() || place.build.is_some());
    let mut then = open.map(|source| series(table, source, account, need)).unwrap_or_default();
    if let Some(build) = place.build.as_ref().filter(|_| !then.is_empty() || state.is_gap()) {
        let own = defined(table, build, account, need);
        if !own.is_empty() {
            evidence = joined(&evidence, &places(build, &own));
            then = own.into_iter().map(|series| series.name.clone()).collect();
        } else if build.whole && !then.is_empty() && matches!(state, FindingState::Off | FindingState::Broken) {
            state = FindingState::NotOffered;
            evidence = format!("{} defines no such series: none of {}", build.said, then.join(", "));
            flag = None;
            then.clear();
        }
    }
    let missing = state.is_gap();
    let removed = case.and_then(|case| case.remove.as_ref());
    let told = match case {
        Some(case) => case.mend.as_ref(),
        None => need.mend.as_ref().filter(|_| matches!(state, FindingState::Off | FindingState::Broken)),
    };
    // Nothing that would have to be restarted for nothing.
    let mends = flag.is_some() || removed.is_some() || told.is_some_and(|text| !text.starts_with("nothing"));
    Finding {
        id: need.id.clone(),
        what: need.what.clone(),
        state,
        optional: need.optional,
        evidence,
        price: if missing && mends { price(table, account, server) } else { String::new() },
        fix: missing.then(|| Fix {
            place: match (&flag, removed, told) {
                (None, Some(flag), _) => format!("take {flag} out of {}", where_it_goes(place, server)),
                (None, None, Some(text)) => text.clone(),
                (Some(_), ..) => where_it_goes(place, server),
                (None, None, None) => mend(state, need, account),
            },
            flag,
            series: then,
        }),
        meanwhile: if missing { meanwhile(server, need) } else { String::new() },
    }
}

/// The source that speaks for `source`: itself, or another that answered in its place.
fn speaker<'a>(table: &'a Table, account: &Account, source: &'a Source) -> &'a Source {
    let answers =
        |source: &&Source| account.source(&source.id).is_some_and(|status| status.outcome == SourceOutcome::Answered);
    let others = table.sources.iter().filter(|other| other.get == source.get || other.unless.contains(&source.id));
    std::iter::once(source).chain(others).find(answers).unwrap_or(source)
}

/// How a need stands when no case of the table decides it: by what its source said.
fn seen(
    table: &Table,
    account: &Account,
    server: &Server,
    place: &Whereabouts,
    need: &Need,
    source: &Source,
) -> (FindingState, String) {
    if !need.ranks.is_empty() {
        return count_ranks(account, server, need);
    }
    let Some(status) = account.source(&source.id) else {
        return (FindingState::NotAsked, unasked(account, place, source));
    };
    match &status.outcome {
        SourceOutcome::Answered => answered(account, need, source, status.passed_by.as_deref()),
        SourceOutcome::Empty(text) => unsaid_ones(account, source, &need.signals).unwrap_or_else(|| {
            if comes_later(table, account, need, source) {
                (FindingState::NotYet, format!("{text}: it appears with the first one"))
            } else {
                (FindingState::Broken, text.clone())
            }
        }),
        SourceOutcome::Off(text) => match account.facts.get(&source.id).filter(|fact| fact.value == "on") {
            Some(fact) => (FindingState::Broken, format!("switched on by {}, but {text}", fact.source)),
            None => (FindingState::Off, text.clone()),
        },
        other => (FindingState::Broken, other.text().to_owned()),
    }
}

/// Whether all that is needed comes with the first event, by any source that reads the same answer.
fn comes_later(table: &Table, account: &Account, need: &Need, source: &Source) -> bool {
    let rows = || table.sources.iter().filter(|other| other.get == source.get).flat_map(|other| &other.read);
    let lazy = |signal: &Signal| rows().any(|row| row.signal == *signal && row.lazy && offered(row, account));
    !need.signals.is_empty() && need.signals.iter().all(lazy)
}

/// Why nobody asked a source.
fn unasked(account: &Account, place: &Whereabouts, source: &Source) -> String {
    let get = &source.get;
    if account.silent().is_some() {
        "nothing answers over HTTP".to_owned()
    } else if place.saved {
        from_files::unasked(account, source)
    } else if source.saved_only {
        format!("GET {get} takes its numbers away from others, and is never asked: save an answer and give the file")
    } else {
        format!("the {} port is not known from here; give it as a target of its own", source.on)
    }
}

fn answered(account: &Account, need: &Need, source: &Source, passed_by: Option<&str>) -> (FindingState, String) {
    if let Some(fact) = need.fact.as_ref().filter(|fact| account.fact(fact).is_none()) {
        return (FindingState::NotAsked, format!("GET {} answers, but does not say ({fact})", source.get));
    }
    let told = |signal: Signal| {
        account.sets.iter().any(|set| set.source == source.id && set.readings.get(&signal).is_some_and(is_told))
            || account.values.iter().any(|value| value.signal == signal && is_told(&value.reading))
            || account
                .views
                .iter()
                .any(|view| view.source == source.id && view.readings.get(&signal).is_some_and(is_told))
    };
    let rows = |signal: Signal| source.read.iter().filter(move |row| row.signal == signal && offered(row, account));
    let missing: Vec<Signal> =
        need.signals.iter().copied().filter(|signal| !told(*signal) && rows(*signal).next().is_some()).collect();
    if missing.is_empty() {
        return (FindingState::Found, format!("GET {} tells it", source.get));
    }
    if let Some(told) = unsaid_ones(account, source, &missing) {
        return told;
    }
    // What is divided by a count is not there while that is 0.
    if missing.iter().all(|signal| rows(*signal).any(|row| row.lazy || row.over.is_some())) {
        return (FindingState::NotYet, format!("the series appears with the first one; GET {} answers", source.get));
    }
    // It is there, and is no number that may be shown: the table says why.
    let set = account.sets.iter().find(|set| set.source == source.id);
    let refused = set.and_then(|set| {
        let reading = set.readings.get(missing.first()?)?;
        reading.reason.clone().filter(|_| reading.state == State::NotReported)
    });
    if let Some(why) = refused {
        return (FindingState::NotOffered, why);
    }
    let names: Vec<&str> = missing.iter().map(|signal| signal.row().title).collect();
    if let Some(text) = by_version(account, source, &missing) {
        return (FindingState::NotOffered, format!("GET {} answers without {}: {text}", source.get, names.join(", ")));
    }
    if let Some(by) = passed_by {
        // What is missing there tells nothing of the server.
        let text =
            format!("{}: not on the page of {by}, which may leave things out; ask the server itself", names.join(", "));
        return (FindingState::NotAsked, text);
    }
    (FindingState::Broken, format!("GET {} answers, but without {}", source.get, names.join(", ")))
}

/// Since when, or until when, a page has what is missing, where the server does not say its version: then the page tells
/// that it is another one, and nothing is wrong with it.
fn by_version(account: &Account, source: &Source, missing: &[Signal]) -> Option<String> {
    if account.fact("version").and_then(Version::parse).is_some() {
        return None;
    }
    let bounds = |signal: &Signal| {
        let row = source.read.iter().find(|row| row.signal == *signal && offered(row, account))?;
        match (&row.since, &row.until) {
            (Some(since), _) => Some(format!("it has come with {}", String::from(since.clone()))),
            (None, Some(until)) => Some(format!("it has gone with {}", String::from(until.clone()))),
            (None, None) => None,
        }
    };
    let mut said: Vec<String> = missing.iter().map(bounds).collect::<Option<_>>()?;
    said.dedup();
    Some(format!("{}, and the version is not known", said.join(", ")))
}

/// How a need stands of which all that is `missing` stands on the page without a number.
fn unsaid_ones(account: &Account, source: &Source, missing: &[Signal]) -> Option<(FindingState, String)> {
    let of = |signal: &Signal| {
        let mut rows = source.read.iter().filter(|row| row.signal == *signal && offered(row, account));
        rows.find_map(|row| unsaid(account, &source.id, row))
    };
    let found: Vec<_> = missing.iter().map(of).collect::<Option<_>>()?;
    let cut = found.iter().find(|unsaid| unsaid.how == Silence::Cut);
    let told = cut.or(found.first())?;
    let state = if cut.is_some() { FindingState::NotAsked } else { FindingState::NotYet };
    Some((state, said_nothing(told, &format!("GET {}", source.get))))
}

/// Whether a source tells it: also where something about it had to be assumed, but not what follows from a fact alone.
fn is_told(reading: &model::Reading) -> bool {
    let said = reading.state == State::Inferred && reading.source.is_some();
    reading.value.is_some() && (said || matches!(reading.state, State::Reported | State::Derived))
}

fn count_ranks(account: &Account, server: &Server, need: &Need) -> (FindingState, String) {
    let size = |fact: &String| account.fact(fact).and_then(|size| size.parse::<usize>().ok()).unwrap_or(1);
    let wanted: usize = need.ranks.iter().map(size).product();
    if server.ranks.len() > wanted {
        return (FindingState::Found, format!("{} data-parallel ranks are seen", server.ranks.len()));
    }
    if wanted <= 1 {
        return (FindingState::NotNeeded, "there is one data-parallel rank".to_owned());
    }
    let seen: BTreeSet<Option<u32>> =
        server.ranks.iter().filter(|rank| rank.rank.dp.is_some()).map(|rank| rank.rank.dp).collect();
    let text = format!("{} of {wanted} data-parallel ranks are seen", seen.len());
    (if seen.len() >= wanted { FindingState::Found } else { FindingState::Broken }, text)
}

impl From<CaseState> for FindingState {
    fn from(state: CaseState) -> FindingState {
        match state {
            CaseState::Off => FindingState::Off,
            CaseState::Broken => FindingState::Broken,
            CaseState::NotOffered => FindingState::NotOffered,
            CaseState::Dead => FindingState::Dead,
            CaseState::NotNeeded | CaseState::Look => FindingState::NotNeeded,
        }
    }
}
