//! What tables may say of lines. The engine is made up; each expected value is worked out beside the line.

mod support;

use model::Log;
use support::made::{tables_with, told};
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
