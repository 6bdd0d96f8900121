//! Metric definitions in Python source: which series a program will have, by what its files say.
//!
//! A tolerant scanner, no interpreter: it follows strings, brackets and indentation, knows the constructors of
//! `prometheus_client` and what a file calls them, and reads names that are written in the file, in pieces or whole. What
//! only running the program would tell stays a hole (`{…}`) in the name. It never panics; a line that is wrong costs that
//! line.

mod call;
mod frame;
mod known;
mod line;
mod metric;
mod token;
mod value;
mod walk;

use model::Note;

pub use metric::{Kind, Metric};

/// Longest file that is read, bytes; what is behind is not seen, and a note says so.
pub const LONGEST: usize = 4 << 20;
/// Most definitions that are taken from one file.
pub const MOST: usize = 4096;

/// The metrics that `source` defines, in the file's order, and remarks on what could not be read. Any bytes are taken: a
/// byte order mark, either kind of line end, and what is not UTF-8.
pub fn metrics(source: &[u8]) -> (Vec<Metric>, Vec<Note>) {
    let mut notes = Vec::new();
    let mut source = source.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(source);
    if source.len() > LONGEST {
        source = &source[..LONGEST];
        let text = format!("the file is longer than {} MiB: its end was not read", LONGEST >> 20);
        notes.push(Note::new("python-cut", text));
    }
    let lexed = token::lex(source);
    notes.extend(lexed.notes.iter().cloned());
    let known = known::learn(&lexed);
    let found = walk::definitions(&lexed, &known);
    if found.unread > 0 {
        let text = format!("{} definitions have a name that the file does not say", found.unread);
        notes.push(Note::new("python-unnamed", text));
    }
    if found.full {
        notes.push(Note::new("python-many", format!("more than {MOST} definitions: the rest was not taken")));
    }
    if found.deep {
        notes.push(Note::new("python-deep", "blocks are nested too deeply: what encloses the innermost was not kept"));
    }
    (found.metrics, notes)
}
