//! Checks of a table that types alone cannot make. Run by the build script, and later on tables given at run time.

use model::Scope;

use super::Table;

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
    for rule in &table.engine.process {
        if [&rule.module, &rule.command, &rule.title].into_iter().flatten().count() != 1 {
            fault("a process rule has exactly one of module, command and title".to_owned());
        }
    }
    faults
}
