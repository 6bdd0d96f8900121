//! The lines of one pool: its bar, its share, its numbers and who said them.

use model::number::with_unit;
use model::{Level, Pool, Rank, Reading, Signal, State};

use super::bar::{bar, held};
use super::number::{NOTHING, precision, reading, seconds};
use super::paint::strong;
use super::wrap::{facts, hang};

/// Columns before a line's text.
pub(super) const INDENT: usize = 11;
/// Signs of a pool's bar.
const BAR: usize = 28;
/// Columns for a pool's name, where none is longer.
const SHORT: usize = 8;

/// Columns that the names of a server's pools need: bars stand one below the other.
pub(super) fn names(ranks: &[&Rank]) -> usize {
    let many = ranks.len() > 1;
    let names = ranks.iter().flat_map(|rank| rank.pools.iter().map(move |pool| pool_name(rank, pool, many)));
    names.map(|name| name.chars().count()).max().unwrap_or_default().max(SHORT)
}

/// The pool's lines on a screen of `width` columns; `many`: its server has several ranks; `names`: columns for its name.
pub(super) fn lines(rank: &Rank, pool: &Pool, many: bool, names: usize, level: Level, width: usize) -> String {
    let name = format!("{:<names$}", pool_name(rank, pool, many));
    let has = |signal| pool.get(signal).is_some_and(|known| known.value.is_some());
    if !has(Signal::KV_IN_USE) {
        return if has(Signal::KV_OCCUPIED) { occupied(&name, pool, width) } else { unknown(&name, pool, width) };
    }
    let share = format!("{} in use", reading(pool.get(Signal::KV_IN_USE)));
    let off = pool.get(Signal::KV_IN_USE).map(precision).unwrap_or_default();
    let bare = |text: String| if has(Signal::KV_CAPACITY) { without_unit(&text, pool) } else { text };
    let rest = format!("{off}{}{}", bare(headroom(pool)), of_capacity(pool));
    let mut out = first_line(&name, &share, &rest, width, |signs| bar(pool, level, signs));
    out += &parts(pool, &[Signal::KV_USED, Signal::KV_EVICTABLE, Signal::KV_AVAILABLE, Signal::KV_OCCUPIED], width);
    out
}

/// A pool of which is known what it holds, and not how much of that is locked: a store, a lower tier.
fn occupied(name: &str, pool: &Pool, width: usize) -> String {
    let known = pool.get(Signal::KV_OCCUPIED);
    let share = format!("{} occupied", reading(known));
    let rest = format!("{}{}", known.map(precision).unwrap_or_default(), of_capacity(pool));
    let mut out = first_line(name, &share, &rest, width, |signs| held(pool, signs));
    out += &parts(pool, &[Signal::KV_STORED, Signal::KV_AVAILABLE, Signal::KV_IN_USE], width);
    out
}

fn first_line(name: &str, share: &str, rest: &str, width: usize, bar: impl Fn(usize) -> String) -> String {
    // A narrow screen takes from the bar, not from the numbers; what does not fit a short bar stands below.
    let lead = format!("  {name} ");
    let taken = lead.chars().count() + 1 + share.chars().count();
    let beside = width.saturating_sub(taken + rest.chars().count());
    if beside >= BAR / 4 {
        return format!("{lead}{} {}{rest}\n", bar(beside.min(BAR)), strong(share));
    }
    let signs = width.saturating_sub(taken).clamp(BAR / 4, BAR);
    let first = format!("{lead}{} {}\n", bar(signs), strong(share));
    first + &hang(&" ".repeat(INDENT), INDENT, rest.trim_start_matches([',', ' ']), width)
}

/// The numbers, each with its name, and who said the first of them.
fn parts(pool: &Pool, signals: &[Signal], width: usize) -> String {
    let word = |signal: &Signal| format!("{} {}", signal.row().title, reading(pool.get(*signal)));
    let mut words: Vec<String> = signals.iter().map(word).collect();
    let first = signals.first().and_then(|signal| pool.get(*signal));
    if let (Some(word), Some(first)) = (words.first_mut(), first) {
        *word += &precision(first);
    }
    words.extend(first.map(told_by));
    facts(&" ".repeat(INDENT), INDENT, &words, width)
}

