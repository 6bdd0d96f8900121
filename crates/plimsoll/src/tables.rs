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
/// Bytes of all files together.
const MOST_IN_ALL: u64 = 64 << 20;

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
        match read_trusted(host) {
            Ok((read, found)) => {
                folders.extend(read);
                faults.extend(found);
            }
            Err(error) => faults.push(Fault::of(OF_HOST, format!("{error:#}"))),
        }
    }
    if let Some(given) = given {
        let (read, found) = read_trusted(given)?;
        folders.extend(read);
        faults.extend(found);
    }
    let (tables, found) = Tables::builtin().with(&folders);
    faults.extend(found);
    Ok(Loaded { tables, folders, faults })
}

/// Every file and folder of which [`load`] makes the tables, those that are not there too.
pub(crate) fn sources(given: Option<&Path>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for whole in [Path::new(OF_HOST)].into_iter().chain(given) {
        let inner = std::fs::read_dir(whole).into_iter().flatten();
        let inner = inner.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
        for folder in std::iter::once(whole.to_owned()).chain(inner) {
            all.extend(NAMES.iter().map(|name| folder.join(name)));
            all.push(folder);
        }
    }
    all
}

/// [`read`] without what others may write: a table says what is asked and read with our rights.
fn read_trusted(path: &Path) -> Result<(Vec<Folder>, Vec<Fault>)> {
    if let Some(why) = sense::foreign(path) {
        anyhow::bail!("{}: {why}", path.display());
    }
    let (mut folders, mut faults) = read(path)?;
    folders.retain(|folder| {
        let fault = foreign(folder);
        let trusted = fault.is_none();
        faults.extend(fault);
        trusted
    });
    Ok((folders, faults))
}

/// [`read`] with all that is wrong: also what a look would refuse, since others may write it.
pub(crate) fn check(path: &Path) -> Result<(Vec<Folder>, Vec<Fault>)> {
    let (folders, mut faults) = read(path)?;
    let mut refused: Vec<Fault> = folders.iter().filter_map(foreign).collect();
    let whole = path.display().to_string();
    if !folders.iter().any(|folder| folder.path == whole) {
        refused.extend(sense::foreign(path).map(|why| Fault::of(&whole, why)));
    }
    faults.append(&mut refused);
    Ok((folders, faults))
}

/// Why an engine's folder, or a file of it, is not read.
fn foreign(folder: &Folder) -> Option<Fault> {
    let own = Path::new(&folder.path);
    let mut parts = std::iter::once(own.to_owned()).chain(NAMES.iter().map(|name| own.join(name)));
    parts.find_map(|part| Some(Fault::of(&part.display().to_string(), sense::foreign(&part)?)))
}

/// The engines' folders of `path`: itself, where it is one, or those in it; and what is wrong with those that cannot be read,
/// which are left out.
fn read(path: &Path) -> Result<(Vec<Folder>, Vec<Fault>)> {
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
    let (mut folders, mut faults, mut left) = (Vec::new(), Vec::new(), MOST_IN_ALL);
    for path in &paths {
        match folder(path, &mut left) {
            Ok(folder) => folders.push(folder),
            Err(fault) => faults.push(fault),
        }
    }
    Ok((folders, faults))
}

fn folder(path: &Path, left: &mut u64) -> Result<Folder, Fault> {
    // `.` and a path with a slash at its end have a name, too.
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = whole.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let mut files: [Option<String>; 4] = Default::default();
    for (name, content) in NAMES.iter().zip(&mut files) {
        let file = path.join(name);
        let fault = |text: String| Fault::of(&file.display().to_string(), text);
        let Ok(known) = std::fs::metadata(&file) else { continue };
        if !known.is_file() {
            return Err(fault("it is no file".to_owned()));
        }
        if known.len() > MOST_BYTES || known.len() > *left {
            let text = format!(
                "it is {} bytes long: tables are no more than {MOST_BYTES}, and {MOST_IN_ALL} together",
                known.len()
            );
            return Err(fault(text));
        }
        *left -= known.len();
        *content = Some(std::fs::read_to_string(&file).map_err(|error| fault(error.to_string()))?);
    }
    Ok(Folder { name, path: path.display().to_string(), files })
}
