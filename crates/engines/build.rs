//! Reads and checks every folder of `engines/`, and `wrappers.toml`, and embeds the tables in a compact form.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the modules are the library's own; the build uses a part of them"
)]

use std::path::{Path, PathBuf};

#[path = "src/table/mod.rs"]
mod table;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new("../../engines");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    let shown = |faults: Vec<table::Fault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let (mut tables, mut all) = (Vec::new(), Vec::new());
    for path in &folders {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let mut folder = table::files::Folder { name, path: path.display().to_string(), files: Default::default() };
        for (file, content) in table::files::NAMES.iter().zip(&mut folder.files) {
            let path = path.join(file);
            println!("cargo::rerun-if-changed={}", path.display());
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            *content = Some(text);
        }
        tables.push(folder.table(None).map_err(shown)?);
        all.push(folder);
    }
    for (folder, table) in all.iter().zip(&tables) {
        folder.borrowing(table.clone(), &tables).map_err(shown)?;
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("tables.bin"), postcard::to_stdvec(&tables)?)?;
    std::fs::write(out.join("wrappers.bin"), postcard::to_stdvec(&wrappers()?)?)?;
    Ok(())
}

fn wrappers() -> Result<table::WrapperFile, Box<dyn std::error::Error>> {
    const FILE: &str = "wrappers.toml";
    let path = Path::new("../..").join(FILE);
    println!("cargo::rerun-if-changed={}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{FILE}: {error}"))?;
    let file: table::WrapperFile = toml::from_str(&text).map_err(|error| format!("{FILE}: {error}"))?;
    let faults = file.faults();
    if faults.is_empty() { Ok(file) } else { Err(format!("{FILE}: {}", faults.join("\n")).into()) }
}
