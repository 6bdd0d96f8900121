//! What encloses a line: classes, functions and tests, by indentation.

use super::line::Header;

/// Blocks that are kept one inside the other.
const DEEPEST: usize = 100;
/// Tests that are kept of one definition.
const TESTS: usize = 8;

/// One open block.
#[derive(Debug)]
pub(super) struct Frame {
    column: usize,
    header: Header,
    /// What holds in the rest of the block, because the opposite left it early.
    guards: Vec<String>,
}

/// The open blocks, outermost first.
#[derive(Debug, Default)]
pub(super) struct Frames {
    open: Vec<Frame>,
    /// Guards of the file's own level.
    guards: Vec<String>,
    /// Blocks were too deep to be kept.
    pub(super) deep: bool,
}

impl Frames {
    /// Closes the blocks that end before a line at `column`. The tests of an `if` or `elif` that ends right here come
    /// back, for the `elif` or `else` that may follow.
    pub(super) fn close(&mut self, column: usize) -> Vec<String> {
        let mut before = Vec::new();
        while let Some(last) = self.open.last().filter(|frame| frame.column >= column) {
            before.clear();
            if let Header::Test { chain, .. } = &last.header
                && last.column == column
            {
                before.clone_from(chain);
            }
            self.open.pop();
        }
        before
    }

    /// Opens a block whose header stands at `column`.
    pub(super) fn open(&mut self, column: usize, header: Header) {
        if self.open.len() < DEEPEST {
            self.open.push(Frame { column, header, guards: Vec::new() });
        } else {
            self.deep = true;
        }
    }

    /// The block is left here: in what follows the block of an `if`, the `if` did not hold.
    pub(super) fn leave(&mut self) {
        let [outer @ .., last] = &mut self.open[..] else { return };
        let Header::Test { chain, otherwise, .. } = &last.header else { return };
        // Behind the last branch nothing simple is known.
        if *otherwise || chain.len() != 1 {
            return;
        }
        let guards = outer.last_mut().map_or(&mut self.guards, |frame| &mut frame.guards);
        if guards.len() < TESTS {
            guards.push(not(&chain[0]));
        }
    }

    /// Everything that must hold here, outermost first.
    pub(super) fn tests(&self) -> Vec<String> {
        let mut tests = self.guards.clone();
        for frame in &self.open {
            match &frame.header {
                // What a function's caller had to pass is not what holds when it runs; but it is defined only then.
                Header::Test { chain, otherwise } => {
                    let (last, failed) = match (otherwise, chain.split_last()) {
                        (false, Some((last, failed))) => (Some(last), failed),
                        _ => (None, &chain[..]),
                    };
                    tests.extend(failed.iter().map(|test| not(test)));
                    tests.extend(last.cloned());
                }
                Header::Case(text) => tests.push(text.clone()),
                _ => {}
            }
            tests.extend(frame.guards.iter().cloned());
        }
        // The innermost say most.
        let extra = tests.len().saturating_sub(TESTS);
        tests.drain(..extra);
        tests
    }

    /// The innermost class.
    pub(super) fn class(&self) -> Option<&str> {
        self.open.iter().rev().find_map(|frame| match &frame.header {
            Header::Class { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// The innermost function with its parameters.
    pub(super) fn function(&self) -> Option<(&str, &[String])> {
        self.open.iter().rev().find_map(|frame| match &frame.header {
            Header::Function { name, parameters } => Some((name.as_str(), &parameters[..])),
            _ => None,
        })
    }

    /// Whether the innermost class or function is a class: what is assigned here is the class's.
    pub(super) fn in_class_body(&self) -> bool {
        let named = |frame: &&Frame| matches!(frame.header, Header::Class { .. } | Header::Function { .. });
        self.open.iter().rev().find(named).is_some_and(|frame| matches!(frame.header, Header::Class { .. }))
    }
}

/// The opposite of a test.
pub(super) fn not(test: &str) -> String {
    match test.strip_prefix("not ").filter(|rest| !rest.contains(' ')) {
        Some(rest) => rest.to_owned(),
        None => format!("not ({test})"),
    }
}
