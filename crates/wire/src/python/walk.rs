//! The way through a file, statement by statement, and the definitions found on it.

use std::ops::Range;

use super::call::{Arguments, arguments, chain_start, literals};
use super::frame::{Frames, not};
use super::known::{Known, Scope};
use super::line::{Header, assignment, header, shown};
use super::metric::{Kind, Metric};
use super::token::{Lexed, Sort};
use super::value::{Part, value, written};

/// Most labels of one metric that are kept.
const LABELS: usize = 64;
/// Tokens in which the other end of a conditional expression is looked for.
const NEAR: usize = 64;

/// What a file defines.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) metrics: Vec<Metric>,
    /// Definitions whose names are not in the file.
    pub(super) unread: usize,
    /// There were more than are kept.
    pub(super) full: bool,
    /// Blocks were too deep to be kept.
    pub(super) deep: bool,
}

/// Shows every statement with what encloses it; block headers are statements of the block that they stand in. Tells
/// whether blocks were too deep to be kept.
pub(super) fn statements(lexed: &Lexed<'_>, mut visit: impl FnMut(&Frames, Range<usize>, Option<&Header>)) -> bool {
    let mut frames = Frames::default();
    for line in &lexed.lines {
        let before = frames.close(line.column);
        let mut rest = line.tokens.clone();
        if let Some((header, behind)) = header(lexed, line, before) {
            visit(&frames, rest.start..behind.start, Some(&header));
            frames.open(line.column, header);
            rest = behind;
        }
        while !rest.is_empty() {
            let mut end = rest.start;
            while end < rest.end && !lexed.is(end, ";") {
                end = lexed.after(end);
            }
            let statement = rest.start..end.min(rest.end);
            visit(&frames, statement, None);
            if ["return", "raise", "continue", "break"].iter().any(|word| lexed.is(rest.start, word)) {
                frames.leave();
            }
            rest.start = (end + 1).min(rest.end);
        }
    }
    frames.deep
}

/// All definitions.
pub(super) fn definitions(lexed: &Lexed<'_>, known: &Known) -> Found {
    let mut found = Found::default();
    found.deep = statements(lexed, |frames, tokens, _| {
        for call in calls(lexed, &tokens) {
            let Some(maker) = known.maker(&call.callee, frames.class()) else { continue };
            let scope = Scope { known, frames };
            let Some(arguments) = arguments(lexed, call.open) else { continue };
            let Some(name) = maker.name(lexed, &arguments, &scope) else { continue };
            if !is_name(&name) {
                // A function that is told the name is read where it is called.
                let given = frames.function().map_or(&[][..], |(_, parameters)| parameters);
                let unsaid = |part: &Part| matches!(part, Part::Hole(hole) if !given.contains(hole));
                found.unread += usize::from(name.iter().all(unsaid));
                continue;
            }
            if found.metrics.len() == super::MOST {
                found.full = true;
                return;
            }
            let mut when = frames.tests();
            when.extend(around(lexed, &call, tokens.start));
            found.metrics.push(Metric {
                name: written(&name),
                kind: maker.kind(),
                labels: labels(lexed, &arguments, &scope, maker.labels_at()).unwrap_or_else(|| maker.labels().to_vec()),
                when,
                class: frames.class().map(str::to_owned),
                function: frames.function().map(|(name, _)| name.to_owned()),
                attribute: assignment(lexed, tokens.clone())
                    .filter(|assignment| assignment.value.contains(&call.open))
                    .map(|assignment| assignment.name),
                line: lexed.tokens.get(call.start).map_or(0, |token| token.line),
            });
        }
    });
    found
}

/// A call.
pub(super) struct Call {
    /// The last word of what is called.
    pub(super) callee: String,
    /// The first token of what is called.
    start: usize,
    /// Its opening bracket.
    pub(super) open: usize,
}

/// The calls of a statement that can make something, in order; `def name(` and `class name(` are none.
pub(super) fn calls<'a>(lexed: &'a Lexed<'_>, tokens: &Range<usize>) -> impl Iterator<Item = Call> + use<'a> {
    let floor = tokens.start;
    tokens.clone().filter_map(move |open| {
        if open == floor || !lexed.is(open, "(") || lexed.sort(open - 1) != Some(Sort::Word) {
            return None;
        }
        let start = chain_start(lexed, open, floor);
        let defined = start > floor && (lexed.is(start - 1, "def") || lexed.is(start - 1, "class"));
        (!defined).then(|| Call { callee: lexed.text(open - 1), start, open })
    })
}

/// The test of a conditional expression of which the call is a branch.
fn around(lexed: &Lexed<'_>, call: &Call, floor: usize) -> Option<String> {
    let behind = lexed.after(call.open);
    if lexed.is(behind, "if") {
        let last = (behind + 1..behind + NEAR).find(|at| lexed.is(*at, "else"))?;
        return Some(shown(lexed, behind + 1..last));
    }
    let before = call.start.checked_sub(1).filter(|before| *before > floor && lexed.is(*before, "else"))?;
    let first = (before.saturating_sub(NEAR).max(floor)..before).rev().find(|at| lexed.is(*at, "if"))?;
    Some(not(&shown(lexed, first + 1..before)))
}

/// The labels that a call says, by name or by place, as far as they are written.
pub(super) fn labels(
    lexed: &Lexed<'_>,
    arguments: &Arguments,
    scope: &Scope<'_>,
    place: Option<usize>,
) -> Option<Vec<String>> {
    let own = arguments.named("labelnames").or_else(|| arguments.plain.get(place?).cloned())?;
    let look = |name: &str| scope.look(name);
    let values = literals(lexed, own, LABELS);
    Some(values.into_iter().map(|token| written(&value(lexed, token, &look))).collect())
}

/// Whether it can be a metric's name: some of it is written, and all of that is of the letters for one.
pub(super) fn is_name(parts: &[Part]) -> bool {
    let texts = || parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
    let first = parts.iter().find(|part| **part != Part::Text(String::new()));
    let begins = match first {
        Some(Part::Text(text)) => text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()),
        _ => true,
    };
    begins && texts().any(|text| !text.is_empty()) && texts().all(|text| text.bytes().all(allowed))
}

/// The kind that a constructor of this name makes, by its name alone.
pub(super) fn kind_of(callee: &str) -> Option<Kind> {
    let name = callee.trim_start_matches('_');
    let name = name.strip_suffix("MetricFamily").unwrap_or(name);
    let ends = [
        ("GaugeHistogram", Kind::GaugeHistogram),
        ("Gauge", Kind::Gauge),
        ("Counter", Kind::Counter),
        ("Histogram", Kind::Histogram),
    ];
    if let Some((_, kind)) = ends.iter().find(|(end, _)| name.ends_with(end)) {
        return Some(*kind);
    }
    // Many things of a program are called an info or a summary.
    match name.strip_prefix("Prometheus").or_else(|| name.strip_prefix("Prom")).unwrap_or(name) {
        "Info" => return Some(Kind::Info),
        "Summary" => return Some(Kind::Summary),
        _ => {}
    }
    let stem = ["_cls", "_class", "_type", "_factory"].iter().find_map(|end| name.strip_suffix(end))?;
    let ends = [
        ("gauge_histogram", Kind::GaugeHistogram),
        ("gauge", Kind::Gauge),
        ("counter", Kind::Counter),
        ("histogram", Kind::Histogram),
        ("summary", Kind::Summary),
    ];
    ends.iter().find(|(end, _)| stem.ends_with(end)).map(|(_, kind)| *kind)
}
