//! Connections that ssh makes from the far host, for our own HTTP client.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use model::{Blind, BlindKind};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::control::{Control, Options};
use super::destination::Destination;
use super::lock;
use super::session::Complaints;

/// What `ssh` says where a shared connection did not connect, and where the host forbids it.
const REFUSED: &str = "forwarding request failed";
const PROHIBITED: &str = "administratively prohibited";
/// Most that is read of what `ssh` complains of, bytes.
const COMPLAINTS: usize = 4 << 10;

/// How a host is reached, and whether it may be asked to connect to others.
#[derive(Debug)]
pub(crate) struct Tunnels {
    to: Destination,
    options: Options,
    control: Mutex<Option<Control>>,
    refused: AtomicBool,
    /// What the connection that they share complains of: why one of them failed is told there.
    shared: std::sync::Mutex<Complaints>,
}

impl Tunnels {
    pub(super) fn new(to: Destination, options: Options) -> Tunnels {
        let (control, shared) = (Mutex::default(), std::sync::Mutex::default());
        Tunnels { to, options, control, refused: AtomicBool::new(false), shared }
    }

    /// From now on they share the connection that complains here.
    pub(super) fn share(&self, complaints: Complaints) {
        *lock(&self.shared) = complaints;
    }

    pub(super) fn to(&self) -> &Destination {
        &self.to
    }

    /// How it is reached; found out once.
    pub(super) async fn control(&self) -> Control {
        let mut control = self.control.lock().await;
        if let Some(known) = control.as_ref() {
            return known.clone();
        }
        let found = Control::find(&self.to, &self.options).await;
        *control = Some(found.clone());
        found
    }

    /// Whether connections from there were refused.
    pub(super) fn are_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// A connection from there. Whether it stands is known when something comes back over it.
    pub(crate) async fn open(self: &Arc<Self>, host: &str, port: u16) -> Result<Tunnel, Blind> {
        let words = self.control().await.forward(host, port);
        let shared = lock(&self.shared).clone();
        let heard = lock(&shared).len();
        let mut command = Command::new("ssh");
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let failed = |text: String| Blind::new(BlindKind::NoRoute, text);
        let mut child = command.spawn().map_err(|error| failed(format!("ssh could not be started here: {error}")))?;
        let parts = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = parts else {
            return Err(failed("ssh has no input or output".to_owned()));
        };
        let (tunnels, complaints) = (Arc::clone(self), Vec::new());
        Ok(Tunnel { stdin, stdout, stderr, complaints, silent: true, heard, tunnels, _child: child })
    }
}

/// A connection over the input and output of an `ssh`, which ends with it.
#[derive(Debug)]
pub(crate) struct Tunnel {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    complaints: Vec<u8>,
    /// Nothing came over it yet.
    silent: bool,
    /// How much the shared connection had complained of when it was asked for.
    heard: usize,
    tunnels: Arc<Tunnels>,
    _child: Child,
}

impl Tunnel {
    /// Why it ended before anything came.
    fn poll_why(&mut self, context: &mut Context<'_>) -> Poll<Blind> {
        let mut piece = [0; 512];
        loop {
            let mut buffer = ReadBuf::new(&mut piece);
            let read = ready!(Pin::new(&mut self.stderr).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() || self.complaints.len() > COMPLAINTS {
                break;
            }
            self.complaints.extend_from_slice(buffer.filled());
        }
        let mut said = String::from_utf8_lossy(&self.complaints).into_owned();
        if said.contains(REFUSED) {
            // Why is told by the connection that they share, if it is ours, and of this one only since it was asked for.
            let shared = lock(&self.tunnels.shared).clone();
            let shared = lock(&shared);
            let since = self.heard.min(shared.len());
            let text = String::from_utf8_lossy(&shared[since..]).into_owned();
            said.extend(text.lines().rfind(|line| line.contains("open failed")).map(|line| format!("\n{line}")));
        }
        let blind = why(&said);
        if said.contains(PROHIBITED) {
            self.tunnels.refused.store(true, Ordering::Relaxed);
        }
        Poll::Ready(blind)
    }
}

/// What `ssh -W` complains of.
fn why(said: &str) -> Blind {
    let has = |words: &str| said.contains(words);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let last = crate::text::printable(last.as_bytes(), 200);
    if has("Connection refused") {
        return Blind::new(BlindKind::Refused, "nothing listens there (connection refused)");
    }
    if has(PROHIBITED) {
        return Blind::new(BlindKind::Denied, "ssh may not connect from there: forwarding is refused");
    }
    if has("timed out") {
        return Blind::new(BlindKind::Deadline, "it did not take the connection in time");
    }
    if has("No route to host") || has("unreachable") {
        return Blind::new(BlindKind::NoRoute, format!("no way there from the far host ({last})"));
    }
    if has("Name or service not known") || has("Temporary failure in name resolution") {
        return Blind::new(BlindKind::Name, "the name does not resolve there");
    }
    if has(REFUSED) {
        // A connection of the user's own that is shared tells no more.
        let text = "ssh could not connect from there: nothing listens, or forwarding is refused";
        return Blind::new(BlindKind::Refused, text);
    }
    Blind::new(BlindKind::Cut, format!("the server closed the connection without an answer ({last})"))
}

impl AsyncRead for Tunnel {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let tunnel = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut tunnel.stdout).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            tunnel.silent = false;
        } else if tunnel.silent {
            return tunnel.poll_why(context).map(|blind| Err(io::Error::other(blind)));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match ready!(Pin::new(&mut self.get_mut().stdin).poll_write(context, bytes)) {
            // That it ended is known; why, is told by reading.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Poll::Ready(Ok(bytes.len())),
            other => Poll::Ready(other),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.get_mut().stdin).poll_flush(context)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Poll::Ready(Ok(())),
            other => Poll::Ready(other),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stdin).poll_shutdown(context)
    }
}
