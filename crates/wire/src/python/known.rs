//! What a file says about its own words before any definition is read: constants, other names of the constructors, and
//! functions that define what they are told to.

use std::collections::HashMap;
use std::ops::Range;

use super::call::{Arguments, arguments};
use super::frame::Frames;
use super::line::{Header, assignment};
use super::metric::Kind;
use super::token::{Lexed, Sort};
use super::value::{Part, value, written};
use super::walk::{calls, kind_of, labels, statements};

/// Longest value that may be a constant, tokens.
const LONGEST: usize = 24;
/// Where a constructor takes its labels: behind name and description.
const LABELS_AT: usize = 2;

/// A file's own words.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Text by qualified name ([`key`]); none where it is something else, or different things.
    constants: HashMap<String, Option<String>>,
    /// Kinds by the file's own names for their constructors.
    aliases: HashMap<String, Kind>,
    /// Functions and classes that define a metric with a name that they are given.
    helpers: HashMap<String, Vec<Helper>>,
}

/// A function, or a class, that defines a metric with a name that it is given.
#[derive(Debug)]
pub(super) struct Helper {
    kind: Kind,
    class: Option<String>,
    /// The name, with the function's parameters as holes.
    name: Vec<Part>,
    parameters: Vec<String>,
    labels: Vec<String>,
}

/// What makes a metric.
#[derive(Debug, Clone, Copy)]
pub(super) enum Maker<'a> {
    /// A constructor; `sure`: the file says that it is one, so that a lone argument is a name too.
    Kind { kind: Kind, sure: bool },
    /// A function of the file.
    Helper(&'a Helper),
}

/// Where names are looked up.
pub(super) struct Scope<'a> {
    pub(super) known: &'a Known,
    pub(super) frames: &'a Frames,
}

impl Scope<'_> {
    /// The text that `name` stands for here.
    pub(super) fn look(&self, name: &str) -> Option<String> {
        let get = |key: String| self.known.constants.get(&key);
        let class = self.frames.class();
        if let Some(own) = name.strip_prefix("self.").or_else(|| name.strip_prefix("cls.")) {
            return get(key(class, None, own)).cloned().flatten();
        }
        if let Some((class, own)) = name.split_once('.') {
            return get(key(Some(class), None, own)).cloned().flatten();
        }
        let function = self.frames.function().map(|(function, _)| function);
        let mut places = Vec::new();
        places.extend(function.map(|function| key(class, Some(function), name)));
        if self.frames.in_class_body() {
            places.push(key(class, None, name));
        }
        places.push(key(None, None, name));
        places.into_iter().find_map(get).cloned().flatten()
    }
}

/// Where a constant is kept: by class, function and name.
fn key(class: Option<&str>, function: Option<&str>, name: &str) -> String {
    match (class, function) {
        (None, None) => name.to_owned(),
        (Some(class), None) => format!("{class}.{name}"),
        (class, Some(function)) => format!("{}.{function}:{name}", class.unwrap_or_default()),
    }
}

impl Known {
    /// What a callee of this name makes; a helper of the present class before others.
    pub(super) fn maker(&self, callee: &str, class: Option<&str>) -> Option<Maker<'_>> {
        if let Some(kind) = self.aliases.get(callee) {
            // One by whose name others count things stays in doubt.
            return Some(Maker::Kind { kind: *kind, sure: kind_of(callee).is_none() });
        }
        if let Some(helpers) = self.helpers.get(callee) {
            let own = helpers.iter().find(|helper| helper.class.as_deref() == class);
            return own.or_else(|| helpers.first()).map(Maker::Helper);
        }
        kind_of(callee).map(|kind| Maker::Kind { kind, sure: false })
    }

    /// Notes a constant; one that is set twice to different things is none.
    fn set(&mut self, key: String, text: Option<String>) {
        self.constants
            .entry(key)
            .and_modify(|known| *known = known.take().filter(|known| Some(known) == text.as_ref()))
            .or_insert(text);
    }
}

