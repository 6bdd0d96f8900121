//! The tables that were built in.

use std::sync::OnceLock;

use model::Observation;
use wire::log::Anchors;

use crate::interpret::{Pages, holds_series, json_first, looks_wrong, parse_json};
use crate::table::files::Folder;
use crate::table::{AnswerRule, Fault, Table, WrapperFile, borrow};
use crate::wrapped::Hints;

/// All engines' tables.
#[derive(Debug, Clone)]
pub struct Tables {
    all: Vec<Table>,
    wrappers: WrapperFile,
    /// Made when the first page asks.
    hints: OnceLock<Hints>,
    /// Made when the first server is asked what it is.
    questions: OnceLock<Vec<Question>>,
    pages: Pages,
}

/// A path that tells engines apart.
#[derive(Debug, Clone)]
struct Question {
    path: String,
    /// Asked only where this one was answered 200 before: where one rule wants it so, all do.
    after: Option<String>,
}

impl Tables {
    /// The tables of the `engines/` folder that this program was built with.
    pub fn builtin() -> Tables {
        // The build script wrote the bytes with these very types; a test reads them back.
        let tables = postcard::from_bytes(include_bytes!(concat!(env!("OUT_DIR"), "/tables.bin")));
        let mut all: Vec<Table> = tables.unwrap_or_default();
        borrow::borrow(&mut all);
        let wrappers = include_bytes!(concat!(env!("OUT_DIR"), "/wrappers.bin"));
        Tables {
            all,
            wrappers: postcard::from_bytes(wrappers).unwrap_or_default(),
            hints: OnceLock::new(),
            questions: OnceLock::new(),
            pages: Pages::default(),
        }
    }

    /// These tables with those of `folders` in the place of their namesakes, or beside the others. A folder with a fault
    /// changes nothing: what was built in stays in force.
    pub fn with(mut self, folders: &[Folder]) -> (Tables, Vec<Fault>) {
        let mut faults = Vec::new();
        borrow::give_back(&mut self.all);
        for folder in folders {
            let known = self.all.iter().position(|table| table.engine.name == folder.name);
            let table =
                folder.table(known.map(|at| &self.all[at])).and_then(|table| folder.borrowing(table, &self.all));
            match (table, known) {
                (Ok(table), Some(at)) => self.all[at] = table,
                (Ok(table), None) => self.all.push(table),
                (Err(found), _) => faults.extend(found),
            }
        }
        borrow::borrow(&mut self.all);
        self.all.sort_by(|one, other| one.engine.name.cmp(&other.engine.name));
        (self.hints, self.questions) = (OnceLock::new(), OnceLock::new());
        self.pages = Pages::default();
        (self, faults)
    }

    /// The pages that are known again.
    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The table of an engine.
    pub fn get(&self, name: &str) -> Option<&Table> {
        self.all.iter().find(|table| table.engine.name == name)
    }

    /// All tables, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Table> + Clone {
        self.all.iter()
    }

    /// What serves engines' series in their place.
    pub fn wrappers(&self) -> &WrapperFile {
        &self.wrappers
    }

    /// Whether a page can be a wrapper's at all.
    pub(crate) fn hints(&self) -> &Hints {
        self.hints.get_or_init(|| Hints::new(&self.wrappers, &self.all))
    }

    /// The paths that tell engines apart, in the order in which to ask them.
    pub fn questions(&self) -> Vec<&str> {
        self.sorted().iter().map(|question| question.path.as_str()).collect()
    }

    /// The path that must have been answered 200 before `question` is asked.
    pub fn before(&self, question: &str) -> Option<&str> {
        self.sorted().iter().find(|known| known.path == question)?.after.as_deref()
    }

    fn sorted(&self) -> &[Question] {
        self.questions.get_or_init(|| {
            let mut rules: Vec<&AnswerRule> = self.iter().flat_map(|table| &table.engine.answer).collect();
            rules.sort_by_key(|rule| rule.order);
            let mut sorted: Vec<Question> = Vec::new();
            for rule in &rules {
                for path in rule.after.iter().chain([&rule.get]) {
                    if !sorted.iter().any(|known| known.path == *path) {
                        let mut own = rules.iter().filter(|rule| rule.get == *path);
                        let after = own.find_map(|rule| rule.after.clone());
                        sorted.push(Question { path: path.clone(), after });
                    }
                }
            }
            sorted
        })
    }

    /// The engine that gave this answer and the kind of port that it shows, if exactly this answer tells.
    pub fn recognise(&self, observation: &Observation) -> Option<(&Table, &str)> {
        let answer = observation.outcome.as_ref().ok().filter(|answer| answer.status == 200)?;
        let root = parse_json(&answer.body).ok();
        let rules = self.iter().flat_map(|table| table.engine.answer.iter().map(move |rule| (table, rule)));
        let mut rules: Vec<(&Table, &AnswerRule)> = rules.filter(|(_, rule)| rule.get == observation.get).collect();
        // Engines that share a prefix: the rule that asks for more comes first.
        rules.sort_by_key(|(_, rule)| rule.order);
        let fits = |(table, rule): &(&Table, &AnswerRule)| match (&root, rule.is_page()) {
            (Some(root), false) => fits_json(rule, root),
            (None, true) => looks_wrong(&answer.body).is_none() && holds_series(table, &answer.body, &rule.series),
            _ => false,
        };
        rules.into_iter().find(fits).map(|(table, rule)| (table, rule.serves.as_str()))
    }

    /// The beginnings of all messages that any table knows.
    pub fn anchors(&self) -> Anchors {
        let lines = self.iter().flat_map(|table| &table.lines);
        Anchors::in_records(&lines.flat_map(|row| &row.starts).map(String::as_str).collect::<Vec<_>>())
    }

    /// Whether a line begins as one of a log does: with a time, a rank of any table, a shipper's prefix.
    pub fn begins(&self, line: &str) -> bool {
        let tags = self.iter().flat_map(|table| &table.log.tags);
        let tags: Vec<(&str, &str)> = tags.map(|(tag, kind)| (tag.as_str(), kind.as_str())).collect();
        wire::log::begins(line, &tags)
    }

    /// Words of which one stands in the command line of every process that a table recognises.
    pub fn words(&self) -> Vec<String> {
        let rules = self.iter().flat_map(|table| &table.engine.process);
        let words = rules.filter_map(|rule| {
            // A module may be run by its name or by its file: what comes before the first dot is in both.
            let module = rule.module.as_deref().map(|module| module.split('.').next().unwrap_or(module));
            module.or(rule.command.as_deref()).or(rule.title.as_deref())
        });
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort();
        words.dedup();
        words
    }

    /// Every path that any table may ask, and no other may be asked of a target.
    pub fn allowed(&self) -> Vec<String> {
        let sources = self.iter().flat_map(|table| &table.sources);
        let sources = sources.filter(|source| source.format.is_page() && !source.saved_only);
        let sources = sources.map(|source| source.get.clone());
        let answers = self.iter().flat_map(|table| table.engine.answer.iter().map(|rule| rule.get.clone()));
        let mut paths: Vec<String> = sources.chain(answers).collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// Whether a JSON answer is what the rule wants.
pub(crate) fn fits_json(rule: &AnswerRule, root: &serde_json::Value) -> bool {
    let is = |path: &str, text: &str| json_first(root, root, path).and_then(serde_json::Value::as_str) == Some(text);
    rule.has.iter().all(|path| json_first(root, root, path).is_some())
        && rule.is.iter().all(|(path, text)| is(path, text))
}
