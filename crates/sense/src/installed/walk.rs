//! The walk through a package's folders, level by level, with a limit for everything.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::Note;
use sha2::{Digest as _, Sha256};

use super::Wanted;
use super::stamps::{Scanned, Stamps};
use crate::aside::aside;
use crate::place::{Budget, Place, Sieve, SiftedFolder, Stamp, Taken};

/// Limits of one walk.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Entries of folders that are looked at.
    pub entries: usize,
    /// Folders below folders.
    pub levels: usize,
    /// Bytes of files that are read.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { entries: 20_000, levels: 8, bytes: 64 << 20 }
    }
}

/// Folders of which nothing runs in a server.
const SKIPPED: [&str; 4] = ["__pycache__", "test", "tests", "node_modules"];
/// Most entries of a folder that is only listed.
const LISTED: usize = 20_000;

/// What a walk brought.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Files that define metrics, by path.
    pub(super) files: Vec<WalkedFile>,
    /// Files that were looked into.
    pub(super) seen: usize,
    pub(super) notes: Vec<Note>,
}

/// A file that defines metrics.
#[derive(Debug)]
pub(super) struct WalkedFile {
    pub(super) path: PathBuf,
    pub(super) scanned: Scanned,
}

/// Walks `folders` and scans the sources in them.
pub(super) async fn sources(
    place: &Place,
    root: &Path,
    folders: Vec<PathBuf>,
    wanted: &Wanted,
    bounds: Bounds,
    stamps: &mut Stamps,
) -> Walked {
    let sieve = Sieve {
        ending: ".py".to_owned(),
        needles: wanted.needles.clone(),
        longest: wire::python::LONGEST,
        known: Arc::new(stamps.known(&wanted.needles)),
        budget: Arc::new(Budget::new(bounds.entries, bounds.bytes)),
    };
    place.foresee_folders(root, &folders, &sieve, &SKIPPED).await;
    let mut out = Walked::default();
    let mut visited = HashSet::new();
    let mut found: Vec<(PathBuf, Stamp, Taken)> = Vec::new();
    let (mut passed, mut unread, mut cut) = (0, Vec::new(), false);
    let mut level = folders;
    for _ in 0..bounds.levels {
        let mut next = Vec::new();
        // Two at once: half of the time goes by in the kernel.
        let (one, other) = level.split_at(level.len() / 2);
        let halves =
            tokio::join!(place.sift_each(root, one.to_vec(), &sieve), place.sift_each(root, other.to_vec(), &sieve));
        for (folder, sifted) in level.iter().zip(halves.0.into_iter().chain(halves.1)) {
            let sifted = match sifted {
                Ok(sifted) => sifted,
                Err(blind) => {
                    unread.push(blind.text);
                    continue;
                }
            };
            cut |= sifted.cut;
            // A link that leads back to where we were leads nowhere.
            if !visited.insert(sifted.id) {
                continue;
            }
            passed += sifted.passed;
            next.extend(sifted.folders.iter().filter(|name| !skipped(name)).map(|name| folder.join(name)));
            found.extend(sifted.files.into_iter().map(|file| (folder.join(file.name), file.stamp, file.taken)));
        }
        level = next;
        if level.is_empty() || cut {
            break;
        }
    }
    if cut {
        let text = format!(
            "the package has more than {} entries or {} MiB of source: the rest was not read",
            bounds.entries,
            bounds.bytes >> 20
        );
        out.notes.push(Note::new("source-cut", text));
    } else if !level.is_empty() {
        let text = format!("folders more than {} levels deep were not looked into", bounds.levels);
        out.notes.push(Note::new("source-deep", text));
    }
    if passed > 0 {
        let text = format!("{passed} entries named like sources are no regular files, too long or unreadable");
        out.notes.push(Note::new("source-odd", text));
    }
    if let Some(first) = unread.first() {
        out.notes.push(Note::new("source-unread", format!("{} folders could not be read: {first}", unread.len())));
    }
    out.seen = found.len();
    out.files = scanned(found, stamps).await;
    out.files.sort_by(|one, other| one.path.cmp(&other.path));
    out
}

fn skipped(name: &OsString) -> bool {
    name.to_str().is_some_and(|name| SKIPPED.contains(&name) || name.starts_with('.'))
}

/// Scans what is new and takes what is known; what defines nothing is left out.
async fn scanned(found: Vec<(PathBuf, Stamp, Taken)>, stamps: &mut Stamps) -> Vec<WalkedFile> {
    let mut fresh = Vec::new();
    let mut paths = Vec::new();
    for (path, stamp, taken) in found {
        match taken {
            Taken::Known => stamps.keep(&stamp),
            Taken::Without => stamps.learn(stamp, None),
            Taken::With(bytes) => fresh.push((stamp, bytes)),
            Taken::Scanned(scanned) => stamps.learn(stamp, Some(scanned)),
        }
        paths.push((path, stamp));
    }
    // Some tens of milliseconds for a large package: not on the thread that answers.
    let read = aside(move || fresh.into_iter().map(|(stamp, bytes)| (stamp, scan(&bytes))).collect::<Vec<_>>()).await;
    for (stamp, scanned) in read.unwrap_or_default() {
        stamps.learn(stamp, Some(scanned));
    }
    let defining = |(path, stamp)| {
        let scanned = stamps.get(&stamp)?.clone();
        (!scanned.metrics.is_empty()).then_some(WalkedFile { path, scanned })
    };
    paths.into_iter().filter_map(defining).collect()
}

/// What the file of these bytes defines.
pub(crate) fn scan(bytes: &[u8]) -> Scanned {
    let (metrics, notes) = wire::python::metrics(bytes);
    let remarks = notes.into_iter().map(|note| note.text).collect();
    Scanned { metrics, remarks, sha256: Sha256::digest(bytes).into() }
}

/// The folders in each of `folders`; none where it cannot be listed.
pub(super) async fn names_in(place: &Place, root: &Path, folders: Vec<PathBuf>) -> Vec<Vec<OsString>> {
    let sieve = only_names("");
    let sifted = place.sift_each(root, folders, &sieve).await;
    sifted.into_iter().map(|sifted| sifted.map(|sifted| sifted.folders).unwrap_or_default()).collect()
}

/// What is in a folder of packages: folders, and its `.pth` files with what they hold.
pub(super) async fn listing(place: &Place, root: &Path, folder: &Path) -> Option<SiftedFolder> {
    let sifted = place.sift_each(root, vec![folder.to_path_buf()], &only_names(".pth")).await;
    sifted.into_iter().next()?.ok()
}

fn only_names(ending: &str) -> Sieve {
    Sieve {
        ending: ending.to_owned(),
        // Every file has this in it.
        needles: vec![String::new()],
        longest: 64 << 10,
        known: Arc::default(),
        budget: Arc::new(Budget::new(LISTED, 4 << 20)),
    }
}
