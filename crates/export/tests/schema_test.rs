//! The schema: names that Prometheus' own checks like, none twice, and nothing on the page that is not listed.

mod support;

use std::collections::BTreeSet;

use export::{page, schema, series_name};
use model::{Signal, Unit};
use support::{decode, health, snapshot};

#[test]
fn names_are_unique_and_well_made() {
    let mut seen = BTreeSet::new();
    for family in schema() {
        for name in std::iter::once(&family.name).chain(&family.others) {
            assert!(seen.insert(name.clone()), "{name} stands twice");
            assert!(name.starts_with("plimsoll_") && !name.contains("__"), "{name}");
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{name}");
            assert_eq!(name.ends_with("_total"), family.kind == "counter", "{name}");
            // Endings that are kept for the parts of histograms and summaries.
            assert!(!["_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end)), "{name}");
        }
        assert!(family.help.ends_with('.') && !family.help.contains(['\n', '\\']), "{}: {}", family.name, family.help);
    }
}

/// The names that the README, the rules and the panels rely on.
#[test]
fn the_rule_gives_these_names() {
    for (signal, unit, name) in [
        ("kv.used", Unit::Tokens, "plimsoll_kv_used_tokens"),
        ("kv.used", Unit::Blocks, "plimsoll_kv_used_blocks"),
        ("kv.in_use", Unit::Ratio, "plimsoll_kv_in_use_ratio"),
        ("req.running", Unit::Requests, "plimsoll_running_requests"),
        ("req.retracted_total", Unit::Requests, "plimsoll_retracted_requests_total"),
        ("kv.evicted_total", Unit::Bytes, "plimsoll_kv_evicted_bytes_total"),
        ("gen.tokens_total", Unit::Tokens, "plimsoll_gen_tokens_total"),
        ("gen.rate", Unit::TokensPerSecond, "plimsoll_gen_rate_tokens_per_second"),
        ("kv.block_idle", Unit::Seconds, "plimsoll_kv_block_idle_seconds"),
        ("pd.transfer", Unit::Requests, "plimsoll_pd_transfer_requests"),
    ] {
        assert_eq!(series_name(Signal::from_name(signal).expect("a row"), unit), name);
    }
}

#[test]
fn everything_on_the_page_is_listed() {
    let listed = schema();
    let text = page(&snapshot(vec![decode()]), &health());
    for sample in wire::exposition::parse_all(text.as_bytes(), &wire::exposition::Limits::default()).0 {
        let family = listed.iter().find(|one| one.name == sample.name || one.others.contains(&sample.name.to_string()));
        let family = family.unwrap_or_else(|| panic!("{} is not listed", sample.name));
        let labels: Vec<String> = sample.labels.iter().map(|(key, _)| key.to_string()).collect();
        assert_eq!(labels, family.labels, "{}", sample.name);
    }
}
