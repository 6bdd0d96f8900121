//! What a failed exchange means.

use std::error::Error;
use std::io;

use model::{Blind, BlindKind};

use super::{Limits, Target};
use crate::text::{printable, size};

/// The kind and the story of `error`, of which `heard` is the beginning of what came back.
pub(super) fn blind(error: &(dyn Error + 'static), heard: &[u8], target: &Target, limits: &Limits) -> Blind {
    let mut causes = vec![error];
    while let Some(cause) = causes.last().copied().and_then(Error::source) {
        causes.push(cause);
    }
    if let Some(told) = causes.iter().copied().find_map(told) {
        return told.clone();
    }
    let tls = causes.iter().copied().find_map(rustls_error);
    if let Some(tls) = tls {
        return Blind::new(BlindKind::Tls, target.tls.explain(tls, None));
    }
    let text = causes.iter().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let hyper = causes.iter().find_map(|cause| cause.downcast_ref::<hyper::Error>());
    if hyper.is_some_and(hyper::Error::is_parse) {
        // hyper tells this apart only when built as a server
        if text.contains("too large") || text.contains("too long") {
            let text = format!("the headers of the answer are larger than {}", size(limits.headers));
            return Blind::new(BlindKind::TooLarge, text);
        }
        return Blind::new(BlindKind::NotHttp, not_http(&text, heard));
    }
    let io = causes.iter().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    let cut = matches!(
        io,
        Some(
            io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::NotConnected
        )
    );
    let closed = hyper.is_some_and(|error| error.is_incomplete_message() || error.is_canceled() || error.is_closed());
    if cut || closed {
        let what = if heard.is_empty() { "closed the connection without an answer" } else { "cut the answer short" };
        return Blind::new(BlindKind::Cut, format!("the server {what} ({text})"));
    }
    match io {
        Some(io::ErrorKind::TimedOut) => Blind::new(BlindKind::Deadline, format!("the network gave up ({text})")),
        // a peer that breaks the framing of its own body
        _ => Blind::new(BlindKind::NotHttp, format!("the answer breaks the rules of HTTP ({text})")),
    }
}

/// What a tunnel tells of its own end, which hides inside an error of the system's.
fn told<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Blind> {
    error.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref()
}

/// An error of rustls, which hides inside one of the system's.
fn rustls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    error.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref()
}

fn not_http(text: &str, heard: &[u8]) -> String {
    // a TLS alert: what a TLS server says to plain HTTP
    let hint = if heard.starts_with(&[0x15, 0x03]) { "; it looks like TLS, so https:// may be meant" } else { "" };
    format!("what came back is not HTTP: \"{}\" ({text}){hint}", printable(heard, 60))
}

/// Whether `error` came out of rustls; then why.
pub(super) fn tls_cause(error: &io::Error) -> Option<&rustls::Error> {
    rustls_error(error)
}