impl Maker<'_> {
    /// The kind that is made.
    pub(super) fn kind(self) -> Kind {
        match self {
            Maker::Kind { kind, .. } => kind,
            Maker::Helper(helper) => helper.kind,
        }
    }

    /// The place of the labels among the arguments.
    pub(super) fn labels_at(self) -> Option<usize> {
        match self {
            Maker::Kind { .. } => Some(LABELS_AT),
            Maker::Helper(_) => None,
        }
    }

    /// The labels that every metric of it has.
    pub(super) fn labels(&self) -> &[String] {
        match self {
            Maker::Kind { .. } => &[],
            Maker::Helper(helper) => &helper.labels,
        }
    }

    /// The name that these arguments give; `None` when this is no definition.
    pub(super) fn name(self, lexed: &Lexed<'_>, arguments: &Arguments, scope: &Scope<'_>) -> Option<Vec<Part>> {
        let look = |name: &str| scope.look(name);
        let read = |tokens: Range<usize>| value(lexed, tokens, &look);
        match self {
            Maker::Kind { kind, sure } => {
                let named = arguments.named("name");
                // Every constructor wants a description too; a lone argument is something to be counted.
                let by_place = || arguments.plain.first().filter(|_| sure || arguments.count > 1).cloned();
                let told = named.is_some();
                let name = read(named.or_else(by_place)?);
                // By its place alone, only what is written is a name.
                if !told && !name.iter().any(|part| matches!(part, Part::Text(_))) && !sure {
                    return None;
                }
                let around = |what: &str| arguments.named(what).map(read).filter(|parts| !written(parts).is_empty());
                Some(whole_name(name, kind, [around("namespace"), around("subsystem")], around("unit")))
            }
            Maker::Helper(helper) => {
                let mut parts = Vec::new();
                for part in &helper.name {
                    let place = match part {
                        Part::Hole(hole) => helper.parameters.iter().position(|parameter| parameter == hole),
                        Part::Text(_) => None,
                    };
                    match place.and_then(|place| arguments.get(&helper.parameters[place], place)) {
                        Some(given) => parts.extend(read(given)),
                        None => parts.push(part.clone()),
                    }
                }
                Some(parts)
            }
        }
    }
}

/// The name with what is told beside it: `namespace_subsystem_name_unit`.
fn whole_name(name: Vec<Part>, kind: Kind, before: [Option<Vec<Part>>; 2], unit: Option<Vec<Part>>) -> Vec<Part> {
    let mut whole = Vec::new();
    for mut parts in before.into_iter().flatten() {
        whole.append(&mut parts);
        whole.push(Part::Text("_".to_owned()));
    }
    let bare = written(&name);
    whole.extend(name);
    if let Some(unit) = unit {
        let ending = format!("_{}", written(&unit));
        let bare = if kind == Kind::Counter { bare.strip_suffix("_total").unwrap_or(&bare) } else { &bare };
        if !bare.ends_with(&ending) {
            whole.push(Part::Text("_".to_owned()));
            whole.extend(unit);
        }
    }
    whole
}

