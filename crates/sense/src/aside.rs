//! Work that may hang goes to a thread of its own, so that neither the runtime nor its shutdown ever waits for it
//! (a runtime waits for its own blocking pool when it ends).

use std::io;

use tokio::sync::oneshot;

/// Runs `work` on a new thread and waits for what it returns. Dropping the wait leaves the thread to end by itself.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (send, receive) = oneshot::channel();
    start(move || {
        // nobody waits any more after a deadline: then the result is dropped here
        let _ = send.send(work());
    })?;
    receive.await.map_err(|_| io::Error::other("the helper thread ended without a result"))
}

/// Starts a detached helper thread.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name("sense-aside".to_string()).spawn(work).map(drop)
}
