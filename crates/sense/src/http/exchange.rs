//! One request and its answer over a connection that stands, and how such a connection is made.

use std::sync::Arc;

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use model::{Answer, Blind, BlindKind};
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::body::{self, Unread};
use super::credentials::Loaded;
use super::lane::{Driver, Kept};
use super::names::Names;
use super::socket::Socket;
use super::stage::{Stage, Step};
use super::stream::{Heard, Stream, Wire};
use super::{Limits, Scheme, Target, connect, errors};
use crate::place::Tunnels;
use crate::text::printable;

/// Why there is no answer.
pub(super) enum Failure {
    /// The kept connection had gone before the request reached anybody: worth one try with a new one.
    Stale,
    /// The peer's doing.
    Blind(Blind),
}

impl From<Blind> for Failure {
    fn from(blind: Blind) -> Failure {
        Failure::Blind(blind)
    }
}

/// Makes a connection to `target`, with TLS where it wants that.
pub(super) async fn dial(
    target: &Target,
    tunnels: Option<&Arc<Tunnels>>,
    names: &Names,
    limits: &Limits,
    stage: &Stage,
) -> Result<Kept, Blind> {
    // files are read first: a mistake in them is told without a packet sent
    let tls = (target.base.scheme == Scheme::Https).then(|| target.tls.config()).transpose()?;
    let (socket, near) = if let Some(tunnels) = tunnels {
        stage.at(Step::Connect);
        (Socket::Tunnel(Box::new(tunnels.open(&target.base.host, target.base.port).await?)), false)
    } else {
        let (stream, peer) = connect::connect(target, names, limits, stage).await?;
        (Socket::Tcp(stream), peer.ip().is_loopback())
    };
    let wire = match tls {
        None => Wire::Plain(socket),
        Some((config, judge)) => {
            stage.at(Step::Tls);
            let name = target.tls.name.as_ref().unwrap_or(&target.base.host).clone();
            let name = ServerName::try_from(name)
                .map_err(|error| Blind::new(BlindKind::Tls, format!("no certificate can be for this name: {error}")))?;
            let stream =
                TlsConnector::from(config).connect(name, socket).await.map_err(|error| {
                    match errors::tls_cause(&error) {
                        Some(cause) => Blind::new(BlindKind::Tls, target.tls.explain(cause, judge.shown())),
                        None => errors::blind(&error, &[], target, limits),
                    }
                })?;
            Wire::Tls(Box::new(stream))
        }
    };
    let heard = Heard::default();
    let stream = TokioIo::new(Stream { wire, heard: heard.clone() });
    let mut builder = http1::Builder::new();
    // hyper's floor; the buffer bounds memory, the header size the answer's head
    builder.max_buf_size(limits.headers.max(8 << 10)).max_header_size(limits.headers.max(8 << 10)).max_headers(512);
    let (sender, connection) =
        builder.handshake(stream).await.map_err(|error| errors::blind(&error, &[], target, limits))?;
    // how the connection ends is told to the request that runs on it
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok(Kept::new(sender, heard, near, target, Driver(driver.abort_handle())))
}

/// Sends the request for `path` (prefix and all) over `kept` and reads the whole answer.
pub(super) async fn exchange(
    kept: &mut Kept,
    target: &Target,
    path: &str,
    loaded: &Loaded,
    limits: &Limits,
    stage: &Stage,
) -> Result<Answer, Failure> {
    stage.at(Step::Answer);
    let reused = std::mem::replace(&mut kept.used, true);
    kept.heard.forget();
    let heard = kept.heard.clone();
    let failed = |error: hyper::Error| {
        let first = heard.first();
        if reused && first.is_empty() { Failure::Stale } else { errors::blind(&error, &first, target, limits).into() }
    };
    let request = request(target, path, loaded, kept.near)?;
    kept.sender.ready().await.map_err(&failed)?;
    let response = kept.sender.send_request(request).await.map_err(&failed)?;
    let location = response.headers().get(header::LOCATION).map(HeaderValue::as_bytes);
    acceptable(response.status().as_u16(), location)?;
    stage.at(Step::Body);
    let (parts, body) = response.into_parts();
    let open_ended = is_open_ended(|name| parts.headers.get(name).map(|value| printable(value.as_bytes(), 200)));
    let bytes = match body::read(body, limits.body, stage).await {
        Ok(bytes) => bytes,
        Err(Unread::TooLarge(blind)) => return Err(blind.into()),
        Err(Unread::Broken(error)) => return Err(errors::blind(&error, &heard.first(), target, limits).into()),
    };
    let body = body::unpack(bytes, &text_of(&parts.headers, &header::CONTENT_ENCODING), limits.unpacked)?;
    let content_type = loaded.scrub(text_of(&parts.headers, &header::CONTENT_TYPE)).to_lowercase();
    Ok(Answer { status: parts.status.as_u16(), content_type, body, open_ended, ..Answer::default() })
}

/// Whether headers leave it to the end of the connection to say where the body ends: a peer that dies in the middle looks
/// the same. A packed body shows by itself that it is cut; one that is said to be as it is does not.
pub(crate) fn is_open_ended(header: impl Fn(&'static str) -> Option<String>) -> bool {
    let chunked =
        |coding: &str| coding.rsplit(',').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("chunked"));
    let told = header("content-length").is_some() || header("transfer-encoding").is_some_and(|coding| chunked(&coding));
    !told && !header("content-encoding").is_some_and(|coding| body::is_packed(&coding))
}

fn request(target: &Target, path: &str, loaded: &Loaded, loopback: bool) -> Result<Request<Empty<Bytes>>, Blind> {
    // packing costs the server more than the network saves where there is none between us
    let encodings = HeaderValue::from_static(if loopback { "identity" } else { "gzip" });
    let mut builder = Request::get(path)
        .header(header::HOST, target.base.authority())
        .header(header::USER_AGENT, concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT, "*/*")
        .header(header::ACCEPT_ENCODING, encodings);
    if let Some(credentials) = &loaded.header {
        builder = builder.header(header::AUTHORIZATION, credentials);
    }
    builder
        .body(Empty::new())
        .map_err(|error| Blind::new(BlindKind::NotHttp, format!("this cannot be asked over HTTP: {error}")))
}

/// Redirects and switches of protocol are not followed.
pub(crate) fn acceptable(status: u16, location: Option<&[u8]>) -> Result<(), Blind> {
    if status == StatusCode::SWITCHING_PROTOCOLS.as_u16() {
        let text = "the server wants to switch to another protocol (status 101), which was not asked for";
        return Err(Blind::new(BlindKind::NotHttp, text));
    }
    if !(300..400).contains(&status) || status == StatusCode::NOT_MODIFIED.as_u16() {
        return Ok(());
    }
    let to = match location {
        Some(location) => format!("points to {}", place(location)),
        None => "does not say where".to_string(),
    };
    let text = format!("redirect (status {status}) {to}; redirects are never followed, name that address itself");
    Err(Blind::new(BlindKind::NotHttp, text))
}

/// A location without what may be secret in it: userinfo, query, fragment.
fn place(location: &[u8]) -> String {
    let end = location.iter().position(|byte| b"?#".contains(byte)).unwrap_or(location.len());
    let text = printable(&location[..end], 200);
    let Some((before, rest)) = text.split_once("//") else { return text };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{before}//{host}{path}")
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get(name).map(|value| printable(value.as_bytes(), 200)).unwrap_or_default()
}
