//! Why the ledger cannot do what it was asked.

use std::path::{Path, PathBuf};

/// An error of the ledger. Whatever it says, what was kept stays readable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Another process has the directory.
    #[error("{} is in use{}", path.display(), pid.map(|pid| format!(" by process {pid}")).unwrap_or_default())]
    Locked {
        /// The ledger's directory.
        path: PathBuf,
        /// The process that has it, where it wrote its number down.
        pid: Option<u32>,
    },
    /// The directory is on a file system whose locks and syncs do not hold what they promise.
    #[error("{} is on {kind}, where neither a lock nor a sync can be relied on", path.display())]
    Network {
        /// The ledger's directory.
        path: PathBuf,
        /// The file system's kind.
        kind: &'static str,
    },
    /// The files are of a later format.
    #[error("{} has format {found}, and this program reads {}", path.display(), crate::FORMAT)]
    Format {
        /// The ledger's directory.
        path: PathBuf,
        /// The format's number.
        found: u32,
    },
    /// What was given cannot be kept as it is: the reason.
    #[error("{0}")]
    Unfit(String),
    /// The look was not taken: nothing more can be written now. What is lost becomes an event `gap` once writing works again.
    #[error("the ledger cannot write, {lost} looks are lost so far")]
    Full {
        /// Looks and events that were not taken since writing failed.
        lost: u64,
    },
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// What opening or reading found, and went on without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file's name within the directory.
    pub file: String,
    /// What was found, and what it cost.
    pub text: String,
}

impl Note {
    pub(crate) fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: file.into(), text: text.into() }
    }
}
