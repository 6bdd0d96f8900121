//! Reading files, folders and links with caps. These block; [`super::lookout`] calls them.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use model::{Blind, BlindKind};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};

use super::{Content, Listing};

/// Never waits for a writer, never becomes the controlling terminal, never passed on to children.
pub(crate) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The first `cap` bytes of a regular file: of a stored one, unless `path` itself names a file of the kernel.
pub(crate) fn read_capped(path: &Path, cap: usize) -> Result<Content, Blind> {
    if ["/proc", "/sys"].iter().any(|folder| path.starts_with(folder)) {
        let file = rustix::fs::open(path, READ, Mode::empty()).map_err(|error| blind(path, &error.into()))?;
        regular(&file, path)?;
        return content(file, path, cap);
    }
    // Someone else may have put a pipe or a device there, or a link to one, on which opening alone acts.
    let handle = handle_of(path)?;
    checked(&handle, path)?;
    content(reopened(&handle, path)?, path, cap)
}

/// Most of a file of which only some lines are wanted, bytes.
const LINED: usize = 16 << 20;

/// The lines of a regular file in which one of `words` stands, at most `cap` bytes of them.
pub(super) fn lines_capped(path: &Path, words: &[String], cap: usize) -> Result<Content, Blind> {
    let whole = read_capped(path, LINED)?;
    let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
    let mut out = Content { bytes: Vec::new(), cut: whole.cut };
    for line in whole.bytes.split_inclusive(|byte| *byte == b'\n') {
        if finders.iter().any(|finder| finder.find(line).is_some()) {
            out.bytes.extend_from_slice(line);
        }
        if out.bytes.len() > cap {
            out.bytes.truncate(cap);
            out.cut = true;
            break;
        }
    }
    Ok(out)
}

/// The first `cap` bytes of the regular file `path` as a process sees it whose root folder is `root`.
pub(super) fn read_under(root: &Path, path: &Path, cap: usize) -> Result<Content, Blind> {
    let (handle, shown) = handle_under(root, path)?;
    checked(&handle, &shown)?;
    content(reopened(&handle, &shown)?, &shown, cap)
}

/// A path-only handle of what `path` leads to under `root`, and how that is shown.
pub(super) fn handle_under(root: &Path, path: &Path) -> Result<(OwnedFd, PathBuf), Blind> {
    let shown = root.join(path.strip_prefix("/").unwrap_or(path));
    let failed = |error: rustix::io::Errno| blind(&shown, &error.into());
    let folder = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let root = rustix::fs::open(root, folder, Mode::empty()).map_err(failed)?;
    // What lies there belongs to someone else: a path-only handle is looked at before anything is opened for reading,
    // since opening alone can act on a device; and the kernel resolves links as if `root` were the root.
    let look = OFlags::PATH.union(OFlags::CLOEXEC);
    let handle = rustix::fs::openat2(&root, path, look, Mode::empty(), ResolveFlags::IN_ROOT).map_err(|error| {
        if error == rustix::io::Errno::NOSYS {
            let text = format!("{}: files of another root need Linux 5.6 (openat2)", shown.display());
            return Blind::new(BlindKind::Denied, text);
        }
        failed(error)
    })?;
    Ok((handle, shown))
}

/// A path-only handle of what `path` leads to, links of `/proc/PID/fd` included.
pub(super) fn handle_of(path: &Path) -> Result<OwnedFd, Blind> {
    let look = OFlags::PATH.union(OFlags::CLOEXEC);
    rustix::fs::open(path, look, Mode::empty()).map_err(|error| blind(path, &error.into()))
}

/// That a handle is of a regular file which is stored; how it is, then.
pub(super) fn checked(handle: &OwnedFd, path: &Path) -> Result<Stat, Blind> {
    let stat = regular(handle, path)?;
    stored(handle, path)?;
    Ok(stat)
}

/// The file of a path-only handle that was checked, opened for reading.
pub(super) fn reopened(handle: &OwnedFd, path: &Path) -> Result<OwnedFd, Blind> {
    let again = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::open(again, READ, Mode::empty()).map_err(|error| blind(path, &error.into()))
}

/// The first `cap` names of a folder.
pub(super) fn list_capped(path: &Path, cap: usize) -> Result<Listing, Blind> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| blind(path, &error))? {
        if names.len() == cap {
            return Ok(Listing { names, cut: true });
        }
        // an entry that went away while we looked is not there
        names.extend(entry.ok().map(|entry| entry.file_name()));
    }
    Ok(Listing { names, cut: false })
}

/// Where a symbolic link points.
pub(super) fn read_link(path: &Path) -> Result<PathBuf, Blind> {
    std::fs::read_link(path).map_err(|error| blind(path, &error))
}

fn content(file: OwnedFd, path: &Path, cap: usize) -> Result<Content, Blind> {
    let mut bytes = Vec::new();
    File::from(file).take(cap as u64 + 1).read_to_end(&mut bytes).map_err(|error| blind(path, &error))?;
    let cut = bytes.len() > cap;
    bytes.truncate(cap);
    Ok(Content { bytes, cut })
}

/// What is said of a path that is a folder, where a file was to be read.
pub const A_FOLDER: &str = " is a folder; only regular files are read";

fn regular(file: &OwnedFd, path: &Path) -> Result<Stat, Blind> {
    let stat = rustix::fs::fstat(file).map_err(|error| blind(path, &error.into()))?;
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(stat),
        FileType::Directory => return Err(Blind::new(BlindKind::Denied, format!("{}{A_FOLDER}", path.display()))),
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "no file",
    };
    Err(Blind::new(BlindKind::Denied, format!("{} is {what}; only regular files are read", path.display())))
}

/// File systems whose files act when they are read: proc, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2.
const ACTING: [u64; 7] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];

/// A file that someone else names must be a stored one: reading some of the kernel's files takes what they hold.
pub(super) fn stored(file: &OwnedFd, path: &Path) -> Result<(), Blind> {
    let system = rustix::fs::fstatfs(file).map_err(|error| blind(path, &error.into()))?;
    if ACTING.contains(&(system.f_type as u64)) {
        let text = format!("{} is a file of the kernel; only stored files are read", path.display());
        return Err(Blind::new(BlindKind::Denied, text));
    }
    Ok(())
}

pub(super) fn blind(path: &Path, error: &io::Error) -> Blind {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => BlindKind::Denied,
        io::ErrorKind::TimedOut => BlindKind::Deadline,
        // ENOENT, ENOTDIR, and ESRCH of a process that just ended
        _ => BlindKind::Gone,
    };
    Blind::new(kind, format!("{}: {error}", path.display()))
}
