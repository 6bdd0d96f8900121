//! The status screen: the answer first, then roles side by side, then every server, worst first.

use model::{Kind, Level, Rank, Reading, Role, Server, Sign, Signal, Unit};

use super::bar::LEGEND;
use super::doctor::to_remove;
use super::fleet::{address, side_by_side, workers};
use super::headline::headline;
use super::hosts::{clocks, nothing, origin, unreached};
use super::number::{reading, seconds, several};
use super::paint::{faint, level, paint, strong};
use super::pool::{self, INDENT};
use super::wrap::{columns, facts, hang};
use crate::look::{Look, UNREACHED, clock_of};
use model::number::with_unit;

/// Ranks of one server shown; the others are summed up in a line.
const MOST_RANKS: usize = 16;

/// What one look cannot tell.
const ONE_LOOK: [&str; 2] = [judge::ONE_LOOK, judge::ONE_LOOK_AND_LOG];

/// The whole screen.
pub(crate) fn status(look: &Look) -> String {
    status_within(look, columns())
}

/// The whole screen in so many columns.
pub(crate) fn status_within(look: &Look, width: usize) -> String {
    let snapshot = &look.snapshot;
    let mut out = origin(look.origin.as_deref(), width);
    out += &headline(look, width);
    out += &unreached(&snapshot.hosts, width);
    if snapshot.servers.is_empty() {
        out += &nothing_found(look, width);
        return out;
    }
    let columns = side_by_side(&snapshot.servers, width);
    if !columns.is_empty() {
        out += "\n";
        out += &columns;
    }
    for (server, looked) in snapshot.servers.iter().zip(&look.looked) {
        out += "\n";
        out += &one(server, &looked.signs, width);
    }
    // Hosts that were not reached stand at the top.
    for gap in snapshot.gaps.iter().filter(|gap| gap.server.is_none() && gap.id != UNREACHED) {
        out += &hang(&label("gap"), INDENT, &format!("{}: {}; {}", gap.what, gap.evidence, gap.fix.place), width);
    }
    out += "\n";
    for note in &look.notes {
        out += &hang(&faint("note     "), 9, &note.text, width);
    }
    out += &clocks(&snapshot.hosts, width);
    let own = &snapshot.own;
    let legend: Vec<String> = LEGEND.iter().map(ToString::to_string).collect();
    out += &faint(&facts("", 0, &legend, width));
    let mut foot = vec![
        windows(&snapshot.servers),
        match own.requests {
            0 => clock_of(snapshot.taken_at),
            requests => format!(
                "{} · {}, {} failed · slowest server {}",
                clock_of(snapshot.taken_at),
                several(requests as usize, "request"),
                own.failed,
                seconds(own.slowest_target_s)
            ),
        },
    ];
    if !snapshot.gaps.is_empty() {
        foot.push(format!(
            "{}: `plimsoll doctor` says what reveals each; `plimsoll explain` where each number is from",
            several(snapshot.gaps.len(), "gap")
        ));
    }
    for line in foot {
        out += &faint(&hang("", 0, &line, width));
    }
    out
}

/// What the verdicts are made from: one look, or what a window showed, which is told below each server in trouble.
fn windows(servers: &[Server]) -> String {
    let by_log = |server: &&Server| model::sum(&server.ranks, Signal::REQ_RETRACTED_RECENT).is_some();
    let watched = |server: &&Server| server.verdict.reason.contains(&format!("; {}", judge::WATCHED));
    // Neither a router nor a prefill server has anything to retract.
    let retracts = |server: &&Server| ![Role::Router, Role::Prefill].contains(&server.role);
    let (some, rest): (Vec<&Server>, Vec<&Server>) =
        servers.iter().filter(|server| server.role != Role::Router).partition(|server| watched(server));
    let mut caches = rest.iter().copied().filter(retracts).peekable();
    let one = if caches.peek().is_some() && caches.all(|server| by_log(&server)) { ONE_LOOK[1] } else { ONE_LOOK[0] };
    match (some.len(), rest.len()) {
        (0, _) => one.to_owned(),
        (_, 0) => "judged by the looks of the last minute".to_owned(),
        (some, rest) => format!("{some} of {} judged by the looks of the last minute; the rest by {one}", some + rest),
    }
}

fn nothing_found(look: &Look, width: usize) -> String {
    let mut out = nothing(&look.snapshot.hosts, "status", width);
    for note in &look.notes {
        out += &hang("note     ", 9, &note.text, width);
    }
    out
}

