//! What processes have open: `/proc/PID/fd` and `/proc/PID/fdinfo`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Blind, BlindKind};

use crate::place::{Listing, Place, Wanted};

/// Largest `fdinfo` that is read, bytes; those of watchers list all that they watch, below what we need.
const INFO: usize = 4 << 10;

/// What one descriptor of a process leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    /// The process.
    pub(super) pid: u32,
    /// The descriptor's number.
    pub(super) fd: u32,
    /// The text of its link: a path, or a kind and an inode such as `pipe:[1]`.
    pub(super) link: PathBuf,
}

impl Open {
    /// The stored file, and whether it was deleted (a name that ends so by itself is told wrongly); `None` for what has
    /// no path.
    pub(super) fn path(&self) -> Option<(PathBuf, bool)> {
        path_of(&self.link)
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted::Descriptor { pid: self.pid, fd: self.fd }
    }
}

/// The path in a link's text, and whether the file was deleted.
pub(super) fn path_of(link: &Path) -> Option<(PathBuf, bool)> {
    if !link.is_absolute() {
        return None;
    }
    match link.to_str().and_then(|text| text.strip_suffix(" (deleted)")) {
        Some(path) => Some((PathBuf::from(path), true)),
        None => Some((link.to_path_buf(), false)),
    }
}

/// What the processes have open, at most `most` each.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub(super) open: Vec<Open>,
    /// The processes that we may not look at.
    pub(super) denied: Vec<u32>,
    /// The processes that have more open than we look at.
    pub(super) cut: Vec<u32>,
}

/// Looks at the descriptors of these processes; those that ended meanwhile have none.
pub(super) async fn opened(place: &Place, pids: &[u32], most: usize) -> Opened {
    let mut out = Opened::default();
    let folders = pids.iter().map(|pid| PathBuf::from(format!("/proc/{pid}/fd"))).collect();
    let mut numbers = Vec::new();
    for (&pid, listing) in pids.iter().zip(place.list_each(folders, most).await) {
        match listing {
            Ok(Listing { names, cut }) => {
                let fds = names.iter().filter_map(|name| name.to_str()?.parse::<u32>().ok());
                numbers.extend(fds.map(|fd| (pid, fd)));
                if cut {
                    out.cut.push(pid);
                }
            }
            Err(blind) if blind.kind == BlindKind::Denied => out.denied.push(pid),
            Err(_) => {}
        }
    }
    numbers.sort_unstable();
    let links = numbers.iter().map(|(pid, fd)| PathBuf::from(format!("/proc/{pid}/fd/{fd}"))).collect();
    for ((pid, fd), link) in numbers.into_iter().zip(place.link_each(links).await) {
        match link {
            Ok(link) => out.open.push(Open { pid, fd, link }),
            // a folder that lists, with links that do not say: a process of ours that gained rights
            Err(blind) if blind.kind == BlindKind::Denied && !out.denied.contains(&pid) => out.denied.push(pid),
            Err(_) => {}
        }
    }
    out
}

/// How a descriptor was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    Writes,
}

/// How each of these was opened, where that can be read.
pub(super) async fn access_each(place: &Place, open: &[Open]) -> BTreeMap<(u32, u32), Access> {
    let files = open.iter().map(|Open { pid, fd, .. }| PathBuf::from(format!("/proc/{pid}/fdinfo/{fd}"))).collect();
    let infos = place.read_each(files, INFO).await;
    let known =
        |(open, info): (&Open, Result<crate::Content, Blind>)| Some(((open.pid, open.fd), access(&info.ok()?.text())?));
    open.iter().zip(infos).filter_map(known).collect()
}

/// The access mode in an `fdinfo`: the last two bits of its octal flags are 0 only for what was opened just to read.
pub(super) fn access(fdinfo: &str) -> Option<Access> {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = u64::from_str_radix(flags.trim(), 8).ok()?;
    Some(if flags % 4 == 0 { Access::Reads } else { Access::Writes })
}
