//! Where in a saved file a value stands. Answers that came over HTTP are named by their address alone.

use std::collections::BTreeMap;

use model::Observation;
use serde_json::Value;

/// The lines of a saved answer's values.
#[derive(Debug, Default)]
pub(super) struct Spots {
    /// By the value's place in memory: it is one of the tree that was given.
    lines: BTreeMap<usize, u32>,
}

impl Spots {
    /// The lines of the values in `root`, which was read from the observation's body.
    pub(super) fn of(observation: &Observation, root: &Value) -> Spots {
        let mut spots = Spots::default();
        if let Ok(answer) = &observation.outcome
            && answer.first_line.is_some()
        {
            spots.walk(root, &mut String::new(), &wire::json::lines(&answer.body));
        }
        spots
    }

    /// The line of the body, from 1, on which a value of the tree stands.
    pub(super) fn line(&self, value: &Value) -> Option<u32> {
        self.lines.get(&std::ptr::from_ref(value).addr()).copied()
    }

    fn walk(&mut self, value: &Value, pointer: &mut String, lines: &wire::json::Lines) {
        if let Some(line) = lines.of(pointer) {
            self.lines.insert(std::ptr::from_ref(value).addr(), line);
        }
        let length = pointer.len();
        let mut child = |name: &str, value: &Value| {
            pointer.push('/');
            pointer.push_str(name);
            self.walk(value, pointer, lines);
            pointer.truncate(length);
        };
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| child(&key.replace('~', "~0").replace('/', "~1"), value));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, value)| child(&index.to_string(), value));
            }
            _ => {}
        }
    }
}

/// The source of a number called `name`: the address, or the file and line of a saved answer.
pub(super) fn named(observation: &Observation, line: Option<u32>, name: &str) -> String {
    let first = observation.outcome.as_ref().ok().and_then(|answer| answer.first_line);
    match first.zip(line) {
        Some((first, line)) => format!("{}:{} {name}", observation.url, first + line - 1),
        None => format!("{} {name}", observation.url),
    }
}
