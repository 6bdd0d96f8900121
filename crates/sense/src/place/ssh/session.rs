//! A shell on the other host, and the answers that it gives: in the order of the questions, many of which may be on their
//! way at once.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{Blind, BlindKind};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio::time::timeout;

use super::errors;
use super::frames::{Frame, Frames};

/// What runs there.
const FAR: &str = include_str!("far.sh");
/// Longest that any question waits, however much is said meanwhile.
const LONGEST: Duration = Duration::from_secs(30);
/// Most that is kept of what `ssh` and the shell complain of, bytes.
const COMPLAINTS: usize = 8 << 10;

/// A shell on the other host. When this is dropped its input closes, and it ends by itself, so that what `ssh` made for it
/// goes with it; one that does not answer ends by `ssh`'s own watch.
#[derive(Debug)]
pub(super) struct Session {
    shared: Arc<Shared>,
    stdin: Arc<AsyncMutex<ChildStdin>>,
    _child: Child,
}

#[derive(Debug)]
struct Shared {
    host: String,
    waiting: Mutex<Waiting>,
    complaints: Complaints,
    /// When it last said anything.
    heard: Mutex<Instant>,
}

/// What `ssh` and the shell complain of, the last of it.
pub(super) type Complaints = Arc<Mutex<Vec<u8>>>;

/// Who waits for one answer.
type Asker = oneshot::Sender<Result<Vec<Frame>, Blind>>;

/// Who waits for answers, in the order asked; and why nobody need wait any more.
#[derive(Debug, Default)]
struct Waiting {
    askers: VecDeque<Asker>,
    ended: Option<Blind>,
}

impl Session {
    /// Starts `ssh` with these words. Nothing is known of the host yet: the first question tells.
    pub(super) fn start(host: &str, words: &[String], boundary: &str) -> Result<Session, Blind> {
        let mut child = Command::new("ssh")
            .args(words)
            .arg("exec sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Blind::new(BlindKind::Gone, format!("ssh could not be started here: {error}")))?;
        let gone = || Blind::new(BlindKind::Gone, "ssh has no input or output");
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let (stdout, stderr) = (child.stdout.take().ok_or_else(gone)?, child.stderr.take().ok_or_else(gone)?);
        let shared = Arc::new(Shared {
            host: host.to_owned(),
            waiting: Mutex::default(),
            complaints: Complaints::default(),
            heard: Mutex::new(Instant::now()),
        });
        tokio::spawn(listen(Arc::clone(&shared), stdout, stderr, boundary.to_owned()));
        Ok(Session { shared, stdin: Arc::new(AsyncMutex::new(stdin)), _child: child })
    }

    /// Tells the shell what it needs, without waiting.
    pub(super) async fn greet(&self, boundary: &str) {
        let mut stdin = self.stdin.lock().await;
        // that it went away is told by its output's end
        let _ = stdin.write_all(format!("B='{boundary}'\n{FAR}").as_bytes()).await;
        let _ = stdin.flush().await;
    }

    /// What is complained of, now and later.
    pub(super) fn complaints(&self) -> Complaints {
        Arc::clone(&self.shared.complaints)
    }

    /// Why it ended.
    pub(super) fn why(&self) -> Blind {
        let ended = self.shared.lock().ended.clone();
        ended.unwrap_or_else(|| errors::ended(&self.shared.host, &self.shared.said(), true))
    }

    /// Whether it still answers.
    pub(super) fn lives(&self) -> bool {
        self.shared.lock().ended.is_none()
    }

    /// Lets the far shell run `script`, and waits for what it tells. One that is late is not waited for again: what comes
    /// then would be taken for other answers.
    ///
    /// Cancel safe: a question is asked to its end by a task of its own, and an answer that nobody waits for is dropped.
    pub(super) async fn ask(&self, script: &str, patience: Duration) -> Result<Vec<Frame>, Blind> {
        let (send, receive) = oneshot::channel();
        // The shell reads a group to its end before it runs any of it, and programs in it must not read the script.
        let whole = format!("{{\n{script}b .\n}} </dev/null\n");
        tokio::spawn(put(Arc::clone(&self.shared), Arc::clone(&self.stdin), whole, send));
        // Questions before it in the queue, and long answers over slow lines, take their time: only silence counts, up to a
        // limit.
        let begun = Instant::now();
        let mut receive = receive;
        let mut left = patience;
        while begun.elapsed() < LONGEST {
            if let Ok(told) = timeout(left, &mut receive).await {
                return told.unwrap_or_else(|_| Err(self.why()));
            }
            let silent = self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner).max(begun).elapsed();
            left = patience.saturating_sub(silent);
            if left.is_zero() {
                break;
            }
        }
        let text = format!("{} did not answer within {} s", self.shared.host, patience.as_secs_f64());
        let blind = Blind::new(BlindKind::Deadline, text);
        self.shared.end(&blind);
        Err(blind)
    }
}

