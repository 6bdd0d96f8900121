//! The Python package that a process runs: where it lies, what it is, and which metrics its source defines.
//!
//! Everything is read as the process sees it, through `/proc/PID/root`. Of its environment only the few variables that
//! tell where Python looks are kept.

mod environment;
mod record;
mod site;
mod stamps;
mod walk;

use std::path::{Path, PathBuf};

use model::{Blind, BlindKind, Note};
use wire::python::Metric;

pub use self::environment::VARIABLES;
use self::environment::spots;
pub use self::record::sum_of;
use self::site::Hit;
pub use self::stamps::{Scanned, Stamps};
pub use self::walk::Bounds;
pub(crate) use self::walk::scan;
use crate::place::Place;

/// Which package is looked for, and what of it is of interest.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its name, as it is imported and as it is installed.
    pub package: String,
    /// Folders below the package's own in which metrics are defined.
    pub folders: Vec<String>,
    /// One of these must stand in a file, or it is of no interest.
    pub needles: Vec<String>,
}

/// A package as it is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub package: String,
    /// Its version, by its metadata or, in a checkout, by its own file.
    pub version: Option<String>,
    /// Its folder, as the process sees it.
    pub root: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// The first digits of the commit that it was built from, where an installer noted it.
    pub commit: Option<String>,
    /// Files that define metrics and are not as they were released; below [`Installed::root`].
    pub patched: Vec<PathBuf>,
    /// Files that define metrics, by path.
    pub files: Vec<SourceFile>,
    /// Files whose names could have held definitions, all in all.
    pub seen: usize,
    /// Limits that were hit, and what could not be read.
    pub notes: Vec<Note>,
}

/// What an installation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// As an installer put it there, with its list of files.
    Release,
    /// An installer only noted where the source lies.
    Editable {
        /// The folder that Python is sent to.
        from: PathBuf,
    },
    /// Source that no installer knows of, found because Python looks there.
    Checkout,
    /// A copy without an installer's notes.
    Unknown,
}

impl Kind {
    /// The kind in words.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Release => "release",
            Kind::Editable { .. } => "editable",
            Kind::Checkout => "checkout",
            Kind::Unknown => "unknown",
        }
    }
}

/// A file that defines metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path below the package's folder.
    pub path: PathBuf,
    /// What it defines, in its order.
    pub metrics: Vec<Metric>,
}

/// The root folders of processes, in their order: one way for all that have the same, so that what was read for one need not
/// be read again for another.
pub async fn roots_of(place: &Place, pids: &[u32]) -> Vec<PathBuf> {
    let links = pids.iter().flat_map(|pid| ["ns/mnt", "root"].map(|name| PathBuf::from(format!("/proc/{pid}/{name}"))));
    let mut links = place.link_each(links.collect()).await.into_iter();
    let mut known: Vec<((PathBuf, PathBuf), u32)> = Vec::new();
    let mut root = |pid: u32| {
        // A root is called the same in every mount namespace, and is another one in each.
        let same = match (links.next(), links.next()) {
            (Some(Ok(space)), Some(Ok(root))) => Some((space, root)),
            _ => None,
        };
        let first = same.as_ref().and_then(|same| known.iter().find(|(known, _)| known == same)).map(|(_, pid)| *pid);
        if first.is_none() {
            known.extend(same.map(|same| (same, pid)));
        }
        PathBuf::from(format!("/proc/{}/root", first.unwrap_or(pid)))
    };
    pids.iter().map(|pid| root(*pid)).collect()
}

/// The package that the process `pid` runs, whose root folder is `root` ([`roots_of`]). Files that `stamps` knows unchanged are not read again; what is read goes
/// into it. Fails when the process cannot be seen into, or no such package is where its Python looks.
pub async fn installed(
    place: &Place,
    pid: u32,
    root: &Path,
    wanted: &Wanted,
    bounds: Bounds,
    stamps: &mut Stamps,
) -> Result<Installed, Blind> {
    let found = spots(place, pid, root).await?;
    let mut seen: Vec<PathBuf> = Vec::new();
    for spot in found {
        if seen.contains(&spot.folder) {
            continue;
        }
        if let Some(hit) = site::find(place, root, &spot, wanted).await {
            return Ok(read(place, root, hit, wanted, bounds, stamps).await);
        }
        seen.push(spot.folder);
    }
    let text = format!("no package {} where the Python of pid {pid} looks ({} folders)", wanted.package, seen.len());
    Err(Blind::new(BlindKind::Gone, text))
}

async fn read(place: &Place, root: &Path, hit: Hit, wanted: &Wanted, bounds: Bounds, stamps: &mut Stamps) -> Installed {
    let folders = wanted.folders.iter().map(|folder| hit.folder.join(folder)).collect();
    let walked = walk::sources(place, root, folders, wanted, bounds, stamps).await;
    let mut notes = walked.notes;
    let mut patched = Vec::new();
    let below = |path: &Path| path.strip_prefix(&hit.folder).unwrap_or(path).to_path_buf();
    if let Some(record) = hit.record.as_ref().filter(|_| hit.kind == Kind::Release) {
        match place.read_under(root, record, record::LONGEST).await {
            Ok(content) => {
                let sums = record::sums(&content.bytes);
                let site = hit.folder.parent().unwrap_or(&hit.folder);
                for file in &walked.files {
                    let name = file.path.strip_prefix(site).unwrap_or(&file.path);
                    if sums.get(name).is_none_or(|sum| *sum != record::shown(&file.scanned.sha256)) {
                        patched.push(below(&file.path));
                    }
                }
            }
            Err(blind) => notes.push(Note::new("source-record", blind.text)),
        }
    }
    let files = walked.files.into_iter().map(|file| {
        notes.extend(
            file.scanned.remarks.iter().map(|text| Note::new("source-odd", format!("{}: {text}", file.path.display()))),
        );
        SourceFile { path: below(&file.path), metrics: file.scanned.metrics }
    });
    let files = files.collect();
    Installed {
        package: wanted.package.clone(),
        version: hit.version,
        root: hit.folder,
        kind: hit.kind,
        commit: hit.commit,
        patched,
        files,
        seen: walked.seen,
        notes,
    }
}
