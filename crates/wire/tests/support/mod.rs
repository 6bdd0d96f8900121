//! What several test files share.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;

use wire::exposition::{Limits, Sample, Summary, parse_all};

/// All samples of `page`, each as [`show`] writes it.
pub(crate) fn read(page: &[u8]) -> (Vec<String>, Summary) {
    let (samples, summary) = parse_all(page, &Limits::default());
    (samples.iter().map(show).collect(), summary)
}

/// `line: name {key=value|key=value} value @milliseconds`, unescaped; the time only where there is one.
pub(crate) fn show(sample: &Sample<'_>) -> String {
    let labels: Vec<String> = sample.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let time = sample.timestamp_ms.map_or(String::new(), |at| format!(" @{at}"));
    format!("{}: {} {{{}}} {:?}{time}", sample.line, sample.name, labels.join("|"), sample.value)
}

/// A page of `tests/pages`.
pub(crate) fn page(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
