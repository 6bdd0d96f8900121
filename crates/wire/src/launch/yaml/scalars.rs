//! Where each scalar of a YAML text stands, byte by byte: for changing some and leaving all else as it is.

use std::fmt;
use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use crate::launch::limits;

/// A scalar that is no key of a mapping. `Debug` shows no value.
#[derive(Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The keys above it, outermost first; lists add none.
    pub path: Vec<String>,
    /// Its own key, where it stands in a mapping.
    pub key: Option<String>,
    /// The number of the list or mapping that it stands in.
    pub parent: usize,
    /// The number of the document.
    pub document: usize,
    /// Its value.
    pub value: String,
    /// Its bytes in the text, with its quotes; of a block its letters, without the line that says how it is to be read.
    pub range: Range<usize>,
    /// Neither quoted nor a block: a bracket in its place would be read as a list.
    pub plain: bool,
}

impl fmt::Debug for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Scalar").field("path", &self.path).field("key", &self.key).finish_non_exhaustive()
    }
}

/// All scalars of `text` in its order, and whether it is YAML to its end.
pub fn scalars(text: &str) -> (Vec<Scalar>, bool) {
    let starts: Vec<usize> =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
    let offset = |marker: &Marker| {
        let start = starts.get(marker.line().saturating_sub(1)).copied().unwrap_or(text.len());
        text[start..].char_indices().nth(marker.col()).map_or(text.len(), |(at, _)| start + at)
    };
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let (mut containers, mut document) = (0, 0);
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let Ok((event, span)) = event else { return (found, false) };
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let key = open.last_mut().and_then(|parent| parent.key.take());
                containers += 1;
                open.push(Open {
                    number: containers,
                    mapping: matches!(event, Event::MappingStart(..)),
                    above: key,
                    key: None,
                });
                if open.len() > limits::DEPTH {
                    return (found, false);
                }
            }
            Event::SequenceEnd | Event::MappingEnd => drop(open.pop()),
            Event::Scalar(value, style, ..) => {
                let path = open.iter().filter_map(|level| level.above.clone()).collect();
                let parent = open.last().map_or(0, |level| level.number);
                match open.last_mut() {
                    Some(level) if level.mapping && level.key.is_none() => level.key = Some(value.into_owned()),
                    level => {
                        let key = level.and_then(|level| level.key.take());
                        let mut range = offset(&span.start)..offset(&span.end);
                        range.end = range.start + text[range.clone()].trim_end().len();
                        let plain = style == ScalarStyle::Plain;
                        found.push(Scalar { path, key, parent, document, value: value.into_owned(), range, plain });
                    }
                }
            }
            Event::Alias(_) => {
                if let Some(level) = open.last_mut().filter(|level| level.mapping) {
                    // As a key it has no name, as a value it ends its pair.
                    level.key = if level.key.is_none() { Some(String::new()) } else { None };
                }
            }
            Event::DocumentEnd => document += 1,
            _ => {}
        }
    }
    (found, true)
}

/// A list or mapping that is open.
struct Open {
    number: usize,
    mapping: bool,
    /// The key that it stands under.
    above: Option<String>,
    /// In a mapping: the key whose value comes next.
    key: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::scalars;

    #[test]
    fn every_kind_of_scalar_stands_where_it_is() {
        let text = "a: plain # remark\nb:\n  - 'it''s'\n  - c: |\n      one\n      two\n    d: \"x\\\"y\"\n? k\n: long\n  plain\nü: {e: f, g: [h]}\n---\nz: last\n";
        let (found, whole) = scalars(text);
        assert!(whole);
        let told: Vec<(String, &str, &str)> = found
            .iter()
            .map(|scalar| {
                let key = scalar.key.as_deref().unwrap_or("-");
                (format!("{}/{key}", scalar.path.join("/")), scalar.value.as_str(), &text[scalar.range.clone()])
            })
            .collect();
        let row = |path: &str, value, source| (path.to_owned(), value, source);
        assert_eq!(
            told,
            [
                row("/a", "plain", "plain"),
                row("b/-", "it's", "'it''s'"),
                row("b/c", "one\ntwo\n", "one\n      two"),
                row("b/d", "x\"y", "\"x\\\"y\""),
                row("/k", "long plain", "long\n  plain"),
                row("ü/e", "f", "f"),
                row("ü/g/-", "h", "h"),
                row("/z", "last", "last"),
            ]
        );
        assert_eq!((found[0].document, found[7].document), (0, 1));
        assert!(!scalars("a: [b\nc: {").1);
    }
}
