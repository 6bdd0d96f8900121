//! `docs/metrics.md` is made from the schema. `BLESS=1` renews it.

mod alerts;
mod scaling;
mod support;

use export::{Described, SCHEMA, schema};
use saphyr::{LoadableYamlNode, Yaml};
use scaling::at;

const HEAD: &str = r#"plimsoll's own `/metrics`, in the Prometheus text format: the same names for every engine. Made from `signals.toml` and from
the list in `crates/export/src/fixed.rs`. The version of the schema is a label of `plimsoll_build_info`; it changes where a name, a
label or a meaning does, and not where a family is added.

## Rules

- **No number, no series.** Only what may be believed now has one: what a server says, what is computed from that, and what is
  concluded from a flag or a log line. What is stale, not reported, impossible or out of reach has none; `plimsoll_readings`
  counts them by state, and `plimsoll_kv_in_use_age_seconds` says how old the last word is. 0 stands only where it was said.
- **Names** are `plimsoll_`, the signal, its unit, and `_total` on counters. Where an engine counts blocks, bytes or states, the
  series says so in its name (`plimsoll_kv_used_blocks`): they do not add up with tokens.
- **Labels.** `server` is the address; `rank` is `dp0`, `dp1`, …, `dp0 tp1`, `dp0 pp1`, with `?` where the source did not say
  which; `pool` is `full`, `swa`, `mamba`, …; `tier` is `device`, `host` or `storage`. Everything else that is known of a server
  is on `plimsoll_server_info`. No label changes from one page to the next unless the server does.
- **`plimsoll_waiting_requests` counts every queue**, those of `plimsoll_pd_bootstrap_requests`, `plimsoll_pd_prealloc_requests` and
  `plimsoll_pd_transfer_requests` too: a sum of it and of them counts requests twice.
- **Two gauges may stand still while nothing runs**, since engines leave what they said last: `plimsoll_gen_rate_tokens_per_second` and
  `plimsoll_cache_hit_rate_ratio`. They are for looking at, not for alerts: take `rate()` of `plimsoll_gen_tokens_total`, and of
  `plimsoll_cache_hits_tokens_total` over that of `plimsoll_cache_queries_tokens_total`.
- **Counters** are the engine's own and start again when it does, as `rate()` expects.
- **A ratio is never summed.** `plimsoll_server_in_use_ratio` is what a server's fullest rank has in use, of the pools that bind;
  `plimsoll_fleet_in_use_weighted_ratio` is the mean by capacity.
- **Tensor and pipeline ranks are copies** of the same tokens: count each data-parallel rank once (an example is below).
- **What a router thinks of its workers** is no series: it is an opinion, and beside the worker's own word it would be summed
  with it. Where it stands in for a worker that does not say, `plimsoll_told_by_router` is 1.
- **A level is six series**, of which one is 1. There is no number of the level, since unknown is none of the scale.

## Asking

In use of the decode servers, with their model and role:

```promql
plimsoll_server_in_use_ratio * on (server) group_left (role, model) plimsoll_server_info{role="decode"}
```

Servers that strain, thrash or are stuck:

```promql
max by (server) (plimsoll_verdict{level=~"strained|thrashing|stuck"}) == 1
```

Servers of which nothing is known now, although they answer:

```promql
plimsoll_verdict{level="unknown"} == 1 and on (server) plimsoll_up == 1 unless on (server) plimsoll_server_info{role="router"}
```

Readings that went stale:

```promql
plimsoll_readings{state="stale"} > 0
```

The fewest tokens left in a pool that binds, by server:

```promql
min by (server) (plimsoll_kv_headroom_tokens and plimsoll_kv_binds == 1)
```

Tokens in use on each server, where ranks `dp0` and `dp0 tp1` are copies:

```promql
sum by (server) (max by (server, dp) (
  label_replace(plimsoll_kv_used_tokens{pool="full",tier="device"}, "dp", "$1", "rank", "(dp[^ ]+).*")
))
```

