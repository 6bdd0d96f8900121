//! Folders below a root, sifted: which folders are in them, and the files in which certain words stand.
//!
//! One call is one folder, so that a walk goes level by level: on this host in batches on a helper thread, over ssh in one
//! round trip a level. What lies there belongs to someone else: links are followed inside of the root only, and nothing but
//! stored regular files is opened.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::memmem::Finder;
use model::{Blind, BlindKind};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use serde::{Deserialize, Serialize};

use super::read::{READ, blind, stored};
use crate::capture::form::{name, names, not, scanned};
use crate::installed::Scanned;

/// What tells that a file is the same and unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The device that it is stored on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When its content was last set, nanoseconds since 1970.
    pub modified_ns: i64,
    /// When anything of it was last changed, which nobody can set back.
    pub changed_ns: i64,
}

/// What a walk may still take, shared by all its folders.
#[derive(Debug)]
pub struct Budget {
    entries: AtomicUsize,
    bytes: AtomicUsize,
}

impl Budget {
    /// As many entries of folders, and as many bytes of files.
    pub fn new(entries: usize, bytes: usize) -> Budget {
        Budget { entries: entries.into(), bytes: bytes.into() }
    }

    /// Takes one entry, if one is left.
    pub(super) fn entry(&self) -> bool {
        Budget::take(&self.entries, 1)
    }

    /// Takes so many bytes, if they are left.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        Budget::take(&self.bytes, bytes)
    }

    fn take(of: &AtomicUsize, amount: usize) -> bool {
        of.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount)).is_ok()
    }
}

/// What is looked for in folders.
#[derive(Debug, Clone)]
pub struct Sieve {
    /// Files whose names end so are looked into.
    pub ending: String,
    /// One of these must stand in a file, or it is of no interest.
    pub needles: Vec<String>,
    /// Longer files are not read, bytes.
    pub longest: usize,
    /// Files that need not be read again.
    pub known: Arc<HashSet<Stamp>>,
    /// What may still be taken.
    pub budget: Arc<Budget>,
}

/// What a folder held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiftedFolder {
    /// The device and number of the folder: the same one by another way is the same.
    pub id: (u64, u64),
    /// Names of folders in it, by name; links to folders among them.
    #[serde(with = "names")]
    pub folders: Vec<OsString>,
    /// The files with the ending, by name.
    pub files: Vec<SiftedFile>,
    /// There was more than the budget allowed.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
    /// Entries with the ending that are no stored regular files, or could not be read.
    #[serde(default)]
    pub passed: usize,
}

/// A file with the ending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiftedFile {
    /// Its name.
    #[serde(with = "name")]
    pub name: OsString,
    /// Its stamp.
    pub stamp: Stamp,
    /// What came of it.
    pub taken: Taken,
}

/// What came of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taken {
    /// Its stamp is known: it was not read.
    Known,
    /// None of the needles stands in it.
    Without,
    /// One does: the whole file.
    With(#[serde(with = "wire::capture::bytes")] Vec<u8>),
    /// One does, and what a scan of it brought stands for the file: so no source of others gets into a capture.
    Scanned(#[serde(with = "scanned")] Scanned),
}

/// Sifts one folder. Blocks.
pub(super) fn sift(root: &Path, folder: &Path, sieve: &Sieve) -> Result<SiftedFolder, Blind> {
    let shown = root.join(folder.strip_prefix("/").unwrap_or(folder));
    let failed = |error: rustix::io::Errno| {
        if error == rustix::io::Errno::NOSYS {
            let text = format!("{}: folders of another root need Linux 5.6 (openat2)", shown.display());
            return Blind::new(BlindKind::Denied, text);
        }
        blind(&shown, &error.into())
    };
    let path_only = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let root = rustix::fs::open(root, path_only, Mode::empty()).map_err(failed)?;
    let flags = READ.union(OFlags::DIRECTORY);
    let open = rustix::fs::openat2(&root, folder, flags, Mode::empty(), ResolveFlags::IN_ROOT).map_err(failed)?;
    stored(&open, &shown)?;
    let id = rustix::fs::fstat(&open).map_err(failed)?;
    let mut sifting = Sifting {
        root,
        folder,
        open,
        shown: &shown,
        device: id.st_dev,
        finders: sieve.needles.iter().map(|needle| Finder::new(needle.as_bytes())).collect(),
        sieve,
        buffer: Vec::new(),
        out: SiftedFolder { id: (id.st_dev, id.st_ino), folders: Vec::new(), files: Vec::new(), cut: false, passed: 0 },
    };
    sifting.entries().map_err(failed)?;
    let mut out = sifting.out;
    out.folders.sort();
    out.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(out)
}

struct Sifting<'a> {
    root: OwnedFd,
    folder: &'a Path,
    open: OwnedFd,
    shown: &'a Path,
    device: u64,
    finders: Vec<Finder<'a>>,
    sieve: &'a Sieve,
    buffer: Vec<u8>,
    out: SiftedFolder,
}

