//! What an operator needs from a server and how each need stands there, by the engine's `doctor.toml`.

use std::collections::BTreeSet;

use model::{Account, Finding, FindingState, Fix, Rank, Server, Signal, SourceOutcome, State};

use crate::from_files;
use crate::missing::offered;
use crate::offered::{Build, OfferedSeries};
use crate::table::condition::Holds;
use crate::table::{Case, CaseState, Format, Need, Read, Source, Table};

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
        let case = need.case.iter().find(applies);
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
        (None, Some(source)) => seen(account, server, place, need, source),
        (None, None) => (FindingState::Broken, String::new()),
    };
    let mut flag = case.and_then(|case| case.flag.clone());
    let mut then = source.map(|source| series(table, source, account, need)).unwrap_or_default();
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

/// How a need stands when no case of the table decides it: by what its source said.
fn seen(
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
        let instead =
            account.sources.iter().find(|other| source.get == other.get || other.id.starts_with(source.id.as_str()));
        return match instead {
            Some(other) if other.outcome == SourceOutcome::Answered => {
                (FindingState::Found, format!("GET {} answered", other.get))
            }
            _ if account.silent().is_some() => (FindingState::NotAsked, "nothing answers over HTTP".to_owned()),
            _ if place.saved => (FindingState::NotAsked, from_files::unasked(account, source)),
            _ if source.saved_only => (
                FindingState::NotAsked,
                format!(
                    "GET {} takes its numbers away from others, and is never asked: save an answer and give the file",
                    source.get
                ),
            ),
            _ => (
                FindingState::NotAsked,
                format!("the {} port is not known from here; give it as a target of its own", source.on),
            ),
        };
    };
    match &status.outcome {
        SourceOutcome::Answered => answered(account, need, source, status.passed_by.as_deref()),
        SourceOutcome::Off(text) => match account.facts.get(&source.id).filter(|fact| fact.value == "on") {
            Some(fact) => (FindingState::Broken, format!("switched on by {}, but {text}", fact.source)),
            None => (FindingState::Off, text.clone()),
        },
        other => (FindingState::Broken, other.text().to_owned()),
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
    if let Some(by) = passed_by {
        // What is missing there tells nothing of the server.
        let text =
            format!("{}: not on the page of {by}, which may leave things out; ask the server itself", names.join(", "));
        return (FindingState::NotAsked, text);
    }
    (FindingState::Broken, format!("GET {} answers, but without {}", source.get, names.join(", ")))
}

