//! Doctor's report: per server how each need stands and what mends it, then the host's monitors.

use model::{Finding, FindingState, Gap, Role};

use super::hosts::{nothing, origin, unreached};
use super::number::several;
use super::paint::{faint, level, paint, strong};
use super::wrap::{columns, hang};
use crate::commands::drop_in::DropIn;
use crate::look::UNREACHED;
use crate::look::monitors::Watcher;
use crate::report::{Examined, Report, Source};

/// Columns before a line's text.
const INDENT: usize = 14;
/// The gap that stands with the monitors.
const NOT_SCRAPED: &str = "not-scraped";
/// Servers named at a flag in the first lines.
const MOST_SERVERS: usize = 4;

/// The whole report; `asked`: monitors were looked for.
pub(crate) fn doctor(report: &Report, asked: bool) -> String {
    let width = columns();
    let mut out = origin(report.origin.as_deref(), width) + &summary(report, width);
    let mut servers: Vec<&Examined> = report.servers.iter().collect();
    servers.sort_by_key(|server| server.gaps.is_empty());
    for server in servers {
        out += "\n";
        out += &one(server, width);
    }
    if asked {
        out += "\n";
        out += &monitors(report, width);
    }
    for gap in
        report.gaps.iter().filter(|gap| gap.server.is_none() && ![NOT_SCRAPED, UNREACHED].contains(&gap.id.as_str()))
    {
        out += "\n";
        out += &host_gap(gap, width);
    }
    for note in &report.notes {
        out += &hang(&label("note"), INDENT, &note.text, width);
    }
    out
}

fn summary(report: &Report, width: usize) -> String {
    let unreached = unreached(&report.hosts, width);
    if report.servers.is_empty() {
        return unreached + &nothing(&report.hosts, "doctor", width);
    }
    let routers = report.servers.iter().filter(|server| server.role == Role::Router).count();
    let servers = report.servers.len() - routers;
    let mut counts = Vec::new();
    counts.extend((servers > 0).then(|| several(servers, "server")));
    counts.extend((routers > 0).then(|| several(routers, "router")));
    counts.push(match report.gaps.len() {
        0 => strong("no gaps"),
        gaps => strong(&several(gaps, "gap")),
    });
    let mut out = unreached + &counts.join(", ") + "\n";
    let added = flags(report, |gap| gap.fix.flag.as_deref().filter(|flag| !flag.contains('\n')));
    for (lead, link, flags) in [("add ", "to", added), ("take ", "from", flags(report, to_remove))] {
        for (flag, servers) in flags {
            let more = if servers.len() > MOST_SERVERS {
                format!(" and {} more", servers.len() - MOST_SERVERS)
            } else {
                String::new()
            };
            let shown: Vec<&str> = servers.into_iter().take(MOST_SERVERS).collect();
            let text = format!("{} {link} {}{more}", strong(flag), shown.join(", "));
            out += &hang(lead, 4, &text, width);
        }
    }
    out
}

/// The flag that hides what is missing, where taking it away reveals it.
pub(super) fn to_remove(gap: &Gap) -> Option<&str> {
    Some(gap.fix.place.strip_prefix("take ")?.split_once(" out of ")?.0)
}

/// Each flag that reveals something, with the servers that it is of.
fn flags<'a>(report: &'a Report, flag: impl Fn(&'a Gap) -> Option<&'a str>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut flags: Vec<(&str, Vec<&str>)> = Vec::new();
    for server in &report.servers {
        let own = server.gaps.iter().filter_map(&flag);
        for flag in own {
            let at = flags.iter().position(|(known, _)| *known == flag).unwrap_or_else(|| {
                flags.push((flag, Vec::new()));
                flags.len() - 1
            });
            if let Some((_, servers)) =
                flags.get_mut(at).filter(|(_, servers)| servers.last() != Some(&server.url.as_str()))
            {
                servers.push(&server.url);
            }
        }
    }
    flags
}

fn one(server: &Examined, width: usize) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(
        server
            .engine
            .as_ref()
            .map(|engine| format!("{engine} {}", server.version.as_deref().unwrap_or("of unknown version"))),
    );
    facts.extend(server.unit.clone());
    facts.extend(server.pid.map(|pid| format!("pid {pid}")));
    let title = format!("{} {}", server.role.name(), server.url);
    let about = if facts.is_empty() { String::new() } else { format!(" {}", faint(&facts.join(" · "))) };
    let mut out = hang("", 2, &format!("{}{about}", strong(&title)), width);
    out += &server.build.as_ref().map(|source| built(source, width)).unwrap_or_default();
    // What is missing first, then what is optional, then what is there.
    let order = |finding: &&Finding| (!finding.state.is_gap() || finding.optional, !finding.state.is_gap());
    let mut findings: Vec<&Finding> = server.findings.iter().collect();
    findings.sort_by_key(order);
    let mut flags: Vec<&str> = Vec::new();
    for finding in findings {
        let flag = finding.fix.as_ref().and_then(|fix| fix.flag.as_deref());
        out += &one_finding(finding, flag.is_some_and(|flag| flags.contains(&flag)), width);
        flags.extend(flag);
    }
    out += &server.drop_in.as_ref().map(|drop_in| added(drop_in, width)).unwrap_or_default();
    for note in &server.notes {
        out += &hang(&label("note"), INDENT, &note.text, width);
    }
    out
}

