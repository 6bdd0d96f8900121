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

/// Beginnings of parts of paths, and of what stands in queries, that make a model run or change what a server does, in
/// whichever engine: none is ever asked, also where a table names it. No such list is whole: what else a table names is asked,
/// and who wrote the table answers for it.
const FORBIDDEN: &str = "\
    health generate completion chat embed responses messages infill infer predict encode invocations score rank rerank pooling \
    classify similarity moderations tokenize detokenize apply_template audio images videos realtime batches collective_rpc \
    flush reset clear evict purge erase delete remove destroy drop cancel abort prefetch warmup checkpoint restore repository \
    sleep wake start stop pause resume suspend freeze terminate quit restart reload kill drain shutdown release enable disable \
    set_ put_ add_ create update upgrade init register unregister configure loglevel log_level scale open_session close_session \
    load_ unload pull push copy upload install save dump run_ exec eval admin profile pprof trace";

/// The same, where longer words that begin so only tell.
const FORBIDDEN_ALONE: [&str; 6] = ["load", "set", "run", "action", "command", "cmd"];

/// Sources of one engine, each of which is a request to every server of it in each look.
const MOST_SOURCES: usize = 24;
/// Rows and lines of one engine.
const MOST_ROWS: usize = 2000;

/// Facts that no row has to tell.
const GIVEN: [&str; 3] = ["version", "role", "model"];

