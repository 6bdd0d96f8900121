//! Recognising an engine from a command line.

mod config_file;
mod flags;
mod unwrap;

pub use config_file::settings;
pub use flags::{forget_defaults, from_arguments, from_config, from_environment, variables};
pub use unwrap::split;

use crate::Tables;
use crate::table::version::Version;
use crate::table::{ProcessRule, Table};

/// A command line that runs an engine.
#[derive(Debug, Clone)]
pub struct Recognised {
    /// The engine's name.
    pub engine: String,
    /// The arguments behind module, command and verb; none when the process overwrote them with a title.
    pub arguments: Option<Vec<String>>,
    /// How many wrappers stood around it: 0 when the process is the engine itself.
    pub wrappers: usize,
    /// What was recognised, in the table's own words: program, module or title, and verb. Never an argument, since any
    /// argument may be a secret.
    pub spelling: String,
}

/// Recognises the engine that `argv` runs, through any wrappers.
pub fn recognise(tables: &Tables, argv: &[String]) -> Option<Recognised> {
    for (wrappers, command) in unwrap::commands(argv) {
        for table in tables.iter() {
            let engine = table.engine.name.clone();
            for rule in &table.engine.process {
                if let Some(arguments) = fits(rule, &command) {
                    return Some(Recognised { engine, arguments: Some(arguments), wrappers, spelling: spelling(rule) });
                }
                if rule
                    .title
                    .as_deref()
                    .is_some_and(|title| command.first().is_some_and(|name| name.trim_end() == title))
                {
                    return Some(Recognised { engine, arguments: None, wrappers, spelling: spelling(rule) });
                }
            }
        }
    }
    None
}

/// Recognises the engine that a container of `image` runs when it is given arguments alone: the first of them is one of the
/// engine's flags.
pub fn recognise_image(tables: &Tables, image: &str, arguments: &[String]) -> Option<Recognised> {
    let (name, _) = named_and_tagged(image);
    let flag = arguments.first()?.split('=').next()?;
    let is_known = |table: &&Table| table.knobs.iter().any(|knob| knob.flags.iter().any(|known| known == flag));
    let mut known = tables.iter().filter_map(|table| Some((table, own_image(table, name)?)));
    let (table, spelling) = known.find(|(table, _)| is_known(table))?;
    let (engine, arguments) = (table.engine.name.clone(), Some(arguments.to_vec()));
    Some(Recognised { engine, arguments, wrappers: 0, spelling: spelling.clone() })
}

/// The version that the tag of an image of the engine names: `v0.5.9-cu126` is 0.5.9; `latest` is none, and `0.5` moves from
/// one version to the next.
pub fn image_version(table: &Table, image: &str) -> Option<String> {
    let (name, tag) = named_and_tagged(image);
    own_image(table, name)?;
    let number = tag?.split('-').next()?.trim_start_matches('v');
    let is_whole = number.split('.').count() >= 3 && number.split('.').take(3).all(|part| part.parse::<u32>().is_ok());
    (is_whole && Version::parse(number).is_some()).then(|| number.to_owned())
}

/// An image's name with its registry, and its tag: `host:5000/a/b:v1@sha256:…` is `host:5000/a/b` and `v1`.
fn named_and_tagged(image: &str) -> (&str, Option<&str>) {
    let name = image.split('@').next().unwrap_or_default();
    let folder = name.rfind('/').map_or(0, |at| at + 1);
    match name[folder..].split_once(':') {
        Some((own, tag)) => (&name[..folder + own.len()], Some(tag)),
        None => (name, None),
    }
}

/// The image of the table that is called so, whatever registry it comes from.
fn own_image<'a>(table: &'a Table, name: &str) -> Option<&'a String> {
    let same =
        |known: &&String| name.strip_suffix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    table.engine.image.iter().find(same)
}

fn spelling(rule: &ProcessRule) -> String {
    let program = match (&rule.module, &rule.command, &rule.title) {
        (Some(module), _, _) => format!("python -m {module}"),
        (None, Some(name), _) | (None, None, Some(name)) => name.clone(),
        (None, None, None) => String::new(),
    };
    rule.verb.as_ref().map_or(program.clone(), |verb| format!("{program} {verb}"))
}

/// The arguments behind the part that makes `command` fit `rule`.
fn fits(rule: &ProcessRule, command: &[String]) -> Option<Vec<String>> {
    let (name, rest) = command.split_first()?;
    let rest = match (&rule.module, &rule.command) {
        (Some(module), _) => after_module(name, rest, module)?,
        (None, Some(wanted)) => after_command(name, rest, wanted)?,
        (None, None) => return None,
    };
    match &rule.verb {
        None => Some(rest.to_vec()),
        Some(verb) => {
            // Options may stand before the verb; the first word that is none must be it.
            let at = rest.iter().position(|word| !word.starts_with('-'))?;
            (rest[at] == *verb).then(|| rest[at + 1..].to_vec())
        }
    }
}

fn is_python(name: &str) -> bool {
    let base = unwrap::base(name);
    ["python", "pypy"].iter().any(|python| {
        base.strip_prefix(python)
            .is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    })
}

/// Python's own options, up to the module or script; `Some((is_module, name, arguments))`.
fn python_target(arguments: &[String]) -> Option<(bool, &str, &[String])> {
    let mut index = 0;
    while let Some(word) = arguments.get(index) {
        if word == "-m" {
            return Some((true, arguments.get(index + 1)?, arguments.get(index + 2..)?));
        }
        if let Some(module) = word.strip_prefix("-m").filter(|module| !module.is_empty()) {
            return Some((true, module, arguments.get(index + 1..)?));
        }
        match word.as_str() {
            "-c" => return None,
            "-X" | "-W" | "--check-hash-based-pycs" => index += 2,
            option if option.starts_with('-') => index += 1,
            script => return Some((false, script, arguments.get(index + 1..)?)),
        }
    }
    None
}

fn after_module<'a>(name: &str, rest: &'a [String], module: &str) -> Option<&'a [String]> {
    if !is_python(name) {
        return None;
    }
    let (is_module, target, arguments) = python_target(rest)?;
    // `python …/sglang/launch_server.py` runs the module by its file.
    let path = module.replace('.', "/");
    let as_file = || {
        let file = target.strip_suffix(".py").or_else(|| target.strip_suffix("/__main__.py"));
        file.is_some_and(|file| file == path || file.ends_with(&format!("/{path}")))
    };
    let hit = if is_module { target == module || target.strip_suffix(".__main__") == Some(module) } else { as_file() };
    hit.then_some(arguments)
}

fn after_command<'a>(name: &str, rest: &'a [String], wanted: &str) -> Option<&'a [String]> {
    if unwrap::base(name) == wanted {
        return Some(rest);
    }
    if !is_python(name) {
        return None;
    }
    let (is_module, target, arguments) = python_target(rest)?;
    (!is_module && unwrap::base(target) == wanted).then_some(arguments)
}
