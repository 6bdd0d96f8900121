//! Credentials and TLS for targets, from the command line and from a targets file.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use model::Note;
use sense::http::{Fingerprint, Identity};
use sense::ssh::Destination;
use sense::{Credentials, Secret, SecretSource, Target, TlsOptions};
use serde::Deserialize;

use crate::cli::{Access, Opener};

/// What opens which target.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    common: Row,
    rows: Vec<Opens>,
    /// The rows' addresses as they are written.
    words: Vec<String>,
    /// What is asked of servers, anyway.
    pages: Vec<String>,
    /// They are for this host: what is found on another one may be anybody's, and gets only what its own row gives.
    near: bool,
}

/// What opens one target, on one host.
#[derive(Debug, Clone)]
struct Opens {
    via: Option<Destination>,
    target: Target,
    row: Row,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    target: Vec<Listed>,
}

crate::opener::with_opener! {
    /// One `[[target]]`; the fields are those of the command line.
    struct Listed {
        url: String,
    }
}

#[derive(Debug, Clone, Default)]
struct Row {
    credentials: Credentials,
    tls: TlsOptions,
}

impl Keys {
    /// Reads the options and the file that they name.
    pub(crate) fn read(access: &Access, pages: Vec<String>) -> Result<Keys> {
        let (mut rows, mut words) = (Vec::new(), Vec::new());
        if let Some(path) = &access.targets_file {
            let text =
                sense::secret::read_text(path).map_err(|blind| anyhow!("cannot read the targets file: {blind}"))?;
            let file: File = match plain(path, &text)? {
                Some(list) => list,
                None => crate::slip::read(path, &text)?,
            };
            for listed in file.target {
                words.push(listed.url.clone());
                let (via, inner) = match Destination::split(&listed.url) {
                    Some(split) => split.map(|(via, inner)| (Some(via), inner))?,
                    None => (None, Some(listed.url.as_str())),
                };
                let target = inner.map(|inner| server(inner, &pages)).transpose()?;
                let folder = path.parent().unwrap_or(Path::new("."));
                let mut row = Row::of(&listed.opener().beside(folder))?;
                let Some(target) = target else { continue };
                if row.credentials == Credentials::None {
                    row.credentials = target.credentials.clone();
                }
                rows.push(Opens { via, target, row });
            }
        }
        let common = Row::of(&access.opener)?;
        // On the command line it is a slip, to be told at once; a row's costs its target only.
        common.credentials.check().map_err(|blind| anyhow!("{blind}"))?;
        Ok(Keys { common, rows, words, pages, near: true })
    }

    /// The addresses of the targets file, as they are written, but for those of monitors.
    pub(crate) fn words(&self, monitors: &[String]) -> Vec<String> {
        let base = |text: &String| text.parse::<Target>().ok().map(|target| target.base);
        let asked: Vec<_> = monitors.iter().filter_map(base).collect();
        self.words.iter().filter(|word| base(word).is_none_or(|base| !asked.contains(&base))).cloned().collect()
    }

    /// What opens targets on one host: a row opens nothing on another.
    pub(crate) fn on(&self, via: Option<&Destination>) -> Keys {
        let mut keys = self.clone();
        keys.rows.retain(|row| row.via.as_ref() == via);
        keys.near = via.is_none();
        keys
    }

