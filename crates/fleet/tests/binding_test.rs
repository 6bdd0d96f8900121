//! Which pools bind: those of the device, and of lower tiers only those that are no caches.

use fleet::{Subject, join, totals};
use model::{Account, DEVICE, FULL, PoolSet, RankId, Reading, Readings, Signal, Time, Unit};

const NOW: Time = Time(1000.0);

fn set(pool: &str, tier: &str, in_use: f64) -> PoolSet {
    let reading = Reading::reported(in_use, Unit::Ratio, "own", NOW).within(Some(0.0));
    PoolSet {
        source: "own".to_owned(),
        trust: 0,
        rank: RankId::ZERO,
        pool: pool.to_owned(),
        tier: tier.to_owned(),
        at: NOW,
        live: true,
        idle: false,
        readings: Readings::from([(Signal::KV_IN_USE, reading)]),
    }
}

#[test]
fn a_lower_tier_binds_only_where_requests_cannot_run_without_it() {
    let told = |binding: &[(&str, &str)]| {
        let binding = binding.iter().map(|(pool, tier)| ((*pool).to_owned(), (*tier).to_owned())).collect();
        let sets = vec![set(FULL, DEVICE, 0.5), set(FULL, "host", 0.99), set("other", "host", 0.86)];
        let account = Account { sets, binding, ..Account::default() };
        let why = |_, _: &str, _: &str| "nobody says it".to_owned();
        let (url, host) = ("http://w".to_owned(), "w".to_owned());
        let subject = Subject { url, host, pid: None, unit: None, account: &account, seen_by: Vec::new(), why: &why };
        let server = join(&subject, NOW).server;
        let name = server.ranks[0].binding().map(|(pool, _)| pool.name());
        (name, totals(&[server]).in_use_max.value)
    };
    // A cache of a lower tier that is full is no trouble.
    assert_eq!(told(&[]), (Some(FULL.to_owned()), Some(0.5)));
    assert_eq!(told(&[("other", "host")]), (Some("other host".to_owned()), Some(0.86)));
}
