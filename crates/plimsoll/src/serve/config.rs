//! The configuration file: everything that the command line can say, and what only a service needs. Every part is optional,
//! and a word that is not known is refused with its line.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;

use crate::cli::{LookArgs, ServeArgs};
use crate::commands::capture::seconds;
use crate::look::Opened;
use crate::look::watch::Pace;
use crate::opener::with_opener;

/// Where the file is looked for when none is named.
pub(crate) const USUAL: &str = "/etc/plimsoll/plimsoll.toml";
/// Where the page is, when nothing says otherwise: on a telephone's keys 7546 is PLIM.
const LISTEN: &str = "127.0.0.1:7546";
/// Bytes of history.
const KEEP: u64 = 1 << 30;

with_opener! {
    /// The file as it is written.
    struct Written {
        /// Address and port of the page.
        listen: Option<String>,
        /// Names under which the page may be asked for, besides addresses and localhost.
        #[serde(default)]
        hosts: Vec<String>,
        /// A file that holds the token that the page wants.
        token_file: Option<PathBuf>,
        /// An environment variable that holds it.
        token_env: Option<String>,
        tls: Option<Tls>,
        /// Servers, routers or hosts over ssh; none: this host is searched.
        #[serde(default)]
        targets: Vec<String>,
        targets_file: Option<PathBuf>,
        #[serde(default)]
        logs: Vec<PathBuf>,
        engines: Option<PathBuf>,
        ssh_config: Option<PathBuf>,
        #[serde(default)]
        watch: Watching,
        #[serde(default)]
        history: History,
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    cert: PathBuf,
    key: PathBuf,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Watching {
    /// Between looks at a server.
    every: Option<String>,
    /// Between searches of the host.
    search: Option<String>,
    /// Until a server is let go that is gone.
    forget: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    /// Where.
    dir: Option<PathBuf>,
    /// How much at most: `500MiB`, `2GiB`.
    keep: Option<String>,
    /// Nothing is kept.
    #[serde(default)]
    off: bool,
}

/// What is in force: file and command line together, the command line first.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where the page is.
    pub(crate) listen: SocketAddr,
    /// Names under which it may be asked for.
    pub(crate) hosts: Vec<String>,
    /// Where the token is.
    pub(crate) token: Option<sense::SecretSource>,
    /// Certificate and key of the page.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    /// What is watched.
    pub(crate) look: LookArgs,
    /// How often.
    pub(crate) pace: Pace,
    /// Where the history is; none: nothing is kept.
    pub(crate) history: Option<PathBuf>,
    /// Its bound, bytes.
    pub(crate) keep: u64,
}

impl Settings {
    /// Reads the file that is named, or the usual one where it is there. Errors are of usage.
    pub(crate) fn read(args: &ServeArgs) -> Result<Settings> {
        let path = Some(path(args)).filter(|path| args.config.is_some() || path.exists());
        let text = path.as_deref().map(text).transpose()?.unwrap_or_default();
        Settings::of(args, path.as_deref(), &text)
    }

    /// What the command line and `text`, the file at `path`, come to.
    pub(super) fn of(args: &ServeArgs, path: Option<&Path>, text: &str) -> Result<Settings> {
        let file: Written = crate::slip::read(path.unwrap_or(Path::new(USUAL)), text)?;
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(".")).to_owned();
        let beside = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        let opener = file.opener().beside(&folder);
        let listen = args.listen.clone().or(file.listen).unwrap_or_else(|| LISTEN.to_owned());
        let listen = address(&listen)?;
        // What belongs together comes from one place.
        let here = args.token_file.is_some() || args.token_env.is_some();
        let token = if here {
            (args.token_file.clone(), args.token_env.clone())
        } else {
            (beside(file.token_file), file.token_env)
        };
        let token = match token {
            (Some(_), Some(_)) => bail!("token_file and token_env: give one of them"),
            (Some(file), None) => Some(sense::SecretSource::File(file)),
            (None, Some(name)) => Some(sense::SecretSource::Env(name)),
            (None, None) => None,
        };
        let tls = match (args.tls_cert.clone(), args.tls_key.clone()) {
            (Some(cert), Some(key)) => Some((cert, key)),
            _ => file.tls.map(|tls| (folder.join(tls.cert), folder.join(tls.key))),
        };
        // What opens and tells of the file's servers is for them, and for nothing that was given otherwise.
        let own = !args.targets.is_empty() || args.access.targets_file.is_some();
        let mut access = args.access.clone();
        if !own {
            access.targets_file = beside(file.targets_file);
            access.opener = access.opener.over(opener);
        }
        let logs = file.logs.into_iter().map(|log| folder.join(log).to_string_lossy().into_owned());
        let look = LookArgs {
            targets: if own { args.targets.clone() } else { file.targets },
            log: if own || !args.log.is_empty() { args.log.clone() } else { logs.collect() },
            ssh_config: args.ssh_config.clone().or_else(|| beside(file.ssh_config)),
            engines: args.engines.clone().or_else(|| beside(file.engines)),
            access,
            ..LookArgs::default()
        };
        let usual = Pace::default();
        let length = |name: &str, own: Option<&String>, text: Option<String>, usual: f64, least: f64| -> Result<f64> {
            let Some(text) = own.cloned().or(text) else { return Ok(usual) };
            let found = seconds(&text).with_context(|| name.to_owned())?;
            if found < least {
                bail!("{name}: {text} is too short, at least {least} s");
            }
            Ok(found)
        };
        let pace = Pace {
            every: length("every", args.every.as_ref(), file.watch.every, usual.every, 0.2)?,
            search: length("search", None, file.watch.search, usual.search, 1.0)?,
            forget: length("forget", None, file.watch.forget, usual.forget, 0.0)?,
            ..usual
        };
        let pace = Pace { whole: pace.whole.max(pace.every), ..pace };
        let off = args.no_history || file.history.off && args.data.is_none();
        let history =
            (!off).then(|| args.data.clone().or_else(|| beside(file.history.dir)).unwrap_or_else(usual_folder));
        let keep = args.keep.clone().or(file.history.keep);
        let keep = keep.map(|keep| bytes(&keep).context("history: keep")).transpose()?.unwrap_or(KEEP);
        Ok(Settings { listen, hosts: file.hosts, token, tls, look, pace, history, keep })
    }

    /// Everything that they are made of but for their own file.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let token = match &self.token {
            Some(sense::SecretSource::File(file)) => Some(file.clone()),
            _ => None,
        };
        let (cert, key) = self.tls.clone().unzip();
        let named = [self.look.access.targets_file.clone(), token, cert, key];
        named.into_iter().flatten().chain(crate::tables::sources(self.look.engines.as_deref())).collect()
    }

    /// Whether what it names is there and can be used: what is to be watched.
    pub(crate) fn check(&self) -> Result<Opened> {
        super::page::token(self)?;
        super::page::tls(self)?;
        if self.token.is_none() && !self.listen.ip().is_loopback() {
            bail!("{} can be reached from other hosts, so a token is needed: token_file or token_env", self.listen);
        }
        crate::look::opened_for_watch(&self.look)
    }

    /// What is in force, a line each, for people.
    pub(crate) fn told(&self) -> String {
        let targets = match (self.look.targets.len(), &self.look.access.targets_file) {
            (0, None) => "this host, searched".to_owned(),
            (0, Some(file)) => format!("those of {}", file.display()),
            (some, _) => crate::show::several(some, "target"),
        };
        let history = self.history.as_deref().map_or("none is kept".to_owned(), |dir| {
            format!("{}, at most {}", dir.display(), model::number::amount(self.keep as f64, model::Unit::Bytes))
        });
        let token = if self.token.is_some() { ", with a token" } else { "" };
        let tls = if self.tls.is_some() { "https" } else { "http" };
        format!(
            "page     {tls}://{}/{token}\nwatched  {targets}, every {} s\nhistory  {history}\n",
            self.listen, self.pace.every
        )
    }
}