fn is_told(reading: &model::Reading) -> bool {
    reading.value.is_some() && matches!(reading.state, State::Reported | State::Derived)
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

fn case_evidence(account: &Account, case: &Case, outcome: Option<&SourceOutcome>) -> String {
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

impl From<CaseState> for FindingState {
    fn from(state: CaseState) -> FindingState {
        match state {
            CaseState::Off => FindingState::Off,
            CaseState::Broken => FindingState::Broken,
            CaseState::NotOffered => FindingState::NotOffered,
            CaseState::Dead => FindingState::Dead,
            CaseState::NotNeeded => FindingState::NotNeeded,
        }
    }
}

/// The series that tell the need called `id` in this version and role.
pub fn series_of(table: &Table, account: &Account, id: &str) -> Vec<String> {
    let need = table.needs.iter().find(|need| need.id == id);
    let source = |need: &Need| table.sources.iter().find(|source| source.id == need.source);
    need.and_then(|need| Some(series(table, source(need)?, account, need))).unwrap_or_default()
}

/// Those of [`series_of`] that tell how much is used or in use: the others (a capacity, a count) say nothing of the
/// cache's fullness by themselves.
pub fn telling_series_of(table: &Table, account: &Account, id: &str) -> Vec<String> {
    let Some(need) = table.needs.iter().find(|need| need.id == id) else { return Vec::new() };
    let Some(source) = table.sources.iter().find(|source| source.id == need.source) else { return Vec::new() };
    let telling = |signal: &Signal| [Signal::KV_USED, Signal::KV_IN_USE].contains(signal);
    let only = Need { signals: need.signals.iter().copied().filter(telling).collect(), ..need.clone() };
    series(table, source, account, &only)
}

/// The series that the source will have for the need's signals in this version and role.
fn series(table: &Table, source: &Source, account: &Account, need: &Need) -> Vec<String> {
    if source.format != Format::Prometheus {
        return Vec::new();
    }
    let prefix = table.engine.prefixes.first().map_or("", String::as_str);
    let rows = source.read.iter().filter(|row| need.signals.contains(&row.signal) && offered(row, account));
    let plain = rows.filter(|row| row.pool.as_deref().is_none_or(|pool| pool == model::FULL) && row.tier.is_none());
    let mut names: Vec<String> = plain.map(|row| format!("{prefix}{}", row.name)).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The need's series as the build's own source defines them.
fn defined<'a>(table: &Table, build: &'a Build, account: &Account, need: &Need) -> Vec<&'a OfferedSeries> {
    let source = table.sources.iter().find(|source| source.id == need.source);
    let Some(source) = source.filter(|source| source.format == Format::Prometheus) else { return Vec::new() };
    let plain = |row: &&Read| row.pool.as_deref().is_none_or(|pool| pool == model::FULL) && row.tier.is_none();
    let rows = source.read.iter().filter(|row| need.signals.contains(&row.signal)).filter(plain);
    // A row of another version is as good where the build has its series; one of another role is not.
    let fits = |row: &&Read| row.when.as_ref().is_none_or(|when| when.holds(|name| account.fact(name)) != Holds::No);
    let mut found: Vec<&OfferedSeries> = Vec::new();
    for series in rows.filter(fits).filter_map(|row| build.offered.of(row)) {
        if !found.contains(&series) {
            found.push(series);
        }
    }
    // Rows of this version, where there are any: older names that are kept beside them tell no more.
    if found.iter().any(|series| series.since_table) {
        found.retain(|series| {
            series.since_table || build.offered.renamed.iter().any(|renamed| renamed.new == series.name)
        });
    }
    found
}

/// Where a build defines these series.
fn places(build: &Build, series: &[&OfferedSeries]) -> String {
    let Some(first) = series.first() else { return String::new() };
    let mut text = format!("series by {}, {}:{}", build.said, first.file, first.line);
    if series.len() > 1 {
        text += &format!(" and {} more", series.len() - 1);
    }
    if let Some(flag) = series.iter().find_map(|series| series.with.as_deref()) {
        text += &format!(", with {flag}");
    }
    for renamed in build.offered.renamed.iter().filter(|renamed| series.iter().any(|one| one.name == renamed.new)) {
        text += &format!("; {} is called {} there", renamed.old, renamed.new);
    }
    text
}

fn joined(one: &str, other: &str) -> String {
    if one.is_empty() { other.to_owned() } else { format!("{one}; {other}") }
}

fn where_it_goes(place: &Whereabouts, server: &Server) -> String {
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
fn mend(state: FindingState, need: &Need, account: &Account) -> String {
    match (state, account.source(&need.source).map(|status| &status.outcome)) {
        (FindingState::NotOffered, _) => "an upgrade: this version has no switch for it".to_owned(),
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
fn price(table: &Table, account: &Account, server: &Server) -> String {
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
fn meanwhile(server: &Server, need: &Need) -> String {
    let pool = server.ranks.iter().filter_map(Rank::binding).max_by(|a, b| a.1.total_cmp(&b.1));
    let about_fullness = need.signals.contains(&Signal::KV_USED);
    match pool.filter(|_| about_fullness).and_then(|(pool, in_use)| Some((pool.get(Signal::KV_USED)?, in_use))) {
        Some((used, in_use)) => {
            let source = used.source.as_deref().unwrap_or("another source");
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
