//! Where the output of processes goes: file, journal, terminal, pipe, nowhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::{Blind, BlindKind};

use super::cgroup;
use super::descriptors::path_of;
use super::environment::ENVIRON;
use crate::place::{Place, Wanted};
use crate::text::inode;

/// Largest `cgroup` that is read, bytes.
const CGROUP: usize = 64 << 10;

/// Where one of a process's outputs goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A regular file, to be read by [`Wanted::Descriptor`].
    File {
        /// The descriptor.
        fd: u32,
        /// Its path, as far as that can be told from here; of a file in another root, its path there.
        path: PathBuf,
        /// It was deleted, or replaced by a rename, and is still written to.
        deleted: bool,
    },
    /// The journal; the process's unit tells under which name.
    Journal,
    /// A terminal: what was shown there is nowhere else.
    Terminal,
    /// A pipe: [`super::readers_of`] tells who reads it.
    Pipe {
        /// Its inode, which the links of both ends name.
        inode: u64,
    },
    /// `/dev/null`.
    Nothing,
    /// It cannot be told, or to something else, which the text names.
    Unseen(Blind),
}

/// Where the outputs of one process go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outputs {
    /// The process.
    pub pid: u32,
    /// Its descriptor 1.
    pub stdout: Output,
    /// Its descriptor 2.
    pub stderr: Output,
}

/// Where the outputs of these processes, best of a whole family, go, in the order asked.
pub async fn outputs_of(place: &Place, pids: &[u32]) -> Vec<Outputs> {
    let each: Vec<(u32, u32)> = pids.iter().flat_map(|&pid| [(pid, 1), (pid, 2)]).collect();
    let links = each.iter().map(|(pid, fd)| PathBuf::from(format!("/proc/{pid}/fd/{fd}"))).collect();
    let links = place.link_each(links).await;
    // whether a path is a regular file's: nothing is opened for that
    let looks = each.iter().map(|&(pid, fd)| Wanted::Descriptor { pid, fd }).collect();
    let looks = place.ends_each(looks, 0, 0).await;
    let socket = |link: &Result<PathBuf, Blind>| link.as_ref().ok().and_then(|link| inode(link, "socket"));
    let sockets = each.iter().zip(&links).filter_map(|(&(pid, _), link)| Some((pid, socket(link)?))).collect();
    let journals = journals(place, sockets).await;
    let outputs = each.iter().zip(links).zip(looks).map(|((&(_, fd), link), look)| match link {
        Ok(_) if socket(&link).is_some_and(|inode| journals.contains(&inode)) => Output::Journal,
        Ok(link) => named(fd, &link, look.map(drop)),
        Err(blind) => Output::Unseen(blind),
    });
    let mut outputs = outputs.collect::<Vec<Output>>().into_iter();
    let mut next = || outputs.next().unwrap_or_else(|| Output::Unseen(Blind::new(BlindKind::Gone, "it was not asked")));
    pids.iter().map(|&pid| Outputs { pid, stdout: next(), stderr: next() }).collect()
}

/// What the link's text says, with what was found there.
fn named(fd: u32, link: &Path, look: Result<(), Blind>) -> Output {
    if let Some(inode) = inode(link, "pipe") {
        return Output::Pipe { inode };
    }
    let Some((path, deleted)) = path_of(link) else {
        let text = format!("it goes into {}, which cannot be read from outside", link.display());
        return Output::Unseen(Blind::new(BlindKind::Gone, text));
    };
    let text = path.to_string_lossy();
    if text == "/dev/null" {
        return Output::Nothing;
    }
    if text == "/dev/console" || ["/dev/pts/", "/dev/tty", "/dev/hvc"].iter().any(|start| text.starts_with(start)) {
        return Output::Terminal;
    }
    match look {
        Ok(()) => Output::File { fd, path, deleted },
        Err(blind) => Output::Unseen(blind),
    }
}

/// Which of these sockets, each an output of its process, are the journal's.
///
/// systemd names it in `JOURNAL_STREAM`: for one of the two outputs, where they are two sockets, and gone from children that
/// gave themselves a title, whose socket is still their parent's. Where that does not tell, an output of a service is not
/// made a socket by anyone else.
async fn journals(place: &Place, sockets: Vec<(u32, u64)>) -> BTreeSet<u64> {
    let mut journals = BTreeSet::new();
    let pids: BTreeSet<u32> = sockets.iter().map(|(pid, _)| *pid).collect();
    for pid in pids {
        let environ = place.read(format!("/proc/{pid}/environ"), ENVIRON).await;
        journals.extend(environ.ok().and_then(|content| journal_stream(&content.bytes)));
        let own = sockets.iter().filter(|(holder, _)| *holder == pid).map(|(_, inode)| *inode);
        let mut others = own.filter(|inode| !journals.contains(inode)).collect::<Vec<u64>>();
        if !others.is_empty() {
            let cgroup = place.read(format!("/proc/{pid}/cgroup"), CGROUP).await;
            let unit = cgroup.ok().and_then(|content| cgroup::unit_of(&content.text()));
            others.retain(|_| unit.as_ref().is_some_and(|unit| unit.name.ends_with(".service")));
            journals.extend(others);
        }
    }
    journals
}

/// The inode that an environment gives for its journal stream; nothing else of it is kept.
pub fn journal_stream(environ: &[u8]) -> Option<u64> {
    let value = environ.split(|&byte| byte == 0).find_map(|pair| pair.strip_prefix(b"JOURNAL_STREAM="))?;
    let (_device, inode) = std::str::from_utf8(value).ok()?.split_once(':')?;
    inode.parse().ok()
}
