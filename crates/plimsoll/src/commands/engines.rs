//! `plimsoll engines`: which tables there are, and whether those that somebody wrote are sound.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use engines::table::{EngineKind, Table};

use crate::cli::EnginesCommand;
use crate::show::{columns, several};
use crate::tables::{self, Loaded};
use crate::{Said, wrong_usage};

/// The column of an engine's title, and the fewest signs that it keeps.
const TITLE: usize = 1;
const LEAST_TITLE: usize = 12;

/// Lists or checks. Exit code 3 when a check finds faults.
pub(crate) fn run(command: &EnginesCommand) -> Result<Said> {
    match command {
        EnginesCommand::List(args) => list(&tables::load(args.engines.as_deref()).map_err(wrong_usage)?),
        EnginesCommand::Check { folder } => check(folder),
    }
}

fn list(loaded: &Loaded) -> Result<Said> {
    let mut rows = vec![["engine", "what", "kind", "answers", "lines", "flags", "from"].map(str::to_owned).to_vec()];
    for table in loaded.tables.iter() {
        let kind = match table.engine.kind {
            EngineKind::Engine => "engine",
            EngineKind::Store => "store",
            EngineKind::Router => "router",
        };
        let from = loaded.folders.iter().rev().find(|folder| folder.name == table.engine.name);
        rows.push(vec![
            table.engine.name.clone(),
            table.engine.title.clone(),
            kind.to_owned(),
            table.sources.len().to_string(),
            table.lines.len().to_string(),
            table.knobs.len().to_string(),
            from.map_or_else(|| "built in".to_owned(), |folder| folder.path.clone()),
        ]);
    }
    let mut text = aligned(&fitting(rows));
    for fault in &loaded.faults {
        writeln!(text, "\n{fault}")?;
    }
    Ok(Said { text, code: if loaded.faults.is_empty() { 0 } else { 3 } })
}

fn check(folder: &Path) -> Result<Said> {
    let (folders, mut faults) = tables::check(folder).map_err(wrong_usage)?;
    let (tables, found) = engines::Tables::builtin().with(&folders);
    faults.extend(found);
    let mut text = String::new();
    for fault in &faults {
        writeln!(text, "{fault}\n")?;
    }
    // A fault is of a file in an engine's folder, of that folder, or of the one around all.
    let is_wrong = |folder: &str| {
        faults
            .iter()
            .map(|fault| Path::new(&fault.file))
            .any(|at| at.starts_with(folder) || Path::new(folder).starts_with(at))
    };
    for folder in folders.iter().filter(|folder| !is_wrong(&folder.path)) {
        let Some(table) = tables.get(&folder.name) else { continue };
        writeln!(text, "{}: sound, {}", folder.path, size(table))?;
    }
    if !faults.is_empty() {
        let those = if faults.len() == 1 { "1 fault" } else { &format!("{} faults", faults.len()) };
        writeln!(text, "{those}: what was built in stays in force for these engines")?;
    }
    Ok(Said { text, code: if faults.is_empty() { 0 } else { 3 } })
}

fn size(table: &Table) -> String {
    let (answers, lines, flags) = (table.sources.len(), table.lines.len(), table.knobs.len());
    let counted = [several(answers, "answer"), several(lines, "line"), several(flags, "flag")];
    format!("{} as {}", table.engine.title, counted.join(", "))
}

/// The rows with the engines' titles cut so that a line fits the screen, where that suffices.
fn fitting(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let widest = aligned(&rows).lines().map(|line| line.chars().count()).max().unwrap_or_default();
    let over = widest.saturating_sub(columns());
    let titles = rows.iter().map(|row| row[TITLE].chars().count()).max().unwrap_or_default();
    let room = titles.saturating_sub(over);
    if over > 0 && room >= LEAST_TITLE {
        for title in rows.iter_mut().map(|row| &mut row[TITLE]).filter(|title| title.chars().count() > room) {
            *title = title.chars().take(room - 1).chain(['…']).collect();
        }
    }
    rows
}

/// Rows with their columns one below the other.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let words = row.iter().enumerate().map(|(column, word)| format!("{word:<width$}  ", width = width(column)));
        words.collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
