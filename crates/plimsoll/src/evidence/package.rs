//! The installed package of a server, as far as `doctor` reads it.

use sense::place::{SiftedFile, SiftedFolder, Taken};

use super::rule::{Removed, Rule};
use super::{json, log, secret};

/// A small file of a package or beside it, by its name; none of a file that is not read.
pub(super) fn file(name: &str, bytes: &[u8], removed: &mut Removed) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let lines =
        |wanted: &dyn Fn(&str) -> bool| text.split_inclusive('\n').filter(|line| wanted(line)).collect::<String>();
    let kept = match name {
        "METADATA" | "PKG-INFO" => {
            let head = text.split_inclusive('\n').take_while(|line| !line.trim().is_empty());
            head.filter(|line| line.starts_with("Version:")).collect()
        }
        // Paths and sums.
        "RECORD" => return Some(bytes.to_vec()),
        "direct_url.json" => return Some(json::scrubbed(bytes, removed)),
        "_version.py" | "version.py" | "__init__.py" => {
            lines(&|line| line.starts_with("__version__") || line.starts_with("version"))
        }
        _ if name.ends_with(".egg-link") => lines(&|_| true),
        _ if name.starts_with("__editable__") && name.strip_suffix(".py").is_some() => {
            mapping(&text).unwrap_or_default()
        }
        _ => return None,
    };
    if kept.len() < text.len() {
        removed.note(Rule::Texts);
    }
    Some(secret::scrubbed(&kept, removed).into_bytes())
}

/// Where a finder of an editable installation sends Python.
fn mapping(finder: &str) -> Option<String> {
    let (_, behind) = finder.split_once("MAPPING")?;
    let literal = behind.split_once('{')?.1.split_once('}')?.0;
    Some(format!("MAPPING = {{{literal}}}\n"))
}

/// A folder that was sifted: of sources what they define, of `.pth` files the paths. `is_released` tells whether a source is
/// as it was released, by its sum: that is known to everybody.
pub(super) fn folder(
    folder: SiftedFolder,
    ending: &str,
    is_released: &dyn Fn(&[u8]) -> bool,
    removed: &mut Removed,
) -> SiftedFolder {
    let files = folder.files.into_iter().map(|file| {
        let taken = match file.taken {
            Taken::With(bytes) if ending == ".py" && is_released(&bytes) => Taken::With(bytes),
            Taken::With(bytes) if ending == ".py" => source(&bytes, removed),
            Taken::With(bytes) => Taken::With(leads(&bytes, removed)),
            other => other,
        };
        SiftedFile { taken, ..file }
    });
    SiftedFolder { files: files.collect(), ..folder }
}

/// A source file that somebody changed or wrote: strings that are secret by their names go, where it then still defines what
/// it did.
fn source(bytes: &[u8], removed: &mut Removed) -> Taken {
    let text = String::from_utf8_lossy(bytes);
    let mut counted = Removed::default();
    let kept = without_literals(&text, &mut counted);
    if kept == text {
        return Taken::With(bytes.to_vec());
    }
    if wire::python::metrics(kept.as_bytes()).0 != wire::python::metrics(bytes).0 {
        removed.note(Rule::Answers);
        return Taken::Without;
    }
    removed.take(counted);
    Taken::With(kept.into_bytes())
}

/// Python without the literals that names and looks tell to be secret.
fn without_literals(text: &str, removed: &mut Removed) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut kept, mut at) = (0, 0);
    while let Some(quote) = text[at..].find(['\'', '"']).map(|found| at + found) {
        let line = text[quote..].find('\n').map_or(text.len(), |end| quote + end);
        let inside = quote + 1..text[quote + 1..line].find(&text[quote..=quote]).map_or(line, |end| quote + 1 + end);
        at = quote + 1;
        if model::is_secret(log::name_before(&text[..quote]), &text[inside.clone()]) {
            removed.note(Rule::Secrets);
            out.push_str(&text[kept..inside.start]);
            out.push_str(model::BLOT);
            (kept, at) = (inside.end, inside.end);
        }
    }
    out.push_str(&text[kept..]);
    let word = |word: &str| {
        let address = word.contains("://") && word.contains('@');
        if address { secret::scrubbed(word, removed) } else { model::without_tokens(word).into_owned() }
    };
    out.split_inclusive([' ', '\n', '\'', '"']).map(word).collect()
}

/// The lines of a `.pth` file that lead somewhere: paths, and the import of a finder. Others are code.
fn leads(bytes: &[u8], removed: &mut Removed) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let module = content.strip_prefix("import ").map(|rest| rest.split([';', ' ']).next().unwrap_or_default());
        match module {
            Some(module) if module.starts_with("__editable__") => out.push_str(&format!("import {module}")),
            None if !content.starts_with(['#', '\t']) && !content.starts_with("import\t") => out.push_str(content),
            _ => removed.note(Rule::Texts),
        }
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    secret::scrubbed(&out, removed).into_bytes()
}
