//! How a site is served, and how far its patience goes.

use std::time::Duration;

use crate::secret::Secret;
use crate::tls::Tls;

/// How a site is served.
#[derive(Debug, Default)]
pub struct Options {
    /// What visitors must show, on loopback too; not on the Unix socket, which has the file system's rights.
    pub token: Option<Secret>,
    /// TLS on every TCP listener.
    pub tls: Option<Tls>,
    /// Names beside `localhost` by which browsers may call a site without a token.
    pub hosts: Vec<String>,
    /// Bounds.
    pub limits: Limits,
}

/// Bounds of everything that visitors can make a site hold. The defaults are what is served; tests have less patience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once over TCP; further ones are told 503 and closed. Of these and of the streams nobody gets more than are
    /// left for the others.
    pub most_connections: usize,
    /// Connections at once over the Unix socket: a flood over TCP does not close it.
    pub most_local_connections: usize,
    /// Connections that are told that there is no room, at once; the rest waits in the system's queue.
    pub most_turned_away: usize,
    /// Streams of events at once.
    pub most_streams: usize,
    /// Questions to the disk at once.
    pub most_history: usize,
    /// Bytes of answers that are made for one visitor each, and are on their way: readers may be slow, and many.
    pub most_held_bytes: usize,
    /// Reports at once.
    pub most_reports: usize,
    /// Wrong tokens that are kept waiting at once; further ones are told 429.
    pub most_wrong_tokens: usize,
    /// Bytes of a request's first line and headers.
    pub head_bytes: usize,
    /// From a request's first byte to the end of its headers, also for a handshake.
    pub head: Duration,
    /// Between requests of one connection.
    pub idle: Duration,
    /// Within this a reader that is behind takes [`Limits::stall_bytes`], or is left.
    pub stall: Duration,
    /// What a reader that is behind takes within [`Limits::stall`].
    pub stall_bytes: usize,
    /// The longest wait for a turn at the disk.
    pub turn: Duration,
    /// From the end of a request's headers to the beginning of its answer.
    pub answer: Duration,
    /// How long a wrong token waits for its answer.
    pub wrong_token: Duration,
    /// Silence on a stream before a comment says that it lives.
    pub ping: Duration,
    /// From the word to stop until connections that are still open are cut.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            most_connections: 512,
            most_local_connections: 64,
            most_turned_away: 64,
            most_streams: 128,
            most_history: 4,
            most_held_bytes: 64 << 20,
            most_reports: 4,
            most_wrong_tokens: 16,
            head_bytes: 16 << 10,
            head: Duration::from_secs(5),
            idle: Duration::from_mins(1),
            stall: Duration::from_secs(20),
            stall_bytes: 64 << 10,
            turn: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            wrong_token: Duration::from_millis(500),
            ping: Duration::from_secs(15),
            stop: Duration::from_millis(1500),
        }
    }
}