/// Every fault of `table`; empty when it is sound.
pub(crate) fn check(table: &Table) -> Vec<Slip> {
    let mut slips = Vec::new();
    let rows = table.sources.iter().map(|source| source.read.len()).sum::<usize>();
    let lines_and_rows = rows + table.lines.iter().map(|line| 1 + line.read.len()).sum::<usize>();
    if let Some(one_more) = table.sources.get(MOST_SOURCES) {
        let text = format!("more than {MOST_SOURCES} sources: so much is asked of no server");
        return vec![slip(SOURCES, &id_of(&one_more.id), text)];
    }
    if lines_and_rows > MOST_ROWS {
        return vec![slip(SOURCES, "", format!("more than {MOST_ROWS} rows and lines"))];
    }
    sources(table, &mut slips);
    lines(table, &mut slips);
    tree(table, &mut slips);
    binding(table, &mut slips);
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

/// Whether a path is none, is spelled so that a server may read it as another, or has a part that says to do something;
/// names and values of its query count as parts.
fn may_not_be_asked(get: &str) -> bool {
    let (path, query) = get.split_once('?').unwrap_or((get, ""));
    let odd = path.contains("//") || path.contains("/.") || get.contains(['%', ';', '\\', '#', ' ', '+']);
    let does = |part: &str| {
        let part = part.to_ascii_lowercase().replace('-', "_");
        FORBIDDEN_ALONE.contains(&part.as_str()) || FORBIDDEN.split_whitespace().any(|front| part.starts_with(front))
    };
    !get.starts_with('/') || odd || path.split('/').skip(1).chain(query.split(['&', '=', '?', '/'])).any(does)
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
        let in_tree = matches!(source.format, Format::Leaf | Format::Events);
        if !in_tree && may_not_be_asked(&source.get) {
            fault(&format!("{:?}", source.get), format!("{:?} is no path that may be asked", source.get));
        }
        if !table.engine.port.iter().any(|port| port.serves == source.on) {
            fault(&row, format!("no port of engine.toml serves {:?}", source.on));
        }
        if in_tree != source.leaf.is_some() || (source.format == Format::Events) != source.hear.is_some() {
            fault(
                &row,
                "files of the tree and events, and only they, have a leaf, and events say how they are heard"
                    .to_owned(),
            );
        }
        if source.leaf.is_some() && table.tree.is_none() {
            fault(&row, "it is in a tree, and there is no [tree]".to_owned());
        }
        for other in source.unless.iter().chain(source.spare.iter().map(|spare| &spare.beside)) {
            if !table.sources.iter().any(|source| source.id == *other) {
                fault(&format!("{other:?}"), format!("unless or spare names {other:?}, which is not there"));
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
            if let Some(zero) = &read.zero {
                let beside = source.read.iter().any(|other| other.name == zero.beside);
                let dated = zero.when.facts().any(|fact| fact == "version");
                if !page || pooled || !read.lazy || !beside || !dated {
                    let text =
                        "zero is for lazy counters of ranks on a page, beside a series that is read, of a version";
                    fault(&name, format!("{name}: {text}"));
                }
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

/// Folders of a tree lie below its root; what its files are found by is there, and facts are told by something.
fn tree(table: &Table, slips: &mut Vec<Slip>) {
    let Some(tree) = &table.tree else { return };
    let mut fault = |near: &str, text: &str| slips.push(slip(SOURCES, near, format!("tree: {text}")));
    let leaves = table.sources.iter().filter_map(|source| source.leaf.as_ref()).chain([&tree.own]);
    for leaf in leaves {
        let near = format!("{:?}", leaf.folder);
        if leaf.folder.is_empty() || leaf.folder.split('/').any(|part| matches!(part, "" | "." | "..")) {
            fault(&near, "a folder that is none below its root");
        }
        if leaf.address.is_none() && leaf.id.is_none() {
            fault(&near, "files that have neither an address nor a name are nobody's");
        }
    }
    if tree.own.address.is_none() || tree.own.id.is_none() {
        fault("own", "the files by which a server is named have an address and a name");
    }
    let known = |fact: &String| table.knobs.iter().any(|knob| knob.fact == *fact);
    for row in &tree.root {
        let absolute = row.path.as_ref().is_some_and(|path| path.starts_with('/'));
        if !row.fact.as_ref().map_or(absolute, known) {
            fault("root", "a root is a fact of knobs.toml, or an absolute path");
        }
    }
}

/// Rows that say what binds name pools that are told.
fn binding(table: &Table, slips: &mut Vec<Slip>) {
    let reads =
        || table.sources.iter().flat_map(|source| &source.read).chain(table.lines.iter().flat_map(|line| &line.read));
    for row in &table.bind {
        let told = reads().any(|read| {
            read.pool.as_ref() == Some(&row.pool) && read.tier.as_deref().unwrap_or(model::DEVICE) == row.tier
        });
        if !told {
            let near = format!("{:?}", row.pool);
            slips.push(slip(SOURCES, &near, format!("bind: no row tells of pool {near} on tier {:?}", row.tier)));
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
        let read = |name: &str| {
            let first = |read: &str| read.strip_suffix('/').unwrap_or(read) == name;
            line.read.iter().flat_map(Read::names).any(first) || line.facts.keys().any(|key| first(key))
        };
        for key in line.measured().filter(|key| !read(key)) {
            fault(&format!("{key:?}"), format!("{key:?} is a size or a fraction that no row reads"));
        }
        if line.binary && line.sizes.is_empty() {
            fault(&id_of(id), "binary is of sizes, and it names none".to_owned());
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
    for rule in &table.engine.port {
        let other = |fact: &String| table.engine.port.iter().any(|other| other.fact == *fact && other.after.is_none());
        if rule.after.as_ref().is_some_and(|fact| rule.default.is_none() || !other(fact)) {
            let near = format!("{:?}", rule.fact);
            fault(&near, format!("port {near}: it comes so many (default) after one that another rule names"));
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
        let zero = read.zero.iter().map(|zero| &zero.when);
        let all = read.when.iter().chain(&read.frozen).chain(zero).chain(refuse).chain(&read.dead);
        all.for_each(|condition| of(SOURCES, condition));
    };
    table.sources.iter().flat_map(|source| &source.read).for_each(|read| of_read(read, &mut of));
    for line in &table.lines {
        line.when.iter().for_each(|condition| of(SOURCES, condition));
        line.read.iter().for_each(|read| of_read(read, &mut of));
    }
    table.sources.iter().filter_map(|source| source.when.as_ref()).for_each(|when| of(SOURCES, when));
    table.engine.port.iter().filter_map(|rule| rule.when.as_ref()).for_each(|when| of(ENGINE, when));
    table.infer.iter().for_each(|row| of(SOURCES, &row.when));
    table.tree.iter().for_each(|tree| of(SOURCES, &tree.when));
    table.knobs.iter().flat_map(|knob| &knob.forced).for_each(|condition| of(KNOBS, condition));
    table.troubles.iter().for_each(|trouble| of(DOCTOR, &trouble.when));
    for need in &table.needs {
        let cases = need.case.iter().filter_map(|case| case.when.as_ref());
        need.applies.iter().chain(cases).for_each(|condition| of(DOCTOR, condition));
    }
}
