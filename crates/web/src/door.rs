//! Who may come in.

use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode, Uri};

use crate::answer::{HTML, error, later, whole};
use crate::guard::LOGIN;
use crate::site::Site;

/// By which way a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Over TCP, without TLS.
    Plain,
    /// Over TCP, with TLS.
    Tls,
    /// Over the Unix socket: the file system let them in.
    Local,
}

/// Paths that show nothing of the fleet, and the page's when it is asked to sign somebody in.
fn open(uri: &Uri) -> bool {
    match uri.path() {
        "/healthz" | LOGIN => true,
        "/" => uri.query().is_some_and(|query| query.starts_with("token=")),
        path => path.starts_with("/assets/"),
    }
}

/// What a visitor without the token gets instead of an answer.
pub(crate) async fn keep_out(site: &Site, uri: &Uri, headers: &HeaderMap) -> Option<Response<Body>> {
    let secret = site.token.as_ref()?;
    if open(uri) {
        return None;
    }
    let path = uri.path();
    let cookies = headers.get_all(header::COOKIE);
    if cookies.iter().any(|line| secret.signed_in(line.as_bytes())) {
        return None;
    }
    let Some(given) = headers.get(header::AUTHORIZATION) else {
        return Some(unknown(path, headers, false));
    };
    if bearer(given.as_bytes()).is_some_and(|given| secret.is(given)) {
        return None;
    }
    Some(wrong(site, path, headers).await)
}

/// What stands behind `Bearer `.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| rest.trim_ascii())
}

/// The answer to a wrong token. Guessing is slow, and many who guess at once are sent away.
pub(crate) async fn wrong(site: &Site, path: &str, headers: &HeaderMap) -> Response<Body> {
    let Ok(_turn) = site.wrong_tokens.try_acquire() else {
        let sentence = "too many wrong tokens at once: come again in some seconds, with the right one";
        return later(StatusCode::TOO_MANY_REQUESTS, sentence);
    };
    tokio::time::sleep(site.limits.wrong_token).await;
    unknown(path, headers, true)
}

/// The answer to somebody who is not known, or who showed something else: to people at the page's door a form, else a sentence.
fn unknown(path: &str, headers: &HeaderMap, wrong: bool) -> Response<Body> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let person = ["/", LOGIN].contains(&path) && accept.contains("text/html");
    let mut answer = if person {
        whole(StatusCode::UNAUTHORIZED, HTML, &include_bytes!("../assets/sign_in.html")[..])
    } else if wrong {
        let sentence = "that is not the token: send the one that `plimsoll serve` was started with (token_file, token_env) \
                        as `Authorization: Bearer …`";
        error(StatusCode::UNAUTHORIZED, sentence)
    } else {
        let sentence = "a token is needed: send the one that `plimsoll serve` was started with (token_file, token_env) as \
                        `Authorization: Bearer …`, or open / in a browser and sign in, again if the token is another one now";
        error(StatusCode::UNAUTHORIZED, sentence)
    };
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"plimsoll\""));
    answer
}
