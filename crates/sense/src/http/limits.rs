//! Limits of one request.

use std::time::Duration;

/// How much of a peer is put up with in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until a TCP connection stands, for each address of the name.
    pub connect: Duration,
    /// For the whole request, from the name to the last byte. Waiting for an earlier request to the same target to end
    /// does not count.
    pub total: Duration,
    /// Bytes of the answer's headers; never less than 8 KiB.
    pub headers: usize,
    /// Bytes of the body as it is sent.
    pub body: usize,
    /// Bytes of the body after decompression.
    pub unpacked: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(1),
            total: Duration::from_secs(3),
            headers: 64 << 10,
            body: 16 << 20,
            unpacked: 16 << 20,
        }
    }
}
