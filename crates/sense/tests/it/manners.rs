//! How we behave: one request at a time, over one connection, only what is on the list, no redirects.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::BlindKind;
use sense::{AllowList, Client, Credentials, Host, Limits, Place, Secret, SecretSource, Target};

use crate::peer::{Peer, client, get, ok, patient};

#[tokio::test]
async fn statuses_are_answers() {
    for (line, html) in
        [("401 Unauthorized", false), ("403 Forbidden", true), ("404 Not Found", false), ("500 Oops", true)]
    {
        let body = if html { "<!DOCTYPE html><html>no</html>" } else { "no" };
        let kind = if html { "Text/HTML; charset=UTF-8" } else { "text/plain" };
        let peer = Peer::answers(move |_| {
            format!("HTTP/1.1 {line}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        });
        let answer = get(&peer.target(), patient()).await.unwrap();
        assert_eq!(answer.status.to_string(), line[..3]);
        assert_eq!((answer.body.as_slice(), answer.content_type), (body.as_bytes(), kind.to_lowercase()));
    }
}

#[tokio::test]
async fn the_request_is_plain() {
    let peer = Peer::answers(|_| ok("x"));
    let target: Target = format!("http://127.0.0.1:{}/pre/fix/", peer.port).parse().unwrap();
    let look = client(patient()).get(&target, "/metrics").await;
    assert_eq!(look.url, format!("http://127.0.0.1:{}/pre/fix/metrics", peer.port));
    assert_eq!(look.get, "/metrics");
    assert!(look.took > 0.0 && look.at.0 > 1.7e9);
    let head = peer.heads.lock().unwrap()[0].to_lowercase();
    assert!(head.starts_with("get /pre/fix/metrics http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nhost: 127.0.0.1:{}\r\n", peer.port)), "{head}");
    // on loopback, packing only costs the server
    assert!(head.contains("\r\naccept-encoding: identity\r\n"), "{head}");
    assert!(head.contains("\r\nuser-agent: plimsoll/"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
}

/// Over a network, bodies may come packed.
#[tokio::test]
async fn packing_is_asked_for_off_loopback() {
    let ours = sense::process::addresses_of(&crate::proc_real::here(), std::process::id()).await.unwrap_or_default();
    let Some(address) = ours.first() else {
        eprintln!("skipped: no address here but loopback");
        return;
    };
    let peer = Peer::on("0.0.0.0:0", |peer, mut stream, _| {
        peer.head(&mut stream);
        let _ = stream.write_all(ok("x").as_bytes());
    });
    let target: Target = format!("{address}:{}", peer.port).parse().unwrap();
    get(&target, patient()).await.unwrap();
    assert!(peer.heads.lock().unwrap()[0].contains("accept-encoding: gzip\r\n"));
}

#[tokio::test]
async fn credentials_are_sent() {
    let peer = Peer::answers(|_| ok("x"));
    let mut target = peer.target();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "tok-123\r\n").unwrap();
    target.credentials = Credentials::Bearer(SecretSource::File(file.path().to_path_buf()));
    let client = client(patient());
    client.get(&target, "/metrics").await.outcome.unwrap();
    let password = Some(SecretSource::Url(Secret::new("open sesame")));
    target.credentials = Credentials::Basic { user: Secret::new("Aladdin"), password };
    client.get(&target, "/metrics").await.outcome.unwrap();
    let heads = peer.heads.lock().unwrap();
    assert!(heads[0].contains("authorization: Bearer tok-123\r\n"), "{}", heads[0]);
    // the example of RFC 7617
    assert!(heads[1].contains("authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), "{}", heads[1]);
}

#[tokio::test]
async fn ipv6() {
    let Ok(probe) = std::net::TcpListener::bind("[::1]:0") else {
        eprintln!("skipped: no IPv6 here");
        return;
    };
    drop(probe);
    let peer = Peer::on("[::1]:0", |peer, mut stream, _| {
        peer.head(&mut stream);
        let _ = stream.write_all(ok("six").as_bytes());
    });
    let target: Target = format!("http://[::1]:{}", peer.port).parse().unwrap();
    assert_eq!(get(&target, patient()).await.unwrap().body, b"six");
    // a name with both kinds of address: the second is tried
    let target: Target = format!("localhost:{}", peer.port).parse().unwrap();
    if std::net::ToSocketAddrs::to_socket_addrs(&("localhost", 1)).unwrap().any(|address| address.is_ipv6()) {
        assert_eq!(get(&target, patient()).await.unwrap().body, b"six");
    }
}

#[tokio::test]
async fn one_connection_is_kept() {
    let peer = Peer::answers(|head| ok(head.split(' ').nth(1).unwrap()));
    let client = client(patient());
    for path in ["/metrics", "/v1/loads", "/metrics"] {
        assert_eq!(client.get(&peer.target(), path).await.outcome.unwrap().body, path.as_bytes());
    }
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn a_closed_connection_is_made_again() {
    // said or unsaid, at once or later
    for head in ["Connection: close\r\n", ""] {
        for pause in [0, 50] {
            let peer = Peer::after_head(move |stream| {
                let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}Content-Length: 1\r\n\r\nx").as_bytes());
                std::thread::sleep(Duration::from_millis(pause));
            });
            let client = client(patient());
            for _ in 0..3 {
                assert_eq!(client.get(&peer.target(), "/metrics").await.outcome.unwrap().body, b"x");
            }
            assert_eq!(peer.connections(), 3);
        }
    }
}

#[tokio::test]
async fn a_connection_with_rest_is_not_reused() {
    let peer = Peer::on("127.0.0.1:0", |peer, mut stream, number| {
        while peer.head(&mut stream).is_some() {
            let answer =
                if number == 0 { "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".to_string() } else { ok("new") };
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let client = client(patient());
    assert_eq!(client.get(&peer.target(), "/metrics").await.outcome.unwrap_err().kind, BlindKind::TooLarge);
    assert_eq!(client.get(&peer.target(), "/metrics").await.outcome.unwrap().body, b"new");
}

#[tokio::test]
async fn a_dropped_request_frees_the_lane() {
    let peer = Peer::on("127.0.0.1:0", |peer, mut stream, number| {
        while peer.head(&mut stream).is_some() {
            if number == 0 {
                std::thread::sleep(Duration::from_mins(1));
            }
            let _ = stream.write_all(ok("x").as_bytes());
        }
    });
    let client = client(patient());
    let target = peer.target();
    assert!(tokio::time::timeout(Duration::from_millis(300), client.get(&target, "/metrics")).await.is_err());
    assert_eq!(client.get(&target, "/metrics").await.outcome.unwrap().body, b"x");
}

#[tokio::test]
async fn never_two_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now_in, most_in) = (Arc::clone(&now), Arc::clone(&most));
    let peer = Peer::on("127.0.0.1:0", move |peer, mut stream, _| {
        while peer.head(&mut stream).is_some() {
            most_in.fetch_max(now_in.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(15));
            now_in.fetch_sub(1, Ordering::SeqCst);
            let _ = stream.write_all(ok("x").as_bytes());
        }
    });
    let client = client(patient());
    let mut requests = tokio::task::JoinSet::new();
    for index in 0..12 {
        let host = ["127.0.0.1", "localhost", "127.0.0.1", "0.0.0.0"][index % 4];
        let target: Target = format!("http://{host}:{}", peer.port).parse().unwrap();
        let client = client.clone();
        let path = ["/metrics", "/v1/loads"][index % 2];
        requests.spawn(async move { client.get(&target, path).await.outcome });
    }
    for outcome in requests.join_all().await {
        outcome.unwrap();
    }
    assert_eq!((most.load(Ordering::SeqCst), peer.heads.lock().unwrap().len()), (1, 12));
}

#[tokio::test]
async fn only_what_is_on_the_list() {
    let peer = Peer::answers(|_| ok("x"));
    let client = client(patient());
    let others = [
        "/health",
        "/health_generate",
        "/METRICS",
        "/metrics/",
        "/metrics?x=1",
        "/v1/../metrics",
        "metrics",
        "",
        "/metrics#a",
    ];
    for path in others {
        let blind = client.get(&peer.target(), path).await.outcome.unwrap_err();
        assert_eq!(blind.kind, BlindKind::Denied, "{blind}");
        assert!(blind.text.contains("nothing was sent"), "{blind}");
        let blind = client.get_query(&peer.target(), path, "up").await.outcome.unwrap_err();
        assert_eq!(blind.kind, BlindKind::Denied, "{blind}");
    }
    assert_eq!((peer.connections(), client.counts()), (0, sense::Counts::default()));
    // entries that no request can carry are on no list
    let list = AllowList::new(["metrics", "/a b", "/a\r\nX: y", "/ü", "/a#b", "/ok?full=1"]);
    assert_eq!(list, AllowList::new(["/ok?full=1"]));
}

#[tokio::test]
async fn queries_are_encoded() {
    let peer = Peer::answers(|_| ok("{}"));
    let look = client(patient()).get_query(&peer.target(), "/api/v1/query", "max by (pod) (a:b{c=~\"d.*\"}) & 1").await;
    look.outcome.unwrap();
    assert_eq!(look.get, "/api/v1/query");
    let head = peer.heads.lock().unwrap()[0].clone();
    let line =
        "GET /api/v1/query?query=max%20by%20%28pod%29%20%28a%3Ab%7Bc%3D~%22d.%2A%22%7D%29%20%26%201 HTTP/1.1\r\n";
    assert!(head.starts_with(line), "{head}");
}

#[tokio::test]
async fn redirects_are_told_not_followed() {
    let peer = Peer::answers(|head| {
        let host =
            head.to_lowercase().lines().find_map(|line| line.strip_prefix("host: ").map(str::to_string)).unwrap();
        format!(
            "HTTP/1.1 302 Found\r\nLocation: http://user:canary@{host}/metrics?token=canary#canary\r\nContent-Length: 0\r\n\r\n"
        )
    });
    let blind = get(&peer.target(), patient()).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::NotHttp);
    assert!(blind.text.contains(&format!("points to http://127.0.0.1:{}/metrics;", peer.port)), "{blind}");
    assert!(!blind.text.contains("canary"), "{blind}");
    assert_eq!(peer.heads.lock().unwrap().len(), 1);
    for (head, part) in [("Location: /login?next=canary\r\n", "points to /login;"), ("", "does not say where")] {
        let peer = Peer::sends(format!("HTTP/1.1 307 Temporary Redirect\r\n{head}Content-Length: 0\r\n\r\n"));
        let blind = get(&peer.target(), patient()).await.unwrap_err();
        assert!(blind.text.contains(part) && !blind.text.contains("canary"), "{blind}");
    }
}

#[tokio::test]
async fn doings_are_counted() {
    let peer = Peer::answers(|_| ok("12345"));
    let client = client(Limits { body: 5, ..patient() });
    client.get(&peer.target(), "/metrics").await.outcome.unwrap();
    client.get(&peer.target(), "/metrics").await.outcome.unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    client.get(&closed.to_string().parse().unwrap(), "/metrics").await.outcome.unwrap_err();
    assert_eq!(client.counts(), sense::Counts { requests: 3, failed: 1, bytes: 10 });
}

#[tokio::test]
async fn a_place_gets() {
    let peer = Peer::answers(|_| ok("x"));
    let place = Place::from(Host::new(client(patient())));
    assert_eq!(place.get(&peer.target(), "/metrics").await.outcome.unwrap().body, b"x");
    place.get_query(&peer.target(), "/api/v1/query", "up").await.outcome.unwrap();
}

/// Callers may spawn looks at many targets.
#[test]
fn looks_can_be_spawned() {
    fn send<T: Send>(_: &T) {}
    let (client, target): (Client, Target) = (client(Limits::default()), "1".parse().unwrap());
    send(&client.get(&target, "/metrics"));
    let place = Place::from(Host::new(client.clone()));
    send(&sense::processes(&place, &[], |_| true));
}
