//! Who reads a pipe: a `tee` that writes a log, or what runs a container.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use model::Note;

use super::descriptors::{Access, Open, access_each, opened};
use crate::place::{FDS, PipeEnd, Place};
use crate::text::{inode, printable};

/// Most of a name that is read, bytes; the kernel keeps 15.
const NAME: usize = 64;

/// A process that reads a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// The pipe.
    pub pipe: u64,
    /// The process.
    pub pid: u32,
    /// Its name, such as `tee`.
    pub name: String,
    /// All pipes that it reads and that others write, this one too: who reads several may write each into a file of its
    /// own, and nothing tells which into which.
    pub reads: BTreeSet<u64>,
    /// The regular files that it has open for writing.
    pub files: Vec<Held>,
}

/// A regular file that a process holds open, to be read by [`crate::Wanted::Descriptor`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The descriptor.
    pub fd: u32,
    /// Its path, as far as that can be told from here.
    pub path: PathBuf,
    /// It was deleted since.
    pub deleted: bool,
}

/// The readers of some pipes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readers {
    /// Those that were found, by pipe.
    pub found: Vec<Reader>,
    /// Processes that were looked at.
    pub seen: usize,
    /// Processes that we had no right to look at: readers may be among them.
    pub denied: usize,
    /// Limits that were hit.
    pub notes: Vec<Note>,
}

/// Looks through the descriptors of all processes for those that read one of these pipes (their inodes). That costs some
/// milliseconds for every hundred processes: it is for outputs that are nowhere else.
pub async fn readers_of(place: &Place, pipes: &[u64]) -> Readers {
    let mut out = Readers::default();
    let all = match place.pipes().await {
        Ok(all) => all,
        Err(blind) => {
            out.notes.push(Note::new("readers-unseen", blind.text));
            return out;
        }
    };
    (out.seen, out.denied) = (all.seen, all.denied);
    let mut ends: Vec<(u64, Open)> = Vec::new();
    let mut holders: BTreeMap<u64, Holders> = BTreeMap::new();
    for PipeEnd { pipe, pid, fd } in all.ends {
        let known = holders.entry(pipe).or_insert(Holders { first: pid, more: false });
        known.more |= known.first != pid;
        if pipes.contains(&pipe) {
            ends.push((pipe, Open { pid, fd, link: PathBuf::from(format!("pipe:[{pipe}]")) }));
        }
    }
    if all.cut {
        let text = format!(
            "readers of a pipe were looked for among {} processes, {FDS} open files each: the rest was not seen",
            out.seen
        );
        out.notes.push(Note::new("readers-cut", text));
    }
    let opens: Vec<Open> = ends.iter().map(|(_, open)| open.clone()).collect();
    let access = access_each(place, &opens).await;
    let readers: BTreeSet<(u64, u32)> = ends
        .into_iter()
        .filter(|(_, open)| access.get(&(open.pid, open.fd)) == Some(&Access::Reads))
        .map(|(pipe, open)| (pipe, open.pid))
        .collect();
    for (pipe, pid) in readers {
        let name = place.read(format!("/proc/{pid}/comm"), NAME).await;
        let name = name.map(|content| printable(content.bytes.trim_ascii_end(), NAME)).unwrap_or_default();
        let open = opened(place, &[pid], FDS).await.open;
        let reads = reads(place, &open, &holders).await;
        out.found.push(Reader { pipe, pid, name, reads, files: files(place, open).await });
    }
    out
}

/// The processes that hold an end of a pipe.
#[derive(Debug)]
struct Holders {
    first: u32,
    more: bool,
}

/// The pipes that a process reads, of what it has open; without those that it holds both ends of, alone, to wake itself.
async fn reads(place: &Place, open: &[Open], holders: &BTreeMap<u64, Holders>) -> BTreeSet<u64> {
    let pipe = |open: &Open| inode(&open.link, "pipe");
    let ends: Vec<Open> = open.iter().filter(|open| pipe(open).is_some()).cloned().collect();
    let access = access_each(place, &ends).await;
    let of = |wanted: Access| -> BTreeSet<u64> {
        let ends = ends.iter().filter(|open| access.get(&(open.pid, open.fd)) == Some(&wanted));
        ends.filter_map(pipe).collect()
    };
    let written = of(Access::Writes);
    let alone = |pipe: &u64| written.contains(pipe) && holders.get(pipe).is_none_or(|holders| !holders.more);
    of(Access::Reads).into_iter().filter(|pipe| !alone(pipe)).collect()
}

/// The regular files among what a process has open, for writing.
async fn files(place: &Place, mut open: Vec<Open>) -> Vec<Held> {
    open.retain(|open| open.path().is_some_and(|(path, _)| !path.starts_with("/dev") || path.starts_with("/dev/shm")));
    let access = access_each(place, &open).await;
    open.retain(|open| access.get(&(open.pid, open.fd)) == Some(&Access::Writes));
    let looks = place.ends_each(open.iter().map(Open::wanted).collect(), 0, 0).await;
    let held = open.iter().zip(looks).filter(|(_, look)| look.is_ok()).filter_map(|(open, _)| {
        let (path, deleted) = open.path()?;
        Some(Held { fd: open.fd, path, deleted })
    });
    held.collect()
}
