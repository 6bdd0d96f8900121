//! Names and numbers, in the forms that messages of recorded logs and published releases write them.

use wire::log::{Pair, pairs};

fn of(message: &str) -> Vec<(&str, f64)> {
    pairs(message).map(|pair| (pair.key, pair.value)).collect()
}

#[test]
fn the_pairs_of_scheduler_lines() {
    let decode = "Decode batch, #running-req: 3, #token: 796, token usage: 0.39, pre-allocated usage: 0.00, \
                  cpu graph: False, gen throughput (token/s): 1554.49, #queue-req: 0";
    assert_eq!(
        of(decode),
        [
            ("#running-req", 3.0),
            ("#token", 796.0),
            ("token usage", 0.39),
            ("pre-allocated usage", 0.0),
            ("gen throughput (token/s)", 1554.49),
            ("#queue-req", 0.0)
        ]
    );
    let prefill = "Prefill batch. #new-seq: 1, cache hit rate: 12.50%, token usage: 0.01, #queue-req: 2, ";
    assert_eq!(of(prefill), [("#new-seq", 1.0), ("cache hit rate", 12.5), ("token usage", 0.01), ("#queue-req", 2.0)]);
    let iteration =
        "Decode batch [120], #running-req: 1, #full token: 55, full token usage: 0.10, swa token usage: 0.20";
    assert_eq!(
        of(iteration),
        [("#running-req", 1.0), ("#full token", 55.0), ("full token usage", 0.1), ("swa token usage", 0.2)]
    );
    let retract = "Pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.0197 -> 0.8121";
    assert_eq!(of(retract), [("#retracted_reqs", 1.0), ("#new_token_ratio", 0.0197)]);
}

#[test]
fn the_pairs_of_capacity_and_leak_lines() {
    let allocated = "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 4096, K size: 0.00 GB, V size: 1.25GB";
    assert_eq!(of(allocated), [("#tokens", 4096.0), ("K size", 0.0), ("V size", 1.25)]);
    let capacity = "max_total_num_tokens=4096, context_len=4096, available_cpu_mem=18.75 GB";
    assert_eq!(of(capacity), [("max_total_num_tokens", 4096.0), ("context_len", 4096.0), ("available_cpu_mem", 18.75)]);
    let leak = "pool leak detected! available_size=5, protected_size=-3, self.max_total_num_tokens=2048\n\
                self.allocator.available_size()=5\nself.tree_cache.evictable_size()=0\n";
    assert_eq!(
        of(leak),
        [
            ("available_size", 5.0),
            ("protected_size", -3.0),
            ("self.max_total_num_tokens", 2048.0),
            ("self.allocator.available_size()", 5.0),
            ("self.tree_cache.evictable_size()", 0.0)
        ]
    );
    assert_eq!(
        of("pool leak detected!available_size=5, total slots=7"),
        [("available_size", 5.0), ("total slots", 7.0)]
    );
    assert_eq!(of("Warning: available_size=5, max=7"), [("available_size", 5.0), ("max", 7.0)]);
    let arguments = "args={'max_total_tokens': 2048, 'fraction': 0.716, 'port': 30000, 'none': None, \"a\":1}";
    assert_eq!(of(arguments), [("max_total_tokens", 2048.0), ("fraction", 0.716), ("port", 30_000.0), ("a", 1.0)]);
    assert_eq!(of("args=Arguments(model='m', max_tokens=2048, host='127.0.0.1')"), [("max_tokens", 2048.0)]);
}

/// Where one message tells of several pools, the heading tells them apart.
#[test]
fn lists_have_headings() {
    let under = |message| pairs(message).map(|pair| (pair.under, pair.key, pair.value)).collect::<Vec<_>>();
    assert_eq!(
        under(
            "Decode batch. #token: full=512, swa=128, token usage: full=0.25, swa=0.10, cuda graph: True, #queue-req: 0"
        ),
        [
            ("#token", "full", 512.0),
            ("#token", "swa", 128.0),
            ("token usage", "full", 0.25),
            ("token usage", "swa", 0.1),
            ("", "#queue-req", 0.0)
        ]
    );
    assert_eq!(
        under("leak detected! [full] total=9, available=5\n[swa] total=7, available=3\nother=1"),
        [
            ("full", "total", 9.0),
            ("full", "available", 5.0),
            ("swa", "total", 7.0),
            ("swa", "available", 3.0),
            ("", "other", 1.0)
        ]
    );
    assert_eq!(under("[Check (BUSY)] [full] total=9"), [("full", "total", 9.0)]);
    assert_eq!(under("Decode batch [12], #token: 5, a=1"), [("", "#token", 5.0), ("", "a", 1.0)]);
}

/// The ways of the oldest releases, of sums and of comparisons.
#[test]
fn pairs_between_sentences_sums_and_comparisons() {
    assert_eq!(
        of("new fill batch. #seq: 3. #cached_token: 12. tree_cache_hit_rate: 12.50%."),
        [("#seq", 3.0), ("#cached_token", 12.0), ("tree_cache_hit_rate", 12.5)]
    );
    assert_eq!(of("Prefill batch(mixed #running-req: 5). #new-seq: 1"), [("#running-req", 5.0), ("#new-seq", 1.0)]);
    assert_eq!(
        of("Available tokens: 3 (available_size=1 + evictable_size=2)"),
        [("Available tokens", 3.0), ("available_size", 1.0), ("evictable_size", 2.0)]
    );
    assert_eq!(
        of("total_tokens=65500 vs self.max_total_num_tokens=65536"),
        [("total_tokens", 65_500.0), ("self.max_total_num_tokens", 65_536.0)]
    );
    assert_eq!(of("#queue-req: 0, timestamp: 2025-07-08T12:00:00.123456"), [("#queue-req", 0.0)]);
}

