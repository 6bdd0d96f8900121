//! A connection, plain or TLS, that remembers the first bytes it heard: they tell what speaks there when it is not HTTP.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use super::socket::Socket;

/// How many bytes are remembered.
const FIRST: usize = 40;

/// What was heard since the last request.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn first(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, bytes: &[u8]) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = FIRST.saturating_sub(first.len()).min(bytes.len());
        first.extend_from_slice(&bytes[..room]);
    }
}

pub(super) enum Wire {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

pub(super) struct Stream {
    pub(super) wire: Wire,
    pub(super) heard: Heard,
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Stream { wire, heard } = self.get_mut();
        let before = buffer.filled().len();
        let polled = match wire {
            Wire::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Wire::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        heard.add(&buffer.filled()[before..]);
        polled
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().wire {
            Wire::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Wire::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().wire {
            Wire::Plain(stream) => Pin::new(stream).poll_flush(context),
            Wire::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().wire {
            Wire::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Wire::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
