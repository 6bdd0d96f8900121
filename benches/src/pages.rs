//! Two pages: one recorded from a loaded server, and 67 of it in one, as a metrics gateway would serve them.

use std::fmt::Write;
use std::path::Path;

/// Copies in the large page: about 5 MB.
const COPIES: usize = 67;

/// The recorded page: 74 KB, 553 samples, 86 families.
pub fn recorded() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/pages/sglang-on-load.prom");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The recorded page many times over: each family once, with the samples of every copy, which a label tells apart.
pub fn merged() -> String {
    let page = recorded();
    let mut merged = String::with_capacity(page.len() * (COPIES + 8));
    for (declarations, samples) in families(&page) {
        declarations.iter().for_each(|line| writeln!(merged, "{line}").unwrap());
        for copy in 0..COPIES {
            samples.iter().for_each(|line| with_label(&mut merged, line, copy));
        }
    }
    merged
}

/// Declarations and samples of each family, in the page's order.
fn families(page: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let mut families: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for line in page.lines() {
        let declares = line.starts_with('#');
        match families.last_mut() {
            Some((declarations, samples)) if declares && samples.is_empty() => declarations.push(line),
            _ if declares => families.push((vec![line], Vec::new())),
            Some((_, samples)) => samples.push(line),
            None => families.push((Vec::new(), vec![line])),
        }
    }
    families
}

fn with_label(page: &mut String, line: &str, copy: usize) {
    let written = match line.split_once('{') {
        Some((name, rest)) => writeln!(page, "{name}{{replica=\"{copy}\",{rest}"),
        None => {
            let (name, value) = line.split_once(' ').expect("a sample has a value");
            writeln!(page, "{name}{{replica=\"{copy}\"}} {value}")
        }
    };
    written.expect("a String takes everything");
}
