//! Reads and checks every folder of `engines/` and embeds the tables in a compact form.
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
    let mut tables = Vec::new();
    for folder in &folders {
        let sources: table::SourceFile = read(folder, "sources.toml")?;
        let table = table::Table {
            engine: read(folder, "engine.toml")?,
            knobs: read::<table::KnobFile>(folder, "knobs.toml")?.knob,
            sources: sources.source,
            infer: sources.infer,
            log: sources.log,
            lines: sources.line,
            needs: read::<table::DoctorFile>(folder, "doctor.toml")?.need,
        };
        let mut faults = table::check(&table);
        if folder.file_name().and_then(|name| name.to_str()) != Some(&table.engine.name) {
            faults.push(format!("{}: the folder and engine.toml have different names", folder.display()));
        }
        if !faults.is_empty() {
            return Err(faults.join("\n").into());
        }
        tables.push(table);
    }
    let out = Path::new(&std::env::var("OUT_DIR")?).join("tables.bin");
    std::fs::write(out, postcard::to_stdvec(&tables)?)?;
    Ok(())
}

fn read<T: serde::de::DeserializeOwned>(folder: &Path, file: &str) -> Result<T, Box<dyn std::error::Error>> {
    let path = folder.join(file);
    println!("cargo::rerun-if-changed={}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}
