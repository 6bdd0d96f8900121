//! One visitor's connection.

use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::busy::{Answering, Busy};
use crate::door::Door;
use crate::listener::Visitor;
use crate::patience::Patient;
use crate::places::Who;
use crate::site::Site;

/// Answers one visitor until either side has enough.
pub(crate) async fn attend(visitor: Visitor, tls: Option<TlsAcceptor>, site: Arc<Site>, router: Router) {
    match (visitor, tls) {
        (Visitor::Unix(stream), _) => serve(stream, Door::Local, None, &site, router).await,
        (Visitor::Tcp(stream, who), None) => serve(stream, Door::Plain, Some(who), &site, router).await,
        (Visitor::Tcp(stream, who), Some(tls)) => {
            let shaken = tokio::select! {
                shaken = timeout(site.limits.head, tls.accept(stream)) => shaken,
                () = site.stopped() => return,
            };
            if let Ok(Ok(stream)) = shaken {
                serve(stream, Door::Tls, Some(who), &site, router).await;
            }
        }
    }
}

async fn serve<S>(stream: S, door: Door, who: Who, site: &Site, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let busy = Busy::default();
    let io = TokioIo::new(Patient::new(stream, site.limits.clone(), busy.clone()));
    let inner = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let work = busy.start();
        request.extensions_mut().insert(door);
        request.extensions_mut().insert(who);
        let answer = inner.call(request);
        async move { answer.await.map(|answer| answer.map(|body| Answering { body, work: Some(work) })) }
    });
    // Time is kept by `Patient`, which knows idle connections from slow heads.
    let connection = http1::Builder::new()
        .max_buf_size(site.limits.head_bytes)
        .header_read_timeout(None)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    // How a connection ends is the visitor's affair.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = site.stopped() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
