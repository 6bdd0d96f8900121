//! The page: files that are built in, told apart by a sum of what they hold.

#[cfg(debug_assertions)]
mod disk;
mod table;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use flate2::Compression;
use sha2::{Digest, Sha256};

use crate::answer::{error, takes_gzip};
use crate::documents::either;
use crate::door::Door;
use crate::pack::{self, pack};
use crate::query::{self, Query};
use crate::sign_in::enter;
use crate::site::Site;
use table::{FILES, File};

/// The files, packed once.
pub(crate) struct Assets(Vec<Asset>);

struct Asset {
    name: &'static str,
    kind: &'static str,
    plain: Bytes,
    packed: Option<Bytes>,
    tag: String,
}

impl Assets {
    pub(crate) fn new() -> Self {
        Self(FILES.iter().map(|file| Asset::new(file, Bytes::from_static(file.bytes))).collect())
    }

    /// Names are compared with those of the table: no text of a visitor becomes a path.
    fn answer(&self, name: &str, headers: &HeaderMap) -> Response<Body> {
        let Some(asset) = self.0.iter().find(|asset| asset.name == name) else {
            return error(StatusCode::NOT_FOUND, "the page has no such file");
        };
        #[cfg(debug_assertions)]
        if let Some(now) = disk::read(asset.name) {
            let file = FILES.iter().find(|file| file.name == name);
            return file.map_or_else(|| asset.answer(headers), |file| Asset::new(file, now).answer(headers));
        }
        asset.answer(headers)
    }
}

impl Asset {
    fn new(file: &File, plain: Bytes) -> Self {
        let sum = Sha256::digest(&plain);
        let sum: String = sum[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        let packed = if plain.len() >= pack::LEAST_BYTES { pack(&plain, Compression::best()) } else { None };
        // Weak: the packed form is another text with the same meaning.
        Self { name: file.name, kind: file.kind, plain, packed, tag: format!("W/\"{sum}\"") }
    }

    fn answer(&self, headers: &HeaderMap) -> Response<Body> {
        let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let mut answer = if known.flat_map(|line| line.split(',')).any(|tag| tag.trim() == self.tag) {
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            answer
        } else {
            either(self.kind, self.plain.clone(), self.packed.clone().filter(|_| takes_gzip(headers)))
        };
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            answer.headers_mut().insert(header::ETAG, tag);
        }
        // Kept, and asked for each time: a new version of the program is seen at once.
        answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        answer
    }
}

/// `/`, and the way in for browsers that bring the token in the address.
pub(crate) async fn page(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    match query::none(request.uri()) {
        Ok(()) => site.assets.answer("index.html", request.headers()),
        Err(sentence) => match Query::parse(request.uri(), &["token"]).and_then(|query| query.text("token")) {
            Ok(Some(token)) => {
                let door = request.extensions().get::<Door>().copied().unwrap_or(Door::Plain);
                enter(&site, door, "/", request.headers(), &token).await
            }
            _ => error(StatusCode::BAD_REQUEST, &sentence),
        },
    }
}

/// `/assets/…`.
pub(crate) async fn asset(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    let name = request.uri().path().strip_prefix("/assets/").unwrap_or_default();
    match query::none(request.uri()) {
        Ok(()) => site.assets.answer(name, request.headers()),
        Err(sentence) => error(StatusCode::BAD_REQUEST, &sentence),
    }
}
