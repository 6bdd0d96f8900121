//! Checks of a table that types alone cannot make. Run by the build script, and on tables given at run time.

use std::collections::BTreeSet;

use model::Scope;

use super::condition::Condition;
use super::{Format, Read, Table};

/// A fault of a table: the file by its place in [`super::files::NAMES`], the text near which it is, and what is wrong.
#[derive(Debug, Clone)]
pub(crate) struct Slip {
    pub(crate) file: usize,
    pub(crate) near: String,
    pub(crate) text: String,
}

const ENGINE: usize = 0;
const KNOBS: usize = 1;
const SOURCES: usize = 2;
const DOCTOR: usize = 3;

/// Beginnings of parts of paths that make a model run or change what a server does, in whichever engine: none is ever asked,
/// also where a table names it.
const FORBIDDEN: [&str; 40] = [
    "health",
    "generate",
    "completions",
    "completion",
    "chat",
    "embeddings",
    "embed",
    "responses",
    "messages",
    "infill",
    "flush",
    "reset",
    "clear",
    "sleep",
    "wake",
    "abort",
    "start",
    "stop",
    "update",
    "release",
    "resume",
    "pause",
    "shutdown",
    "terminate",
    "invocations",
    "score",
    "rerank",
    "audio",
    "collective_rpc",
    "load_lora",
    "unload",
    "pooling",
    "classify",
    "tokenize",
    "detokenize",
    "apply-template",
    "pull",
    "delete",
    "push",
    "batches",
];

/// Facts that no row has to tell.
const GIVEN: [&str; 3] = ["version", "role", "model"];

/// Every fault of `table`; empty when it is sound.
pub(crate) fn check(table: &Table) -> Vec<Slip> {
    let mut slips = Vec::new();
    sources(table, &mut slips);
    lines(table, &mut slips);
    engine(table, &mut slips);
    conditions(table, &mut slips);
    for need in &table.needs {
        if !table.sources.iter().any(|source| source.id == need.source) {
            let text = format!("need {:?}: no source is called {:?}", need.id, need.source);
            slips.push(slip(DOCTOR, &format!("{:?}", need.source), text));
        }
    }
    slips
}

fn slip(file: usize, near: &str, text: impl Into<String>) -> Slip {
    Slip { file, near: near.to_owned(), text: text.into() }
}

/// Where a row begins: its id.
fn id_of(id: &str) -> String {
    format!("id = {id:?}")
}

/// Whether a path is none, is spelled so that a server may read it as another, or has a part that begins so.
fn may_not_be_asked(get: &str) -> bool {
    let path = get.split('?').next().unwrap_or_default();
    let odd = path.contains("//") || path.contains("/.") || path.contains(['%', ';', '\\', '#', ' ']);
    let parts = || path.split('/').skip(1).map(str::to_ascii_lowercase);
    !get.starts_with('/') || odd || parts().any(|part| FORBIDDEN.iter().any(|front| part.starts_with(front)))
}

fn sources(table: &Table, slips: &mut Vec<Slip>) {
    for (index, source) in table.sources.iter().enumerate() {
        let id = &source.id;
        let mut fault = |near: &str, text: String| slips.push(slip(SOURCES, near, format!("source {id:?}: {text}")));
        let row = id_of(id);
        if table.sources[..index].iter().any(|earlier| earlier.id == *id) {
            fault(&row, "it stands twice".to_owned());
        }
        if source.format == Format::Slab && (source.magic.len() != 4 || !source.get.contains('*')) {
            fault(&row, "a slab has a magic of four letters and a pattern of files".to_owned());
        }
        if may_not_be_asked(&source.get) {
            fault(&format!("{:?}", source.get), format!("{:?} is no path that may be asked", source.get));
        }
        if !table.engine.port.iter().any(|port| port.serves == source.on) {
            fault(&row, format!("no port of engine.toml serves {:?}", source.on));
        }
        for other in &source.unless {
            if !table.sources.iter().any(|source| source.id == *other) {
                fault(&format!("{other:?}"), format!("unless names {other:?}, which is not there"));
            }
        }
        if source.gather && (source.format != Format::Json || source.each.is_none() || source.worker.is_some()) {
            fault(&row, "only elements of JSON (`each`) of one server can be gathered".to_owned());
        }
        for read in &source.read {
            let name = format!("{:?}", read.name);
            let pooled = read.signal.row().scope == Scope::Pool && source.worker.is_none();
            if pooled != read.pool.is_some() {
                fault(&name, format!("{name} must name a pool exactly when its signal is of a pool"));
            }
            let page = source.format == Format::Prometheus;
            if !page && (read.label.is_some() || !read.with.is_empty()) {
                fault(&name, format!("{name}: only samples of Prometheus text have labels"));
            }
            if !source.gather && (read.only.is_some() || read.unless.is_some()) {
                fault(&name, format!("{name}: where and unless are for elements that are gathered"));
            }
            if source.gather && (read.over.is_some() || read.reciprocal) {
                fault(&name, format!("{name}: elements that are gathered are not divided"));
            }
        }
    }
}

