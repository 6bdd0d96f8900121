//! Every way in which a peer can answer badly ends in the right kind of blindness, in time and in memory.

use std::io::{Read as _, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use model::{Blind, BlindKind};

use crate::peer::{Peer, get, hasty, patient};

async fn blind(peer: &Peer) -> Blind {
    let blind = get(&peer.target(), patient()).await.unwrap_err();
    assert!(blind.text.starts_with(&format!("GET http://127.0.0.1:{}/metrics: ", peer.port)), "{blind}");
    blind
}

/// As `blind`, against a peer that never ends by itself.
async fn late(peer: &Peer) -> Blind {
    let start = Instant::now();
    let blind = get(&peer.target(), hasty()).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    assert_eq!(blind.kind, BlindKind::Deadline, "{blind}");
    blind
}

fn expect(blind: &Blind, kind: BlindKind, part: &str) {
    assert_eq!(blind.kind, kind, "{blind}");
    assert!(blind.text.contains(part), "{blind}");
}

/// Writes until the other side has enough; gives the number of bytes that it took.
fn flood(stream: &mut TcpStream, piece: &[u8], most: usize) -> usize {
    let mut sent = 0;
    while sent < most && stream.write_all(piece).is_ok() {
        sent += piece.len();
    }
    sent
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn nothing_listens() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let blind = get(&port.to_string().parse().unwrap(), patient()).await.unwrap_err();
    expect(&blind, BlindKind::Refused, "nothing listens on 127.0.0.1:");
}

#[tokio::test]
async fn a_name_that_is_none() {
    let blind = get(&"http://no-such-host.invalid:1".parse().unwrap(), patient()).await.unwrap_err();
    expect(&blind, BlindKind::Name, "no-such-host.invalid does not resolve");
}

#[tokio::test]
async fn says_nothing() {
    let peer = Peer::on("127.0.0.1:0", |_, mut stream, _| drop(stream.read_to_end(&mut Vec::new())));
    expect(&late(&peer).await, BlindKind::Deadline, "connected, but no answer came");
}

/// An answer that only the end of the connection ends looks the same whether it is whole or not.
#[tokio::test]
async fn does_not_say_where_it_ends() {
    let ends = |headers: &str| Peer::sends(format!("HTTP/1.1 200 OK\r\n{headers}\r\nused 12"));
    for (headers, open_ended) in [
        ("", true),
        ("Connection: close\r\n", true),
        // As it is, and no word of where it ends.
        ("Content-Encoding: identity\r\n", true),
        ("Transfer-Encoding: identity\r\n", true),
        ("Content-Encoding: identity\r\nContent-Length: 7\r\n", false),
        ("Content-Length: 7\r\n", false),
    ] {
        let answer = get(&ends(headers).target(), patient()).await.unwrap();
        assert_eq!((answer.body.as_slice(), answer.open_ended), (&b"used 12"[..], open_ended), "{headers:?}");
    }
}

#[tokio::test]
async fn drips() {
    let peer = Peer::after_head(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let blind = late(&peer).await;
    expect(&blind, BlindKind::Deadline, "the body did not end (");
    assert!(!blind.text.contains("(0 bytes"), "{blind}");
}

#[tokio::test]
async fn drips_headers() {
    let peer = Peer::after_head(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    late(&peer).await;
}

#[tokio::test]
async fn continues_for_ever() {
    let peer = Peer::after_head(|stream| {
        while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    late(&peer).await;
}

#[tokio::test]
async fn body_without_end() {
    for head in
        ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]
    {
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        let peer = Peer::after_head(move |stream| {
            let _ = stream.write_all(head.as_bytes());
            let piece = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
            count.store(flood(stream, piece.as_bytes(), usize::MAX), Ordering::SeqCst);
        });
        expect(&blind(&peer).await, BlindKind::TooLarge, "the body is larger than 64 KiB");
        std::thread::sleep(Duration::from_millis(100));
        // what the kernel's buffers took is not ours
        assert!(sent.load(Ordering::SeqCst) < 32 << 20);
    }
}

#[tokio::test]
async fn a_gibibyte_announced() {
    let peer = Peer::after_head(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        flood(stream, &vec![b'x'; 65536], 1 << 30);
    });
    expect(&blind(&peer).await, BlindKind::TooLarge, "announced with 1073741824 bytes, more than 64 KiB");
}

#[tokio::test]
async fn headers_without_end() {
    let peer = Peer::after_head(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        flood(stream, format!("X-Header: {}\r\n", "x".repeat(1000)).as_bytes(), usize::MAX);
    });
    expect(&blind(&peer).await, BlindKind::TooLarge, "headers of the answer are larger than 64 KiB");
    let peer = Peer::sends(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(2000)));
    expect(&blind(&peer).await, BlindKind::TooLarge, "headers of the answer");
}

#[tokio::test]
async fn closes_or_resets() {
    let peer = Peer::after_head(|_| {});
    expect(&blind(&peer).await, BlindKind::Cut, "closed the connection without an answer");
    let peer = Peer::sends("HTTP/1.1 200 OK\r\nContent-Le");
    expect(&blind(&peer).await, BlindKind::Cut, "cut the answer short");
    let peer = Peer::sends("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of");
    expect(&blind(&peer).await, BlindKind::Cut, "cut the answer short");
    let peer = Peer::sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf of");
    expect(&blind(&peer).await, BlindKind::Cut, "cut the answer short");
    let peer = Peer::after_head(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of");
        std::thread::sleep(Duration::from_millis(100));
        // closing without lingering is a reset
        rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO)).unwrap();
    });
    expect(&blind(&peer).await, BlindKind::Cut, "cut the answer short");
}

