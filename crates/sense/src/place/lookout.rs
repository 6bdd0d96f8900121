//! Blocking reads on helper threads, one after the other, with patience for each.
//!
//! A process that hangs in a driver can block whoever reads its `/proc` files, as everyone knows from a `ps` that never
//! returns on such a host. Here it costs its own entry and one thread; the others are still read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::{Blind, BlindKind};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::aside;

/// How long one read may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many helper threads may be reading, or hanging, at once.
const THREADS: usize = 16;

/// Runs reads and counts the threads that are still at it.
#[derive(Debug, Clone)]
pub(super) struct Lookout {
    patience: Duration,
    busy: Arc<AtomicUsize>,
}

/// Counts a thread for as long as it lives.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout::with(PATIENCE)
    }
}

impl Lookout {
    /// A lookout that waits this long for each read.
    pub(super) fn with(patience: Duration) -> Lookout {
        Lookout { patience, busy: Arc::default() }
    }

    /// `look` at each of `paths`, in order.
    pub(super) async fn each<T: Send + 'static>(
        &self,
        paths: Vec<PathBuf>,
        look: impl Fn(&Path) -> Result<T, Blind> + Clone + Send + 'static,
    ) -> Vec<Result<T, Blind>> {
        let paths: Arc<[PathBuf]> = paths.into();
        let mut results = Vec::with_capacity(paths.len());
        while results.len() < paths.len() {
            let next = results.len();
            let mut receive = match self.watch(Arc::clone(&paths), next, look.clone()) {
                Ok(receive) => receive,
                Err(text) => {
                    results.push(Err(failed(&paths[next], &text)));
                    continue;
                }
            };
            loop {
                match timeout(self.patience, receive.recv()).await {
                    Ok(Some(result)) => results.push(result),
                    Ok(None) => break,
                    Err(_) => {
                        let text = format!("the read did not return within {} s", self.patience.as_secs_f64());
                        results.push(Err(failed(&paths[results.len()], &text)));
                        break;
                    }
                }
            }
            if results.len() == next {
                results.push(Err(failed(&paths[next], "the reading thread ended")));
            }
        }
        results
    }

    /// Starts a thread that looks at `paths` from `next` on.
    fn watch<T: Send + 'static>(
        &self,
        paths: Arc<[PathBuf]>,
        next: usize,
        look: impl Fn(&Path) -> Result<T, Blind> + Send + 'static,
    ) -> Result<mpsc::UnboundedReceiver<Result<T, Blind>>, String> {
        let others = self.busy.fetch_add(1, Ordering::Relaxed);
        let busy = Busy(Arc::clone(&self.busy));
        if others >= THREADS {
            return Err(format!("{others} earlier reads have not returned yet"));
        }
        let (send, receive) = mpsc::unbounded_channel();
        aside::start(move || {
            let _busy = busy;
            for path in &paths[next..] {
                if send.send(look(path)).is_err() {
                    break;
                }
            }
        })
        .map_err(|error| format!("no helper thread: {error}"))?;
        Ok(receive)
    }
}

fn failed(path: &Path, text: &str) -> Blind {
    Blind::new(BlindKind::Deadline, format!("{}: {text}", path.display()))
}