Requests thrown out in the last five minutes, by the rank that threw out most:

```promql
max by (server) (increase(plimsoll_retracted_requests_total[5m]))
```

Servers that do not answer plimsoll:

```promql
plimsoll_up == 0
```

plimsoll is away, is not scraped, or its watch stands still: then `/metrics` answers 503 within a minute, so that the scrape fails
and every series here ends. No alert on them can fire any more, so this is the first to have:

```promql
up{job="plimsoll"} == 0 or absent(up{job="plimsoll"})
```

plimsoll looks and does not get through:

```promql
plimsoll_scrape_age_seconds > 3 * plimsoll_scrape_interval_seconds or rate(plimsoll_looks_dropped_total[10m]) > 0
```

`docs/scaling.md` shows how to scale on these series, and how not to.
"#;

const ALERTS: &str = r"`packaging/plimsoll.rules.yml` is ready for `rule_files`; `docs/serve.md` has the `scrape_configs` with token and TLS. Each alert is
tried on pages of ours by `promtool test rules`: that it fires, when, and that nothing else does.
";

/// The alerts of the file, a row each.
fn alerts() -> String {
    let text = std::fs::read_to_string(alerts::RULES).expect("the rules");
    let file = Yaml::load_from_str(&text).expect("YAML");
    let Yaml::Sequence(rules) = at(&file[0], "groups.0.rules") else { panic!("no rules") };
    let mut rows = String::from("| alert | severity | after | says |\n|---|---|---|---|\n");
    for rule in rules {
        let word = |path: &str| scaling::word(rule, path);
        let held = matches!(rule, Yaml::Mapping(keys) if keys.iter().any(|(key, _)| key.as_str() == Some("for")));
        let after = if held { word("for") } else { "at once".to_owned() };
        let says = word("annotations.summary").replace("{{ $labels.", "*").replace(" }}", "*");
        rows += &format!("| `{}` | {} | {after} | {says} |\n", word("alert"), word("labels.severity"));
    }
    rows
}

fn rows(all: &[Described], said: bool) -> String {
    let mut text = String::from("| series | type | labels | means |\n|---|---|---|---|\n");
    for one in all.iter().filter(|one| one.said == said) {
        let labels: Vec<String> = one.labels.iter().map(|label| format!("`{label}`")).collect();
        text += &format!("| `{}` | {} | {} | {} |\n", one.name, one.kind, labels.join(" "), one.help);
    }
    text
}

#[test]
fn metrics() {
    let all = schema();
    let text = format!(
        "# Metrics\n\n{HEAD}\n## Alerts\n\n{ALERTS}\n{}\n## What servers say\n\nVersion {SCHEMA}. What ends in `_tokens` ends in `_blocks`, `_bytes`, `_states` or \
         `_requests` where the engine counts these.\n\n{}\n## What plimsoll says of them, and of itself\n\n{}",
        alerts(),
        rows(&all, true),
        rows(&all, false)
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).expect("a file");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == text,
        "docs/metrics.md is out of step; renew it with BLESS=1 cargo test -p export --test docs_test"
    );
}

/// Every series that the pages name is one of the schema.
#[test]
fn pages_name_real_series() {
    let all = schema();
    for page in ["docs/metrics.md", "docs/scaling.md", "docs/serve.md", "README.md", "packaging/plimsoll.rules.yml"] {
        let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a page");
        let names = text.split("plimsoll_").skip(1).map(|rest| {
            let end = rest.find(|letter: char| !(letter.is_ascii_lowercase() || letter == '_')).unwrap_or(rest.len());
            format!("plimsoll_{}", &rest[..end])
        });
        // Names of its own that an example gives.
        for name in names.filter(|name| name != "plimsoll_" && !name.starts_with("plimsoll_decode_")) {
            let known = all.iter().any(|one| one.name == name || one.others.contains(&name));
            assert!(known, "{page} names {name}, which is no series");
        }
    }
}