/// Puts a question to the shell; its asker stands in the queue in the order in which it was written.
async fn put(shared: Arc<Shared>, stdin: Arc<AsyncMutex<ChildStdin>>, script: String, asker: Asker) {
    let mut stdin = stdin.lock().await;
    {
        let mut waiting = shared.lock();
        if let Some(blind) = &waiting.ended {
            // one that gave up does not care
            let _ = asker.send(Err(blind.clone()));
            return;
        }
        waiting.askers.push_back(asker);
    }
    // that it went away is told by its output's end
    let _ = stdin.write_all(script.as_bytes()).await;
    let _ = stdin.flush().await;
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> String {
        let said = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Nobody waits any more.
    fn end(&self, why: &Blind) {
        let mut waiting = self.lock();
        waiting.ended.get_or_insert_with(|| why.clone());
        for asker in waiting.askers.drain(..) {
            // one that gave up does not care
            let _ = asker.send(Err(why.clone()));
        }
    }
}

/// Hands out what the shell says until it ends.
async fn listen(
    shared: Arc<Shared>,
    mut stdout: impl AsyncRead + Unpin,
    stderr: impl AsyncRead + Unpin,
    boundary: String,
) {
    let mut frames = Frames::new(&boundary);
    let listener = Arc::clone(&shared);
    let talk = async move {
        let mut piece = vec![0; 64 << 10];
        loop {
            match stdout.read(&mut piece).await {
                Ok(0) | Err(_) => return (None, frames),
                Ok(count) => {
                    *listener.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                    let batches = match frames.add(&piece[..count]) {
                        Ok(batches) => batches,
                        Err(why) => return (Some(why), frames),
                    };
                    for batch in batches {
                        let asker = listener.lock().askers.pop_front();
                        if let Some(asker) = asker {
                            let _ = asker.send(Ok(batch));
                        }
                    }
                }
            }
        }
    };
    // The end of the output is the end, also where something that was started there holds the complaints open.
    let complain = drain(&shared, stderr);
    tokio::pin!(talk, complain);
    let (why, frames) = tokio::select! {
        why = &mut talk => {
            // what was complained of last may still be on its way
            let _ = timeout(Duration::from_millis(200), &mut complain).await;
            why
        }
        () = &mut complain => talk.await,
    };
    let why = why.unwrap_or_else(|| {
        // Where no shell runs, what stands in its place says so on the output.
        let said = if frames.begun() { shared.said() } else { format!("{}\n{}", frames.noise(), shared.said()) };
        errors::ended(&shared.host, &said, frames.begun())
    });
    shared.end(&why);
}

async fn drain(shared: &Shared, mut stderr: impl AsyncRead + Unpin) {
    let mut piece = vec![0; 4 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut piece).await {
        let mut said = shared.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        // the last words tell most
        said.extend_from_slice(&piece[..count]);
        let more = said.len().saturating_sub(COMPLAINTS);
        said.drain(..more);
    }
}
