//! A stream whose visitor may be slow, but not for ever.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::busy::Busy;
use crate::options::Limits;

/// A stream that fails once its visitor takes too long: to send a request's head after its first byte, to send a first byte,
/// or to take what is written to it.
pub(crate) struct Patient<S> {
    inner: S,
    limits: Limits,
    busy: Busy,
    /// Runs while a request is waited for.
    head: Option<Pin<Box<Sleep>>>,
    /// Whether a byte of the request that is waited for came.
    begun: bool,
    /// Requests that came in whole.
    seen: usize,
    /// Runs while the visitor is behind.
    stall: Option<Pin<Box<Sleep>>>,
    /// Bytes taken since `stall` runs.
    taken: usize,
}

impl<S> Patient<S> {
    pub(crate) fn new(inner: S, limits: Limits, busy: Busy) -> Self {
        // A connection is made to ask something: its first request has no time to idle.
        let head = Some(timer(limits.head));
        Self { inner, limits, busy, head, begun: true, seen: 0, stall: None, taken: 0 }
    }

    /// Another request came in whole: the time of its head is over.
    fn notice(&mut self) {
        let requests = self.busy.requests();
        if self.seen != requests {
            (self.seen, self.head, self.begun) = (requests, None, false);
        }
    }

    /// The visitor does not send what is waited for.
    fn waiting(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        self.notice();
        if self.busy.is() {
            return Poll::Pending;
        }
        let head = self.head.get_or_insert_with(|| timer(self.limits.idle));
        ready!(head.as_mut().poll(cx));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    /// The visitor does not take what is written.
    fn behind(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let stall = self.stall.get_or_insert_with(|| {
                self.taken = 0;
                timer(self.limits.stall)
            });
            ready!(stall.as_mut().poll(cx));
            self.stall = None;
            if self.taken < self.limits.stall_bytes {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
        }
    }

    fn wrote(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match done {
            Poll::Ready(Ok(bytes)) => {
                self.taken = self.taken.saturating_add(bytes);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => self.behind(cx).map(Err),
        }
    }

    /// Everything was taken, or is not.
    fn through(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<()>>) -> Poll<io::Result<()>> {
        if done.is_pending() {
            return self.behind(cx).map(Err);
        }
        self.stall = None;
        // The end of an answer is the beginning of a wait, and reading is tried again only when something comes.
        match self.waiting(cx) {
            Poll::Ready(error) => Poll::Ready(Err(error)),
            Poll::Pending => done,
        }
    }
}

fn timer(time: Duration) -> Pin<Box<Sleep>> {
    Box::pin(sleep(time))
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.notice();
        let before = buffer.filled().len();
        if let Poll::Ready(done) = Pin::new(&mut this.inner).poll_read(cx, buffer) {
            if buffer.filled().len() > before && !this.begun && !this.busy.is() {
                // Bytes that come later do not buy time.
                (this.head, this.begun) = (Some(timer(this.limits.head)), true);
            }
            return Poll::Ready(done);
        }
        this.waiting(cx).map(Err)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.wrote(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.wrote(cx, done)
    }

    // Documents are shared between connections; without this each would get its own copy.
    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_flush(cx);
        self.through(cx, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.through(cx, done)
    }
}