fn lines(table: &Table, slips: &mut Vec<Slip>) {
    for (index, line) in table.lines.iter().enumerate() {
        let id = &line.id;
        let mut fault = |near: &str, text: String| slips.push(slip(SOURCES, near, format!("line {id:?}: {text}")));
        if table.lines[..index].iter().any(|earlier| earlier.id == *id) {
            fault(&id_of(id), "it stands twice".to_owned());
        }
        if line.starts.iter().all(|start| start.trim().is_empty()) {
            fault(&id_of(id), "it begins with nothing".to_owned());
        }
        let pooled = |read: &&Read| (read.signal.row().scope == Scope::Pool) != read.pool.is_some();
        if let Some(read) = line.read.iter().find(pooled) {
            let name = format!("{:?}", read.name);
            fault(&name, format!("{name} must name a pool exactly when its signal is of a pool"));
        }
    }
}

fn engine(table: &Table, slips: &mut Vec<Slip>) {
    let mut fault = |near: &str, text: String| slips.push(slip(ENGINE, near, text));
    for answer in &table.engine.answer {
        if may_not_be_asked(&answer.get) {
            fault(&format!("{:?}", answer.get), format!("answer {:?}: may not be asked", answer.get));
        }
    }
    for rule in &table.engine.process {
        let names: Vec<&String> = [&rule.module, &rule.command, &rule.title].into_iter().flatten().collect();
        if names.len() != 1 {
            let near = names.first().map(|name| format!("{name:?}")).unwrap_or_default();
            fault(&near, "a process rule has exactly one of module, command and title".to_owned());
        }
    }
    let Some(package) = &table.engine.package else { return };
    let inside = |folder: &String| !folder.starts_with('/') && !folder.split('/').any(|part| part == "..");
    if package.folders.is_empty() || !package.folders.iter().all(inside) || package.needles.is_empty() {
        fault("[package]", "package: it needs folders below its own, and needles".to_owned());
    }
    for rule in &package.rule {
        if rule.class.is_none() && rule.test.is_none() || rule.when.is_none() && rule.with.is_none() {
            fault("[package]", "a package rule has a class or a test, and a condition or a flag".to_owned());
        }
    }
}

/// Conditions are about facts that something tells; one that is misspelled would never hold.
fn conditions(table: &Table, slips: &mut Vec<Slip>) {
    let mut known: BTreeSet<&str> = GIVEN.into_iter().collect();
    known.extend(table.knobs.iter().map(|knob| knob.fact.as_str()));
    for source in &table.sources {
        known.insert(&source.id);
        known.extend(source.facts.values().map(String::as_str));
    }
    for line in &table.lines {
        known.extend(line.facts.values().map(String::as_str));
        known.extend(line.words.values().map(String::as_str));
        let told = line.tells.values().chain(line.says.values());
        known.extend(told.filter_map(|told| Some(told.split_once('=')?.0)));
    }
    known.extend(table.assume.iter().map(|row| row.fact.as_str()));
    let mut of = |file: usize, condition: &Condition| {
        for fact in condition.facts().filter(|fact| !known.contains(fact)) {
            let text: String = condition.clone().into();
            slips.push(slip(
                file,
                &format!("{text:?}"),
                format!("condition {text:?}: nothing tells the fact {fact:?}"),
            ));
        }
    };
    let of_read = |read: &Read, of: &mut dyn FnMut(usize, &Condition)| {
        let refuse = read.refuse.iter().map(|refuse| &refuse.when);
        let all = read.when.iter().chain(&read.frozen).chain(refuse).chain(&read.dead);
        all.for_each(|condition| of(SOURCES, condition));
    };
    table.sources.iter().flat_map(|source| &source.read).for_each(|read| of_read(read, &mut of));
    for line in &table.lines {
        line.when.iter().for_each(|condition| of(SOURCES, condition));
        line.read.iter().for_each(|read| of_read(read, &mut of));
    }
    table.sources.iter().filter_map(|source| source.when.as_ref()).for_each(|when| of(SOURCES, when));
    table.infer.iter().for_each(|row| of(SOURCES, &row.when));
    table.knobs.iter().flat_map(|knob| &knob.forced).for_each(|condition| of(KNOBS, condition));
    table.troubles.iter().for_each(|trouble| of(DOCTOR, &trouble.when));
    for need in &table.needs {
        let cases = need.case.iter().filter_map(|case| case.when.as_ref());
        need.applies.iter().chain(cases).for_each(|condition| of(DOCTOR, condition));
    }
}
