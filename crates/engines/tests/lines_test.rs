//! Every wording of `engines/*/lines.toml`, bare and within everything that may stand around it: the same readings, of
//! the right rank and time. What a row expects follows from the engine's source, never from this program.

mod support;

use std::collections::BTreeMap;

use engines::table::Table;
use engines::table::version::Version;
use model::{Account, DEVICE, RankId, Reading, Signal, State, Time};
use serde::Deserialize;
use support::around::{self, Around, Prefix, Shell};
use support::{AT, SAID, found, interpreted_by, row_of, table_of, tables};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// What its logging set-up writes before a message, at 16:15:23 on 2026-11-29.
    #[serde(default)]
    prefix: Vec<PrefixRow>,
    #[serde(default)]
    row: Vec<Row>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct PrefixRow {
    text: String,
    #[serde(default)]
    dp: u32,
    #[serde(default)]
    pp: u32,
    #[serde(default)]
    tp: u32,
    /// It says no time.
    #[serde(default)]
    timeless: bool,
    /// It says the day as well.
    #[serde(default)]
    day: bool,
    /// It says its zone, which is UTC.
    #[serde(default)]
    zoned: bool,
}

impl PrefixRow {
    fn prefix(&self, tp: Option<u32>) -> Prefix {
        let rank = RankId { dp: Some(self.dp), tp: Some(tp.unwrap_or(self.tp)), pp: Some(self.pp) };
        Prefix { text: self.text.clone(), rank, time: (!self.timeless).then_some((SAID, self.day)), zoned: self.zoned }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // they are columns of a table
struct Row {
    id: String,
    since: Version,
    until: Option<Version>,
    origin: Origin,
    text: String,
    #[serde(default)]
    expect: BTreeMap<String, Expected>,
    #[serde(default)]
    nothing: bool,
    #[serde(default)]
    lasting: bool,
    #[serde(default)]
    run: bool,
    #[serde(default)]
    warns: bool,
    #[serde(default)]
    raised: bool,
    #[serde(default)]
    heads: bool,
    tp: Option<u32>,
    role: Option<String>,
    #[serde(default)]
    facts: BTreeMap<String, String>,
    #[serde(default)]
    why: String,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Origin {
    Source,
    Captured,
}

#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(untagged)]
enum Expected {
    Exactly(f64),
    Between([f64; 2]),
    /// Rounded by the line to something else than two decimals of a ratio, or whole.
    Within {
        value: f64,
        within: f64,
    },
}

impl Expected {
    fn fits(self, reading: &Reading, is_ratio: bool) -> bool {
        let Some(value) = reading.value else { return false };
        match self {
            // What the line rounds to two decimals is right within half of the last one.
            Expected::Exactly(told) => {
                let within = if is_ratio { 0.005 } else { 0.0 };
                value == told && reading.precision.unwrap_or(0.0) == within
            }
            Expected::Within { value: told, within } => {
                (value - told).abs() <= 1e-9 * told.abs().max(1e-9)
                    && (reading.precision.unwrap_or(0.0) - within).abs() <= 1e-9 * within.max(1e-9)
            }
            Expected::Between([least, most]) => {
                // The middle in whole tokens, right within what is left to the further end.
                let off = reading.precision.unwrap_or(0.0);
                let middle = f64::midpoint(least, most).floor();
                reading.state == State::Inferred && (value, value + off) == (middle, most)
            }
        }
    }
}

/// The engines that have wordings, by name, with them.
fn engines() -> Vec<(String, File)> {
    let file = |folder: std::path::PathBuf| {
        let text = std::fs::read_to_string(folder.join("lines.toml")).ok()?;
        let file = toml::from_str(&text).unwrap_or_else(|error| panic!("{}/lines.toml: {error}", folder.display()));
        Some((folder.file_name()?.to_str()?.to_owned(), file))
    };
    tables::folders().into_iter().filter_map(file).collect()
}

/// What stands before a row's text, emptiest first.
fn prefixes(engine: &str, file: &File, row: &Row) -> Vec<Prefix> {
    if engine == "sglang" {
        return around::prefixes(&row.since, row.until.as_ref(), row.tp);
    }
    let bare = Prefix {
        text: String::new(),
        rank: RankId { tp: Some(row.tp.unwrap_or(0)), ..RankId::ZERO },
        time: None,
        zoned: false,
    };
    std::iter::once(bare).chain(file.prefix.iter().map(|prefix| prefix.prefix(row.tp))).collect()
}

/// Everything that was read, by the names of `expect`; with the time, of sets and values alike.
fn told(account: &Account) -> BTreeMap<String, (RankId, Time, Reading)> {
    let mut told = BTreeMap::new();
    for set in &account.sets {
        for (signal, reading) in &set.readings {
            let tier = if set.tier == DEVICE { String::new() } else { format!("{}.", set.tier) };
            let name = format!("{tier}{}.{}", set.pool, signal.row().json);
            // A capacity that was inferred stands beside one that was said, never in its place.
            let twice = told.insert(name.clone(), (set.rank, set.at, reading.clone()));
            assert!(twice.is_none(), "{name} was read twice: {:?}", account.sets);
        }
    }
    for value in &account.values {
        // A log that was read back far enough tells of no retraction, too.
        if value.signal == Signal::REQ_RETRACTED_RECENT && value.reading.value == Some(0.0) {
            continue;
        }
        let at = value.reading.at.unwrap_or(AT);
        told.insert(value.signal.row().json.to_owned(), (value.rank, at, value.reading.clone()));
    }
    told
}

/// What is wrong with the reading of one log.
fn faults(table: &Table, row: &Row, around: &Around) -> Vec<String> {
    let mut faults = Vec::new();
    let account = interpreted_by(table, found(&around.bytes));
    let mut told = told(&account);
    for (name, expected) in &row.expect {
        let Some((rank, at, reading)) = told.remove(name) else {
            // Without any time, nothing tells which minute it was.
            if around.time.is_some() || name != "retracted_recent" {
                faults.push(format!("no {name}"));
            }
            continue;
        };
        if !expected.fits(&reading, reading.unit == model::Unit::Ratio) {
            faults.push(format!("{name} is {reading:?}, not {expected:?}"));
        }
        // Events are counted for all ranks that run in lockstep.
        let counted = name == "retracted_recent";
        let whole = RankId { dp: around.rank.dp, ..RankId::ZERO };
        if rank != if counted { whole } else { around.rank } {
            faults.push(format!("{name} is of {rank:?}"));
        }
        let time = around.time.filter(|_| !row.lasting && !counted).unwrap_or(AT);
        let later = at.since(time);
        if later.abs() > 1e-3 && (later - around.later).abs() > 1e-3 {
            faults.push(format!("{name} is of {at:?}, not {time:?}"));
        }
    }
    // What is refused says why, and is no number.
    told.retain(|_, (_, _, reading)| reading.value.is_some() || reading.state == State::Impossible);
    faults.extend(told.keys().map(|name| format!("{name} was read, too")));
    if account.notes.iter().any(|note| note.id == "log-says") != row.warns {
        faults.push(format!("its notes are {:?}", account.notes));
    }
    let role = row.role.iter().map(|role| ("role", role));
    for (fact, value) in row.facts.iter().map(|(fact, value)| (fact.as_str(), value)).chain(role) {
        if account.fact(fact) != Some(value) {
            faults.push(format!("{fact} is {:?}", account.fact(fact)));
        }
    }
    if format!("{account:?}").contains("sk-made-up") {
        faults.push("a key was kept".to_owned());
    }
    faults.into_iter().map(|fault| format!("{}, {}: {fault} ({})", row.id, around.name, row.why)).collect()
}

#[test]
fn every_wording_is_read_right_whatever_stands_around_it() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for (engine, file) in engines() {
        let table = table_of(&engine);
        for row in &file.row {
            assert_eq!(row.nothing, row.expect.is_empty(), "{}: either it tells something or nothing", row.id);
            let prefixes = prefixes(&engine, &file, row);
            assert!(!prefixes.is_empty(), "{}: no version", row.id);
            for (index, prefix) in prefixes.iter().enumerate() {
                // Every shell around the fullest prefix, and by turns around the others.
                let full = index + 1 == prefixes.len();
                let turn = 1 + checked % (Shell::ALL.len() - 1);
                let all = Shell::ALL.into_iter().enumerate();
                for (_, shell) in all.filter(|(number, _)| full || *number == 0 || *number == turn) {
                    wrong.extend(faults(table, row, &around::line(&row.text, prefix, shell, row.heads)));
                    checked += 1;
                    if row.raised && prefix.time.is_some() {
                        wrong.extend(faults(table, row, &around::raised(&row.text, prefix, shell)));
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} faults in {checked}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    // Of one folder that is tried there are fewer.
    let all = std::env::var_os("PLIMSOLL_ENGINES").is_none();
    assert!(!all || checked > 6000, "{checked} were checked");
}

/// Engines that took over others' lines, which tell the same: one line alone does not tell them apart.
const HEIRS: [(&str, &[&str]); 3] =
    [("aphrodite", &["vllm"]), ("dynamo-worker", &["vllm", "sglang"]), ("llama-cpp-python", &["llamacpp"])];

/// A line of a saved log whose engine nothing names is taken for one of the engine that writes it, or of one that means the
/// same by it.
#[test]
fn every_wording_tells_whose_it_is() {
    let tables = tables::tables();
    let (mut checked, mut wrong) = (0, Vec::new());
    for (engine, file) in engines() {
        let heirs: &[&str] = HEIRS.iter().find(|(heir, _)| *heir == engine).map_or(&[], |(_, of)| of);
        // What it borrows is of another engine, and tells nothing of whose log it stands in.
        let is_borrowed = |row: &Row| {
            let id = row_of(table_of(&engine), &row.text);
            table_of(&engine).lines.iter().any(|line| line.borrowed && Some(&line.id) == id.as_ref())
        };
        for row in file.row.iter().filter(|row| !row.expect.is_empty() && !is_borrowed(row)) {
            let prefixes = prefixes(&engine, &file, row);
            let around = around::line(&row.text, &prefixes[0], Shell::ALL[0], row.heads);
            let log = support::saved(&around.bytes);
            let taken = engines::saved::written(&tables, &log).expect("a line that is known").table;
            checked += 1;
            let name = taken.engine.name.as_str();
            if name != engine && !heirs.contains(&name) {
                wrong.push(format!("{engine} {}: taken for {name}'s", row.id));
                continue;
            }
            for (name, (.., reading)) in told(&interpreted_by(taken, log)) {
                let fits = |expected: &Expected| expected.fits(&reading, reading.unit == model::Unit::Ratio);
                // Whose line it was at first may read more of it.
                let more = taken.engine.name != engine && !row.expect.contains_key(&name);
                if reading.value.is_some() && !more && !row.expect.get(&name).is_some_and(fits) {
                    wrong.push(format!("{engine} {}: {name} is {:?} by {}", row.id, reading.value, taken.engine.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The table names nothing that no row shows, and each kind of line is shown.
#[test]
fn every_line_of_the_table_has_a_wording() {
    for (engine, file) in engines() {
        let table = table_of(&engine);
        let mut shown: BTreeMap<String, usize> = BTreeMap::new();
        for row in &file.row {
            for text in row.text.lines() {
                if let Some(id) = row_of(table, text) {
                    *shown.entry(id).or_default() += 1;
                }
            }
        }
        let missing: Vec<&str> =
            table.lines.iter().map(|line| line.id.as_str()).filter(|id| !shown.contains_key(*id)).collect();
        assert!(missing.is_empty(), "{engine}: no wording for {missing:?}");
        assert!(file.row.iter().all(|row| row.until.as_ref().is_none_or(|until| row.since < *until)), "{engine}");
    }
}

/// Tables that read lines show each of them.
#[test]
fn every_log_that_is_read_has_wordings() {
    let shown: Vec<String> = engines().into_iter().map(|(engine, _)| engine).collect();
    let tables = tables::tables();
    let read = tables::folders();
    let read = read.iter().filter_map(|folder| tables.get(folder.file_name()?.to_str()?));
    for table in read.filter(|table| !table.lines.is_empty()) {
        assert!(shown.contains(&table.engine.name), "{} has no lines.toml", table.engine.name);
    }
}

/// The first engine's log was seen in many runs.
#[test]
fn wordings_were_captured() {
    let captured = |file: &File| file.row.iter().filter(|row| row.origin == Origin::Captured).count();
    for (engine, file) in engines().iter().filter(|(engine, _)| engine == "sglang") {
        assert!(captured(file) >= 10 && file.row.iter().any(|row| row.run), "{engine}: {}", captured(file));
    }
}
