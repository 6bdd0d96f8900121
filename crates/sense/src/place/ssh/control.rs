//! How `ssh` is started: by the user's own configuration, never asking anybody anything, and all that goes to one host over
//! one connection.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::destination::Destination;
use super::random;

/// What is set whatever the user's configuration says. No prompts; no ports opened here, no commands of the user's own;
/// an end within seconds where nobody answers.
const OPTIONS: [&str; 12] = [
    "BatchMode=yes",
    "ConnectTimeout=5",
    "ConnectionAttempts=1",
    "ServerAliveInterval=2",
    "ServerAliveCountMax=2",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "ForwardAgent=no",
    "UpdateHostKeys=no",
    "LogLevel=INFO",
    "Compression=yes",
];
/// How long `ssh` may take to tell its own configuration, and most that it may say, bytes.
const PATIENCE: Duration = Duration::from_secs(2);
const MOST: u64 = 256 << 10;

/// What the operator says of `ssh`.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A configuration instead of the user's own.
    pub config: Option<PathBuf>,
}

/// How one host is reached.
#[derive(Debug, Clone)]
pub(super) struct Control {
    common: Vec<String>,
    host: Vec<String>,
    /// Where all connections to the host meet, where the user's configuration names no such place.
    path: Option<String>,
    /// The same, also where the configuration names it.
    meeting: Option<String>,
}

impl Control {
    /// Finds out whether a connection of the user's own stands that can be shared; where none does, ours is, for as long as we
    /// run.
    pub(super) async fn find(to: &Destination, options: &Options) -> Control {
        let mut common = vec!["-T".to_owned(), "-x".to_owned(), "-a".to_owned()];
        if let Some(config) = &options.config {
            common.extend(["-F".to_owned(), config.display().to_string()]);
        }
        common.extend(OPTIONS.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]));
        let host = to.words();
        let shared = shared(&common, &host).await;
        let path = shared.is_none().then(|| {
            let folder = std::env::var("XDG_RUNTIME_DIR").ok().filter(|folder| folder.starts_with('/'));
            format!("{}/plimsoll-{}", folder.as_deref().unwrap_or("/tmp"), &random()[..16])
        });
        let meeting = shared.or_else(|| path.clone());
        Control { common, host, path, meeting }
    }

    /// Waits until further connections go over the first one, at most so long; whether they do.
    pub(super) async fn meets(&self, patience: Duration) -> bool {
        /// Between two looks: a small part of what any step of a connection takes.
        const STEP: Duration = Duration::from_millis(10);
        let Some(path) = &self.meeting else { return false };
        let there = async {
            while !std::path::Path::new(path).exists() {
                tokio::time::sleep(STEP).await;
            }
        };
        timeout(patience, there).await.is_ok()
    }

    /// The words for the first connection, which the others then share.
    pub(super) fn first(&self) -> Vec<String> {
        self.words("auto", &[])
    }

    /// The words for a further shell.
    pub(super) fn further(&self) -> Vec<String> {
        self.words("no", &[])
    }

    /// The words for a connection from there to `host` and `port`.
    pub(super) fn forward(&self, host: &str, port: u16) -> Vec<String> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        self.words("no", &["-W".to_owned(), format!("{host}:{port}")])
    }

    fn words(&self, master: &str, more: &[String]) -> Vec<String> {
        let mut words = self.common.clone();
        if let Some(path) = &self.path {
            let options =
                [format!("ControlMaster={master}"), format!("ControlPath={path}"), "ControlPersist=no".to_owned()];
            words.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option]));
        }
        words.extend_from_slice(more);
        words.extend_from_slice(&self.host);
        words
    }
}

/// Where connections to the host meet by the user's own configuration, if one stands there now: it is used, and never made
/// or ended by us, since others of the user's may go over it.
async fn shared(common: &[String], host: &[String]) -> Option<String> {
    let told = said(&["-G"], common, host).await?;
    let path = told.lines().find_map(|line| line.strip_prefix("controlpath "))?.to_owned();
    if path == "none" {
        return None;
    }
    said(&["-O", "check"], common, host).await.map(|_| path)
}

/// What `ssh` says of its own configuration; none where it fails, or says too much.
async fn said(what: &[&str], common: &[String], host: &[String]) -> Option<String> {
    let mut command = Command::new("ssh");
    command.args(what).args(common).args(host).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().ok()?;
    let mut bytes = Vec::new();
    let mut stdout = child.stdout.take()?.take(MOST);
    timeout(PATIENCE, stdout.read_to_end(&mut bytes)).await.ok()?.ok()?;
    drop(stdout);
    let ended = timeout(PATIENCE, child.wait()).await.ok()?.ok()?;
    ended.success().then(|| String::from_utf8_lossy(&bytes).into_owned())
}
