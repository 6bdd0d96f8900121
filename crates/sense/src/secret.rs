//! Secrets: where they come from, and that they are never shown.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use model::{Blind, BlindKind, Note};

use crate::place::read_capped;

/// No token is longer than this, in bytes.
const CAP: usize = 64 << 10;

/// A secret. Debug and Display say only that there is one; it does not serialise.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Secret {
        Secret(secret.into())
    }

    /// The secret itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}

/// Where a secret comes from: a place, never the secret on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// A file; line ends at its end do not count.
    File(PathBuf),
    /// The environment variable of this name.
    Env(String),
    /// The userinfo of a URL, which was taken out of it.
    Url(Secret),
}

impl SecretSource {
    /// Reads the secret, anew each time: tokens in files rotate. Every failure is [`BlindKind::Denied`].
    pub fn load(&self) -> Result<Secret, Blind> {
        let denied = |text: String| Blind::new(BlindKind::Denied, text);
        let secret = match self {
            SecretSource::Url(secret) => secret.clone(),
            SecretSource::Env(name) => Secret(std::env::var(name).map_err(|_| {
                denied(format!("the secret cannot be had: the environment variable {name} is not set (as text)"))
            })?),
            SecretSource::File(path) => {
                let content =
                    read_capped(path, CAP).map_err(|blind| denied(format!("the secret cannot be had: {blind}")))?;
                let text = String::from_utf8(content.bytes)
                    .map_err(|_| denied(format!("the secret cannot be had: {} is not text", path.display())))?;
                Secret(text.trim_end_matches(['\n', '\r']).to_string())
            }
        };
        if secret.0.is_empty() {
            return Err(denied(format!("the secret cannot be had: {self} is empty")));
        }
        Ok(secret)
    }

    /// What the operator should know: that others can read the file.
    pub fn note(&self) -> Option<Note> {
        match self {
            SecretSource::File(path) => readable_by_others(path),
            SecretSource::Env(_) | SecretSource::Url(_) => None,
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::File(path) => write!(formatter, "the file {}", path.display()),
            SecretSource::Env(name) => write!(formatter, "the environment variable {name}"),
            SecretSource::Url(_) => formatter.write_str("the userinfo of the URL"),
        }
    }
}

/// Most of a file that lists targets, in bytes.
const TEXT: usize = 1 << 20;

/// The operator's file at `path`, which may hold secrets, as text; at most 1 MiB of a regular file. Errors are what could
/// not be read and why.
pub fn read_text(path: &Path) -> Result<String, Blind> {
    let denied = |why: &str| Blind::new(BlindKind::Denied, format!("{} {why}", path.display()));
    let content = read_capped(path, TEXT)?;
    if content.cut {
        return Err(denied("is longer than 1 MiB"));
    }
    String::from_utf8(content.bytes).map_err(|_| denied("is not text"))
}

/// A note when everybody on the host can read the secret file at `path`.
pub(crate) fn readable_by_others(path: &Path) -> Option<Note> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o004 != 0).then(|| {
        let text = format!("the secret file {0} can be read by every user of this host: chmod 600 {0}", path.display());
        Note::new("secret-readable", text)
    })
}
