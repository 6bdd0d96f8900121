//! Explanations: for each number who said it, which set was taken and why, and what became of every source.

use model::{Rank, Reading, Signal, State, Unit};

use super::hosts::{nothing, origin, unreached};
use super::number::seconds;
use super::paint::{faint, strong};
use super::wrap::{columns, hang};
use crate::look::{Look, Looked};
use model::number::{amount, percent, with_unit};

/// Explains every server of the look.
pub(crate) fn explain(look: &Look) -> String {
    explain_within(look, columns())
}

/// The same in so many columns.
pub(crate) fn explain_within(look: &Look, width: usize) -> String {
    let mut out = origin(look.origin.as_deref(), width) + &unreached(&look.snapshot.hosts, width);
    if look.snapshot.servers.is_empty() {
        return out + &nothing(&look.snapshot.hosts, "explain", width);
    }
    for (server, one) in look.snapshot.servers.iter().zip(&look.looked) {
        let mut writer = Writer { own: &server.url, width, remarks: Vec::new() };
        let fullest = server.ranks.iter().filter_map(Rank::binding).map(|(_, in_use)| in_use).reduce(f64::max);
        let answer = fullest.map_or(String::new(), |in_use| format!(": {} in use", percent(in_use)));
        out += &hang("", 2, &strong(&format!("{} {}{answer}", server.role.name(), server.url)), width);
        out += &sources(one, width);
        for rank in &server.ranks {
            for pool in &rank.pools {
                let words = rank_words(server.ranks.len(), rank.rank);
                out += &hang("  ", 4, &format!("pool {} on {}{words}", pool.pool, pool.tier), width);
                for choice in one
                    .choices
                    .iter()
                    .filter(|choice| choice.rank == rank.rank && choice.pool == pool.pool && choice.tier == pool.tier)
                {
                    out += &contenders(choice, width);
                }
                out += &writer.readings(pool.readings.iter());
            }
            if !rank.readings.is_empty() {
                out += "  rank\n";
                out += &writer.readings(rank.readings.iter());
            }
        }
        out += &facts(look, one, width);
        for (index, remark) in writer.remarks.iter().enumerate() {
            out += &hang(&format!("  ({}) ", index + 1), 6, remark, width);
        }
        for note in &server.notes {
            out += &hang("  note ", 7, &note.text, width);
        }
        out += "\n";
    }
    out
}

fn rank_words(ranks: usize, rank: model::RankId) -> String {
    let number = |kind: &str, index: Option<u32>| index.map_or(format!("{kind} ?"), |index| format!("{kind} {index}"));
    if ranks > 1 {
        format!(", {} {} {}", number("dp", rank.dp), number("tp", rank.tp), number("pp", rank.pp))
    } else {
        String::new()
    }
}

fn sources(one: &Looked, width: usize) -> String {
    let mut out = String::from("  asked\n");
    for status in &one.account.sources {
        let lead = format!("    {:<16} {:>8}  ", status.get, seconds(status.took));
        out += &hang(&lead, 31, status.outcome.text(), width);
    }
    out
}

fn contenders(choice: &fleet::Choice, width: usize) -> String {
    let mut out = String::new();
    for contender in &choice.contenders {
        let numbers: Vec<String> = contender
            .set
            .readings
            .iter()
            .map(|(signal, reading)| {
                format!(
                    "{} {}",
                    signal.row().title,
                    reading.value.map_or("–".to_owned(), |value| value_words(reading.unit, value))
                )
            })
            .collect();
        let age =
            contender.known_age().map_or_else(|| "of unknown age".to_owned(), |age| format!("{} old", seconds(age)));
        let fate = match &contender.lost {
            None if choice.stale => "taken: the newest, and too old to be believed".to_owned(),
            None if contender.precision.is_none() => "taken, though it does not say how much is used".to_owned(),
            None => "taken: the most precise fresh set that says how much is used".to_owned(),
            Some(why) => format!("not taken: {why}"),
        };
        out += &hang(
            "    set   ",
            10,
            &format!("{} ({age}): {}; {fate}", contender.set.source, numbers.join(", ")),
            width,
        );
    }
    out
}

