//! Shared-memory files of living processes. A server that dies leaves its file behind, and what it said last stays in it:
//! only a file that a process of the family holds is read.
//!
//! No lock is taken, since that could hold up the writer. What was read in the middle of a write is for the decoder to
//! tell; [`reread`] is cheap.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Blind, BlindKind, Time};

use super::descriptors::{Access, Open, access_each, opened, path_of};
use super::stat::uid_of;
use crate::place::{Content, Ends, Place, Wanted};

/// Most of a file that is read, bytes: a header and a thousand slots of 16 KiB.
const SLAB: usize = (16 << 20) + 12;
/// Most descriptors of one process that are looked at.
const FDS: usize = 65_536;
/// Most of the mappings of a process that is read, bytes.
const MAPS: usize = 8 << 20;
/// How many processes' mappings are held at once.
const BATCH: usize = 8;
/// Largest `status` that is read, bytes.
const STATUS: usize = 64 << 10;

/// A file of shared memory that a process holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Slab {
    /// The process that holds it: one that writes, where there is one.
    pub pid: u32,
    /// Its path as that process sees it; the pattern, where the processes may not be looked at.
    pub path: PathBuf,
    /// That a living process can write to it.
    pub writer: Result<(), Blind>,
    /// What it holds; never of a file without a writer.
    pub bytes: Result<Content, Blind>,
    /// When it was last written by a call; writing through a mapping need not count.
    pub modified: Option<Time>,
    /// The way to the file, for [`reread`].
    from: Wanted,
    /// Device and inode.
    identity: Option<(u64, u64)>,
}

/// A way to a file that a process holds.
#[derive(Debug, Clone)]
struct Hold {
    pid: u32,
    path: PathBuf,
    writes: bool,
    from: Wanted,
    /// The inode, where the way is a path, which may lead to another file by now.
    inode: Option<u64>,
}

/// The files that match one of `patterns` (absolute paths; `*` in the last part stands for anything) and that one of
/// `pids`, a server with its descendants, has open or mapped. Each is given once. Without the right to look there is one
/// entry, with [`BlindKind::Denied`] in both of its parts.
pub async fn slabs_of(place: &Place, pids: &[u32], patterns: &[String]) -> Vec<Slab> {
    let found = opened(place, pids, FDS).await;
    let fits = |path: &Path| patterns.iter().any(|pattern| matches(pattern, path));
    let mut open = found.open;
    open.retain(|open| open.path().is_some_and(|(path, _)| fits(&path)));
    let access = access_each(place, &open).await;
    let mut holds: Vec<Hold> = open.iter().filter_map(|open| held(open, &access)).collect();
    if !holds.iter().any(|hold| hold.writes) {
        // a mapping outlives its descriptor; mappings are long, and reading them costs the process a little
        for batch in pids.chunks(BATCH) {
            let files = batch.iter().map(|pid| PathBuf::from(format!("/proc/{pid}/maps"))).collect();
            let begins: Vec<&str> =
                patterns.iter().map(|pattern| pattern.split('*').next().unwrap_or_default()).collect();
            for (&pid, maps) in batch.iter().zip(place.lines_each(files, &begins, MAPS).await) {
                holds.extend(maps.iter().flat_map(|maps| mappings(pid, &maps.text())).filter(|hold| fits(&hold.path)));
            }
        }
    }
    // each file once, by preference through a writer, and in the order of the family
    let mut best: Vec<Hold> = Vec::new();
    for hold in holds {
        match best.iter_mut().find(|known| known.path == hold.path) {
            Some(known) if hold.writes && !known.writes => *known = hold,
            Some(_) => {}
            None => best.push(hold),
        }
    }
    let mut slabs = Vec::with_capacity(best.len());
    for hold in best {
        slabs.push(slab(place, hold).await);
    }
    if let (true, Some(&pid), Some(pattern)) = (slabs.is_empty(), found.denied.first(), patterns.first()) {
        let text = format!("the open files of process {pid} may not be looked at: run this as root, or as its user");
        let denied = Blind::new(BlindKind::Denied, text);
        let path = PathBuf::from(pattern);
        let from = Wanted::Inside { pid, path: path.clone() };
        let (writer, bytes) = (Err(denied.clone()), Err(denied));
        slabs.push(Slab { pid, path, writer, bytes, modified: None, from, identity: None });
    }
    slabs
}

