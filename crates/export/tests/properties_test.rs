//! Whatever a peer is called, the page stays whole.

mod support;

use std::collections::BTreeSet;

use export::page;
use model::{Level, Unit, text};
use proptest::prelude::*;
use support::{health, pool, rank, read, said, server, snapshot};

/// Texts of the letters that could end a value, a line or a sample, and any others.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "[\\\\\"\n\r\t{},=# a\u{1b}\u{202e}é]{0,12}",
        Just("\\".to_owned()),
        Just("\"} 1\nplimsoll_up{server=\"x\"".to_owned()),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_cannot_break_the_page(
        urls in proptest::collection::vec(hostile(), 1..4),
        name in hostile(),
        tier in hostile(),
        words in proptest::array::uniform4(hostile()),
        value in any::<f64>(),
    ) {
        let servers = urls.iter().map(|url| {
            let mut one = pool(&name, Unit::Tokens, 10.0, 5.0, 0.0);
            one.tier.clone_from(&tier);
            one.readings.insert(model::Signal::KV_STORED, said(value, Unit::Tokens));
            let mut server = server(url, Level::Calm, vec![rank(0, vec![one, pool(&name, Unit::Tokens, 1.0, 1.0, 0.0)])]);
            server.engine = Some(words[0].clone());
            server.version = Some(words[1].clone());
            server.model = Some(words[2].clone());
            server.unit = Some(words[3].clone());
            server
        });
        let mut own = health();
        own.targets[0].url.clone_from(&urls[0]);
        own.version.clone_from(&name);
        let page = page(&snapshot(servers.collect()), &own);
        let series = read(&page);
        let different: BTreeSet<String> = urls.iter().map(|url| text::visible(url.as_str())).collect();
        for url in &different {
            let spelled = format!("plimsoll_up{{server=\"{url}\"}}");
            prop_assert_eq!(series.get(&spelled), Some(&1.0));
        }
        prop_assert_eq!(series.keys().filter(|name| name.starts_with("plimsoll_up{")).count(), different.len());
        prop_assert!(page.chars().all(|letter| letter == '\n' || !text::upsets(letter)));
        let stored = series.iter().filter(|(name, _)| name.starts_with("plimsoll_kv_stored_tokens"));
        for (_, read) in stored {
            prop_assert_eq!(*read, value);
        }
    }
}