/// Writes the readings of one server.
struct Writer<'a> {
    /// The server's address, which need not stand at each of its sources.
    own: &'a str,
    width: usize,
    /// What is said of several numbers, once.
    remarks: Vec<String>,
}

impl Writer<'_> {
    fn readings<'a>(&mut self, readings: impl Iterator<Item = (&'a Signal, &'a Reading)>) -> String {
        // What is missing for one reason is one line.
        let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
        for (signal, reading) in readings {
            let words = self.words(reading);
            match lines.iter_mut().find(|(_, known)| reading.value.is_none() && *known == words) {
                Some((names, _)) => names.push(signal.row().title),
                None => lines.push((vec![signal.row().title], words)),
            }
        }
        let column = column(lines.iter().filter(|(names, _)| names.len() == 1).map(|(names, _)| names[0]));
        let line = |(names, words): (Vec<&str>, String)| match names.as_slice() {
            [name] => hang(&format!("    {name:<column$} "), column + 5, &words, self.width),
            names => hang("    ", 21, &format!("{}: {words}", names.join(", ")), self.width),
        };
        lines.into_iter().map(line).collect()
    }

    fn words(&mut self, reading: &Reading) -> String {
        let state = match reading.state {
            State::Reported => "reported",
            State::Derived => "derived",
            State::Inferred => "inferred",
            State::Impossible => "impossible",
            State::NotReported => "not reported",
            State::Stale => "stale",
            State::Unreachable => "unreachable",
        };
        let unit = reading.unit;
        let mut parts = vec![match reading.value {
            Some(value) => format!("{}, {state}", with_unit(&value_words(unit, value), unit)),
            None => state.to_owned(),
        }];
        if let Some(off) = reading.precision.filter(|off| *off > 0.0) {
            parts.push(format!("±{}", value_words(unit, off)));
        }
        if !reading.inputs.is_empty() {
            parts.push(format!("from {}", reading.inputs.join(", ")));
        }
        parts.extend(reading.source.as_ref().map(|source| format!("by {}", self.paths(source))));
        parts.extend(reading.age_s.map(|age| format!("{} old", seconds(age))));
        parts.extend(reading.reason.as_ref().map(|reason| match reading.value {
            Some(_) => format!("({})", self.remark(reason)),
            None => reason.clone(),
        }));
        parts.join("; ")
    }

    /// The source without the server's own address: what follows it is a path.
    fn paths(&self, source: &str) -> String {
        let short = |one: &str| one.strip_prefix(self.own).filter(|rest| rest.starts_with('/')).map(str::to_owned);
        let one = |one: &str| short(one).unwrap_or_else(|| one.to_owned());
        source.split(", ").map(one).collect::<Vec<_>>().join(", ")
    }

    /// The number under which the remark stands below.
    fn remark(&mut self, text: &str) -> usize {
        let at = self.remarks.iter().position(|known| known == text);
        at.unwrap_or_else(|| {
            self.remarks.push(text.to_owned());
            self.remarks.len() - 1
        }) + 1
    }
}

/// Columns that names take: those of the longest, as long as what is behind them has room.
fn column<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or_default().clamp(16, 26)
}

fn value_words(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio if value > 0.0 && value < 0.0005 => format!("{:.4} %", value * 100.0),
        unit => amount(value, unit),
    }
}

/// What is known of the server, without what only marks a kind of page for its table.
fn facts(look: &Look, one: &Looked, width: usize) -> String {
    let table = one.account.engine.as_deref().and_then(|name| look.eye_of(one).tables.get(name));
    let is_mark = |name: &String| table.is_some_and(|table| table.engine.marks.contains(name));
    let known = || one.account.facts.iter().filter(|(name, _)| !is_mark(name));
    let column = column(known().map(|(name, _)| name.as_str()));
    let line = |(name, fact): (&String, &model::Fact)| {
        let text = format!("{} {}", fact.value, faint(&format!("by {}", fact.source)));
        hang(&format!("    {name:<column$} "), column + 5, &text, width)
    };
    let lines: String = known().map(line).collect();
    if lines.is_empty() { lines } else { format!("  facts\n{lines}") }
}