#[test]
fn numbers_are_given_as_they_are_written() {
    assert_eq!(of("a: 1e9, b: -0.5, c: +3, d: .5"), [("a", 1e9), ("b", -0.5), ("c", 3.0), ("d", 0.5)]);
    assert_eq!(of("a: inf, b: -inf"), [("a", f64::INFINITY), ("b", f64::NEG_INFINITY)]);
    assert!(of("a: nan").iter().all(|(key, value)| *key == "a" && value.is_nan()) && of("a: NaN").len() == 1);
    assert_eq!(of("a: 1,234,567, b: 1,234"), [("a", 1_234_567.0), ("b", 1234.0)]);
    let pair = pairs("usage: 0.50 of all").next().expect("it can be read");
    assert_eq!(pair, Pair { under: "", key: "usage", value: 0.5, text: "0.50" });
    assert_eq!(of("a: 5ms, b: 7%, c: 3 tokens, d=5."), [("a", 5.0), ("b", 7.0), ("c", 3.0)]);
    assert_eq!(of("It took. a: 5. b=6. "), [("a", 5.0), ("b", 6.0)]);
}

#[test]
fn what_is_no_plain_number_is_no_pair() {
    for text in [
        "version: 1.2.3",
        "host=127.0.0.1:30000",
        "at 16:15:23",
        "hash: 0x1f",
        "id=12ab",
        "model: 7b-chat",
        "range: 3-5",
        "part: 3/8",
        "odd: 1,55",
        "odd: 1,2345",
        "odd: 0,123",
        "odd: 1_000",
        "date: 2026-11-29",
        "a: , b: None, c: True, d:",
        "list=[1, 2, 3]",
        "a == b, a >= c",
        "usage: 0.",
        "usage: -",
        "x: information",
        ": 5",
        "= 5",
        "\u{663c}: \u{665a}5",
    ] {
        assert_eq!(of(text), [], "{text}");
    }
}

#[test]
fn long_phrases_leave_their_last_word() {
    let long = format!("{} used tokens=5", "word ".repeat(40));
    assert_eq!(of(&long), [("tokens", 5.0)]);
    let letters = format!("{}=5", "\u{e9}".repeat(100));
    assert_eq!(of(&letters).len(), 1);
    assert_eq!(of("b\u{e9}ta \u{20ac}: 5"), [("b\u{e9}ta \u{20ac}", 5.0)]);
}

#[test]
fn lists_of_numbers_between_slashes_have_the_names_in_the_brackets() {
    let found: Vec<(&str, &str, f64)> =
        pairs("step. #pages(active/cached/total): 12/30/100, ratio: 0.42, host (used/all): 1.5/64")
            .map(|pair| (pair.under, pair.key, pair.value))
            .collect();
    let wanted = [
        ("#pages", "active", 12.0),
        ("#pages", "cached", 30.0),
        ("#pages", "total", 100.0),
        ("", "ratio", 0.42),
        ("host", "used", 1.5),
        ("host", "all", 64.0),
    ];
    assert_eq!(found, wanted);
    // As many names as numbers, and nothing but numbers.
    assert_eq!(
        of("pages(a/b): 1/2/3, pages(a/b): 1/x, when: 11/29/2026, rate (token/s): 5"),
        [("rate (token/s)", 5.0)]
    );
}

/// As LMDeploy writes them; a unit may follow the last number, and no other list looks like one.
#[test]
fn lists_may_have_blanks_around_their_slashes() {
    let line = "Avg thr (in/out): 120.5 / 812.5 tokens/s, Server (succeeded/failed/routed/waiting): 39 / 1 / 15 / 2, \
                Engine (running/waiting): 12 / 3, KV cache: 43.8%, ";
    let found: Vec<_> = pairs(line).map(|pair| (pair.under, pair.key, pair.value, pair.text)).collect();
    let wanted = [
        ("Avg thr", "in", 120.5, "120.5"),
        ("Avg thr", "out", 812.5, "812.5"),
        ("Server", "succeeded", 39.0, "39"),
        ("Server", "failed", 1.0, "1"),
        ("Server", "routed", 15.0, "15"),
        ("Server", "waiting", 2.0, "2"),
        ("Engine", "running", 12.0, "12"),
        ("Engine", "waiting", 3.0, "3"),
        ("", "KV cache", 43.8, "43.8"),
    ];
    assert_eq!(found, wanted);
    // Brackets with a slash and no list behind them, and two numbers without brackets.
    assert_eq!(of("Requests (Success/Total): Put=24/24, Get=10/12, ranks = 12/12"), []);
    // Fewer numbers than names, more, and what is no number: none of them by those names.
    for text in ["Engine (a/b): 12", "Engine (a/b): 12 / 3 / 4", "Engine (a/b): 12 / x", "Engine (a/b): 12 / 3x"] {
        assert!(pairs(text).all(|pair| pair.under.is_empty() && pair.key == "Engine (a/b)"), "{text}");
    }
    // Where the line ends with it a number may lack digits behind its point.
    assert!(of("Engine (a/b): 12 / 3.").iter().all(|(key, _)| *key == "Engine (a/b)"));
}
