//! Any bytes as a page that something else serves in the engines' place: taken apart and understood without a panic; every
//! sample keeps its line and its number, and none is of two servers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use engines::{Tables, apart, saved};
use model::{Answer, Facts, Observation, Time};
use wire::exposition::{Limits, scan};

/// Panics where an invariant of taking pages apart does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    let tables = TABLES.get_or_init(Tables::builtin);
    let Some(apart) = apart(tables, data) else { return };
    let mut left: BTreeMap<u32, u64> = samples(data, 1);
    assert!(apart.pages.len() <= apart.servers, "{} of {}", apart.pages.len(), apart.servers);
    for page in apart.pages {
        assert!(page.first_line > 0 && !page.body.is_empty(), "{page:?}");
        for (line, value) in samples(&page.body, page.first_line) {
            assert_eq!(left.remove(&line), Some(value), "line {line} of {:?}", page.server);
        }
        let Some((table, get)) = saved::part(tables, &page) else { continue };
        let answer = Answer { status: 200, body: page.body, passed: page.passed, ..Answer::default() };
        let (url, at) = ("F".to_owned(), Time(1.8e9));
        let observation = Observation { get: get.to_owned(), url, at, took: 0.0, outcome: Ok(answer) };
        let _ = engines::interpret(table, &[observation], &[], &Facts::new());
    }
}

/// The bits of each sample's number, by its line.
fn samples(page: &[u8], first_line: u32) -> BTreeMap<u32, u64> {
    let mut found = BTreeMap::new();
    // Any number that is none is as good as another.
    let bits = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
    scan(
        page,
        &Limits::whole(),
        |_| true,
        |sample| {
            found.insert(first_line + sample.line - 1, bits(sample.value));
        },
    );
    found
}
