//! Blocks that nobody has and that count as in use, capacities that ranks share, and factors that nothing tells. The engine is
//! made up; each expected value is worked out beside the page.

mod support;

use model::{Signal, State};
use support::made::{by_rank, of, page, value};

const RECIPROCAL: &str = r#"
{ name = "usage", signal = "kv.in_use", pool = "full", reciprocal = true },
{ name = "usage", signal = "kv.in_use", pool = "full" },
{ name = "usage", signal = "kv.capacity", pool = "full", reciprocal = true, less = 1, times = ["block_size"] },
{ name = "running", signal = "req.running" },
"#;

#[test]
fn the_block_that_tells_the_capacity_of_an_idle_server_is_in_nobodys_use() {
    // 1/1024 while nothing runs: 1,024 blocks, of which one is reserved; (1024 − 1) × 16 tokens, none of them taken.
    let idle = page(RECIPROCAL, "made:config{block_size=\"16\"} 1\nmade:usage 0.0009765625\nmade:running 0\n");
    let in_use = of(&idle, Signal::KV_IN_USE).expect("a reading");
    assert_eq!((in_use.value, in_use.state), (Some(0.0), State::Inferred));
    assert_eq!(in_use.inputs, ["usage 0.0009765625 while nothing runs, which is one block of 1024"]);
    assert_eq!(value(&idle, Signal::KV_CAPACITY), Some(16_368.0));
    // While something runs, 1/1024 may be a request's.
    let busy = page(RECIPROCAL, "made:config{block_size=\"16\"} 1\nmade:usage 0.0009765625\nmade:running 1\n");
    let in_use = of(&busy, Signal::KV_IN_USE).expect("a reading");
    assert_eq!((in_use.value, in_use.state), (Some(1.0 / 1024.0), State::Reported));
}

#[test]
fn each_rank_has_its_own_floor_where_the_blocks_are_those_of_all() {
    // Two ranks of 2,001 blocks, of which the label says the sum: rank 0 holds its reserved block alone; rank 1 1,001 blocks,
    // which are 1,000 of the 2,000 that can be had.
    let rows = r#"{ name = "usage", signal = "kv.in_use", pool = "full", floor = "blocks", shared = true }"#;
    let body = "made:usage{engine=\"0\",blocks=\"4002\"} 0.0004997501249375312\n\
                made:usage{engine=\"1\",blocks=\"4002\"} 0.5002498750624687\n";
    let told = by_rank(&page(rows, body), Signal::KV_IN_USE);
    let values: Vec<f64> = told.iter().filter_map(|(_, value)| *value).collect();
    assert!(values[0].abs() < 1e-9 && (values[1] - 0.5).abs() < 1e-9, "{told:?}");
}

#[test]
fn a_capacity_is_shared_by_all_ranks_of_the_page_whoever_says_it() {
    // 4,002 blocks of 16 are those of both ranks, though only rank 0 says so: 2,001 each.
    let rows = r#"{ name = "usage", signal = "kv.in_use", pool = "full" },
        { name = "config", label = "blocks", signal = "kv.capacity", pool = "full", times = ["block_size"], shared = true }"#;
    let body = "made:usage{engine=\"0\"} 0.5\nmade:usage{engine=\"1\"} 0.9\n\
                made:config{engine=\"0\",blocks=\"4002\",block_size=\"16\"} 1\n";
    assert_eq!(by_rank(&page(rows, body), Signal::KV_CAPACITY), [(Some(0), Some(32_016.0))]);
}

#[test]
fn a_factor_that_nothing_tells_is_assumed_and_said_to_be() {
    let rows = r#"{ name = "config", label = "blocks", signal = "kv.capacity", pool = "full", times = ["block_size", "split"],
        assumed = { split = 1 }, agrees = "size" }"#;
    let told = |more: &str| {
        let body = format!("made:config{{blocks=\"100\",block_size=\"16\"{more}}} 1\n");
        of(&page(rows, &body), Signal::KV_CAPACITY).map(|capacity| (capacity.value, capacity.state, capacity.inputs))
    };
    let inputs = |last: &str| vec!["blocks 100".to_owned(), "times block_size 16".to_owned(), last.to_owned()];
    let as_if = inputs("times split 1, as nothing tells another");
    assert_eq!(told(""), Some((Some(1600.0), State::Inferred, as_if.clone())));
    assert_eq!(told(",split=\"2\""), Some((Some(3200.0), State::Derived, inputs("times split 2"))));
    // Another number that agrees is as good as being told.
    assert_eq!(told(",size=\"1600\""), Some((Some(1600.0), State::Derived, as_if)));
    assert_eq!(told(",size=\"3200\"").map(|(value, ..)| value), Some(None));
}
