//! Files of our own: the folder of the history, the configuration, the page's certificate, the folder of the socket.

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result};

/// Makes a folder for us alone, where it is not there.
pub(super) fn make(folder: &Path) -> Result<()> {
    made(folder, 0o700)
}

/// Makes a folder into which everybody may look, where it is not there.
pub(super) fn make_open(folder: &Path) -> Result<()> {
    made(folder, 0o755)
}

fn made(folder: &Path, mode: u32) -> Result<()> {
    let done = std::fs::DirBuilder::new().recursive(true).mode(mode).create(folder);
    done.with_context(|| format!("cannot make {}", folder.display()))
}

/// All of a small file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// What tells that a file, or what is in a folder, is another one: when it was changed, its length, and which it is; none where
/// there is none.
pub(super) type Stamp = Option<(SystemTime, u64, u64)>;

/// That of a file now.
pub(super) fn stamp(path: &Path) -> Stamp {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len(), about.ino()))
}

/// Whether nobody but root, the service or this user can have put a socket there: its folder is root's, the user's or, in the
/// system's place, that of the service's user, which only the service manager makes.
pub(super) fn is_believed(path: &Path, system: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    let Ok(about) = std::fs::metadata(folder) else { return false };
    let ours = [0, sense::own_uid()].contains(&about.uid());
    // No other user may make a folder in /run.
    (ours || folder == system) && about.mode() & 0o002 == 0 && path.exists()
}
