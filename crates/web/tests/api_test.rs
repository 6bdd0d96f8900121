//! Every route, what it takes, and what every answer has.

mod support;

use std::io::Read;
use std::sync::atomic::Ordering;

use support::{FakeSource, Site, ask, get, get_with, patiently};
use web::Options;

const DOCUMENTS: [(&str, &str); 5] = [
    ("overview", "plimsoll.overview/1"),
    ("snapshot", "plimsoll.status/1"),
    ("history", "plimsoll.history/1"),
    ("events", "plimsoll.events/1"),
    ("gaps", "plimsoll.gaps/1"),
];

#[tokio::test]
async fn every_document_is_answered_bare() {
    let site = Site::start(Options::default());
    for (name, schema) in DOCUMENTS {
        let answer = get(site.address, &format!("/api/v1/{name}")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{name}");
        assert_eq!(answer.json()["schema"], schema);
    }
    let answer = get(site.address, "/metrics").await;
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(answer.text().contains("plimsoll_up 1"));
    assert_eq!(get(site.address, "/api/v1/report").await.status, 404);
    assert_eq!(get(site.address, "/healthz").await.text(), "ok\n");
}

/// Prometheus' `up` is 0 then, and the series end: an alert on any of them could never fire.
#[tokio::test]
async fn a_watch_that_stands_still_has_no_metrics() {
    let site = Site::start(Options::default());
    site.source.alive.store(false, Ordering::SeqCst);
    for path in ["/metrics", "/healthz"] {
        let answer = get(site.address, path).await;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.text().contains("journalctl -u plimsoll"), "{path}: {}", answer.text());
        assert!(!answer.text().contains("plimsoll_up"), "{path}");
    }
    site.source.alive.store(true, Ordering::SeqCst);
    assert_eq!(get(site.address, "/metrics").await.status, 200);
}

#[tokio::test]
async fn the_openapi_file_and_the_routes_are_the_same() {
    let site = Site::start(Options::default());
    let file = get(site.address, "/api/v1/openapi.json").await.json();
    assert_eq!(file["openapi"], "3.1.0");
    let paths = file["paths"].as_object().expect("paths");
    for (name, _) in DOCUMENTS {
        assert!(paths.contains_key(&format!("/api/v1/{name}")));
    }
    for path in paths.keys().filter(|path| !["/api/v1/stream", "/api/v1/report"].contains(&path.as_str())) {
        let concrete = path.replace("{name}", "main.js");
        let status = get(site.address, &concrete).await.status;
        assert_eq!(status, if path == "/login" { 405 } else { 200 }, "{path}");
    }
}

#[tokio::test]
async fn every_answer_keeps_the_page_to_itself() {
    let site = Site::start(Options::default());
    let paths =
        ["/", "/assets/main.js", "/assets/none", "/api/v1/overview", "/api/v1/history?points=x", "/metrics", "/none"];
    for path in paths {
        let answer = get_with(site.address, path, "Origin: http://evil.example\r\n").await;
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert!(!answer.head.to_lowercase().contains("access-control-"), "{path}");
        let kept = answer.header("cache-control");
        assert_eq!(
            kept,
            Some(if ["/", "/assets/main.js"].contains(&path) { "no-cache" } else { "no-store" }),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_page_asks_nothing_of_others() {
    let site = Site::start(Options::default());
    for path in ["/", "/assets/main.js", "/assets/app.css"] {
        let answer = get(site.address, path).await;
        assert!(!answer.text().contains("://") && !answer.text().contains("style="), "{path}");
    }
}

#[tokio::test]
async fn questions_reach_the_source_as_they_were_asked() {
    let site = Site::start(Options::default());
    let path = "/api/v1/history?server=http%3A%2F%2F10.0.0.1%3A30000&signal=used,in_use&rank=dp0&from=1&to=2&points=50";
    assert_eq!(get(site.address, path).await.status, 200);
    let asked = site.source.history.lock().expect("a lock").pop().expect("a question");
    assert_eq!((asked.server.as_deref(), asked.points), (Some("http://10.0.0.1:30000"), Some(50)));
    assert_eq!((asked.signals.len(), asked.rank.as_deref(), asked.window_s), (2, Some("dp0"), None));
    assert_eq!(get(site.address, "/api/v1/events?kind=restart&window=7d").await.status, 200);
    let asked = site.source.events.lock().expect("a lock").pop().expect("a question");
    assert_eq!((asked.kinds, asked.window_s), (vec!["restart".to_owned()], Some(604_800.0)));
}

#[tokio::test]
async fn what_cannot_be_answered_is_said_in_a_sentence() {
    let site = Site::start(Options::default());
    let cases = [
        ("/api/v1/history?points=1000000", 400, "points"),
        ("/api/v1/history?signal=bad", 400, "no such signal"),
        ("/api/v1/history?sginal=in_use", 400, "sginal"),
        ("/api/v1/overview?server=x", 400, "server"),
        ("/api/v1/events?window=fortnight", 400, "window"),
        ("/api/v1/snapshot?server=http://10.0.0.9:1", 404, "no such server"),
        ("/api/v1/history?server=http://10.0.0.9:1", 404, "no such server"),
        ("/api/v1/history?signal=broken", 503, "the disk"),
        ("/api/v2/overview", 404, "openapi"),
    ];
    for (path, status, word) in cases {
        let answer = get(site.address, path).await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.json()["schema"], "plimsoll.error/1");
        assert!(answer.text().contains(word), "{path}: {}", answer.text());
    }
}

#[tokio::test]
async fn nothing_is_ever_written() {
    let site = Site::start(Options::default());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"] {
        for path in ["/", "/api/v1/overview", "/api/v1/history", "/assets/main.js", "/none"] {
            let target = if method == "CONNECT" { "localhost:80" } else { path };
            let request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
            let answer = ask(site.address, request).await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        }
    }
    let bodies = ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"];
    for body in bodies {
        let answer = ask(site.address, format!("GET /api/v1/gaps HTTP/1.1\r\nHost: localhost\r\n{body}")).await;
        assert_eq!(answer.status, 413);
    }
    let answer = ask(site.address, "HEAD /api/v1/overview HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-length").is_some_and(|length| length != "0") && answer.body.is_empty());
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).expect("gzip");
    plain
}

