//! Pages that something else serves in the engines' place (a cluster's agent, a collector, a time-series store): rewritten
//! line by line to what the engines' own pages would say, one page a server. What such a wrapper does is data:
//! `wrappers.toml`.
//!
//! A page that one of the [`Hints`] is in is walked once to see whether it is a wrapper's, and such a page three times more,
//! with little kept between: which names are known, which wrappers stand around them, which servers are on it, their lines.
//! Where several scraped one address it is walked once more, to hold their numbers against each other.

mod alike;
mod copies;
mod hints;
mod layers;
mod names;
mod servers;
mod write;

use model::Note;

pub(crate) use hints::Hints;
use layers::Layers;
use names::Names;
use servers::Servers;

use crate::Tables;
use crate::apart::Apart;

/// Takes a wrapper's page apart, which has some hint of it; `None` for an engine's own.
pub(crate) fn unwrap(tables: &Tables, body: &[u8]) -> Option<Apart> {
    let names = Names::on(tables, body);
    let layers = Layers::around(tables, &names, body)?;
    let wrapper = Some(layers.title());
    if let Some(opinion) = layers.opinion() {
        let text = format!(
            "a page of {}, which tells what it thinks of servers and not what they say: {}",
            opinion.title, opinion.note
        );
        return Some(Apart { notes: vec![Note::new("wrapped", text)], wrapper, ..Apart::default() });
    }
    let servers = Servers::on(&names, &layers, body);
    let (pages, mut notes) = write::pages(tables, &names, &layers, &servers, body);
    notes.extend(servers.notes(&layers));
    Some(Apart { pages, servers: servers.count(), unnamed: servers.unnamed(), notes, wrapper, several: false })
}
