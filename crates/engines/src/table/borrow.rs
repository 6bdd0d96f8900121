//! Lines that an engine borrows of another's table: those of programs that it starts and that write into its log.

use super::{Line, Table};

/// What of `table`'s borrowed lines cannot be had of `others`, each with the text near which it stands.
pub(crate) fn faults(table: &Table, others: &[Table]) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    for row in &table.engine.borrows {
        let engine = &row.engine;
        let Some(other) = others.iter().find(|other| other.engine.name == *engine && *engine != table.engine.name)
        else {
            faults.push((format!("{engine:?}"), format!("borrows: no other engine is called {engine:?}")));
            continue;
        };
        for id in &row.lines {
            let may_be = |line: &Line| line.id == *id && line.when.is_none();
            if !other.lines.iter().any(may_be) {
                let text = format!("borrows: {engine} has no line {id:?} that counts without a condition");
                faults.push((format!("{id:?}"), text));
            }
        }
    }
    faults
}

/// Takes back all that is borrowed, and has each table borrow anew.
pub(crate) fn borrow(tables: &mut [Table]) {
    give_back(tables);
    let lent = |table: &Table| {
        let of = |row: &super::Borrow| {
            let other = tables.iter().find(|other| other.engine.name == row.engine)?;
            let wanted = |line: &&Line| row.lines.contains(&line.id) && line.when.is_none();
            Some(other.lines.iter().filter(wanted).map(|line| line.lent(&row.engine)).collect::<Vec<Line>>())
        };
        table.engine.borrows.iter().filter_map(of).flatten().collect::<Vec<Line>>()
    };
    let lent: Vec<Vec<Line>> = tables.iter().map(lent).collect();
    for (table, lines) in tables.iter_mut().zip(lent) {
        table.lines.extend(lines);
    }
}

/// Takes back all that is borrowed.
pub(crate) fn give_back(tables: &mut [Table]) {
    for table in tables {
        table.lines.retain(|line| !line.borrowed);
    }
}