#[tokio::test]
async fn content_length_lies() {
    let peer = Peer::after_head(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nless");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    expect(&late(&peer).await, BlindKind::Deadline, "(4 bytes so far)");
    // too short: what is announced is the body; the rest is no answer to the next request
    let peer = Peer::sends("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmore than announced");
    let client = crate::peer::client(patient());
    for connections in [1, 2] {
        let answer = client.get(&peer.target(), "/metrics").await.outcome.unwrap();
        assert_eq!((answer.body.as_slice(), peer.connections()), (&b"more"[..], connections));
    }
    let peer = Peer::sends("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nwhich");
    expect(&blind(&peer).await, BlindKind::NotHttp, "not HTTP");
    let peer = Peer::sends("HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nwhich");
    expect(&blind(&peer).await, BlindKind::NotHttp, "not HTTP");
}

#[tokio::test]
async fn not_http() {
    for (said, shown) in [
        (&b"SSH-2.0-OpenSSH_9.6\r\n"[..], "SSH-2.0-OpenSSH_9.6"),
        (b"\x15\x03\x01\x00\x02\x02\x0a", "https:// may be meant"),
        (b"\x00\xff\xfe\x01 nonsense \x1b[31m", "\\xff"),
        (b"<html>old</html>", "<html>old"),
        (b"HTTP/1.1 9999 OK\r\n\r\n", "HTTP/1.1 9999"),
        (b"HTTP/2.0 200 OK\r\n\r\n", "HTTP/2.0"),
    ] {
        let blind = blind(&Peer::sends(said)).await;
        expect(&blind, BlindKind::NotHttp, shown);
        assert!(!blind.text.contains('\u{1b}'), "{blind}");
    }
}

#[tokio::test]
async fn chunked_garbage() {
    for body in ["zz\r\nabc\r\n", "ffffffffffffffffff\r\nabc", "3\r\nabcdef\r\n0\r\n\r\n", "-3\r\nabc\r\n"] {
        let peer = Peer::sends(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        expect(&blind(&peer).await, BlindKind::NotHttp, "breaks the rules of HTTP");
    }
}

#[tokio::test]
async fn switches_protocol() {
    let peer = Peer::sends("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
    expect(&blind(&peer).await, BlindKind::NotHttp, "101");
}

#[tokio::test]
async fn empty_is_an_answer() {
    let peer = Peer::sends("HTTP/1.1 204 No Content\r\n\r\n");
    let answer = get(&peer.target(), patient()).await.unwrap();
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    for head in ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"] {
        let answer = get(&Peer::sends(head).target(), patient()).await.unwrap();
        assert_eq!((answer.status, answer.body.len(), answer.content_type.as_str()), (200, 0, ""));
    }
}

#[tokio::test]
async fn packed_bodies() {
    let plain = b"kv_used 1\n".repeat(1000);
    let answer = get(&Peer::sends(packed("gzip", &gzip(&plain))).target(), patient()).await.unwrap();
    assert_eq!(answer.body, plain);
    let bomb = gzip(&vec![0; 8 << 20]);
    assert!(bomb.len() < 64 << 10);
    let peer = Peer::sends(packed("gzip", &bomb));
    expect(&blind(&peer).await, BlindKind::TooLarge, "larger than 64 KiB when unpacked");
    let half = gzip(&plain);
    let peer = Peer::sends(packed("gzip", &half[..half.len() / 2]));
    expect(&blind(&peer).await, BlindKind::Cut, "ends in the middle");
    let two = [gzip(&plain), gzip(&plain)].concat();
    let answer = get(&Peer::sends(packed("gzip", &two)).target(), patient()).await.unwrap();
    assert_eq!(answer.body.len(), 2 * plain.len(), "members follow each other, RFC 1952 2.2");
    let peer = Peer::sends(packed("gzip", &gzip(b"").repeat(1000)));
    expect(&blind(&peer).await, BlindKind::TooLarge, "more than 64 pieces");
    let peer = Peer::sends(packed("gzip", b"this is no gzip at all"));
    expect(&blind(&peer).await, BlindKind::NotHttp, "says that it is gzip and is not");
    let peer = Peer::sends(packed("br", b"whatever"));
    expect(&blind(&peer).await, BlindKind::NotHttp, "packed as br");
}