    /// The rows' addresses on this host, without what opens them.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.target.to_string()).collect()
    }

    /// Rows for these addresses that open nothing: what a capture says was listed.
    pub(crate) fn bare(listed: &[String], pages: Vec<String>) -> Keys {
        let row = |text: &String| Some(Opens { via: None, target: text.parse().ok()?, row: Row::default() });
        Keys {
            common: Row::default(),
            rows: listed.iter().filter_map(row).collect(),
            words: Vec::new(),
            pages,
            near: true,
        }
    }

    /// The targets to ask. One place may be among them under several names.
    pub(crate) fn targets(&self, given: &[String]) -> Result<Vec<Target>> {
        let mut targets: Vec<Target> = Vec::new();
        for text in given {
            let target = server(text, &self.pages)?;
            targets.push(match self.listed(&target) {
                Some(opened) => opened,
                None => self.common.applied(target),
            });
        }
        Ok(targets)
    }

    /// The target with what the targets file lists for this very address: scheme, host as spelled, port and path. A
    /// credential goes to no other.
    pub(crate) fn listed(&self, target: &Target) -> Option<Target> {
        let opens = self.rows.iter().find(|row| row.target.base == target.base)?;
        Some(opens.row.applied(target.clone()))
    }

    /// A server that was found: the file's row, else, on this host, what the command line gives.
    pub(crate) fn for_own(&self, target: Target) -> Target {
        match self.listed(&target) {
            Some(opened) => opened,
            None if self.near => self.common.applied(target),
            None => target,
        }
    }

    /// Remarks on the command line's credentials.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let mut notes = self.common.credentials.notes();
        notes.extend(self.common.tls.notes());
        notes
    }
}

/// The server at `url`. Of a scrape address that was pasted whole the page is taken off.
fn server(url: &str, pages: &[String]) -> Result<Target> {
    let mut target: Target = url.parse()?;
    if let Some(page) = pages.iter().find(|page| target.base.prefix.ends_with(page.as_str())) {
        target.base.prefix.truncate(target.base.prefix.len() - page.len());
    }
    Ok(target)
}

impl Row {
    fn of(opener: &Opener) -> Result<Row> {
        Ok(Row { credentials: credentials(opener)?, tls: tls(opener)? })
    }

    /// A secret in the address itself stays, unless options say otherwise.
    fn applied(&self, mut target: Target) -> Target {
        if self.credentials != Credentials::None {
            target.credentials = self.credentials.clone();
        }
        target.tls = self.tls.clone();
        target
    }
}

/// A file that is a bare list: an address with its scheme a line, `#` begins a remark. None where its first line is none: then it is TOML. Of
/// a later line that is none nothing is shown but its number: it may hold a secret.
fn plain(path: &Path, text: &str) -> Result<Option<File>> {
    let is_address = |word: &str| {
        let inner = match Destination::split(word) {
            Some(Ok((_, inner))) => inner,
            Some(Err(_)) => return false,
            None => Some(word),
        };
        // A word alone may be anything, a secret too.
        word.contains("://")
            && !word.contains(['=', '"', '\''])
            && inner.is_none_or(|inner| inner.parse::<Target>().is_ok())
    };
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
    if !lines.peek().is_some_and(|(_, line)| is_address(line)) {
        return Ok(None);
    }
    let row = |(at, line): (usize, &str)| {
        if !is_address(line) {
            bail!("in {}, line {at}: no address, in a file that is a list of them", path.display());
        }
        Ok(Listed { url: line.to_owned(), ..Listed::default() })
    };
    Ok(Some(File { target: lines.map(row).collect::<Result<_>>()? }))
}

fn credentials(opener: &Opener) -> Result<Credentials> {
    let Opener { bearer_file, bearer_env, user, password_file, password_env, .. } = opener.clone();
    let password = password_file.map(SecretSource::File).or_else(|| password_env.map(SecretSource::Env));
    Ok(match (bearer_file, bearer_env, user) {
        (_, _, None) if password.is_some() => bail!("a password needs a user"),
        (None, None, None) => Credentials::None,
        (Some(file), None, None) => Credentials::Bearer(SecretSource::File(file)),
        (None, Some(name), None) => Credentials::Bearer(SecretSource::Env(name)),
        (None, None, Some(user)) => Credentials::Basic { user: Secret::new(user), password },
        _ => bail!("more than one of bearer file, bearer variable and user"),
    })
}

fn tls(opener: &Opener) -> Result<TlsOptions> {
    let Opener { ca, pin, cert, key, .. } = opener.clone();
    let identity = match (cert, key) {
        (Some(certificate), Some(key)) => Some(Identity { certificate, key }),
        (None, None) => None,
        _ => bail!("a client certificate needs its key, and a key its certificate"),
    };
    let pin: Option<Fingerprint> = pin.as_deref().map(str::parse).transpose().context("the pin")?;
    Ok(TlsOptions { ca, pin, identity, ..TlsOptions::default() })
}
