//! The tables that tests are about: those built in, with the folders below `engines/`; or, to try tables without building
//! anything, those of a folder that the variable `PLIMSOLL_ENGINES` names (one engine's, or one of such folders).

#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};

use engines::Tables;
use engines::table::files::{Folder, NAMES};

/// The folders of the engines that tests are about.
pub(crate) fn folders() -> Vec<PathBuf> {
    let root = std::env::var_os("PLIMSOLL_ENGINES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines"), PathBuf::from);
    if root.join(NAMES[0]).is_file() {
        return vec![root];
    }
    let entries = std::fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut found: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    found.retain(|path| path.join(NAMES[0]).is_file());
    found.sort();
    found
}

/// The tables.
pub(crate) fn tables() -> Tables {
    if std::env::var_os("PLIMSOLL_ENGINES").is_none() {
        return Tables::builtin();
    }
    let folders: Vec<Folder> = folders().iter().map(|path| read(path)).collect();
    let (tables, faults) = Tables::builtin().with(&folders);
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(faults.is_empty(), "{}", shown.join("\n"));
    tables
}

/// An engine's files.
pub(crate) fn read(path: &Path) -> Folder {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let files = NAMES.map(|file| std::fs::read_to_string(path.join(file)).ok());
    Folder { name, path: path.display().to_string(), files }
}
