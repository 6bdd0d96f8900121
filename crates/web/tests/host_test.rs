//! Pages of others: names that point here, and questions from elsewhere.

mod support;

use support::{Site, TOKEN, ask, get_with, with_token};
use web::Options;

async fn by_name(site: &Site, host: &str) -> u16 {
    ask(site.address, format!("GET /api/v1/overview HTTP/1.1\r\nHost: {host}\r\n\r\n")).await.status
}

#[tokio::test]
async fn a_name_that_was_let_point_here_gets_nothing() {
    let site = Site::start(Options { hosts: vec!["watch.example".to_owned()], ..Options::default() });
    let port = site.address.port();
    for host in
        ["localhost".to_owned(), format!("127.0.0.1:{port}"), format!("[::1]:{port}"), "watch.example".to_owned()]
    {
        assert_eq!(by_name(&site, &host).await, 200, "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "watch.example.evil.example", "evil.example:80", "", "\u{e9}"]
    {
        let status = by_name(&site, host).await;
        assert!([400, 421].contains(&status), "{host}: {status}");
    }
    let raw = [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
        // What stands in the first line is what is meant.
        ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("GET http://localhost@evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
    ];
    for (request, status) in raw {
        assert_eq!(ask(site.address, request).await.status, status, "{request}");
    }
}

#[tokio::test]
async fn with_a_token_any_name_will_do_for_who_has_it() {
    let site = Site::start(with_token());
    let known = format!("GET /api/v1/gaps HTTP/1.1\r\nHost: far.example\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    assert_eq!(ask(site.address, known).await.status, 200);
    assert_eq!(ask(site.address, "GET /api/v1/gaps HTTP/1.1\r\nHost: far.example\r\n\r\n").await.status, 401);
}

#[tokio::test]
async fn pages_of_others_may_link_here_and_not_ask() {
    let site = Site::start(Options::default());
    for (from, path, status) in [
        ("cross-site", "/api/v1/overview", 403),
        ("same-site", "/api/v1/overview", 403),
        ("cross-site", "/api/v1/stream", 403),
        ("cross-site", "/metrics", 403),
        ("same-origin", "/api/v1/overview", 200),
        ("none", "/api/v1/overview", 200),
        ("cross-site", "/", 200),
    ] {
        let answer = get_with(site.address, path, &format!("Sec-Fetch-Site: {from}\r\n")).await;
        assert_eq!(answer.status, status, "{from} {path}");
    }
}
