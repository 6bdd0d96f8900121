//! Whether a connection is being answered or waited for: the first is our time, the second the visitor's.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// Set while a request is being answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy(Arc<State>);

#[derive(Debug, Default)]
struct State {
    now: AtomicBool,
    requests: AtomicUsize,
}

impl Busy {
    pub(crate) fn is(&self) -> bool {
        self.0.now.load(Ordering::Relaxed)
    }

    /// How many requests were begun to be answered.
    pub(crate) fn requests(&self) -> usize {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Busy as long as the guard lives.
    pub(crate) fn start(&self) -> Work {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        self.0.now.store(true, Ordering::Relaxed);
        Work(self.clone())
    }
}

/// One answer in the making.
#[derive(Debug)]
pub(crate) struct Work(Busy);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.0.now.store(false, Ordering::Relaxed);
    }
}

/// An answer's body, which ends the work when it is through.
pub(crate) struct Answering {
    pub(crate) body: Body,
    pub(crate) work: Option<Work>,
}

impl HttpBody for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(None | Some(Err(_))) = frame {
            self.work = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
