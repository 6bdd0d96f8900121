//! Where a capture is written: a file of the operator's that nobody else can read, or standard output.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use crate::Said;

/// The file, or standard output.
pub(super) enum Output {
    File(PathBuf, File),
    Stdout,
}

impl Output {
    /// Makes the file; one that is there already is left alone. Without a name it has one of the time.
    pub(super) fn create(name: Option<&Path>) -> Result<Output> {
        if name == Some(Path::new("-")) {
            return Ok(Output::Stdout);
        }
        let path = name.map_or_else(|| PathBuf::from(by_time()), Path::to_path_buf);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                crate::wrong_usage(anyhow!("{} is there already, and a capture replaces no file", path.display()))
            }
            _ => anyhow!(error).context(format!("cannot make {}", path.display())),
        })?;
        Ok(Output::File(path, file))
    }

    /// Takes the file away again when it is dropped, unless it is kept: nothing is in it yet.
    pub(super) fn until_kept(&self) -> Unkept {
        match self {
            Output::File(path, _) => Unkept(Some(path.clone())),
            Output::Stdout => Unkept(None),
        }
    }

    /// What is written to.
    pub(super) fn file(&self) -> Result<Box<dyn Write>> {
        Ok(match self {
            Output::File(_, file) => Box::new(file.try_clone()?),
            Output::Stdout => Box::new(io::stdout()),
        })
    }

    /// How it is called.
    pub(super) fn name(&self) -> String {
        match self {
            Output::File(path, _) => path.display().to_string(),
            Output::Stdout => "standard output".to_owned(),
        }
    }

    /// How much was written, for people.
    pub(super) fn size(&self) -> Result<String> {
        Ok(match self {
            Output::File(_, file) => size(file.metadata()?.len()),
            Output::Stdout => "as much as was read".to_owned(),
        })
    }

    /// Says `text` where it is not in the way of what was written.
    pub(super) fn said(&self, text: String, code: u8) -> Said {
        match self {
            Output::File(..) => Said { text, code },
            Output::Stdout => {
                let _ = anstream::stderr().write_all(text.as_bytes());
                Said { text: String::new(), code }
            }
        }
    }
}

/// A file in which nothing is yet.
pub(super) struct Unkept(Option<PathBuf>);

impl Unkept {
    /// There is something in it.
    pub(super) fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unkept {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Bytes for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn by_time() -> String {
    let now = jiff::Timestamp::from_second(sense::clock::now().0 as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("plimsoll-{}.capture", now.strftime("%Y%m%dT%H%M%SZ"))
}
