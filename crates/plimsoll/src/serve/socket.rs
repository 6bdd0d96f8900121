//! Commands on this host ask a running `serve` rather than the servers: looking twice costs these nothing.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use web::{Refused, ReportAsk};

use crate::Said;
use crate::cli::LookArgs;
use crate::look::Look;
use crate::report::{Explanation, Status};
use crate::show;

use super::own;

/// The socket's name in its folder.
const NAME: &str = "serve.sock";
/// The folder that the service has.
const SYSTEM: &str = "/run/plimsoll";
/// What stands below a report.
const HINT: &str = "as `plimsoll serve` sees it, which runs on this host; --direct looks anew\n";
/// For the whole answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of an answer.
const MOST: u64 = 64 << 20;

/// Where a `serve` of this user listens: in the folder that systemd gave it, that of the system, or the user's own.
pub(crate) fn path() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("RUNTIME_DIRECTORY")
        .or_else(|| sense::is_root().then(|| PathBuf::from(SYSTEM)))
        .or_else(|| Some(absolute("XDG_RUNTIME_DIR")?.join("plimsoll")))?;
    Some(folder.join(NAME))
}

/// Listens there; readable for all users of this host, as a page on loopback is, unless that wants a token. The error is why not.
pub(super) fn listen(secret: bool) -> Result<web::Listener> {
    let path = path().context("there is no folder for the socket: XDG_RUNTIME_DIR is not set")?;
    own::make_open(path.parent().unwrap_or(&path))?;
    Ok(web::Listener::unix(&path, !secret)?)
}

/// Where one may listen that this user may believe: its own, or the system's.
fn running() -> Vec<PathBuf> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join("plimsoll").join(NAME));
    let system = PathBuf::from(SYSTEM).join(NAME);
    own.into_iter().chain([system]).filter(|path| own::is_believed(path, std::path::Path::new(SYSTEM))).collect()
}

/// Asks a `serve` that runs on this host for a report on what this host alone would be searched for. None where none runs, it
/// does not answer, or more is asked than it knows: then everybody looks for themselves.
pub(crate) async fn ask(command: &str, args: &LookArgs) -> Option<Said> {
    if args.direct || !args.is_plain() {
        return None;
    }
    let colour = anstream::stdout().is_terminal();
    let ask =
        ReportAsk { command: command.to_owned(), json: args.json, width: show::columns(), colour, targets: Vec::new() };
    let answer = answer(&ask).await?;
    let (code, text) = answer.split_once('\n')?;
    Some(Said { text: text.to_owned(), code: code.parse().ok()? })
}

async fn answer(ask: &ReportAsk) -> Option<String> {
    for path in running() {
        if let Ok(Some(text)) = tokio::time::timeout(PATIENCE, asked(&path, ask)).await.unwrap_or(Ok(None)) {
            return Some(text);
        }
    }
    None
}

async fn asked(path: &std::path::Path, ask: &ReportAsk) -> Result<Option<String>> {
    let mut stream = UnixStream::connect(path).await?;
    let question = format!(
        "GET /api/v1/report?command={}&json={}&width={}&colour={} HTTP/1.0\r\nHost: localhost\r\n\r\n",
        ask.command, ask.json, ask.width, ask.colour
    );
    stream.write_all(question.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MOST).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return Ok(None) };
    let is_whole = || {
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        length.is_some_and(|length| length == body.len())
    };
    let good = head.lines().next().is_some_and(|line| line.split(' ').nth(1) == Some("200"));
    Ok((good && is_whole()).then(|| body.to_owned()))
}

/// The report of the fleet as it is known.
pub(crate) fn report(look: &Look, ask: &ReportAsk) -> Result<Vec<u8>, Refused> {
    if !look.sites.iter().all(crate::look::Site::searched) {
        return Err(Refused::Bad("this host is not searched, but others are watched".to_owned()));
    }
    let broken = |error: anyhow::Error| Refused::Broken(format!("{error:#}"));
    let text = match (ask.command.as_str(), ask.json) {
        ("status", true) => crate::commands::status::json(&Status::of(look)).map_err(broken)?,
        ("status", false) => show::status_within(look, ask.width),
        ("explain", true) => crate::commands::status::json(&Explanation::of(look)).map_err(broken)?,
        ("explain", false) => show::explain_within(look, ask.width),
        (other, _) => return Err(Refused::Bad(format!("no report is called {other:?}"))),
    };
    let text = if ask.json { text } else { text + HINT };
    let text = if ask.colour || ask.json { text } else { anstream::adapter::strip_str(&text).to_string() };
    let code = u8::from(!crate::commands::status::has_figure(&look.snapshot));
    Ok(format!("{code}\n{text}").into_bytes())
}
