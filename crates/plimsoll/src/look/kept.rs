//! What is kept from one run to the next: which source files were scanned and what they define, so that the next report
//! need not read them again. The only file that plimsoll writes without being told to; it holds names of series and nothing
//! of servers, and may be deleted at any time.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use sense::{Stamps, is_own, read_own};

/// Bytes of the file.
const MOST: u64 = 4 << 20;

/// What was kept; nothing where there is no such file, or it is none of ours.
pub(super) fn read() -> Stamps {
    path().and_then(|path| read_own(&path, MOST)).map(|bytes| Stamps::deserialise(&bytes)).unwrap_or_default()
}

/// Keeps what was scanned, in folders of our own: run with rights in another user's home we leave nothing there. That it cannot be kept costs the next run some time and is not worth a word.
pub(super) fn keep(stamps: &Stamps) {
    let Some(path) = path() else { return };
    let Some(folder) = path.parent() else { return };
    if !is_own(folder) {
        return;
    }
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    // Whole or not at all, also beside another run: written under a name of its own and then moved.
    let own = path.with_extension(format!("{}.new", std::process::id()));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&own);
    let bytes = stamps.serialise();
    let written = file.and_then(|mut file| file.write_all(&bytes)).and_then(|()| std::fs::rename(&own, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&own);
    }
}

/// `$XDG_CACHE_HOME/plimsoll/scanned`, else below `~/.cache`; none without a home.
fn path() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("plimsoll").join("scanned"))
}
