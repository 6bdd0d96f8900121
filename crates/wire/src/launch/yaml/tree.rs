//! YAML as a tree whose nodes know their lines. Aliases are references, never copies, and the tree is flat in memory, so
//! that no text makes much of little or nests without end. What stands before a fault is kept.

use std::cell::Cell;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser};

use super::scalar;
use crate::launch::{Word, limits};

/// A node's place in its tree.
pub(super) type Id = usize;

/// Nodes that one document is searched for: a tree of aliases has more paths than nodes.
const VISITS: usize = 1 << 21;
/// Merges inside of merges.
const MERGES: usize = 8;

/// One document.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The top of each document in the text, usually one.
    pub(super) roots: Vec<Id>,
    /// Why and at which line reading ended early.
    pub(super) fault: Option<(&'static str, u32)>,
    visits: Cell<usize>,
}

struct Node {
    line: u32,
    kind: Kind,
    /// Reading ended inside of it.
    cut: bool,
}

enum Kind {
    Scalar { word: Word, plain: bool },
    List(Vec<Id>),
    Map(Vec<(Id, Id)>),
}

/// Reads `text`, whose first line is line `first` of the file.
pub(super) fn read(text: &str, first: u32) -> Tree {
    let lines: Vec<&str> = text.lines().collect();
    let mut tree = Tree { nodes: Vec::new(), roots: Vec::new(), fault: None, visits: Cell::new(VISITS) };
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<(Id, Option<Id>)> = Vec::new();
    let mut anchors: HashMap<usize, Id> = HashMap::new();
    let number = |line: usize| u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX).saturating_add(first);
    while let Some(event) = parser.next_event() {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                tree.fault = Some(("is no YAML", number(error.marker().line())));
                break;
            }
        };
        let line = number(span.start.line());
        let (kind, anchor) = match event {
            Event::Scalar(value, style, anchor, _) => {
                let word = scalar::place(&value, style, &span, &lines, first);
                (Kind::Scalar { word, plain: style == saphyr_parser::ScalarStyle::Plain }, anchor)
            }
            Event::SequenceStart(anchor, _) => (Kind::List(Vec::new()), anchor),
            Event::MappingStart(anchor, _) => (Kind::Map(Vec::new()), anchor),
            Event::Alias(anchor) => {
                if let Some(id) = anchors.get(&anchor) {
                    tree.put(&mut open, *id);
                }
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                open.pop();
                continue;
            }
            _ => continue,
        };
        let id = tree.nodes.len();
        let container = !matches!(kind, Kind::Scalar { .. });
        tree.nodes.push(Node { line, kind, cut: false });
        if anchor > 0 {
            anchors.insert(anchor, id);
        }
        tree.put(&mut open, id);
        if container {
            open.push((id, None));
        }
        if open.len() > limits::DEPTH {
            tree.fault = Some(("nests too deep", line));
            break;
        }
    }
    for (id, _) in open {
        tree.nodes[id].cut = true;
    }
    tree
}

impl Tree {
    /// Puts a finished or begun node into the innermost open one.
    fn put(&mut self, open: &mut [(Id, Option<Id>)], id: Id) {
        let Some((parent, key)) = open.last_mut() else { return self.roots.push(id) };
        match (&mut self.nodes[*parent].kind, key.take()) {
            (Kind::List(items), _) => items.push(id),
            (Kind::Map(entries), Some(name)) => entries.push((name, id)),
            (Kind::Map(_), None) => *key = Some(id),
            (Kind::Scalar { .. }, _) => {}
        }
    }

    fn visit(&self) -> bool {
        self.pay(1)
    }

    fn pay(&self, visits: usize) -> bool {
        self.visits.set(self.visits.get().saturating_sub(visits));
        self.visits.get() > 0
    }

    /// A scalar that is to be copied, which costs as much as it is long.
    fn paid(&self, id: Id) -> Option<&Word> {
        self.word(id).filter(|word| self.pay(1 + word.text.len() / 64))
    }

    /// Whether looking around in it was ended, because aliases make more paths than anything real has.
    pub(super) fn exhausted(&self) -> bool {
        self.visits.get() == 0
    }

    pub(super) fn line(&self, id: Id) -> u32 {
        self.nodes[id].line
    }

    /// Whether reading ended inside of the node.
    pub(super) fn is_cut(&self, id: Id) -> bool {
        self.nodes[id].cut
    }

    /// A scalar's text; none for null.
    pub(super) fn word(&self, id: Id) -> Option<&Word> {
        match &self.nodes[id].kind {
            Kind::Scalar { word, plain } if !(*plain && matches!(word.text.as_str(), "" | "~" | "null")) => Some(word),
            _ => None,
        }
    }

    pub(super) fn list(&self, id: Id) -> Option<&[Id]> {
        match &self.nodes[id].kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn is_map(&self, id: Id) -> bool {
        matches!(self.nodes[id].kind, Kind::Map(_))
    }

    /// The entries of a mapping, those that it merges in before its own; keys that are no text are left out.
    pub(super) fn entries(&self, id: Id) -> Vec<(&Word, Id)> {
        let mut found = Vec::new();
        self.collect(id, MERGES, &mut found);
        found
    }

    fn collect<'a>(&'a self, id: Id, depth: usize, found: &mut Vec<(&'a Word, Id)>) {
        let Kind::Map(entries) = &self.nodes[id].kind else { return };
        let mut own = Vec::new();
        for (key, value) in entries {
            if !self.visit() {
                break;
            }
            let Kind::Scalar { word, .. } = &self.nodes[*key].kind else { continue };
            if word.text != "<<" {
                own.push((word, *value));
            } else if depth > 0 {
                match self.list(*value) {
                    // The first of several wins, as an earlier definition.
                    Some(items) => items.iter().rev().for_each(|item| self.collect(*item, depth - 1, found)),
                    None => self.collect(*value, depth - 1, found),
                }
            }
        }
        found.extend(own);
    }

    /// The value of `key`: the mapping's own, else one that it merges in.
    pub(super) fn get(&self, id: Id, key: &str) -> Option<Id> {
        self.entries(id).into_iter().rev().find(|(name, _)| name.text == key).map(|(_, value)| value)
    }

    /// The text at `key`.
    pub(super) fn text(&self, id: Id, key: &str) -> Option<String> {
        self.get(id, key).and_then(|value| self.paid(value)).map(|word| word.text.clone())
    }

    /// Every value inside of a list or mapping.
    pub(super) fn children(&self, id: Id) -> Vec<Id> {
        match &self.nodes[id].kind {
            Kind::List(items) => items.iter().copied().take_while(|_| self.visit()).collect(),
            Kind::Map(entries) => entries.iter().map(|(_, value)| *value).take_while(|_| self.visit()).collect(),
            Kind::Scalar { .. } => Vec::new(),
        }
    }

    /// The texts of a list; of a text alone, that. The second says whether something in it was none.
    pub(super) fn words(&self, id: Id) -> (Vec<Word>, bool) {
        match self.list(id) {
            Some(items) => {
                let words: Vec<Word> = items
                    .iter()
                    .take_while(|_| self.visit())
                    .filter_map(|item| self.paid(*item))
                    .take(limits::WORDS + 1)
                    .cloned()
                    .collect();
                let odd = words.len() < items.len();
                (words, odd)
            }
            None => (self.paid(id).cloned().into_iter().collect(), self.is_map(id)),
        }
    }
}
