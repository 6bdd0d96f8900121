//! A page that is known again comes to what hearing it whole gives: every recorded page, as it is, and with other numbers. The
//! evidence is the walk over the whole page.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wire::exposition::Limits;

use super::hear::{Heard, hear};
use super::pages::Pages;
use crate::Tables;
use crate::table::{Format, Source, Table};

/// Everything that was recorded of an engine, whatever it is.
fn recorded(engine: &str) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines").join(engine).join("captures");
    inside(&folder).iter().flat_map(|capture| inside(capture)).filter(|file| file.is_file()).collect()
}

/// The page with every number on it changed by its last digit, as the server's next page is.
fn next(page: &[u8]) -> Vec<u8> {
    let mut page = page.to_vec();
    for at in 1..page.len() {
        let ends = page[at] == b'\n' && page[at - 1].is_ascii_digit();
        if ends {
            page[at - 1] = if page[at - 1] == b'9' { b'0' } else { page[at - 1] + 1 };
        }
    }
    page
}

fn prometheus(table: &Table) -> impl Iterator<Item = (u16, &Source)> {
    (0..).zip(&table.sources).filter(|(_, source)| source.format == Format::Prometheus)
}

fn same(one: &(Arc<Heard>, Vec<f64>), other: &(Heard, Vec<f64>)) -> bool {
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    *one.0 == other.0 && bits(&one.1) == bits(&other.1)
}

#[test]
fn what_is_known_again_is_what_is_heard() {
    let (tables, limits) = (Tables::builtin(), Limits::whole());
    let mut known = 0;
    for table in tables.iter() {
        for file in recorded(&table.engine.name) {
            let first = std::fs::read(&file).expect("a file");
            for (at, source) in prometheus(table) {
                let pages = Pages::default();
                for count in [vec![true; source.read.len()], vec![false; source.read.len()]] {
                    let mut first_heard = None;
                    for page in [&first, &next(&first), &first] {
                        let again = pages.hear(table, at, source, &count, page, &limits);
                        let whole = hear(table, source, &count, page, &limits, None);
                        assert!(same(&again, &whole), "{} by {}", file.display(), table.engine.name);
                        let heard = first_heard.get_or_insert_with(|| Arc::clone(&again.0));
                        known += usize::from(!again.1.is_empty() && Arc::ptr_eq(heard, &again.0));
                    }
                }
            }
        }
    }
    // Not each was heard anew.
    assert!(known > 100, "{known}");
}

#[test]
fn another_table_other_rows_or_another_source_is_another_page() {
    let (tables, others, limits) = (Tables::builtin(), Tables::builtin(), Limits::whole());
    let table = tables.iter().find(|table| prometheus(table).any(|(_, source)| source.read.len() > 1)).expect("one");
    let (at, source) = prometheus(table).find(|(_, source)| source.read.len() > 1).expect("one");
    let name = format!("{}{}", table.engine.prefixes[0], source.read[0].name);
    let page = format!("# TYPE {name} gauge\n{name} 1\n").into_bytes();
    let (pages, all) = (Pages::default(), vec![true; source.read.len()]);
    let first = pages.hear(table, at, source, &all, &page, &limits).0;
    let again = |table: &Table, at: u16, count: &[bool]| {
        let heard = pages.hear(table, at, &table.sources[usize::from(at)], count, &page, &limits).0;
        Arc::ptr_eq(&first, &heard)
    };
    assert!(again(table, at, &all), "the same");
    assert!(!again(table, at, &vec![false; all.len()]), "other rows");
    assert!(!again(others.get(&table.engine.name).expect("the same"), at, &all), "another table");
    assert!(again(table, at, &all), "still known");
}

#[test]
fn what_is_never_met_again_gives_way_and_room_is_bounded() {
    let (tables, limits) = (Tables::builtin(), Limits::whole());
    let table = tables.iter().find(|table| prometheus(table).next().is_some()).expect("one");
    let (at, source) = prometheus(table).next().expect("one");
    let (pages, count) = (Pages::default(), vec![true; source.read.len()]);
    let page = |number: usize| format!("# TYPE of_{number} gauge\nof_{number} 1\n").into_bytes();
    let heard = |number: usize| pages.hear(table, at, source, &count, &page(number), &limits).0;
    let first = heard(0);
    for number in 1..400 {
        heard(number);
    }
    assert!(!Arc::ptr_eq(&first, &heard(0)), "given up");
    let new = heard(1000);
    assert!(Arc::ptr_eq(&new, &heard(1000)), "there was room again");
}
