//! Checks of a table that types alone cannot make. Run by the build script, and later on tables given at run time.

use model::Scope;

use super::{Format, Read, Table};

/// Every fault of `table`, one sentence each; empty when it is sound.
pub fn check(table: &Table) -> Vec<String> {
    let mut faults = Vec::new();
    let name = &table.engine.name;
    let mut fault = |text: String| faults.push(format!("engines/{name}: {text}"));

    for (index, source) in table.sources.iter().enumerate() {
        let id = &source.id;
        if table.sources[..index].iter().any(|earlier| earlier.id == *id) {
            fault(format!("source {id:?} stands twice"));
        }
        if source.format == Format::Slab && (source.magic.len() != 4 || !source.get.contains('*')) {
            fault(format!("source {id:?}: a slab has a magic of four letters and a pattern of files"));
        }
        if !source.get.starts_with('/') || source.get.starts_with("/health") {
            fault(format!("source {id:?}: {:?} is no path that may be asked", source.get));
        }
        if !table.engine.port.iter().any(|port| port.serves == source.on) {
            fault(format!("source {id:?}: no port serves {:?}", source.on));
        }
        for other in &source.unless {
            if !table.sources.iter().any(|source| source.id == *other) {
                fault(format!("source {id:?}: unless names {other:?}, which is not there"));
            }
        }
        for read in &source.read {
            let pooled = read.signal.row().scope == Scope::Pool && source.worker.is_none();
            if pooled != read.pool.is_some() {
                fault(format!("source {id:?}: {:?} must name a pool exactly when its signal is of a pool", read.name));
            }
        }
    }
    for (index, line) in table.lines.iter().enumerate() {
        let id = &line.id;
        if table.lines[..index].iter().any(|earlier| earlier.id == *id) {
            fault(format!("line {id:?} stands twice"));
        }
        if line.starts.iter().all(|start| start.trim().is_empty()) {
            fault(format!("line {id:?} begins with nothing"));
        }
        let pooled = |read: &&Read| (read.signal.row().scope == Scope::Pool) != read.pool.is_some();
        if let Some(read) = line.read.iter().find(pooled) {
            fault(format!("line {id:?}: {:?} must name a pool exactly when its signal is of a pool", read.name));
        }
    }
    for answer in &table.engine.answer {
        if answer.get.starts_with("/health") {
            fault(format!("answer {:?}: may not be asked", answer.get));
        }
    }
    for need in &table.needs {
        if !table.sources.iter().any(|source| source.id == need.source) {
            fault(format!("need {:?}: no source is called {:?}", need.id, need.source));
        }
    }
    if let Some(package) = &table.engine.package {
        let inside = |folder: &String| !folder.starts_with('/') && !folder.split('/').any(|part| part == "..");
        if package.folders.is_empty() || !package.folders.iter().all(inside) || package.needles.is_empty() {
            fault("package: it needs folders below its own, and needles".to_owned());
        }
        for rule in &package.rule {
            if rule.class.is_none() && rule.test.is_none() || rule.when.is_none() && rule.with.is_none() {
                fault("a package rule has a class or a test, and a condition or a flag".to_owned());
            }
        }
    }
    for rule in &table.engine.process {
        if [&rule.module, &rule.command, &rule.title].into_iter().flatten().count() != 1 {
            fault("a process rule has exactly one of module, command and title".to_owned());
        }
    }
    faults
}
