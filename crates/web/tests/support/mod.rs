//! A site over a fake source, and a client that speaks HTTP by hand.

#![allow(dead_code, unused_imports, unreachable_pub, missing_docs, reason = "each test file uses a part")]

mod client;
mod fake;

pub use client::{Answer, answer_of, ask, connect, connect_from, get, get_with, read_answer, until_end};
pub use fake::{FakeSource, LARGE};

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use web::{Limits, Listener, Options, Secret};

pub const TOKEN: &str = "a-token-of-the-tests-0123456789";

/// A site that is served until it is stopped or dropped.
pub struct Site {
    pub address: SocketAddr,
    pub source: Arc<FakeSource>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl Site {
    pub fn start(options: Options) -> Self {
        Self::start_with(options, FakeSource::default())
    }

    pub fn start_with(options: Options, source: FakeSource) -> Self {
        let listener = Listener::tcp("127.0.0.1:0".parse().expect("an address"), None).expect("a free port");
        let address = listener.address().expect("an address");
        let source = Arc::new(source);
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&source);
        let served = tokio::spawn(async move {
            web::serve(vec![listener], shared, options, async {
                let _ = stopped.await;
            })
            .await;
        });
        Self { address, source, stop: Some(stop), served }
    }

    /// Says that it is time to stop.
    pub fn stop(&mut self) {
        self.stop.take().expect("not stopped before").send(()).expect("a site");
    }

    /// Waits until nothing is left of it.
    pub async fn ended(self) {
        patiently(self.served).await.expect("no panic");
    }
}

pub fn with(limits: Limits) -> Options {
    Options { limits, ..Options::default() }
}

pub fn with_token() -> Options {
    let limits = Limits { wrong_token: Duration::from_millis(5), ..Limits::default() };
    Options { token: Some(Secret::new(TOKEN).expect("a token")), ..with(limits) }
}

/// What never ends is a failure, not a hang. No test looks at how long anything took.
pub async fn patiently<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_mins(2), work).await.expect("it hangs")
}
