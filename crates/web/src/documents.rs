//! Whole documents that the source has ready.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use tokio::sync::Mutex;

use crate::answer::{JSON, TEXT, error, later, takes_gzip, whole};
use crate::pack::pack_aside;
use crate::query::{self, Query};
use crate::site::Site;

/// What Prometheus' text is called.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is said while nothing is looked at any more.
const STANDS_STILL: &str = "the watch stands still, and what it knows is not of now: its log says why (`journalctl -u plimsoll`), \
                            and where no service does it, start plimsoll again";

/// A document and its packed form. The document is held, so no other can have its address.
type Slot = Mutex<Option<(Arc<[u8]>, Option<Bytes>)>>;

/// Packed forms of the newest of each document that everybody asks for: packed once, however many ask.
#[derive(Default)]
pub(crate) struct Packed {
    overview: Slot,
    snapshot: Slot,
    gaps: Slot,
    metrics: Slot,
    /// The overview as the stream's frame.
    pub(crate) frame: std::sync::Mutex<Option<(Arc<[u8]>, Bytes)>>,
}

type Answer = Response<Body>;

pub(crate) async fn overview(State(site): State<Arc<Site>>, request: Request) -> Answer {
    match query::none(request.uri()) {
        Ok(()) => shared(JSON, site.source.overview(), &site.packed.overview, request.headers()).await,
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}

pub(crate) async fn gaps(State(site): State<Arc<Site>>, request: Request) -> Answer {
    match query::none(request.uri()) {
        Ok(()) => shared(JSON, site.source.gaps(), &site.packed.gaps, request.headers()).await,
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}

pub(crate) async fn metrics(State(site): State<Arc<Site>>, request: Request) -> Answer {
    match query::none(request.uri()) {
        // A scrape that fails is what everybody is told of (`up`), and it ends the series. A page that says less, or says what
        // was true, is seen by nobody.
        Ok(()) if !site.source.health() => later(StatusCode::SERVICE_UNAVAILABLE, STANDS_STILL),
        Ok(()) => shared(METRICS, site.source.metrics(), &site.packed.metrics, request.headers()).await,
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}

pub(crate) async fn snapshot(State(site): State<Arc<Site>>, request: Request) -> Answer {
    let server = Query::parse(request.uri(), &["server"]).and_then(|query| query.text("server"));
    let server = match server {
        Ok(server) => server,
        Err(sentence) => return error(StatusCode::BAD_REQUEST, &sentence),
    };
    match (site.source.snapshot(server.as_deref()), server) {
        (Some(document), None) => shared(JSON, document, &site.packed.snapshot, request.headers()).await,
        (Some(document), Some(_)) => {
            let plain = Bytes::from_owner(document);
            let packed = if takes_gzip(request.headers()) { pack_aside(plain.clone()).await } else { None };
            alone(&site, JSON, plain, packed)
        }
        (None, _) => error(StatusCode::NOT_FOUND, "no such server is watched; /api/v1/overview lists those that are"),
    }
}

pub(crate) async fn health(State(site): State<Arc<Site>>) -> Answer {
    if site.source.health() {
        return whole(StatusCode::OK, TEXT, "ok\n");
    }
    whole(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{STANDS_STILL}\n"))
}

/// Who asks while it is being packed waits for that.
async fn shared(kind: &'static str, document: Arc<[u8]>, slot: &Slot, headers: &HeaderMap) -> Answer {
    let plain = Bytes::from_owner(Arc::clone(&document));
    if !takes_gzip(headers) {
        return whole(StatusCode::OK, kind, plain);
    }
    let mut slot = slot.lock().await;
    if let Some((_, packed)) = slot.as_ref().filter(|(kept, _)| Arc::ptr_eq(kept, &document)) {
        return either(kind, plain, packed.clone());
    }
    let packed = pack_aside(plain.clone()).await;
    *slot = Some((document, packed.clone()));
    either(kind, plain, packed)
}

/// An answer that is made for one visitor: only the form that is sent is kept, and counted.
pub(crate) fn alone(site: &Site, kind: &'static str, plain: Bytes, packed: Option<Bytes>) -> Answer {
    let held = match packed {
        Some(packed) => site.held.hold(packed).map(|packed| either(kind, Bytes::new(), Some(packed))),
        None => site.held.hold(plain).map(|plain| either(kind, plain, None)),
    };
    held.unwrap_or_else(|| {
        let sentence = "the answers that are on their way are too large together: ask for less, or later";
        later(StatusCode::SERVICE_UNAVAILABLE, sentence)
    })
}

/// The packed form where there is one.
pub(crate) fn either(kind: &'static str, plain: Bytes, packed: Option<Bytes>) -> Answer {
    let Some(packed) = packed else {
        return whole(StatusCode::OK, kind, plain);
    };
    let mut answer = whole(StatusCode::OK, kind, packed);
    answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    answer
}
