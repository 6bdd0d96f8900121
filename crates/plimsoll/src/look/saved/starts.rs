//! Files that say how servers are started.

use anyhow::Result;
use engines::process::{Recognised, forget_defaults, from_arguments, image_version, recognise, recognise_image};
use engines::{Whereabouts, saved};
use model::text::printable;
use model::{Fact, Facts, Note};
use wire::launch::{Form, Launch, Launches};

use super::pieces::{Matter, Piece, refused};
use super::read::Content;
use crate::look::Eye;

/// The servers that a file starts.
pub(super) fn pieces(eye: &Eye, content: &Content, launches: Launches) -> Result<(Vec<Piece>, Vec<Note>)> {
    let mut pieces = Vec::new();
    let mut notes = launches.notes;
    for note in &mut notes {
        note.text = format!("{}: {}", content.name, note.text);
    }
    for launch in launches.found {
        let argv = launch.argv();
        let by_image = || {
            let image = launch.image.as_deref().filter(|_| !launch.entrypoint)?;
            recognise_image(&eye.tables, image, &argv)
        };
        match recognise(&eye.tables, &argv).or_else(by_image) {
            Some(recognised) => pieces.extend(start(eye, content, launch, recognised)),
            None => notes.extend(unknown_image(content, &launch)),
        }
    }
    if pieces.is_empty() {
        return Err(refused(content, "a way to start programs, but none that is known here"));
    }
    Ok((pieces, notes))
}

/// A container that gives an image arguments alone may run anything.
fn unknown_image(content: &Content, launch: &Launch) -> Option<Note> {
    let image = launch.image.as_ref().filter(|_| !launch.entrypoint)?;
    let first = launch.words.first().filter(|word| word.text.starts_with('-'))?;
    let text = format!(
        "{}:{}: arguments alone, for whatever the image {} runs: passed over",
        content.name,
        first.line,
        printable(&model::without_secrets(image))
    );
    Some(Note::new("image-unknown", text))
}

/// A command that starts a server.
fn start(eye: &Eye, content: &Content, launch: Launch, recognised: Recognised) -> Option<Piece> {
    let table = eye.tables.get(&recognised.engine)?;
    let file = format!("{}:{}", content.name, launch.line);
    let arguments = recognised.arguments.unwrap_or_default();
    let mut facts = from_arguments(table, &arguments, &file);
    let mut notes = Vec::new();
    // Words that no shell expands here may be anything, also further flags.
    let open = |word: &str| word.contains('$') || word.contains("{{");
    if arguments.iter().any(|word| open(word)) {
        forget_defaults(&mut facts);
        facts.retain(|_, fact| !open(&fact.value));
        notes.push(Note::new(
            "flags-unknown",
            format!("{file}: some of its words are variables that this file does not set"),
        ));
    }
    if facts.contains_key("config_file") {
        forget_defaults(&mut facts);
        notes.push(Note::new("config-unread", format!("{file}: flags in its --config are not known from here")));
    }
    if !facts.contains_key("role") && !notes.is_empty() {
        let source = format!("{file}, which does not say it");
        facts.insert("role".to_owned(), Fact { value: model::Role::Unknown.name().to_owned(), source, weight: 0 });
    }
    if let Some(image) = launch.image.as_ref().filter(|_| !launch.entrypoint && launch.argv() == arguments) {
        let text = format!(
            "{file}: arguments alone: which program the image {} starts with them is not in this file",
            printable(&model::without_secrets(image))
        );
        notes.push(Note::new("image-entrypoint", text));
    }
    point(&mut facts, content, &launch, &file);
    if let Some(image) = &launch.image
        && let Some(version) = image_version(table, image)
    {
        // What runs says better which version it is.
        let source = format!("{file} image {}", printable(&model::without_secrets(image)));
        facts.entry("version".to_owned()).or_insert(Fact { value: version, source, weight: 0 });
    }
    let place = Whereabouts {
        unit: launch.name.as_deref().filter(|_| launch.form == Form::Unit).map(printable),
        command: Some(recognised.spelling),
        file: Some(file),
        launch: Some(launch),
        saved: true,
        ..Whereabouts::default()
    };
    let matter = Matter::Start { place: Box::new(place), notes };
    Some(Piece {
        name: content.name.clone(),
        worker: None,
        engine: recognised.engine,
        matter,
        facts,
        capacity: None,
        informed: None,
    })
}

/// Names the line of each flag, where it is another than that of the command.
fn point(facts: &mut Facts, content: &Content, launch: &Launch, file: &str) {
    for fact in facts.values_mut().filter(|fact| fact.weight > 0) {
        let Some(flag) = fact.source.strip_prefix(file).map(str::trim) else { continue };
        if let Some(line) = launch.line_of(flag) {
            fact.source = format!("{}:{line} {flag}", content.name);
        }
    }
}

/// A server that printed its arguments, without the line of a log around them.
pub(super) fn dump(eye: &Eye, content: &Content, text: &str) -> Result<(Vec<Piece>, Vec<Note>)> {
    let line = wire::launch::dump(text).map_or(1, |dump| dump.line);
    let file = format!("{}:{line}", content.name);
    let Some((table, facts)) = saved::dumped(&eye.tables, text, &file) else {
        return Err(refused(content, "the arguments of another program"));
    };
    let place = Whereabouts { saved: true, ..Whereabouts::default() };
    let matter = Matter::Start { place: Box::new(Whereabouts { file: Some(file), ..place }), notes: Vec::new() };
    let (name, engine) = (content.name.clone(), table.engine.name.clone());
    Ok((vec![Piece { name, worker: None, engine, matter, facts, capacity: None, informed: None }], Vec::new()))
}
