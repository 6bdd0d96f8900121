//! How `ssh` is started: by the user's own configuration, never asking anybody anything, and all that goes to one host over
//! one connection.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

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
/// How long `ssh` may take to tell its own configuration.
const PATIENCE: Duration = Duration::from_secs(2);

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
    /// Finds out whether the user's configuration shares connections; where it does not, we do, for as long as we run.
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

/// Where connections to the host meet by the user's own configuration.
async fn shared(common: &[String], host: &[String]) -> Option<String> {
    let mut command = Command::new("ssh");
    command.arg("-G").args(common).args(host).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or_default();
    let (path, shares) = (value("controlpath"), !["false", "no", ""].contains(&value("controlmaster")));
    (shares && !["", "none"].contains(&path)).then(|| path.to_owned())
}