fn one(server: &Server, signs: &[Sign], width: usize) -> String {
    let verdict = &server.verdict;
    let word = if server.role == Role::Router {
        "router".to_owned()
    } else {
        paint(level(verdict.level), &verdict.level.name().to_uppercase())
    };
    let shown = if server.role == Role::Router { 6 } else { verdict.level.name().len() };
    let mut about: Vec<String> = Vec::new();
    if let Some(engine) = &server.engine {
        about.push(format!("{engine} {}", server.version.as_deref().unwrap_or("of unknown version")));
    }
    about.extend(server.model.clone());
    about.extend(server.unit.clone());
    about.extend(server.pid.map(|pid| format!("pid {pid}")));
    about.extend(server.numa_nodes.as_ref().map(|nodes| format!("NUMA {}", numbers(nodes))));
    about.extend(accelerators(server));
    let about = if about.is_empty() { String::new() } else { format!(" {}", faint(&about.join(" · "))) };
    let lead = format!("{word}{}", " ".repeat(INDENT.saturating_sub(shown)));
    let role = if server.role == Role::Router { String::new() } else { format!("{} ", server.role.name()) };
    let mut out = hang(&lead, INDENT, &format!("{}{about}", strong(&format!("{role}{}", address(server)))), width);

    if server.role == Role::Router {
        let said = if server.unreachable.is_some() { verdict.reason.clone() } else { workers(server) };
        out += &hang(&label(""), INDENT, &said, width);
        for view in &server.router_view {
            out += &router_line(view, width);
        }
    } else {
        let many = server.ranks.len() > 1;
        let mut ranks: Vec<&Rank> = server.ranks.iter().collect();
        if many {
            let fullness = |rank: &Rank| rank.binding().map_or(-1.0, |(_, in_use)| in_use);
            ranks.sort_by(|a, b| fullness(b).total_cmp(&fullness(a)));
        }
        let names = pool::names(&ranks);
        for rank in ranks.iter().take(MOST_RANKS) {
            for pool in &rank.pools {
                out += &pool::lines(rank, pool, many, names, verdict.level, width);
            }
            out += &requests(server.role, rank, width);
        }
        let in_order = ranks.is_sorted_by_key(|rank| rank.rank);
        if many && !in_order {
            out += &hang(&label(""), INDENT, &faint("ranks: the fullest first"), width);
        }
        if ranks.len() > MOST_RANKS {
            out += &hang(
                &label(""),
                INDENT,
                &format!("and {} ranks less full than these", ranks.len() - MOST_RANKS),
                width,
            );
        }
        // What is the same of all servers stands at the foot.
        let mut reason =
            ONE_LOOK.iter().fold(verdict.reason.clone(), |reason, window| reason.replace(&format!("; {window}"), ""));
        if server.ranks.iter().filter_map(|rank| rank.readings.get(&Signal::REQ_RETRACTED_TOTAL)).any(says_preempted) {
            reason = reason.replace(" retractions since start", " preemptions since start");
        }
        let failed = model::sum(&server.ranks, Signal::KV_ALLOC_FAILED_TOTAL).is_some_and(|failed| failed > 0.0);
        if verdict.level != Level::Calm || reason.contains("wait") || failed {
            out += &hang(&label("why"), INDENT, &reason, width);
        }
    }
    for sign in signs {
        out += &signed(sign, width);
    }
    // What a sign was made from was said with it.
    let said = |text: &str| signs.iter().flat_map(|sign| &sign.evidence).any(|line| line.starts_with(text));
    // What one flag mends is one line.
    let mut folded: Vec<(String, Vec<&str>)> = Vec::new();
    for gap in server.gaps.iter().filter(|gap| !said(&gap.what)) {
        let fix = match (&gap.fix.flag, to_remove(gap)) {
            (Some(flag), _) => format!(" → {flag}"),
            (None, Some(flag)) => format!(" → without {flag}"),
            (None, None) => String::new(),
        };
        match folded.iter_mut().find(|(known, _)| !fix.is_empty() && *known == fix) {
            Some((_, gaps)) => gaps.push(&gap.what),
            None => folded.push((fix, vec![&gap.what])),
        }
    }
    for (fix, gaps) in folded {
        out += &hang(&label("gap"), INDENT, &format!("{}{fix}", together(&gaps)), width);
    }
    for note in server.notes.iter().filter(|note| !said(&note.text) && note.text != verdict.reason) {
        out += &hang(&label("note"), INDENT, &note.text, width);
    }
    out
}

/// Gaps of one state say it once, behind the last.
fn together(gaps: &[&str]) -> String {
    let state = |gap: &str| gap.rsplit_once(": ").map(|(_, state)| state.to_owned());
    let last = gaps.last().and_then(|last| state(last));
    let alike = gaps.iter().all(|gap| state(gap) == last);
    let bare = |gap: &&str| gap.rsplit_once(": ").filter(|_| alike).map_or(*gap, |(what, _)| what).to_owned();
    let texts = gaps.iter().map(bare).collect::<Vec<_>>().join("; ");
    last.filter(|_| alike).map_or(texts.clone(), |state| format!("{texts}: {state}"))
}

