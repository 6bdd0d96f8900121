//! The lines of each server, as its engine would have written them.

use model::Note;
use wire::exposition::{Limits, Sample, scan, write_sample};

use super::layers::Layers;
use super::names::{Meant, Names, series};
use super::servers::{Server, Servers};
use crate::Tables;
use crate::apart::{Page, Pages};
use crate::table::Alias;

/// The servers' pages, and what could not be read.
pub(super) fn pages<'t>(
    tables: &Tables,
    names: &Names<'_>,
    layers: &Layers<'t>,
    servers: &Servers<'t, '_>,
    body: &[u8],
) -> (Vec<Page>, Vec<Note>) {
    let (mut pages, mut unplaced, mut line) = (Pages::default(), 0_usize, String::new());
    // The number of a last line without an end may have been cut: it must look so on the server's page, too.
    let unended = (!body.ends_with(b"\n")).then(|| body.split(|byte| *byte == b'\n').count());
    let summary = scan(
        body,
        &Limits::whole(),
        |name| names.know(name),
        |sample| {
            let word = names.get(&sample.name).filter(|word| layers.count(word, &sample));
            let Some((word, (key, server))) = word.zip(servers.of(layers, &sample)) else { return };
            let meant = match &word.meant {
                Meant::Series(series) => Ok(series.name.clone()),
                Meant::Alias(alias) => original(tables, alias, server, layers.engine(&sample)),
            };
            match meant {
                Ok(name) => {
                    line.clear();
                    write(&mut line, &name, &sample, layers);
                    if unended == Some(sample.line as usize) {
                        line.pop();
                    }
                    pages.line(key, sample.line, line.as_bytes());
                }
                Err(Unread::Copy) => {}
                Err(Unread::Engine) => unplaced += 1,
            }
        },
    );
    let page = |(key, page): (String, Page)| {
        let own = servers.get(&key);
        let server = own.and_then(|own| own.shown.clone());
        Page {
            server,
            engine: own.and_then(Server::sole_engine),
            passed: Some(layers.passed()),
            note: Some(layers.note(own.and_then(Server::copied).as_deref())),
            ..page
        }
    };
    let mut notes = summary.notes();
    if unplaced > 0 {
        let text = format!("{unplaced} samples are of engines that are not known here, or not said");
        notes.push(Note::new("unplaced", text));
    }
    (pages.finished().map(page).collect(), notes)
}

/// Why a sample is not taken over.
enum Unread {
    /// What it is a copy of stands there itself.
    Copy,
    /// Its engine is not known.
    Engine,
}

/// The series that an alias stands for on a server.
fn original(tables: &Tables, alias: &Alias, server: &Server<'_, '_>, engine: Option<&str>) -> Result<String, Unread> {
    let engine = engine.or_else(|| server.engine(alias));
    let table = engine.and_then(|name| tables.get(name)).ok_or(Unread::Engine)?;
    let bare = alias.engines.get(&table.engine.name).ok_or(Unread::Copy)?;
    let prefix = table.engine.prefixes.first().ok_or(Unread::Engine)?;
    let known = series(table).any(|(name, _)| name == bare);
    if !known || server.has(bare) {
        return Err(Unread::Copy);
    }
    Ok(format!("{prefix}{bare}"))
}

fn write(line: &mut String, name: &str, sample: &Sample<'_>, layers: &Layers<'_>) {
    let labels: Vec<_> = sample.labels.iter().filter(|(label, _)| !layers.own(label)).collect();
    let labels = labels.iter().map(|(label, value)| (label.as_ref(), value.as_ref()));
    write_sample(line, name, labels, sample.value, sample.timestamp_ms);
}
