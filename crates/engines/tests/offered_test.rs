//! What a build's source offers, held against the table: known, renamed and missing series. The sources are made by hand;
//! which names the table wants of which version stands in engines/sglang/sources.toml.

use engines::{Offered, Tables, offered_by_source};
use model::{Account, Signal};
use wire::python::metrics;

fn offered(version: &str, role: &str, source: &str) -> Offered {
    let tables = Tables::builtin();
    let table = tables.get("sglang").expect("a table");
    let mut account = Account { engine: Some("sglang".to_owned()), ..Account::default() };
    account.learn("version", version, "test", 1);
    account.learn("role", role, "test", 1);
    let (found, _) = metrics(source.as_bytes());
    offered_by_source(table, &account, [("srt/page.py".to_owned(), &found[..])])
}

fn renamed(source: &str) -> Vec<(String, String)> {
    offered("0.5.23", "unified", source).renamed.into_iter().map(|renamed| (renamed.old, renamed.new)).collect()
}

fn pair(old: &str, new: &str) -> (String, String) {
    (old.to_owned(), new.to_owned())
}

#[test]
fn series_are_the_rows_of_their_version() {
    let source = "\nself.a = Gauge('sglang:kv_used_tokens', 'd')\nif self.enable_lora: Gauge('sglang:own', 'd')\nCounter('sglang:generation_tokens', 'd')\n";
    let found = offered("0.5.23", "unified", source);
    let used = &found.series[0];
    assert_eq!(
        (used.name.as_str(), used.signal, used.since_table),
        ("sglang:kv_used_tokens", Some(Signal::KV_USED), true)
    );
    assert_eq!((used.file.as_str(), used.line), ("srt/page.py", 2));
    let own = &found.series[1];
    assert_eq!((own.row.as_ref(), own.with.as_deref()), (None, Some("--enable-lora")));
    assert_eq!(own.when, ["self.enable_lora"]);
    // A counter has `_total` on the page, whatever the source calls it.
    assert_eq!(found.series[2].name, "sglang:generation_tokens_total");
    assert!(found.missing.contains(&"sglang:kv_evictable_tokens".to_owned()));
    assert!(!found.missing.contains(&"sglang:kv_used_tokens".to_owned()));
    assert!(!found.missing.contains(&"sglang:num_decode_transfer_queue_reqs".to_owned()), "of another role");
    assert!(offered("0.5.23", "decode", source).missing.contains(&"sglang:num_decode_transfer_queue_reqs".to_owned()));
    assert!(!offered("0.5.9", "unified", source).series[0].since_table, "the row came with 0.5.11");
}

#[test]
fn what_is_called_otherwise() {
    // The same variable holds it.
    let source = "self.kv_used_tokens = Gauge('sglang:tokens_held', 'd')";
    assert_eq!(renamed(source), [pair("sglang:kv_used_tokens", "sglang:tokens_held")]);
    // The same name with the prefix of a fork.
    assert_eq!(
        renamed("x = Gauge('fork:kv_used_tokens', 'd')"),
        [pair("sglang:kv_used_tokens", "fork:kv_used_tokens")]
    );
    // Almost the same name.
    assert_eq!(
        renamed("x = Gauge('sglang:kv_used_token', 'd')"),
        [pair("sglang:kv_used_tokens", "sglang:kv_used_token")]
    );
    // Another kind, another name, or one that could be either.
    assert!(renamed("self.kv_used_tokens = Counter('sglang:tokens_held', 'd')").is_empty());
    assert!(renamed("x = Gauge('sglang:weight_gb', 'd')").is_empty());
    assert!(renamed("x = Gauge('sglang:kv_used_tokenz', 'd')\ny = Gauge('sglang:kv_used_tokenx', 'd')").is_empty());
    // One that the table knows is itself.
    assert!(renamed("self.kv_used_tokens = Gauge('sglang:kv_evictable_tokens', 'd')").is_empty());
}
