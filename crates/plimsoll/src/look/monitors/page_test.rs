//! What a scraper elsewhere calls localhost is not our server.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use lint::ActiveTarget;
use sense::Target;

use super::super::candidate::Candidate;
use super::super::{Eye, Looked};
use super::page::{Page, Scraper};

#[tokio::test]
async fn loopback_is_the_scrapers_own() {
    let eye = Eye::here(std::sync::Arc::new(engines::Tables::builtin()));
    eye.atlas.learn_ours(&eye.place).await;
    let target: Target = "127.0.0.1:30000".parse().unwrap();
    let one = Looked::of(Candidate::given(target.clone()), model::Account::default());
    let pages = [(&one, Page::at(&eye, 0, &target, "/metrics"))];
    let entry = |url: &str| ActiveTarget {
        url: url.to_owned(),
        instance: String::new(),
        up: Some(true),
        error: String::new(),
        interval: None,
    };
    for (scraper, url, ours) in [
        ("http://127.0.0.1:9090", "http://localhost:30000/metrics", true),
        ("http://127.0.0.1:9090", "http://127.0.0.1:30000/metrics?x=1", true),
        ("http://198.51.100.7:9090", "http://localhost:30000/metrics", false),
        ("http://198.51.100.7:9090", "http://127.0.0.1:30000/metrics", false),
        ("http://127.0.0.1:9090", "http://198.51.100.7:30000/metrics", false),
        ("http://127.0.0.1:9090", "http://127.0.0.1:30000/other", false),
    ] {
        let own: Target = scraper.parse().unwrap();
        let active = [entry(url)];
        let fetches = Scraper::new(&eye, &own, (Some(0), eye.atlas.home(&own)), &active, &pages).await;
        assert_eq!(fetches.scrapes(&pages[0].1).is_some(), ours, "{scraper} fetches {url}");
    }
}