/// The file that is named, else the usual one, be it there or not.
pub(super) fn path(args: &ServeArgs) -> PathBuf {
    args.config.clone().unwrap_or_else(|| PathBuf::from(USUAL))
}

/// All of the file.
fn text(path: &Path) -> Result<String> {
    sense::secret::read_text(path).map_err(|blind| anyhow!("cannot read the configuration: {blind}"))
}

/// `ADDRESS:PORT`, `[::1]:PORT`, `localhost:PORT`, or a port alone, which is on loopback.
fn address(text: &str) -> Result<SocketAddr> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let spelled = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let spelled = spelled.strip_prefix(':').map_or_else(|| spelled.clone(), |port| format!("0.0.0.0:{port}"));
    spelled.parse().map_err(|_| anyhow!("{text:?} is no address to listen on: write 127.0.0.1:7546 or [::1]:7546"))
}

/// Bytes as people write them: `500MiB`, `2GiB`, `1500000`.
fn bytes(text: &str) -> Result<u64> {
    let (number, unit) = text.split_at(text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len()));
    let unit = match unit.trim() {
        "" | "B" => 1.0,
        "KiB" | "K" => 1024.0,
        "kB" | "KB" => 1e3,
        "MiB" | "M" => 1024.0 * 1024.0,
        "MB" => 1e6,
        "GiB" | "G" => 1024.0 * 1024.0 * 1024.0,
        "GB" => 1e9,
        "TiB" | "T" => 1024.0_f64.powi(4),
        "TB" => 1e12,
        _ => bail!("{text:?} is no size: write 500MiB or 2GiB"),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number * unit >= f64::from(1 << 20) => Ok((number * unit) as u64),
        Ok(_) => bail!("{text:?} is too small: at least 1MiB"),
        Err(_) => bail!("{text:?} is no size: write 500MiB or 2GiB"),
    }
}

/// The folder that systemd gives; of root the usual place of the system; else the user's own.
fn usual_folder() -> PathBuf {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(given) = absolute("STATE_DIRECTORY") {
        return given;
    }
    if sense::is_root() {
        return PathBuf::from("/var/lib/plimsoll");
    }
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    data.map_or_else(|| PathBuf::from("/var/lib/plimsoll"), |data| data.join("plimsoll"))
}
