//! Server-sent events: the whole overview first, then what changed.

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderValue};
use axum::http::{Response, StatusCode};
use hyper::body::Frame;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::answer::{error, later};
use crate::places::{Denied, Place, Who};
use crate::query;
use crate::site::Site;

/// What a reader that lost its stream waits before it asks for another, milliseconds.
const RETRY: &[u8] = b"retry: 2000\n\n";

pub(crate) async fn stream(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    if let Err(sentence) = query::none(request.uri()) {
        return error(StatusCode::BAD_REQUEST, &sentence);
    }
    let place = match site.streams.take(request.extensions().get::<Who>().copied().flatten()) {
        Ok(place) => place,
        Err(denied) => return later(StatusCode::SERVICE_UNAVAILABLE, &too_many(denied, site.limits.most_streams)),
    };
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(feed(site, sender, place));
    let mut answer = Response::new(Body::new(Frames(receiver)));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // A proxy between that collects an answer before it passes it on would show nothing.
    answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

fn too_many(denied: Denied, most: usize) -> String {
    let who = match denied {
        Denied::Full => format!("all {most} streams are taken: close pages that nobody looks at"),
        Denied::Greedy => {
            "your address has as many streams as are left for all others: close other tabs of the page".to_owned()
        }
    };
    format!("{who}, and ask /api/v1/overview until then, every 5 s")
}

/// Feeds one reader until it leaves or the site stops.
async fn feed(site: Arc<Site>, sender: mpsc::Sender<Bytes>, _place: Place) {
    // First the ear, then the picture: what happens between comes twice, and not never.
    let mut frames = site.source.frames();
    if sender.send(Bytes::from_static(RETRY)).await.is_err() {
        return;
    }
    let mut next = overview(&site);
    loop {
        tokio::select! {
            biased;
            () = site.stopped() => return,
            sent = sender.send(next) => if sent.is_err() { return },
        }
        next = tokio::select! {
            biased;
            () = site.stopped() => return,
            () = sender.closed() => return,
            frame = frames.recv() => match frame {
                Ok(frame) => Bytes::from_owner(frame),
                // Changes without the ones before them would be a wrong picture.
                Err(RecvError::Lagged(_)) => overview(&site),
                Err(RecvError::Closed) => return,
            },
            () = tokio::time::sleep(site.limits.ping) => Bytes::from_static(b"event: ping\ndata: {}\n\n"),
        };
    }
}

/// The overview as a frame, made once for all readers.
fn overview(site: &Site) -> Bytes {
    let document = site.source.overview();
    let mut kept = site.packed.frame.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, frame)) = kept.as_ref().filter(|(of, _)| Arc::ptr_eq(of, &document)) {
        return frame.clone();
    }
    let frame = Bytes::from(framed(&document));
    *kept = Some((document, frame.clone()));
    frame
}

/// A line end within would end the frame's field, so each line has a field of its own.
fn framed(document: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(document.len() + 64);
    frame.extend_from_slice(b"event: overview\n");
    for line in document.trim_ascii_end().split(|byte| *byte == b'\n') {
        frame.extend_from_slice(b"data: ");
        frame.extend_from_slice(line);
        frame.push(b'\n');
    }
    frame.push(b'\n');
    frame
}

/// A body that ends when its feeder does.
struct Frames(mpsc::Receiver<Bytes>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
