//! Servers as simple, and as bad, as a test wants them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{Answer, Blind};
use sense::{AllowList, Client, Limits, Target};

/// A server on a port of its own, with what it saw.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) port: u16,
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Peer {
    /// A server that hands every connection to `handle`, with its number from 0, on a thread of its own.
    pub(crate) fn on(address: &str, handle: impl Fn(&Peer, TcpStream, usize) + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind(address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let peer = Peer { port, heads: Arc::default(), connections: Arc::default() };
        let (own, handle) = (peer.clone(), Arc::new(handle));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (own, handle) = (own.clone(), Arc::clone(&handle));
                let number = own.connections.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || handle(&own, stream.unwrap(), number));
            }
        });
        peer
    }

    /// A server that reads a request's head, then does `handle`, then closes.
    pub(crate) fn after_head(handle: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Peer {
        Peer::on("127.0.0.1:0", move |peer, mut stream, _| {
            if peer.head(&mut stream).is_some() {
                handle(&mut stream);
            }
        })
    }

    /// A server that sends these bytes after a request's head, and closes.
    pub(crate) fn sends(bytes: impl Into<Vec<u8>>) -> Peer {
        let bytes = bytes.into();
        Peer::after_head(move |stream| drop(stream.write_all(&bytes)))
    }

    /// A well-behaved server with keep-alive: `answer` gives status line, headers and body for a request's head.
    pub(crate) fn answers(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Peer {
        Peer::on("127.0.0.1:0", move |peer, mut stream, _| {
            while let Some(head) = peer.head(&mut stream) {
                if stream.write_all(answer(&head).as_bytes()).is_err() {
                    break;
                }
            }
        })
    }

    /// Reads one request's head and keeps it.
    pub(crate) fn head(&self, stream: &mut impl Read) -> Option<String> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        self.heads.lock().unwrap().push(head.clone());
        Some(head)
    }

    pub(crate) fn target(&self) -> Target {
        self.port.to_string().parse().unwrap()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// An answer with a body.
pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Limits that a slow machine does not hit by itself; small caps.
pub(crate) fn patient() -> Limits {
    Limits {
        connect: Duration::from_secs(10),
        total: Duration::from_secs(30),
        body: 64 << 10,
        unpacked: 64 << 10,
        ..Limits::default()
    }
}

/// Limits that strike soon.
pub(crate) fn hasty() -> Limits {
    Limits { total: Duration::from_millis(700), ..patient() }
}

pub(crate) fn client(limits: Limits) -> Client {
    Client::new(AllowList::new(["/metrics", "/v1/loads", "/api/v1/query"]), limits)
}

/// One GET of `/metrics` with a client of its own.
pub(crate) async fn get(target: &Target, limits: Limits) -> Result<Answer, Blind> {
    client(limits).get(target, "/metrics").await.outcome
}