/// The file's present bytes, if it is still the same one and held by the same process.
pub async fn reread(place: &Place, slab: &Slab) -> Result<Content, Blind> {
    slab.writer.clone()?;
    let ends = ends(place, &slab.from).await?;
    if Some(ends.identity) != slab.identity {
        return Err(another(&slab.path));
    }
    Ok(content(ends))
}

async fn slab(place: &Place, hold: Hold) -> Slab {
    let Hold { pid, path, writes, from, inode } = hold;
    if !writes {
        let text = format!("no living process writes to {}; process {pid} only reads it", path.display());
        let blind = Blind::new(BlindKind::Gone, text);
        return Slab { pid, path, writer: Err(blind.clone()), bytes: Err(blind), modified: None, from, identity: None };
    }
    let user = place.read(format!("/proc/{pid}/status"), STATUS).await.map(|content| uid_of(&content.text()));
    let (mut modified, mut identity) = (None, None);
    let bytes = match (user, ends(place, &from).await) {
        (_, Err(blind)) | (Err(blind), _) => Err(blind),
        (_, Ok(ends)) if inode.is_some_and(|inode| inode != ends.identity.1) => Err(another(&path)),
        (Ok(user), Ok(ends)) if user != Some(ends.owner) => {
            let text = format!("{} belongs to another user than process {pid}", path.display());
            Err(Blind::new(BlindKind::Denied, text))
        }
        (Ok(_), Ok(ends)) => {
            (modified, identity) = (Some(ends.modified), Some(ends.identity));
            Ok(content(ends))
        }
    };
    // a process that ended while we looked writes no more
    let writer = match &bytes {
        Err(blind) if blind.kind == BlindKind::Gone => Err(blind.clone()),
        _ => Ok(()),
    };
    Slab { pid, path, writer, bytes, modified, from, identity }
}

async fn ends(place: &Place, from: &Wanted) -> Result<Ends, Blind> {
    let gone = || Err(Blind::new(BlindKind::Gone, "nothing was asked"));
    place.ends_each(vec![from.clone()], SLAB, 0).await.into_iter().next().unwrap_or_else(gone)
}

fn content(ends: Ends) -> Content {
    let cut = ends.size > ends.head.len() as u64;
    Content { bytes: ends.head, cut }
}

fn another(path: &Path) -> Blind {
    Blind::new(BlindKind::Gone, format!("{} is another file by now", path.display()))
}

/// Where the access cannot be told, it reads.
fn held(open: &Open, access: &BTreeMap<(u32, u32), Access>) -> Option<Hold> {
    let writes = access.get(&(open.pid, open.fd)) == Some(&Access::Writes);
    Some(Hold { pid: open.pid, path: open.path()?.0, writes, from: open.wanted(), inode: None })
}

/// The files that a process has mapped, from its `maps`: range, rights, offset, device, inode, path.
fn mappings(pid: u32, maps: &str) -> Vec<Hold> {
    let mapping = |line: &str| {
        let mut rest = line;
        let mut next = || {
            let (word, after) = rest.split_once(' ')?;
            rest = after.trim_start();
            Some(word)
        };
        let rights = next().and_then(|_| next())?;
        let inode = next().and_then(|_| next()).and_then(|_| next())?.parse().ok()?;
        // what was deleted cannot be reached by its path
        let (path, deleted) = path_of(Path::new(rest))?;
        let writes = rights.contains('w') && rights.ends_with('s');
        let from = Wanted::Inside { pid, path: path.clone() };
        (!deleted).then_some(Hold { pid, path, writes, from, inode: Some(inode) })
    };
    maps.lines().filter_map(mapping).collect()
}

/// Whether `path` matches: the same folder, and a name in which each `*` stands for anything.
pub fn matches(pattern: &str, path: &Path) -> bool {
    let Some((folder, pattern)) = pattern.rsplit_once('/') else { return false };
    let Some((at, name)) = path.to_str().and_then(|path| path.rsplit_once('/')) else { return false };
    let Some((first, others)) = pattern.split_once('*') else { return at == folder && name == pattern };
    let Some(mut rest) = name.strip_prefix(first).filter(|_| at == folder) else { return false };
    let (middle, last) = others.rsplit_once('*').unwrap_or(("", others));
    for part in middle.split('*').filter(|part| !part.is_empty()) {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}
