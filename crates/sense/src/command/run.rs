//! Starting a program, reading it with caps, and seeing to its end.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use model::{Blind, BlindKind};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command as Program};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Command, Plan, Ran};
use crate::text::printable;

/// Where programs are looked for.
const SEARCH: [&str; 5] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];
/// Most that a program may print, bytes.
pub(crate) const STDOUT: usize = 4 << 20;
/// Most that is kept of its complaints, bytes.
const STDERR: usize = 2 << 10;
/// Most programs at once.
const AT_ONCE: usize = 4;
/// How long an ended program is waited for; one that hangs in a driver is left to be reaped later.
const FAREWELL: Duration = Duration::from_millis(500);

/// Runs listed commands, few at once.
#[derive(Debug, Clone)]
pub(crate) struct Runner {
    search: Arc<[PathBuf]>,
    permits: Arc<Semaphore>,
}

impl Default for Runner {
    fn default() -> Runner {
        Runner::with(SEARCH.map(PathBuf::from).to_vec())
    }
}

impl Runner {
    /// A runner that looks for programs in these folders.
    pub(super) fn with(search: Vec<PathBuf>) -> Runner {
        Runner { search: search.into(), permits: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Runs `command`, which is ended after `patience`.
    pub(crate) async fn run(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        let plan = command.plan()?;
        let end = Instant::now() + patience;
        let late = || {
            let text = format!("{} did not answer within {} s", plan.program, patience.as_secs_f64());
            Blind::new(BlindKind::Deadline, text)
        };
        // never closed: that error would be a delay, too
        let _permit = timeout_at(end, self.permits.acquire()).await.map_err(|_| late())?.map_err(|_| late())?;
        let mut ran = self.once(&plan, end).await?.ok_or_else(late)?;
        if let Some(plan) = command.doubt(&ran) {
            ran.stderr = self.once(&plan, end).await?.ok_or_else(late)?.stderr;
        }
        command.judge(ran)
    }

    /// Runs one program; `None` when it had to be ended for its time.
    async fn once(&self, plan: &Plan, end: Instant) -> Result<Option<Ran>, Blind> {
        let mut child = self.start(plan)?;
        let outcome = timeout_at(end, gather(&mut child)).await;
        if !matches!(outcome, Ok(Ok(Ran { cut: false, .. }))) {
            finish(&mut child).await;
        }
        let failed = |error: io::Error| Blind::new(BlindKind::Gone, format!("{}: {error}", plan.program));
        outcome.ok().transpose().map_err(failed)
    }

    fn start(&self, plan: &Plan) -> Result<Child, Blind> {
        let Some(path) = self.search.iter().map(|folder| folder.join(plan.program)).find(|path| runs(path)) else {
            return Err(Blind::new(BlindKind::Gone, format!("there is no {} on this host", plan.program)));
        };
        let folders: Vec<_> = self.search.iter().map(|folder| folder.to_string_lossy()).collect();
        Program::new(&path)
            .args(&plan.args)
            .env_clear()
            .env("PATH", folders.join(":"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .envs(plan.env.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                let kind = match error.kind() {
                    io::ErrorKind::PermissionDenied => BlindKind::Denied,
                    _ => BlindKind::Gone,
                };
                Blind::new(kind, format!("{}: {error}", path.display()))
            })
    }
}

/// Whether `path` is a program.
fn runs(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Reads what the program prints until it ends, or until that is too much.
async fn gather(child: &mut Child) -> io::Result<Ran> {
    let (mut bytes, mut complaints) = (Vec::new(), Vec::new());
    let read = async { fill(child.stdout.take(), &mut bytes).await };
    let cut = match tokio::try_join!(read, drain(child.stderr.take(), &mut complaints)) {
        Ok(_) => false,
        Err(Stop::Cut) => true,
        Err(Stop::Failed(error)) => return Err(error),
    };
    let code = if cut { None } else { child.wait().await?.code() };
    Ok(Ran { stdout: bytes, cut, stderr: shown(&complaints), code })
}

/// Why reading stops before the end.
enum Stop {
    Cut,
    Failed(io::Error),
}

async fn fill(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Result<(), Stop> {
    let Some(from) = from else { return Ok(()) };
    from.take(STDOUT as u64 + 1).read_to_end(into).await.map_err(Stop::Failed)?;
    if into.len() > STDOUT {
        into.truncate(STDOUT);
        return Err(Stop::Cut);
    }
    Ok(())
}

/// Reads to the end, so that a program that complains much is not held up, and keeps the beginning.
async fn drain(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Result<(), Stop> {
    let Some(mut from) = from else { return Ok(()) };
    let mut piece = [0; 4 << 10];
    loop {
        let count = from.read(&mut piece).await.map_err(Stop::Failed)?;
        if count == 0 {
            return Ok(());
        }
        into.extend_from_slice(&piece[..count.min(STDERR - into.len())]);
    }
}

pub(crate) fn shown(complaints: &[u8]) -> String {
    let lines: Vec<String> =
        String::from_utf8_lossy(complaints).lines().map(|line| printable(line.as_bytes(), STDERR)).collect();
    let mut text = lines.join("\n");
    text.truncate(text.floor_char_boundary(STDERR));
    text
}

/// Ends the program with all that it started, and reaps it.
async fn finish(child: &mut Child) {
    // Its id stays its own until it is reaped, and its group is the one that it was given at its start.
    if let Some(group) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = timeout(FAREWELL, child.wait()).await;
}
