//! Any bytes as Python source: no panic, what is said of a definition is in the source, and line ends make no difference.

use wire::python::{Metric, metrics};

/// Panics where an invariant of the scanner does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    let (found, notes) = metrics(data);
    let lines = data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() as u32 + 1;
    assert!(found.iter().all(|metric| (1..=lines).contains(&metric.line)), "{found:?}");
    assert!(found.windows(2).all(|pair| pair[0].line <= pair[1].line), "in the file's order");
    assert!(found.iter().all(|metric| metric.when.len() <= 9), "{found:?}");
    assert!(notes.len() <= 6, "{notes:?}");
    for metric in &found {
        assert!(!metric.exposed().is_empty());
        if metric.is_whole() {
            assert!(metric.exposed().iter().all(|name| metric.is_exposed_as(name)), "{metric:?}");
            assert!(
                metric.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte)),
                "{metric:?}"
            );
        }
    }
    // Fields of strings have a limit in bytes, so this is of short sources.
    if data.len() < 400 && !data.contains(&b'\r') {
        let mut other = Vec::new();
        for &byte in data {
            if byte == b'\n' {
                other.push(b'\r');
            }
            other.push(byte);
        }
        assert_eq!(shapes(&found), shapes(&metrics(&other).0), "line ends of the other kind");
    }
    let commented = [data, b"\n# Gauge('a', 'b')\n"].concat();
    assert_eq!(shapes(&found), shapes(&metrics(&commented).0), "a comment defines nothing");
}

fn shapes(found: &[Metric]) -> Vec<(bool, u32)> {
    found.iter().map(|metric| (metric.is_whole(), metric.line)).collect()
}