impl Sifting<'_> {
    fn entries(&mut self) -> rustix::io::Result<()> {
        for entry in Dir::read_from(&self.open)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if !Budget::take(&self.sieve.budget.entries, 1) {
                self.out.cut = true;
                break;
            }
            let wanted = !self.sieve.ending.is_empty() && name.to_bytes().ends_with(self.sieve.ending.as_bytes());
            match entry.file_type() {
                FileType::Directory => self.out.folders.push(OsStr::from_bytes(name.to_bytes()).to_owned()),
                FileType::RegularFile if !wanted => {}
                FileType::RegularFile | FileType::Symlink | FileType::Unknown => self.entry(name, wanted),
                _ => self.out.passed += usize::from(wanted),
            }
        }
        Ok(())
    }

    /// An entry that may have to be opened to know what it is.
    fn entry(&mut self, name: &CStr, wanted: bool) {
        let own = OsStr::from_bytes(name.to_bytes());
        // The common case first: a file that is known takes one question.
        if wanted
            && let Ok(stat) = rustix::fs::statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW)
            && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && self.sieve.known.contains(&stamp(&stat))
        {
            self.out.files.push(SiftedFile { name: own.to_owned(), stamp: stamp(&stat), taken: Taken::Known });
            return;
        }
        // Nothing is opened for reading before it is known what it is, since opening alone can act on a device.
        let look = OFlags::PATH.union(OFlags::CLOEXEC);
        let beside = rustix::fs::openat(&self.open, name, look.union(OFlags::NOFOLLOW), Mode::empty());
        let is_link = |handle: &OwnedFd| {
            rustix::fs::fstat(handle).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
        };
        let handle = match beside {
            Ok(handle) if is_link(&handle) => {
                let path = self.folder.join(own);
                rustix::fs::openat2(&self.root, &path, look, Mode::empty(), ResolveFlags::IN_ROOT)
            }
            other => other,
        };
        let read = handle.and_then(|handle| rustix::fs::fstat(&handle).map(|stat| (handle, stat)));
        let Ok((handle, stat)) = read else {
            self.out.passed += usize::from(wanted);
            return;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.out.folders.push(own.to_owned()),
            FileType::RegularFile if wanted => match self.file(&handle, &stat) {
                Some(taken) => {
                    self.out.files.push(SiftedFile { name: own.to_owned(), stamp: stamp(&stat), taken });
                }
                None => self.out.passed += 1,
            },
            _ => self.out.passed += usize::from(wanted),
        }
    }

    fn file(&mut self, handle: &OwnedFd, stat: &Stat) -> Option<Taken> {
        if self.sieve.known.contains(&stamp(stat)) {
            return Some(Taken::Known);
        }
        // A folder of files may hold one that is mounted from elsewhere.
        if stat.st_dev != self.device && stored(handle, self.shown).is_err() {
            return None;
        }
        let size = usize::try_from(stat.st_size).ok()?;
        if size > self.sieve.longest {
            return None;
        }
        if !Budget::take(&self.sieve.budget.bytes, size) {
            self.out.cut = true;
            return None;
        }
        let again = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let file = rustix::fs::open(again, READ, Mode::empty()).ok()?;
        self.buffer.clear();
        File::from(file).take(size as u64).read_to_end(&mut self.buffer).ok()?;
        let hit = self.finders.iter().any(|finder| finder.find(&self.buffer).is_some());
        Some(if hit { Taken::With(self.buffer.clone()) } else { Taken::Without })
    }
}

fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds =
        |seconds: i64, rest: u64| seconds.saturating_mul(1_000_000_000).saturating_add(rest.cast_signed());
    Stamp {
        device: stat.st_dev,
        inode: stat.st_ino,
        size: stat.st_size as u64,
        modified_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
    }
}
