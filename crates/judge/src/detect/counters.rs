//! Counters that fall: a restart, or several processes behind one address.

use model::{Kind, RankId, Reading, Server, Signal, State, Time};

use super::Found;
use super::limits::counter_backwards as limits;
use super::series::seconds;
use super::window::{Window, find};
use model::number::count;

/// What breaks a window.
pub(crate) enum Break {
    /// The server started anew.
    Restart {
        /// The first look at the new process.
        first: usize,
        /// What says so.
        evidence: Vec<String>,
    },
    /// Readings come from several processes in turn.
    Several {
        /// What says so.
        evidence: Vec<String>,
    },
}

/// A counter over the window.
struct Counter<'a> {
    rank: RankId,
    signal: Signal,
    source: &'a str,
    /// Look and value.
    points: Vec<(usize, f64)>,
}

/// Detects several processes.
pub(super) fn backwards(window: &Window<'_>) -> Vec<Found> {
    let Some(Break::Several { evidence }) = &window.broken else { return Vec::new() };
    let what = "counters go back and forth: several processes answer at this one address, each with its own numbers";
    vec![Found::new(what.to_owned(), evidence.clone(), span(window))]
}

/// Detects a restart.
pub(super) fn restarted(window: &Window<'_>) -> Vec<Found> {
    let Some(Break::Restart { first, evidence }) = &window.broken else { return Vec::new() };
    let ago = window.all.last().zip(window.all.get(*first)).map_or(0.0, |(last, new)| last.0.since(new.0));
    let what = match ago {
        ago if ago > 0.0 => format!("it restarted, at least {} ago: nothing before is compared", seconds(ago)),
        _ => "it restarted since the look before: nothing before is compared".to_owned(),
    };
    vec![Found::new(what, evidence.clone(), span(window))]
}

fn span(window: &Window<'_>) -> Option<f64> {
    window.all.first().zip(window.all.last()).map(|(first, last)| last.0.since(first.0))
}

/// What the looks say of the processes behind them; the last restart counts.
pub(super) fn breaks(looks: &[(Time, &Server)]) -> Option<Break> {
    let counters = counters(looks);
    let several: Vec<String> = counters.iter().filter(|counter| comes_back(counter, looks)).map(told(looks)).collect();
    if !several.is_empty() {
        return Some(Break::Several { evidence: several });
    }
    (1..looks.len()).rev().find_map(|step| {
        let evidence = restart(&counters, looks, step)?;
        Some(Break::Restart { first: step, evidence })
    })
}

/// All counters of all looks that are told by one source.
fn counters<'a>(looks: &[(Time, &'a Server)]) -> Vec<Counter<'a>> {
    let Some((_, newest)) = looks.last() else { return Vec::new() };
    let mut counters = Vec::new();
    for rank in &newest.ranks {
        for signal in Signal::all().filter(|signal| signal.row().kind == Kind::Counter) {
            let said = |server: &'a Server| find(server, rank.rank)?.readings.get(&signal).and_then(counted);
            let all = looks.iter().enumerate().filter_map(|(at, (_, server))| Some((at, said(server)?)));
            let Some((_, (_, source))) = all.clone().next_back() else { continue };
            let points = all.filter(|(_, said)| said.1 == source).map(|(at, said)| (at, said.0)).collect();
            counters.push(Counter { rank: rank.rank, signal, source, points });
        }
    }
    counters
}

/// A counter's value and who said it; what is derived may fall for other reasons.
fn counted(reading: &Reading) -> Option<(f64, &str)> {
    (reading.state == State::Reported).then(|| Some((reading.value?, reading.source.as_deref()?))).flatten()
}

/// Whether a counter falls and is then, at once, where it was before, with no new process in between. One fall to nearly
/// nothing is a restart, whatever follows; of more than one the counter must have come back once.
fn comes_back(counter: &Counter<'_>, looks: &[(Time, &Server)]) -> bool {
    let points = &counter.points;
    let falls: Vec<usize> = (1..points.len()).filter(|at| points[*at].1 < points[at - 1].1).collect();
    let new_process = |fall: &usize| other_process(looks, points[fall - 1].0, points[*fall].0);
    if falls.is_empty() || falls.iter().any(new_process) {
        return false;
    }
    let back = |fall: &usize| {
        let before = points[fall - 1].1;
        points[*fall..].iter().any(|(_, value)| *value >= before && *value <= before * (1.0 + limits::BACK))
    };
    let near_zero = |fall: &usize| points[*fall].1 <= limits::NEAR_ZERO * points[fall - 1].1;
    falls.iter().any(back) && (falls.len() > 1 || !falls.iter().all(near_zero))
}

/// Whether the process is known at both looks and is another one.
fn other_process(looks: &[(Time, &Server)], before: usize, after: usize) -> bool {
    let pid = |at: usize| looks.get(at).and_then(|(_, server)| server.pid);
    pid(before).zip(pid(after)).is_some_and(|(before, after)| before != after)
}

/// What says that a new process answers from look `step` on: another pid; or all counters that had counted anything fall
/// together; or one falls to nearly nothing.
fn restart(counters: &[Counter<'_>], looks: &[(Time, &Server)], step: usize) -> Option<Vec<String>> {
    // The look just before may have brought nothing: the newest that did counts.
    let around = |counter: &Counter<'_>| {
        let at = counter.points.iter().position(|(look, _)| *look == step)?;
        Some((counter.points.get(at.checked_sub(1)?)?.1, counter.points[at].1))
    };
    let moved: Vec<(&Counter<'_>, f64, f64)> = counters
        .iter()
        .filter_map(|counter| around(counter).map(|(before, after)| (counter, before, after)))
        .filter(|(_, before, _)| *before > 0.0)
        .collect();
    let fell: Vec<&(&Counter<'_>, f64, f64)> = moved.iter().filter(|(_, before, after)| after < before).collect();
    let together = !fell.is_empty() && fell.len() == moved.len();
    let emptied = fell.iter().any(|(_, before, after)| *after <= limits::NEAR_ZERO * before);
    if other_process(looks, step - 1, step) {
        let pid = |at: usize| looks[at].1.pid.unwrap_or_default();
        return Some(vec![format!("process {} before, {} now", pid(step - 1), pid(step))]);
    }
    let said = |(counter, before, after): &&(&Counter<'_>, f64, f64)| {
        format!("{} {} → {} ({})", counter.signal.row().title, count(*before), count(*after), counter.source)
    };
    (together || emptied).then(|| fell.iter().map(said).collect())
}

/// A counter's course, for people.
fn told<'a>(looks: &'a [(Time, &Server)]) -> impl Fn(&Counter<'_>) -> String + 'a {
    |counter| {
        let values: Vec<String> = counter.points.iter().map(|(_, value)| count(*value)).collect();
        let (first, last) = (counter.points[0].0, counter.points[counter.points.len() - 1].0);
        let span = seconds(looks[last].0.since(looks[first].0));
        let title = counter.signal.row().title;
        let rank = counter.rank.dp.filter(|dp| *dp > 0).map_or_else(String::new, |dp| format!(" of rank dp {dp}"));
        format!("{title}{rank} {} over {span} ({})", values.join(", "), counter.source)
    }
}
