//! What a scraper elsewhere calls localhost is not our server.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use lint::ActiveTarget;
use sense::Target;

use super::super::{Candidate, Eye, Looked};
use super::page::{Page, Scraper};

fn looked(target: &Target) -> Looked {
    Looked {
        candidate: Candidate::given(target.clone()),
        observations: Vec::new(),
        named: Vec::new(),
        account: model::Account::default(),
        choices: Vec::new(),
        source: None,
        findings: Vec::new(),
        took: 0.0,
    }
}

#[tokio::test]
async fn loopback_is_the_scrapers_own() {
    let eye = Eye::here();
    eye.atlas.learn_ours(&eye.place).await;
    let target: Target = "127.0.0.1:30000".parse().unwrap();
    let one = looked(&target);
    let page = Page { target: &target, path: "/metrics", series: Vec::new(), telling: Vec::new() };
    let pages = [(&one, page)];
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
        let fetches = Scraper::new(&eye, &own, eye.atlas.home(&own), &active, &pages).await;
        assert_eq!(fetches.scrapes(&eye, &pages[0].1).is_some(), ours, "{scraper} fetches {url}");
    }
}
