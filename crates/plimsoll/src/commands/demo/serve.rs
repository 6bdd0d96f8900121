//! Serving the recording: one loopback port for each recorded server.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use model::Time;
use tokio::net::TcpListener;

use super::recording::Recording;

/// The servers while they run.
pub(super) struct Stage {
    play: Rc<Play>,
}

/// What is played, and from which moment since when.
struct Play {
    recording: Rc<Recording>,
    /// Recorded address and the one that stands for it.
    renamed: Vec<(String, String)>,
    clock: Cell<(f64, Time)>,
}

impl Stage {
    /// The address that stands for a recorded one.
    pub(super) fn address(&self, recorded: &str) -> Option<String> {
        self.play.renamed.iter().find(|(known, _)| known == recorded).map(|(_, ours)| ours.clone())
    }

    /// Goes on from `moment`, in seconds.
    pub(super) fn jump(&self, moment: f64) {
        self.play.clock.set((moment, sense::clock::now()));
    }

    /// Seconds of the recording.
    pub(super) fn length(&self) -> f64 {
        self.play.recording.length()
    }
}

/// Starts a server for each recorded one; must run in a `LocalSet`.
pub(super) async fn start(recording: Rc<Recording>, begin: f64) -> Result<Stage> {
    let mut listeners = Vec::new();
    let mut renamed = Vec::new();
    for server in recording.servers() {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no loopback port")?;
        renamed.push((server.clone(), format!("http://{}", listener.local_addr()?)));
        listeners.push((server.clone(), listener));
    }
    let play = Rc::new(Play { recording, renamed, clock: Cell::new((begin, sense::clock::now())) });
    for (server, listener) in listeners {
        tokio::task::spawn_local(accept(server, listener, Rc::clone(&play)));
    }
    Ok(Stage { play })
}

async fn accept(server: String, listener: TcpListener, play: Rc<Play>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (server, play) = (server.clone(), Rc::clone(&play));
        tokio::task::spawn_local(async move {
            let answer = service_fn(|request| std::future::ready(Ok::<_, Infallible>(play.answer(&server, &request))));
            // A peer that goes away in the middle is its own business.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

impl Play {
    fn answer(&self, server: &str, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let now = sense::clock::now();
        let (moment, since) = self.clock.get();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let found = self
            .recording
            .answer(server, path, moment + now.since(since), now)
            .filter(|_| request.method() == Method::GET);
        let (status, content_type, body) = found.unwrap_or_else(not_there);
        let body = self.renamed.iter().fold(body, |body, (recorded, ours)| body.replace(recorded.as_str(), ours));
        let response = Response::builder().status(status).header("content-type", content_type).body(Full::from(body));
        response.unwrap_or_default()
    }
}

fn not_there() -> (u16, String, String) {
    (404, "application/json".to_owned(), r#"{"detail":"Not Found"}"#.to_owned())
}