#[tokio::test]
async fn large_documents_are_packed_for_those_who_can_unpack() {
    for size in [2_000, 600_000] {
        let site = Site::start_with(Options::default(), FakeSource::of_bytes(size));
        let plain = get(site.address, "/api/v1/overview").await;
        assert_eq!(plain.header("content-encoding"), None);
        for _ in 0..2 {
            let packed = get_with(site.address, "/api/v1/overview", "Accept-Encoding: gzip\r\n").await;
            assert_eq!(
                (packed.header("content-encoding"), packed.header("vary")),
                (Some("gzip"), Some("Accept-Encoding"))
            );
            assert!(packed.body.len() < plain.body.len() && unpacked(&packed.body) == plain.body);
        }
        // Another document, at the same size: what was packed before is not taken for it.
        *site.source.overview.lock().expect("a lock") = "y".repeat(plain.body.len()).into_bytes().into();
        let packed = get_with(site.address, "/api/v1/overview", "Accept-Encoding: gzip\r\n").await;
        assert!(unpacked(&packed.body).iter().all(|byte| *byte == b'y'));
        let small = get_with(site.address, "/api/v1/gaps", "Accept-Encoding: gzip\r\n").await;
        assert_eq!(small.header("content-encoding"), None);
    }
}

#[tokio::test]
async fn files_of_the_page_are_sent_once() {
    let site = Site::start(Options::default());
    for path in ["/", "/assets/app.css", "/assets/main.js"] {
        let first = get(site.address, path).await;
        let tag = first.header("etag").expect("a tag").to_owned();
        let again = get_with(site.address, path, &format!("If-None-Match: \"x\", {tag}\r\n")).await;
        assert_eq!((again.status, again.header("etag")), (304, Some(tag.as_str())));
        assert!(again.header("content-security-policy").is_some());
        assert_eq!(get_with(site.address, path, "If-None-Match: \"x\"\r\n").await.status, 200);
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_page() {
    let site = Site::start(Options::default());
    let paths = [
        "/../Cargo.toml",
        "/assets/../Cargo.toml",
        "/assets/../../../../../../etc/passwd",
        "/assets/%2e%2e/Cargo.toml",
        "/assets/%2e%2e%2f%2e%2e%2fCargo.toml",
        "/assets/..%5cCargo.toml",
        "/assets/%252e%252e/Cargo.toml",
        "/assets//etc/passwd",
        "//etc/passwd",
        "/assets/",
        "/assets",
        "/assets/./main.js",
        "/assets/main.js%00.css",
        "/assets/main.js/",
        "/assets/%61pp.js",
        "/assets/APP.JS",
        "/assets/table.rs",
        "/api/v1/../../etc/passwd",
        "/api/v1//overview",
    ];
    for path in paths {
        let answer = get(site.address, path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["schema"], "plimsoll.error/1", "{path}");
    }
}

#[tokio::test]
async fn nothing_is_fetched_on_a_visitors_word() {
    let site = Site::start(Options::default());
    let trap = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    trap.set_nonblocking(true).expect("a trap that does not wait");
    let lure = trap.local_addr().expect("an address");
    for name in ["server", "url", "target", "signal", "rank", "redirect"] {
        for (path, _) in DOCUMENTS {
            get(site.address, &format!("/api/v1/{path}?{name}=http%3A%2F%2F{lure}%2F")).await;
            get(site.address, &format!("/api/v1/{path}?{name}=http://{lure}/")).await;
        }
    }
    let lines = format!(
        "X-Forwarded-Host: {lure}\r\nForwarded: host={lure}\r\nReferer: http://{lure}/\r\nLast-Event-ID: 1\r\n"
    );
    get_with(site.address, "/", &lines).await;
    // As if it were a proxy.
    for request in [
        format!("GET http://{lure}/ HTTP/1.1\r\nHost: {lure}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {lure}\r\n\r\n"),
        format!("CONNECT {lure} HTTP/1.1\r\nHost: {lure}\r\n\r\n"),
    ] {
        ask(site.address, request).await;
    }
    patiently(tokio::task::yield_now()).await;
    let caught = trap.accept().expect_err("nobody came");
    assert_eq!(caught.kind(), std::io::ErrorKind::WouldBlock);
}
