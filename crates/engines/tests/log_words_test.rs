//! What tables may say of lines. The engine is made up; each expected value is worked out beside the line.

mod support;

use model::{Log, Signal};
use support::made::{faults, of, tables_with, told, value};
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

const SIZES: &str = r#"
[[line]]
id = "fill"
starts = ["Fill: "]
sizes = ["store", "Thrown out: size"]
fractions = ["Found: get"]
binary = true
read = [
  { name = "store", signal = "kv.stored", pool = "full", tier = "host", unit = "bytes" },
  { name = "store/", signal = "kv.capacity", pool = "full", tier = "host", unit = "bytes" },
  { name = "Thrown out: size", signal = "kv.evicted_total", unit = "bytes" },
  { name = "Found: get", signal = "cache.hits_total", unit = "requests" },
  { name = "Found: get/", signal = "cache.queries_total", unit = "requests" },
]
"#;

#[test]
fn sizes_and_fractions_are_two_numbers_each_as_far_off_as_its_last_digit() {
    let of = |sources: &str, line: &str| {
        let account = told(&tables_with(sources, ""), &[], &log(&format!("2026-11-29 16:15:23 {line}\n")));
        move |signal| {
            of(&account, signal).map(|reading| (reading.value.unwrap_or(f64::NAN), reading.precision.unwrap_or(0.0)))
        }
    };
    let line = "Fill: store: 1.50 GB / 4 GB (37%) | Found: get=10/12 | Thrown out: keys=3, size=20.0 MB";
    let (giga, mega) = (1_073_741_824.0, 1_048_576.0);
    let read = of(SIZES, line);
    assert_eq!(read(Signal::KV_STORED), Some((1.5 * giga, 0.005 * giga)));
    assert_eq!(read(Signal::KV_CAPACITY), Some((4.0 * giga, 0.5 * giga)));
    assert_eq!(read(Signal::KV_EVICTED_TOTAL), Some((20.0 * mega, 0.05 * mega)));
    assert_eq!(
        (read(Signal::CACHE_HITS_TOTAL), read(Signal::CACHE_QUERIES_TOTAL)),
        (Some((10.0, 0.0)), Some((12.0, 0.0)))
    );
    // The same in powers of 1000.
    let read = of(&SIZES.replace("binary = true\n", ""), line);
    assert_eq!(read(Signal::KV_STORED), Some((1.5e9, 0.005e9)));
    // Without a unit it is no size, however plain the number; a word is no capacity.
    let read = of(SIZES, "Fill: store: 150 | Thrown out: size=20");
    assert_eq!((read(Signal::KV_STORED), read(Signal::KV_EVICTED_TOTAL)), (None, None));
    let read = of(SIZES, "Fill: store: 1.50 GB / infinite");
    assert_eq!((read(Signal::KV_STORED), read(Signal::KV_CAPACITY)), (Some((1.5 * giga, 0.005 * giga)), None));
    // What ends the line of a file that was cut out may lack digits.
    let cut = log("2026-11-29 16:15:23 Fill: store: 1.50 GB / 4 GB | Found: get=10/12");
    let account = told(&tables_with(SIZES, ""), &[], &cut);
    assert_eq!(
        (value(&account, Signal::CACHE_HITS_TOTAL), value(&account, Signal::CACHE_QUERIES_TOTAL)),
        (Some(10.0), None)
    );
}

#[test]
fn a_size_that_nothing_reads_is_a_fault() {
    let found = faults(&SIZES.replace("sizes = [\"store\"", "sizes = [\"stone\""), "");
    assert!(
        found.iter().any(|fault| fault.contains("\"stone\" is a size or a fraction that no row reads")),
        "{found:#?}"
    );
    let found = faults(&SIZES.replace("sizes = [\"store\", \"Thrown out: size\"]", ""), "");
    assert!(found.iter().any(|fault| fault.contains("binary is of sizes")), "{found:#?}");
}