/// Reads what the file says of its own words.
pub(super) fn learn(lexed: &Lexed<'_>) -> Known {
    let mut known = Known::default();
    statements(lexed, |frames, tokens, header| match header {
        Some(Header::Class { name, bases }) => {
            let base = bases.clone().filter(|at| lexed.sort(*at) == Some(Sort::Word));
            if let Some(kind) = base.map(|at| lexed.text(at)).find_map(|base| constructor(&known, &base)) {
                known.aliases.insert(name.clone(), kind);
            }
        }
        Some(Header::Function { name, parameters }) => {
            for parameter in parameters {
                known.set(key(frames.class(), Some(name), parameter), None);
            }
        }
        Some(_) => {}
        None if lexed.is(tokens.start, "from") || lexed.is(tokens.start, "import") => {
            imports(&mut known, lexed, tokens);
        }
        None => assigned(&mut known, lexed, frames, tokens),
    });
    let mut helpers: HashMap<String, Vec<Helper>> = HashMap::new();
    statements(lexed, |frames, tokens, _| {
        let Some((function, parameters)) = frames.function().filter(|(_, parameters)| !parameters.is_empty()) else {
            return;
        };
        for call in calls(lexed, &tokens) {
            let Some(kind) = constructor(&known, &call.callee) else { continue };
            let maker = Maker::Kind { kind, sure: true };
            let scope = Scope { known: &known, frames };
            let Some(arguments) = arguments(lexed, call.open) else { continue };
            let Some(name) = maker.name(lexed, &arguments, &scope) else { continue };
            let given = |part: &Part| matches!(part, Part::Hole(hole) if parameters.contains(hole));
            if !name.iter().any(given) {
                continue;
            }
            let callee = match (function, frames.class()) {
                ("__init__", Some(class)) => class,
                _ => function,
            };
            let own = helpers.entry(callee.to_owned()).or_default();
            if own.len() < 8 {
                let class = frames.class().map(str::to_owned);
                let labels = labels(lexed, &arguments, &scope, Some(LABELS_AT)).unwrap_or_default();
                own.push(Helper { kind, class, name, parameters: parameters.to_vec(), labels });
            }
        }
    });
    known.helpers = helpers;
    known
}

fn constructor(known: &Known, name: &str) -> Option<Kind> {
    known.aliases.get(name).copied().or_else(|| kind_of(name))
}

/// `import … as …` of constructors.
fn imports(known: &mut Known, lexed: &Lexed<'_>, tokens: Range<usize>) {
    for at in tokens.start + 1..tokens.end {
        if lexed.is(at, "as")
            && let Some(kind) = kind_of(&lexed.text(at - 1))
        {
            known.aliases.insert(lexed.text(at + 1), kind);
        }
    }
}

/// Constants and other names of constructors.
fn assigned(known: &mut Known, lexed: &Lexed<'_>, frames: &Frames, tokens: Range<usize>) {
    let Some(assignment) = assignment(lexed, tokens) else { return };
    let tokens = assignment.value;
    if let Some(kind) = renamed(known, lexed, tokens.clone()) {
        known.aliases.insert(assignment.name, kind);
        return;
    }
    let text = if assignment.adds || tokens.len() > LONGEST {
        None
    } else {
        let scope = Scope { known, frames };
        let parts = value(lexed, tokens, &|name| scope.look(name));
        parts.iter().all(|part| matches!(part, Part::Text(_))).then(|| written(&parts))
    };
    let function =
        frames.function().map(|(function, _)| function).filter(|_| !assignment.own && !frames.in_class_body());
    let class = frames.class().filter(|_| assignment.own || frames.in_class_body() || function.is_some());
    known.set(key(class, function, &assignment.name), text);
}

/// The kind whose constructor this value is: `Gauge`, `self._gauge_cls or Gauge`, `partial(Gauge, …)`.
fn renamed(known: &Known, lexed: &Lexed<'_>, tokens: Range<usize>) -> Option<Kind> {
    let mut names = tokens.clone();
    if let Some(open) = tokens.clone().take(4).find(|at| lexed.is(*at, "(")) {
        if !lexed.is(open.checked_sub(1)?, "partial") {
            return None;
        }
        let first = arguments(lexed, open)?.plain.first()?.clone();
        names = first;
    }
    if names.len() > LONGEST || names.clone().any(|at| lexed.sort(at) != Some(Sort::Word) && !lexed.is(at, ".")) {
        return None;
    }
    // Only the last word of each dotted name says what it is.
    names
        .clone()
        .filter(|at| !lexed.is(at + 1, ".") || at + 1 >= names.end)
        .find_map(|at| constructor(known, &lexed.text(at)))
}
