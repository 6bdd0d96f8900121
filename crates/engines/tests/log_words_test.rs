//! What tables may say of lines. The engine is made up; each expected value is worked out beside the line.

mod support;

use model::{Log, Signal};
use support::made::{tables_with, told, value};
use support::saved;

fn log(lines: &str) -> Vec<Log> {
    vec![saved(lines.as_bytes())]
}

#[test]
fn the_facts_of_a_line_are_those_of_the_versions_that_mean_them() {
    let sources = r#"
[[line]]
id = "version"
starts = ["Made "]
words = { "Made " = "version" }
[[line]]
id = "size"
starts = ["Sizes:"]
when = "version<2"
facts = { "ranks" = "dp_size" }
"#;
    let size = |version: &str| {
        // The version stands above, so that it is met last.
        let logs = log(&format!("2026-11-29 16:15:20 Made {version}\n2026-11-29 16:15:23 Sizes: ranks=4\n"));
        told(&tables_with(sources, ""), &[], &logs).fact("dp_size").map(str::to_owned)
    };
    assert_eq!(size("1.5"), Some("4".to_owned()));
    assert_eq!(size("2.0"), None);
}

#[test]
fn a_word_names_the_number_behind_or_before_it() {
    let sources = r#"
[[line]]
id = "paged"
starts = ["Using blocks of "]
numbers = { "Using blocks of " = "size" }
before = { " GPU blocks" = "blocks" }
read = [{ name = "blocks", signal = "kv.capacity", pool = "full", less = 1, times = ["size"] }]
"#;
    let capacity = |line: &str| {
        let account = told(&tables_with(sources, ""), &[], &log(&format!("2026-11-29 16:15:23 {line}\n")));
        value(&account, Signal::KV_CAPACITY)
    };
    // (4,096 − 1) × 32
    assert_eq!(capacity("Using blocks of 32 and 4096 GPU blocks: ready"), Some(131_040.0));
    assert_eq!(capacity("Using blocks of 32 and 4,096 GPU blocks: ready"), Some(131_040.0));
    // A part of a version, an address or a name is no number, and without one there is no product.
    assert_eq!(capacity("Using blocks of 32 and v4096 GPU blocks"), None);
    assert_eq!(capacity("Using blocks of 32k and 4096 GPU blocks"), None);
    assert_eq!(capacity("Using blocks of 32 and no GPU blocks"), None);
    // A number that ends a log that was cut may lack its last digits.
    let cut = saved(
        b"2026-11-29 16:15:23 Using blocks of 32 and 4096 GPU blocks of size 1\n2026-11-29 16:15:24 Using blocks of 3",
    );
    let account = told(&tables_with(sources, ""), &[], &[cut]);
    assert_eq!(value(&account, Signal::KV_CAPACITY), Some(131_040.0));
}
