//! Ten thousand requests at once. Alone in its process: it looks at how much memory that took.

mod support;

use rustix::process::{Resource, getrlimit, setrlimit};
use support::{FakeSource, Site, get, patiently};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use web::Options;

const CONNECTIONS: usize = 2_000;
const REQUESTS: usize = 5;
/// What one answer has: were each connection to hold a copy, that alone would be 250 MiB of them.
const DOCUMENT: usize = 512 << 10;
/// 256 connections with a head of 16 KiB each and as much for what is written, 2,000 clients of our own, and room.
const MOST_GROWTH: usize = 128 << 20;

/// Most memory that this process ever had, bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("our own status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

/// One client: five requests at one go. How many were answered 200 and 503, and how often the connection just ended.
async fn client(address: std::net::SocketAddr) -> (usize, usize, usize) {
    let Ok(mut stream) = TcpStream::connect(address).await else { return (0, 0, REQUESTS) };
    let request = "GET /api/v1/overview HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (mut read, mut write) = stream.split();
    let _ = write.write_all(request.repeat(REQUESTS).as_bytes()).await;
    let (mut fine, mut full) = (0, 0);
    let mut part = vec![0; 16 << 10];
    let mut body = 0;
    while fine < REQUESTS {
        let Ok(bytes @ 1..) = read.read(&mut part).await else { break };
        let text = &part[..bytes];
        if text.starts_with(b"HTTP/1.1 503") {
            full += REQUESTS;
            break;
        }
        body += bytes;
        fine = body / DOCUMENT;
    }
    (fine, full, REQUESTS - (fine + full).min(REQUESTS))
}

#[tokio::test]
async fn ten_thousand_requests_at_once() {
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: files.maximum, ..files }).expect("more files");
    let site = Site::start_with(Options::default(), FakeSource::of_bytes(DOCUMENT));
    assert_eq!(get(site.address, "/api/v1/overview").await.status, 200);
    let before = peak();
    let address = site.address;
    let clients: Vec<_> = (0..CONNECTIONS).map(|_| tokio::spawn(client(address))).collect();
    let (mut fine, mut full, mut ended) = (0, 0, 0);
    for client in clients {
        let told = patiently(client).await.expect("a client");
        (fine, full, ended) = (fine + told.0, full + told.1, ended + told.2);
    }
    let growth = peak() - before;
    // Every request has an outcome; as many clients as one address has places get everything, and it goes on afterwards.
    assert_eq!(fine + full + ended, CONNECTIONS * REQUESTS, "{fine} {full} {ended}");
    assert!(fine >= 256 * REQUESTS, "{fine} were answered, {full} told 503, {ended} ended");
    assert!(growth < MOST_GROWTH, "{} MiB more", growth >> 20);
    assert_eq!(get(site.address, "/api/v1/overview").await.status, 200);
}
