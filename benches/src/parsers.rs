//! What is measured: each takes a page and gives the number of samples that it found.

use std::collections::HashSet;
use std::hint::black_box;

use wire::exposition::{Limits, parse_all, scan};

/// The 30 families that tell how full the cache is.
pub const WANTED: [&str; 30] = [
    "sglang:cache_hit_rate",
    "sglang:cached_tokens_total",
    "sglang:context_len",
    "sglang:decode_sum_seq_lens",
    "sglang:evicted_tokens_total",
    "sglang:full_token_usage",
    "sglang:gen_throughput",
    "sglang:generation_tokens_total",
    "sglang:kv_available_tokens",
    "sglang:kv_evictable_tokens",
    "sglang:kv_used_tokens",
    "sglang:mamba_available_tokens",
    "sglang:mamba_evictable_tokens",
    "sglang:mamba_usage",
    "sglang:mamba_used_tokens",
    "sglang:max_total_num_tokens",
    "sglang:num_decode_prealloc_queue_reqs",
    "sglang:num_decode_transfer_queue_reqs",
    "sglang:num_pages",
    "sglang:num_prefill_bootstrap_queue_reqs",
    "sglang:num_prefill_inflight_queue_reqs",
    "sglang:num_queue_reqs",
    "sglang:num_retracted_reqs",
    "sglang:num_running_reqs",
    "sglang:num_used_tokens",
    "sglang:page_size",
    "sglang:prompt_tokens_total",
    "sglang:swa_token_usage",
    "sglang:token_usage",
    "sglang:utilization",
];

/// Ours, as a look at a server does it: 30 names in a set of std's, their labels and values.
pub fn wire_wanted(page: &str, wanted: &HashSet<&str>) -> usize {
    let mut found = 0;
    let limits = Limits::default();
    scan(
        page.as_bytes(),
        &limits,
        |name| wanted.contains(name),
        |sample| {
            sample.labels.iter().for_each(|label| drop(black_box(label)));
            black_box(sample.value);
            found += 1;
        },
    );
    found
}

/// Ours: every sample, every label's key and resolved value.
pub fn wire_all(page: &str) -> usize {
    let mut found = 0;
    scan(
        page.as_bytes(),
        &Limits::default(),
        |_| true,
        |sample| {
            for (key, value) in sample.labels {
                black_box((key.len(), value.len()));
            }
            black_box((sample.name.len(), sample.value));
            found += 1;
        },
    );
    found
}

/// Ours: every sample in one vector, labels left on the page.
pub fn wire_vector(page: &str) -> usize {
    black_box(parse_all(page.as_bytes(), &Limits::default())).0.len()
}

/// The floor: lines by std, the last field to a number, no names and no labels.
pub fn floor(page: &str) -> usize {
    let mut found = 0;
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let value: Option<f64> = line.rsplit(' ').next().and_then(|field| field.parse().ok());
        found += usize::from(black_box(value).is_some());
    }
    found
}

/// `prometheus-parse`; a histogram counts as one sample there.
pub fn prometheus_parse(page: &str) -> usize {
    let lines = page.lines().map(|line| Ok(line.to_owned()));
    prometheus_parse::Scrape::parse(lines).map_or(0, |scrape| black_box(scrape).samples.len())
}

/// `openmetrics-parser`, its Prometheus side; a histogram counts as one sample there.
pub fn openmetrics_parser(page: &str) -> usize {
    let parsed = openmetrics_parser::prometheus::parse_prometheus(page);
    parsed.map_or(0, |parsed| black_box(parsed).families.values().map(|family| family.iter_samples().count()).sum())
}
