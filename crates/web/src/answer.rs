//! Answers, and the headers that each of them has.

use axum::body::{Body, Bytes};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};

use crate::source::Refused;

pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// On every answer. The page takes nothing from elsewhere, talks to nobody else, and stands in nobody's frame; what is
/// answered is for our own page and for programs, not for pages of others.
const ALWAYS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::VARY, "Accept-Encoding"),
];

/// Puts the headers on that every answer has; without a word of its own it is kept nowhere.
pub(crate) fn finish(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// An answer with a body of this type.
pub(crate) fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut answer = Response::new(Body::from(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// A sentence for people that programs can tell from an answer.
pub(crate) fn error(status: StatusCode, sentence: &str) -> Response<Body> {
    let body = serde_json::json!({"schema": "plimsoll.error/1", "error": sentence});
    whole(status, JSON, body.to_string())
}

/// There is no room now, but there will be.
pub(crate) fn later(status: StatusCode, sentence: &str) -> Response<Body> {
    let mut answer = error(status, sentence);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
    answer
}

/// What the source says instead of an answer.
pub(crate) fn refused(refused: &Refused) -> Response<Body> {
    match refused {
        Refused::Bad(sentence) => error(StatusCode::BAD_REQUEST, sentence),
        Refused::Unknown(sentence) => error(StatusCode::NOT_FOUND, sentence),
        Refused::Broken(sentence) => later(StatusCode::SERVICE_UNAVAILABLE, sentence),
    }
}

/// See there instead.
pub(crate) fn see_other(place: &'static str) -> Response<Body> {
    let mut answer = whole(StatusCode::SEE_OTHER, TEXT, "");
    answer.headers_mut().insert(header::LOCATION, HeaderValue::from_static(place));
    answer
}

/// Whether gzip is understood.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|part| {
        let mut words = part.split(';').map(str::trim);
        let named = words.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        let weight = words.find_map(|word| word.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse::<f32>().ok());
        named && weight.is_some_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_only_where_it_is_taken() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        assert!(takes("gzip, deflate, br") && takes("br;q=1.0, gzip;q=0.5") && takes("*"));
        assert!(!takes("") && !takes("br") && !takes("gzip;q=0") && !takes("gzip;q=x") && !takes("xgzip"));
    }
}