/// The drop-in that adds what is missing, as it is to be written.
fn added(drop_in: &DropIn, width: usize) -> String {
    let mut out = hang(&label("drop-in"), INDENT, &format!("{} (--write-dropin DIR writes it)", drop_in.path), width);
    match (&drop_in.text, &drop_in.reason) {
        (Some(text), _) => {
            for line in text.lines() {
                out += &format!("{}{line}\n", " ".repeat(INDENT));
            }
        }
        (None, reason) => out += &hang(&label(""), INDENT, reason.as_deref().unwrap_or_default(), width),
    }
    out
}

/// The installed source, in a line; more where it is not what its version says.
fn built(source: &Source, width: usize) -> String {
    let version = source.version.as_deref().unwrap_or("of unknown version");
    let commit = source.commit.as_ref().map_or(String::new(), |commit| format!(", commit {commit}"));
    let mut text = format!(
        "{} {version}, {}{commit}, {}: defines {} series",
        source.package, source.kind, source.root, source.defined
    );
    if !source.patched.is_empty() {
        text += &format!("; not as released: {}", source.patched.join(", "));
    }
    for renamed in &source.renamed {
        text += &format!("; {} is {} here", renamed.old, renamed.new);
    }
    if !source.missing.is_empty() {
        text += &format!("; without {}", source.missing.join(", "));
    }
    hang(&label("source"), INDENT, &text, width)
}

/// `again`: the same flag stands above with its place and price.
fn one_finding(finding: &Finding, again: bool, width: usize) -> String {
    let gap = finding.state.is_gap();
    let (sign, style) = match (gap, finding.optional) {
        (true, false) => ("✗", level(model::Level::Strained)),
        (true, true) => ("○", level(model::Level::Tight)),
        (false, _) if finding.state == FindingState::NotAsked => ("○", level(model::Level::Tight)),
        (false, _) => ("✓", level(model::Level::Calm)),
    };
    let optional = if finding.optional && gap { " (optional)" } else { "" };
    let state = paint(style, &format!("{sign} {}", finding.state.name()));
    let mut out = hang(&format!("  {state}  "), 4, &format!("{}{optional}", finding.what), width);
    if !gap {
        if finding.state != FindingState::Found {
            let why = finding.evidence.split(';').next().unwrap_or_default();
            out += &hang(&faint("    "), 4, why, width);
        }
        return out;
    }
    out += &hang(&label("seen"), INDENT, &finding.evidence, width);
    if let Some(fix) = &finding.fix {
        if let Some(flag) = &fix.flag {
            let above = if again { " (as above)" } else { "" };
            out += &hang(&label("add"), INDENT, &format!("{}{above}", strong(flag)), width);
            if !again {
                out += &hang(&label("to"), INDENT, &fix.place, width);
            }
        } else {
            out += &hang(&label("mend"), INDENT, &fix.place, width);
        }
        if !fix.series.is_empty() && fix.flag.is_some() {
            out += &hang(&label("then"), INDENT, &fix.series.join(" "), width);
        }
    }
    if !finding.price.is_empty() && !again {
        out += &hang(&label("price"), INDENT, &finding.price, width);
    }
    if !finding.meanwhile.is_empty() {
        out += &hang(&label("meanwhile"), INDENT, &finding.meanwhile, width);
    }
    out
}

fn label(word: &str) -> String {
    faint(&format!("    {word:<10}"))
}

fn monitors(report: &Report, width: usize) -> String {
    let mut out = strong(&format!("Do we have {} here?", lint::monitors().titles(None, "or"))) + "\n";
    if report.monitors.is_empty() {
        out += "  none of them runs here, and none was given (--prometheus URL)\n";
    }
    for watcher in &report.monitors {
        out += &one_monitor(watcher, width);
    }
    for gap in report.gaps.iter().filter(|gap| gap.id == NOT_SCRAPED) {
        out += &host_gap(gap, width);
    }
    out
}

fn one_monitor(watcher: &Watcher, width: usize) -> String {
    let pid = watcher.pid.map_or(String::new(), |pid| format!(" pid {pid}"));
    let config = watcher.config.as_ref().map_or(String::new(), |config| format!(" · {config}"));
    let title = format!("{} {}{}", strong(&watcher.title), watcher.url, faint(&format!("{pid}{config}")));
    let mut out = hang("  ", 4, &title, width);
    if let Some(why) = &watcher.unreachable {
        return out + &hang(&label("unasked"), INDENT, why, width);
    }
    for scraped in &watcher.servers {
        let sign = if ["fresh", "scraped"].contains(&scraped.state) { "✓" } else { "✗" };
        out += &hang(&label(""), INDENT, &format!("{sign} {}: {}", scraped.server, scraped.detail), width);
    }
    out
}

fn host_gap(gap: &Gap, width: usize) -> String {
    let state = paint(level(model::Level::Strained), "✗");
    let mut out =
        hang(&format!("  {state} "), 4, &format!("{}: {}", gap.server.as_deref().unwrap_or("host"), gap.what), width);
    out += &hang(&label("seen"), INDENT, &gap.evidence, width);
    if gap.fix.flag.is_none() {
        out += &hang(&label("mend"), INDENT, &gap.fix.place, width);
    }
    if let Some(flag) = &gap.fix.flag {
        out += &hang(&label("to"), INDENT, &gap.fix.place, width);
        out += &label("add");
        out += "\n";
        for line in flag.lines() {
            out += &format!("{}{line}\n", " ".repeat(INDENT));
        }
    }
    out
}