/// ` of 2,048 tokens`, or nothing where it is not known.
fn of_capacity(pool: &Pool) -> String {
    let known = pool.get(Signal::KV_CAPACITY).filter(|capacity| capacity.value.is_some());
    known.map_or(String::new(), |capacity| format!(" of {}", amount(capacity)))
}

/// A number with its unit and its state.
fn amount(known: &Reading) -> String {
    let text = reading(Some(known));
    let unit = with_unit("", known.unit);
    format!("{text}{unit}")
}

/// `, headroom 3,050 tokens`, or nothing where it is not known.
pub(super) fn headroom(pool: &Pool) -> String {
    let known = pool.get(Signal::KV_HEADROOM).filter(|headroom| headroom.value.is_some());
    known.map_or(String::new(), |headroom| {
        let unit = with_unit("", headroom.unit);
        format!(", headroom {}{}{unit}", reading(Some(headroom)), precision(headroom))
    })
}

/// The text without the unit that the capacity behind it says.
fn without_unit(text: &str, pool: &Pool) -> String {
    let unit = pool.get(Signal::KV_CAPACITY).map_or(String::new(), |capacity| with_unit("", capacity.unit));
    text.strip_suffix(unit.as_str()).unwrap_or(text).to_owned()
}

/// A pool's name in as few words as tell it apart: the only pool of the device is the KV cache.
fn pool_name(rank: &Rank, pool: &Pool, many: bool) -> String {
    let several = rank.pools.iter().filter(|other| other.tier == model::DEVICE).count() > 1;
    let mut name = match (pool.tier.as_str(), several) {
        (model::DEVICE, false) => "cache".to_owned(),
        (model::DEVICE, true) => pool.pool.clone(),
        // What lies below the device is mostly the full pool's.
        (tier, _) if pool.pool == model::FULL => tier.to_owned(),
        _ => pool.name(),
    };
    if many {
        name = format!("dp{} {name}", rank.rank.dp.map_or_else(|| "?".to_owned(), |dp| dp.to_string()));
    }
    name
}

/// Which path said it and how long ago.
fn told_by(reading: &Reading) -> String {
    let path = reading.source.as_deref().and_then(|source| match source.split_once("://") {
        Some((_, rest)) => rest.find('/').map(|at| rest[at..].split(' ').next().unwrap_or_default()),
        None => Some(file_and_line(source)),
    });
    match (path, reading.age_s) {
        // With a remark the number may be older than its answer.
        (Some(path), Some(age)) if reading.reason.is_some() => format!("by {path}, read {} ago", seconds(age)),
        (Some(path), Some(age)) => format!("by {path}, {} ago", seconds(age)),
        (Some(path), None) => format!("by {path}"),
        _ => String::new(),
    }
}

/// `decode.log:12` of `decode.log:12 #token`; a file's name may hold blanks.
fn file_and_line(source: &str) -> &str {
    let numbered = |at: &usize| source[..*at].rsplit_once(':').is_some_and(|(_, line)| line.parse::<u64>().is_ok());
    let end = source.match_indices(' ').map(|(at, _)| at).find(numbered);
    end.map_or_else(|| source.split(' ').next().unwrap_or(source), |end| &source[..end])
}

fn unknown(name: &str, pool: &Pool, width: usize) -> String {
    let in_use = pool.get(Signal::KV_IN_USE);
    let state = match in_use.map(|reading| reading.state) {
        Some(State::Unreachable) => "not reached",
        Some(State::Impossible) => "impossible",
        _ => "not reported",
    };
    let shown = [Signal::KV_USED, Signal::KV_EVICTABLE, Signal::KV_STORED, Signal::KV_CAPACITY, Signal::KV_AVAILABLE];
    let known = shown.into_iter().filter_map(|signal| {
        let known = pool.get(signal).filter(|known| known.value.is_some())?;
        Some(format!(", {} {}", signal.row().title, amount(known)))
    });
    let known: String = known.collect();
    let used =
        pool.get(Signal::KV_USED).filter(|used| used.state == State::Impossible).and_then(|used| used.reason.clone());
    let used = used.map_or(String::new(), |why| format!(": {why}"));
    let text = format!("{} in use {NOTHING} ({state}){used}{known}", "?".repeat(BAR));
    hang(&format!("  {name} "), INDENT, &text, width)
}
