//! Questions that may take the disk's time: few at once, each on a thread of its own.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use flate2::Compression;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::answer::{JSON, TEXT, error, later, refused, takes_gzip};
use crate::documents::alone;
use crate::door::Door;
use crate::pack::{self, pack};
use crate::query;
use crate::site::Site;
use crate::source::{Refused, Source};

type Answer = Response<Body>;

pub(crate) async fn history(State(site): State<Arc<Site>>, request: Request) -> Answer {
    match query::history(request.uri()) {
        Ok(ask) => {
            aside(&site, &site.history, JSON, takes_gzip(request.headers()), move |source| source.history(&ask)).await
        }
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}

pub(crate) async fn events(State(site): State<Arc<Site>>, request: Request) -> Answer {
    match query::events(request.uri()) {
        Ok(ask) => {
            aside(&site, &site.history, JSON, takes_gzip(request.headers()), move |source| source.events(&ask)).await
        }
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}

pub(crate) async fn report(State(site): State<Arc<Site>>, request: Request) -> Answer {
    if request.extensions().get::<Door>() != Some(&Door::Local) {
        return error(StatusCode::NOT_FOUND, "reports are given on the Unix socket only");
    }
    match query::report(request.uri()) {
        // The exit code stands before what the command prints, so it is text, whatever follows.
        Ok(ask) => {
            aside(&site, &site.reports, TEXT, takes_gzip(request.headers()), move |source| source.report(&ask)).await
        }
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}

async fn aside(
    site: &Site,
    gate: &Arc<Semaphore>,
    kind: &'static str,
    gzip: bool,
    work: impl FnOnce(&dyn Source) -> Result<Vec<u8>, Refused> + Send + 'static,
) -> Answer {
    let Ok(Ok(turn)) = timeout(site.limits.turn, Arc::clone(gate).acquire_owned()).await else {
        let sentence =
            "others ask the disk at the same time: come again in some seconds, or ask for a shorter time or one server";
        return later(StatusCode::SERVICE_UNAVAILABLE, sentence);
    };
    let source = Arc::clone(&site.source);
    let done = spawn_blocking(move || {
        // The turn goes on as long as the work does, even if nobody waits for it any more.
        let _turn = turn;
        let plain = Bytes::from(work(&*source)?);
        let worth = gzip && plain.len() >= pack::LEAST_BYTES;
        let packed = if worth { pack(&plain, Compression::fast()) } else { None };
        Ok((plain, packed))
    });
    match done.await {
        Ok(Ok((plain, packed))) => alone(site, kind, plain, packed),
        Ok(Err(why)) => refused(&why),
        Err(_) => error(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this went wrong on our side, which is a fault of plimsoll: its log has the cause",
        ),
    }
}
