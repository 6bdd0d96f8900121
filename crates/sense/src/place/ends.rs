//! Both ends of a file, without what lies between: a log of 10 GB costs as much as one of 10 KB.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use model::{Blind, Time};
use serde::{Deserialize, Serialize};

use super::read::{blind, checked, handle_of, handle_under, reopened};

/// A file whose ends are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A path of this host, such as the operator names; links are followed.
    File(PathBuf),
    /// A path below a folder that someone else owns; links in it lead nowhere else.
    Below {
        /// The folder, a path of this host.
        folder: PathBuf,
        /// The path from there.
        path: PathBuf,
    },
    /// A path as a process sees it, in its own root; links inside lead nowhere else.
    Inside {
        /// The process.
        pid: u32,
        /// The path, absolute or from that root.
        path: PathBuf,
    },
    /// What a process has open, also when it was deleted or lies where we see nothing.
    Descriptor {
        /// The process.
        pid: u32,
        /// The number of its file descriptor.
        fd: u32,
    },
}

/// Both ends of a file. A file that shrinks while it is read gives what is still there; what it grows by is not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ends {
    /// Its size when it was looked at, in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Time,
    /// Its owner's user id.
    pub owner: u32,
    /// Device and inode: equal when two ways lead to one file.
    pub identity: (u64, u64),
    /// Its first bytes, at most as many as asked for.
    #[serde(with = "wire::capture::bytes")]
    pub head: Vec<u8>,
    /// Its last bytes, at most as many as asked for, without those that `head` holds: the two never overlap, and a file
    /// that fits into `head` has no tail.
    #[serde(with = "wire::capture::bytes")]
    pub tail: Vec<u8>,
    /// Where `tail` begins, in bytes; equal to the length of `head` when nothing lies between the two.
    pub tail_from: u64,
}

impl AsRef<Path> for Wanted {
    /// The path alone; of a descriptor nothing.
    fn as_ref(&self) -> &Path {
        match self {
            Wanted::File(path) | Wanted::Below { path, .. } | Wanted::Inside { path, .. } => path,
            Wanted::Descriptor { .. } => Path::new("a file descriptor"),
        }
    }
}

/// Where a wanted file is.
#[derive(Debug)]
pub(super) enum Found {
    /// Here; also a link of `/proc/PID/fd`.
    Path(PathBuf),
    /// Under this root.
    Under(PathBuf, PathBuf),
}

impl AsRef<Path> for Found {
    fn as_ref(&self) -> &Path {
        match self {
            Found::Path(path) | Found::Under(_, path) => path,
        }
    }
}

/// The ends of one file. Blocks.
pub(super) fn ends(found: &Found, head: usize, tail: usize) -> Result<Ends, Blind> {
    // Opening alone can act on a device and waits on a pipe: a path-only handle is looked at first.
    let (handle, shown) = match found {
        Found::Path(path) => (handle_of(path)?, path.clone()),
        Found::Under(root, path) => handle_under(root, path)?,
    };
    let stat = checked(&handle, &shown)?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let mut ends = Ends {
        size,
        modified: Time(stat.st_mtime as f64 + stat.st_mtime_nsec as f64 / 1e9),
        owner: stat.st_uid,
        identity: (stat.st_dev, stat.st_ino),
        head: Vec::new(),
        tail: Vec::new(),
        tail_from: 0,
    };
    if head > 0 || tail > 0 {
        let file = File::from(reopened(&handle, &shown)?);
        let failed = |error: io::Error| blind(&shown, &error);
        ends.head = piece(&file, 0, size.min(head as u64)).map_err(failed)?;
        ends.tail_from = size.saturating_sub(tail as u64).max(ends.head.len() as u64);
        ends.tail = piece(&file, ends.tail_from, size.saturating_sub(ends.tail_from)).map_err(failed)?;
    }
    Ok(ends)
}

/// `length` bytes from `from` on, or what there is of them.
fn piece(file: &File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], from + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
