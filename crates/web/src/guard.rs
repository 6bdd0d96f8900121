//! What every request passes before anything looks at what it asks.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Method, Response, StatusCode, Uri};
use axum::middleware::Next;
use tokio::time::timeout;

use crate::answer::{error, finish, later};
use crate::door::{self, Door};
use crate::site::Site;

/// The path that alone takes a body.
pub(crate) const LOGIN: &str = "/login";

/// Answers within the site's time, with the headers that every answer has.
pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response<Body> {
    let door = request.extensions().get::<Door>().copied().unwrap_or(Door::Plain);
    let (head, body) = request.into_parts();
    let work = async {
        match refuse(&site, door, &head).await {
            Some(refusal) => refusal,
            None => next.run(Request::from_parts(head, body)).await,
        }
    };
    let answer = timeout(site.limits.answer, work).await;
    let mut answer = answer.unwrap_or_else(|_| {
        let sentence = "this took too long, and was given up: come again in some seconds, or ask for less";
        later(StatusCode::SERVICE_UNAVAILABLE, sentence)
    });
    finish(answer.headers_mut());
    answer
}

async fn refuse(site: &Site, door: Door, head: &Parts) -> Option<Response<Body>> {
    let (path, headers) = (head.uri.path(), &head.headers);
    if let Some(refusal) = wrong_method(&head.method, path).or_else(|| with_body(path, headers)) {
        return Some(refusal);
    }
    if door == Door::Local {
        return None;
    }
    if let Some(refusal) = stranger(site, &head.uri, headers).or_else(|| from_elsewhere(path, headers)) {
        return Some(refusal);
    }
    door::keep_out(site, &head.uri, headers).await
}

fn wrong_method(method: &Method, path: &str) -> Option<Response<Body>> {
    let (fits, allowed) = match path {
        LOGIN => (method == Method::POST, "POST"),
        _ => (method == Method::GET || method == Method::HEAD, "GET, HEAD"),
    };
    if fits {
        return None;
    }
    let mut refusal = error(StatusCode::METHOD_NOT_ALLOWED, &format!("this is only read: {allowed}"));
    if path == LOGIN {
        refusal = error(StatusCode::METHOD_NOT_ALLOWED, "a token is posted here; the form is at /");
    }
    refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    Some(refusal)
}

/// Nothing is sent here but the form of the sign-in. What comes all the same is not read: the connection ends.
fn with_body(path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let empty = headers.get(header::CONTENT_LENGTH).is_none_or(|length| length.as_bytes() == b"0");
    if path == LOGIN || empty && !headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    let mut refusal = error(StatusCode::PAYLOAD_TOO_LARGE, "a question has no body here");
    refusal.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    Some(refusal)
}

/// A page of others that let its own name point here. A token keeps it out as well: browsers give our cookie to our name only.
fn stranger(site: &Site, uri: &Uri, headers: &HeaderMap) -> Option<Response<Body>> {
    let mut lines = headers.get_all(header::HOST).iter();
    let line = lines.next();
    if lines.next().is_some() {
        return Some(error(StatusCode::BAD_REQUEST, "the request has two Host headers"));
    }
    if site.token.is_some() {
        return None;
    }
    let said = uri.authority().map(Authority::as_str).or_else(|| line.and_then(|line| line.to_str().ok()));
    match said {
        None => Some(error(StatusCode::BAD_REQUEST, "the request has no Host header that can be read")),
        Some(host) if site.hosts.know(host) => None,
        Some(_) => Some(error(
            StatusCode::MISDIRECTED_REQUEST,
            "this is not called by that name: use an address or localhost, or start `plimsoll serve` with the name or with a token",
        )),
    }
}

/// A page of others whose browser says so. Pages themselves may be linked to.
fn from_elsewhere(path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if path == "/" || path.starts_with("/assets/") || site.is_none_or(|site| site == b"same-origin" || site == b"none")
    {
        return None;
    }
    Some(error(StatusCode::FORBIDDEN, "a page of another site asked this; only our own page may"))
}
