//! The thread that answers visitors: it has a runtime of its own, so that no flood of them keeps a server from being looked at.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, anyhow};
use sense::clock::steady;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use web::{Listener, Options, Secret, Source, Tls};

use super::overview::Told;
use super::{Settings, own, socket};
use crate::wrong_usage;

/// Threads that may wait for a disk at once.
const BLOCKING: usize = 8;
/// Until visitors are cut off at the end.
const STOP: Duration = Duration::from_millis(500);

/// The page before it is served.
pub(super) struct Page {
    runtime: Own,
    listeners: Vec<Listener>,
    options: Options,
    url: String,
    /// What it goes on without.
    pub(super) notes: Vec<Told>,
}

/// A runtime that may be dropped within another one.
struct Own(Option<Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The page while it is served.
pub(super) struct Served {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Page {
    /// Listens. A port that is taken, or an address that wants a token, is wrong usage.
    pub(super) fn open(settings: &Settings) -> Result<Page> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING).build()?;
        let runtime = Own(Some(runtime));
        let mut options = Options { hosts: settings.hosts.clone(), ..Options::default() };
        options.limits.stop = STOP;
        (options.token, options.tls) = (token(settings)?, tls(settings)?);
        let within = runtime.0.as_ref().map(Runtime::enter);
        let tcp = Listener::tcp(settings.listen, options.token.as_ref()).map_err(wrong_usage)?;
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}/", tcp.address().unwrap_or(settings.listen));
        let mut listeners = vec![tcp];
        let mut notes = Vec::new();
        match socket::listen(options.token.is_some()) {
            Ok(socket) => listeners.push(socket),
            Err(error) => {
                let text = format!("{error:#}: `plimsoll status` and `explain` on this host look for themselves");
                notes.push(Told { id: "no-socket".to_owned(), text });
            }
        }
        drop(within);
        Ok(Page { runtime, listeners, options, url, notes })
    }

    /// Its address.
    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    /// Answers from now on.
    pub(super) fn start(self, source: Arc<dyn Source>) -> Served {
        let (stop, stopped) = oneshot::channel();
        let Page { runtime, listeners, options, .. } = self;
        let thread = std::thread::spawn(move || {
            // Who holds the other end may have gone: that is a stop as well.
            let stopped = async { drop(stopped.await) };
            if let Some(inner) = &runtime.0 {
                inner.block_on(web::serve(listeners, source, options, stopped));
            }
        });
        Served { stop, thread }
    }
}

impl Served {
    /// Lets visitors go.
    pub(super) fn stop(self) {
        let _ = self.stop.send(());
        let until = steady() + 2.0 * STOP.as_secs_f64();
        while !self.thread.is_finished() && steady() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The token that visitors must give.
pub(super) fn token(settings: &Settings) -> Result<Option<Secret>> {
    let Some(text) = secret(settings)? else { return Ok(None) };
    Ok(Some(Secret::new(text.reveal()).map_err(wrong_usage)?))
}

/// The page's certificate and key.
pub(super) fn tls(settings: &Settings) -> Result<Option<Tls>> {
    let Some((cert, key)) = pair(settings)? else { return Ok(None) };
    Ok(Some(Tls::from_pem(&cert, &key).map_err(wrong_usage)?))
}

/// What stands now where the token is.
pub(super) fn secret(settings: &Settings) -> Result<Option<sense::Secret>> {
    let load = |source: &sense::SecretSource| source.load();
    settings.token.as_ref().map(load).transpose().map_err(|blind| wrong_usage(anyhow!("of the page's token {blind}")))
}

/// What is now in the files of the certificate and of its key.
pub(super) fn pair(settings: &Settings) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let Some((cert, key)) = &settings.tls else { return Ok(None) };
    Ok(Some((own::read(cert).map_err(wrong_usage)?, own::read(key).map_err(wrong_usage)?)))
}