/// What is the matter, by which numbers, and what to do.
fn signed(sign: &Sign, width: usize) -> String {
    let window = sign.window_s.map_or_else(String::new, |window| format!(" (watched for {})", seconds(window)));
    let mut out = hang(&label("sign"), INDENT, &format!("{}{window}", strong(&sign.what)), width);
    out += &hang(&label("seen"), INDENT, &sign.evidence.join("; "), width);
    out += &hang(&label("do"), INDENT, &sign.next, width);
    out
}

/// `0,1,3`.
fn numbers(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// What the server holds of accelerators' memory, in few words: `GPU 0,1: 83.1 of 96.0 GiB each at most`.
fn accelerators(server: &Server) -> Option<String> {
    let most = server.gpus.iter().max_by_key(|gpu| gpu.used_mib)?;
    let gib = |mib: u64| mib as f64 / 1024.0;
    let which: Vec<u32> = server.gpus.iter().map(|gpu| gpu.index).collect();
    let each = if which.len() > 1 { ", the most of them" } else { "" };
    Some(format!("GPU {}: holds {:.1} of {:.1} GiB{each}", numbers(&which), gib(most.used_mib), gib(most.total_mib)))
}

/// What a line is about, as wide as the indent.
fn label(word: &str) -> String {
    faint(&format!("  {word:<9}"))
}

/// Whether the engine itself speaks of preemptions: then it is called so.
fn says_preempted(known: &Reading) -> bool {
    known.value.is_some() && known.source.as_deref().is_some_and(|source| source.contains("preempt"))
}

/// What a rank counts; of a store, which has no requests, what happened in it.
fn requests(role: Role, rank: &Rank, width: usize) -> String {
    let shown = |signal: Signal| {
        let known = rank.readings.get(&signal)?;
        if known.value.is_none() && (role == Role::Store || !signal.row().always) {
            return None;
        }
        let title = match signal {
            Signal::REQ_RETRACTED_TOTAL | Signal::REQ_RETRACTED_RECENT if says_preempted(known) => {
                signal.row().title.replace("retracted", "preempted")
            }
            _ => signal.row().title.to_owned(),
        };
        // Requests are what the line is about; everything else says what it counts.
        let text = reading(Some(known));
        let counted = known.unit != Unit::Requests && known.value.is_some();
        Some(format!("{title} {}", if counted { with_unit(&text, known.unit) } else { text }))
    };
    if role == Role::Store {
        let happened = Signal::all().filter(|signal| signal.row().kind == Kind::Counter);
        let parts: Vec<String> = happened.filter_map(shown).collect();
        return if parts.is_empty() { String::new() } else { facts(&label("events"), INDENT, &parts, width) };
    }
    let signals = [
        Signal::REQ_RUNNING,
        Signal::REQ_WAITING,
        Signal::KV_MAX_CONCURRENCY,
        Signal::PD_BOOTSTRAP,
        Signal::PD_INFLIGHT,
        Signal::PD_PREALLOC,
        Signal::PD_TRANSFER,
        Signal::REQ_RETRACTED_QUEUE,
        Signal::PD_DEFERRED_RELEASE,
        Signal::KV_SESSION_HELD,
        Signal::REQ_RETRACTED_TOTAL,
        Signal::REQ_RETRACTED_RECENT,
        Signal::KV_EVICTED_TOTAL,
        Signal::KV_ALLOC_FAILED_TOTAL,
    ];
    let parts: Vec<String> = signals.into_iter().filter_map(shown).collect();
    facts(&label("requests"), INDENT, &parts, width)
}

fn router_line(view: &model::RouterView, width: usize) -> String {
    let role = view.role.map_or("worker", Role::name);
    let health = if view.healthy == Some(false) { ", not healthy" } else { "" };
    let address = view.worker.split_once("://").map_or(view.worker.as_str(), |(_, rest)| rest);
    let dp = view.dp.filter(|dp| *dp > 0).map_or(String::new(), |dp| format!(" dp {dp}"));
    let in_use = view.readings.get(&Signal::KV_IN_USE);
    let says = match in_use.filter(|reading| reading.value.is_some()) {
        Some(known) => {
            let age = known.age_s.map_or("it does not say of when".to_owned(), |age| format!("{} old", seconds(age)));
            format!("it sees {} in use, {age}", reading(Some(known)))
        }
        None => match view.readings.get(&Signal::KV_USED).filter(|reading| reading.value.is_some()) {
            Some(known) => {
                format!("it counts {} used there", with_unit(&reading(Some(known)), known.unit))
            }
            None => "it says nothing of its cache".to_owned(),
        },
    };
    hang(&label("sees"), INDENT, &format!("{role} {address}{dp}{health}: {says}"), width)
}
