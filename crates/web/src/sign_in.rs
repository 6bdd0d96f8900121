//! How a browser shows the token once, and has a cookie from then on.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use tokio::time::timeout;

use crate::answer::{error, see_other};
use crate::door::{self, Door};
use crate::guard::LOGIN;
use crate::site::Site;

/// Bytes of the form.
const FORM_BYTES: usize = 4 << 10;

/// The form's answer.
pub(crate) async fn login(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    let door = request.extensions().get::<Door>().copied().unwrap_or(Door::Plain);
    let (head, body) = request.into_parts();
    let Ok(read) = timeout(site.limits.head, Limited::new(body, FORM_BYTES).collect()).await else {
        return cut(error(StatusCode::REQUEST_TIMEOUT, "the form did not come"));
    };
    let Ok(form) = read else {
        return cut(error(StatusCode::PAYLOAD_TOO_LARGE, "this is no form with a token"));
    };
    let form = form.to_bytes();
    let Some((_, given)) = form_urlencoded::parse(&form).find(|(name, _)| name == "token") else {
        return error(StatusCode::BAD_REQUEST, "token: the form has none");
    };
    enter(&site, door, LOGIN, &head.headers, given.trim()).await
}

/// Lets a browser in that shows the token, and lets its address bar forget it.
pub(crate) async fn enter(site: &Site, door: Door, path: &str, headers: &HeaderMap, given: &str) -> Response<Body> {
    let mut answer = see_other("/");
    if let Some(secret) = &site.token {
        if !secret.is(given.as_bytes()) {
            return door::wrong(site, path, headers).await;
        }
        if let Ok(cookie) = HeaderValue::try_from(secret.set_cookie(door == Door::Tls)) {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
        }
    }
    answer
}

/// The rest of the body is not read.
fn cut(mut answer: Response<Body>) -> Response<Body> {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}
