//! Blocking reads on helper threads, one after the other, with patience for each.
//!
//! A process that hangs in a driver can block whoever reads its `/proc` files, as everyone knows from a `ps` that never
//! returns on such a host. Here it costs its own entry and one thread; the others are still read.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Blind, BlindKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use crate::aside;

/// How long one read may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many helper threads may be reading, or hanging, at once; who comes then waits for one to end.
const THREADS: usize = 16;

/// Runs reads and counts the threads that are still at it.
#[derive(Debug, Clone)]
pub(super) struct Lookout {
    patience: Duration,
    free: Arc<Semaphore>,
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout::with(PATIENCE)
    }
}

impl Lookout {
    /// A lookout that waits this long for each read.
    pub(super) fn with(patience: Duration) -> Lookout {
        Lookout { patience, free: Arc::new(Semaphore::new(THREADS)) }
    }

    /// `look` at each of `paths` (or of what is shown as a path), in order.
    pub(super) async fn each<W: AsRef<Path> + Send + Sync + 'static, T: Send + 'static>(
        &self,
        paths: Vec<W>,
        look: impl Fn(&W) -> Result<T, Blind> + Clone + Send + 'static,
    ) -> Vec<Result<T, Blind>> {
        let paths: Arc<[W]> = paths.into();
        let mut results = Vec::with_capacity(paths.len());
        while results.len() < paths.len() {
            let late = |path: &W, why: &str| {
                Err(Blind::new(BlindKind::Deadline, format!("{}: {why}", path.as_ref().display())))
            };
            // A thread that hangs keeps its permit; one that only reads gives it back soon.
            let Ok(Ok(permit)) = timeout(self.patience, Arc::clone(&self.free).acquire_owned()).await else {
                // The others would wait as long, one after the other.
                let why = format!("{THREADS} earlier reads have not returned yet");
                results.extend(paths[results.len()..].iter().map(|path| late(path, &why)));
                break;
            };
            let why = match Self::watch(permit, Arc::clone(&paths), results.len(), look.clone()) {
                Ok((watch, done)) => self.wait(&watch, done, &mut results).await,
                Err(text) => text,
            };
            if let Some(path) = paths.get(results.len()) {
                results.push(late(path, &why));
            }
        }
        results
    }

    /// Starts a thread that looks at `paths` from `next` on; the second part resolves when it ends.
    fn watch<W: Send + Sync + 'static, T: Send + 'static>(
        permit: OwnedSemaphorePermit,
        paths: Arc<[W]>,
        next: usize,
        look: impl Fn(&W) -> Result<T, Blind> + Send + 'static,
    ) -> Result<(Watch<T>, oneshot::Receiver<()>), String> {
        let (send, done) = oneshot::channel();
        let shared = Arc::new(Shared { results: Mutex::default(), given_up: AtomicBool::new(false) });
        let own = Arc::clone(&shared);
        aside::start(move || {
            let _ended = (permit, send);
            for path in &paths[next..] {
                let result = look(path);
                if own.given_up.load(Ordering::Relaxed) {
                    break;
                }
                own.lock().push(result);
            }
        })
        .map_err(|error| format!("no helper thread: {error}"))?;
        Ok((Watch(shared), done))
    }

    /// Waits until the thread ends or stands still, and takes what it has; says why it does not have more.
    async fn wait<T>(
        &self,
        watch: &Watch<T>,
        mut done: oneshot::Receiver<()>,
        results: &mut Vec<Result<T, Blind>>,
    ) -> String {
        // the thread does not wake us for each of a thousand files: we look after it now and then
        let mut known = 0;
        loop {
            let ended = timeout(self.patience, &mut done).await.is_ok();
            let mut found = watch.0.lock();
            if ended || found.len() == known {
                watch.0.given_up.store(true, Ordering::Relaxed);
                results.append(&mut found);
                if ended {
                    return "the reading thread ended".to_string();
                }
                return format!("the read did not return within {} s", self.patience.as_secs_f64());
            }
            known = found.len();
        }
    }
}

/// What a thread and its waiter share.
struct Shared<T> {
    results: Mutex<Vec<Result<T, Blind>>>,
    given_up: AtomicBool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Vec<Result<T, Blind>>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waiter's side; when it goes, the thread stops after its present read.
struct Watch<T>(Arc<Shared<T>>);

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        self.0.given_up.store(true, Ordering::Relaxed);
    }
}
