//! The stream of changes, and the end of a site.

mod support;

use std::sync::Arc;
use std::time::Duration;

use support::{Site, answer_of, connect, get, patiently, until_end, with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use web::{Limits, Options};

const STREAM: &[u8] = b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Reads until `end` was sent.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains(end) {
        text.push(patiently(stream.read_u8()).await.expect("more"));
    }
    String::from_utf8(text).expect("text")
}

#[tokio::test]
async fn the_whole_comes_first_then_what_changes_then_signs_of_life() {
    let site = Site::start(with(Limits { ping: Duration::from_millis(50), ..Limits::default() }));
    *site.source.overview.lock().expect("a lock") = b"{\n \"schema\": 1\n}\n"[..].into();
    let mut stream = connect(site.address).await;
    let answer = answer_of(&mut stream, STREAM).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let first = read_until(&mut stream, "data: }\n\n").await;
    assert!(first.contains("retry: 2000\n\n"), "{first}");
    assert!(first.contains("event: overview\ndata: {\ndata:  \"schema\": 1\ndata: }\n\n"), "{first}");
    site.source.frames.send(b"event: servers\ndata: {\"a\":1}\n\n"[..].into()).expect("a reader");
    read_until(&mut stream, "event: servers\ndata: {\"a\":1}\n\n").await;
    read_until(&mut stream, "event: ping\ndata: {}\n\n").await;
}

#[tokio::test]
async fn a_reader_that_lags_gets_the_whole_again() {
    let site = Site::start(Options::default());
    let mut stream = connect(site.address).await;
    stream.write_all(STREAM).await.expect("a request");
    read_until(&mut stream, "event: overview").await;
    // More than the source keeps for a reader, at one go.
    let frame: Arc<[u8]> = b"event: servers\ndata: {}\n\n"[..].into();
    for _ in 0..200 {
        site.source.frames.send(Arc::clone(&frame)).expect("a reader");
    }
    read_until(&mut stream, "event: overview").await;
}

#[tokio::test]
async fn a_stop_ends_streams_properly_and_frees_the_port() {
    let mut site = Site::start(Options::default());
    let mut stream = connect(site.address).await;
    let mut idle = connect(site.address).await;
    assert_eq!(answer_of(&mut idle, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status, 200);
    assert_eq!(answer_of(&mut stream, STREAM).await.status, 200);
    site.stop();
    // The last chunk of a body that was told to its end.
    assert!(until_end(&mut stream).await.ends_with(b"\r\n0\r\n\r\n"));
    assert!(until_end(&mut idle).await.is_empty());
    let address = site.address;
    site.ended().await;
    std::net::TcpListener::bind(address).expect("a free port");
}

#[tokio::test]
async fn a_stop_waits_for_an_answer_that_is_being_made() {
    let mut site = Site::start(with(Limits { stop: Duration::from_mins(1), ..Limits::default() }));
    site.source.stick(true);
    let address = site.address;
    let asked = tokio::spawn(async move { get(address, "/api/v1/history").await });
    patiently(async {
        while site.source.at_disk.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    site.stop();
    site.source.stick(false);
    assert_eq!(patiently(asked).await.expect("an answer").status, 200);
    site.ended().await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_who_will_not_leave() {
    let limits = Limits { stop: Duration::from_millis(100), ..Limits::default() };
    let mut site = Site::start(with(limits));
    site.source.stick(true);
    let mut stuck = connect(site.address).await;
    stuck.write_all(b"GET /api/v1/history HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("a request");
    let mut half = connect(site.address).await;
    half.write_all(b"GET / HT").await.expect("half a head");
    patiently(async {
        while site.source.at_disk.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    site.stop();
    assert!(until_end(&mut stuck).await.is_empty() && until_end(&mut half).await.is_empty());
    let source = Arc::clone(&site.source);
    site.ended().await;
    source.stick(false);
}
