//! Files of our own, which still may not be what they seem: who runs us with rights may have kept another user's home.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use crate::place::READ;

/// The first `cap` bytes of a regular file that belongs to the user we run as; links are not followed, pipes and devices
/// not waited for. `None` where there is no such file.
pub fn read_own(path: &Path, cap: u64) -> Option<Vec<u8>> {
    let file = rustix::fs::open(path, READ | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !regular || stat.st_uid != rustix::process::geteuid().as_raw() {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file).take(cap).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether we run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The number of the user we run as.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether the folder, or the nearest one above it that is there, belongs to the user we run as.
pub fn is_own(folder: &Path) -> bool {
    let there = folder.ancestors().find_map(|folder| folder.metadata().ok());
    there.is_some_and(|there| there.is_dir() && there.uid() == rustix::process::geteuid().as_raw())
}

/// Why a file or folder may hold what somebody else wrote: another than root, the user we run as, or who called us by sudo owns
/// it, or anybody may write it. A group that may is believed: many hosts give each user one of their own.
pub fn foreign(path: &Path) -> Option<String> {
    let known = path.metadata().ok()?;
    let us = rustix::process::geteuid();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| us.is_root()).and_then(|id| id.parse().ok());
    let owner = known.uid();
    if owner != 0 && owner != us.as_raw() && caller != Some(owner) {
        return Some(format!("it is not read: it belongs to user {owner}, neither to root nor to who runs this"));
    }
    (known.mode() & 0o002 != 0).then(|| "it is not read: anybody may write it (chmod o-w)".to_owned())
}
