use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::patiently;

/// One answer, as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

pub async fn connect(address: SocketAddr) -> TcpStream {
    patiently(TcpStream::connect(address)).await.expect("a connection")
}

/// A connection of another visitor: all of 127.0.0.0/8 is this host.
pub async fn connect_from(last: u8, address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).expect("an address of this host");
    patiently(socket.connect(address)).await.expect("a connection")
}

/// Sends these bytes on a connection of their own, and reads the answer.
pub async fn ask(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Answer {
    answer_of(&mut connect(address).await, bytes.as_ref()).await
}

pub async fn answer_of(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), bytes: &[u8]) -> Answer {
    // Whoever is refused early is answered before all is sent.
    let _ = patiently(stream.write_all(bytes)).await;
    read_answer(stream, bytes.starts_with(b"HEAD")).await
}

pub async fn get(address: SocketAddr, path: &str) -> Answer {
    get_with(address, path, "").await
}

/// `lines` are further headers, each with its line end.
pub async fn get_with(address: SocketAddr, path: &str, lines: &str) -> Answer {
    ask(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n")).await
}

/// Reads one answer, and nothing behind it.
pub async fn read_answer(stream: &mut (impl AsyncRead + Unpin), bare: bool) -> Answer {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = patiently(stream.read_u8()).await;
        head.push(byte.unwrap_or_else(|error| panic!("{error} after {:?}", String::from_utf8_lossy(&head))));
    }
    let head = String::from_utf8(head).expect("a head of text");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut answer = Answer { status, head, body: Vec::new() };
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    if let Some(length) = length.filter(|_| !bare && status != 304) {
        answer.body = vec![0; length];
        patiently(stream.read_exact(&mut answer.body)).await.expect("a whole body");
    }
    answer
}

/// Everything until the other side ends the connection, in whatever way.
pub async fn until_end(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut all = Vec::new();
    let mut part = [0; 4096];
    while let Ok(bytes @ 1..) = patiently(stream.read(&mut part)).await {
        all.extend_from_slice(&part[..bytes]);
    }
    all
}
