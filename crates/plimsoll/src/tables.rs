//! The engines' tables of this run: those that were built in, and what folders put in their place or beside them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use engines::Tables;
use engines::table::Fault;
use engines::table::files::{Folder, NAMES};

/// Where tables of this host may lie.
const OF_HOST: &str = "/etc/plimsoll/engines";
/// Bytes of one file.
const MOST_BYTES: u64 = 4 << 20;

/// The tables, and what is wrong with those that were to be added.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// All tables.
    pub(crate) tables: Tables,
    /// Every folder of an engine that was read, in the order in which they count.
    pub(crate) folders: Vec<Folder>,
    /// Faults of files: what was built in stays in force for those.
    pub(crate) faults: Vec<Fault>,
}

/// The built-in tables with those of `/etc/plimsoll/engines`, where that is, and of `given`, where it is. One that was given
/// and cannot be read is wrong usage.
pub(crate) fn load(given: Option<&Path>) -> Result<Loaded> {
    let host = Path::new(OF_HOST);
    let mut folders = Vec::new();
    let mut faults = Vec::new();
    if host.is_dir() {
        match read(host) {
            Ok(read) => folders.extend(read),
            Err(error) => faults.push(Fault::of(OF_HOST, format!("{error:#}"))),
        }
    }
    if let Some(given) = given {
        folders.extend(read(given)?);
    }
    let (tables, found) = Tables::builtin().with(&folders);
    faults.extend(found);
    Ok(Loaded { tables, folders, faults })
}

/// The engines' folders of `path`: itself, where it is one, or those in it.
pub(crate) fn read(path: &Path) -> Result<Vec<Folder>> {
    let is_one = |path: &Path| NAMES.iter().any(|name| path.join(name).is_file());
    let mut paths: Vec<PathBuf> = if is_one(path) {
        vec![path.to_owned()]
    } else {
        let listed = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        let paths: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.into_iter().filter(|path| is_one(path)).collect()
    };
    paths.sort();
    anyhow::ensure!(
        !paths.is_empty(),
        "{}: no folder of an engine in it (one with {})",
        path.display(),
        NAMES.join(", ")
    );
    paths.iter().map(|path| folder(path)).collect()
}

fn folder(path: &Path) -> Result<Folder> {
    // `.` and a path with a slash at its end have a name, too.
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = whole.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let mut files: [Option<String>; 4] = Default::default();
    for (name, content) in NAMES.iter().zip(&mut files) {
        let file = path.join(name);
        let Ok(known) = std::fs::metadata(&file) else { continue };
        anyhow::ensure!(known.is_file() && known.len() <= MOST_BYTES, "{}: no file of a table", file.display());
        *content = Some(std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    Ok(Folder { name, path: path.display().to_string(), files })
}
