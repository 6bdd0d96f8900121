//! What servers of one kind tell each other: files of the tree by which they find each other, and events.

use sense::{Ends, Heard};

use super::json;
use super::rule::{Removed, Rule};

/// A file of the tree. One that is no JSON is not read, and nothing of it is kept.
pub(super) fn leaf(ends: Ends, removed: &mut Removed) -> Ends {
    if ends.head.is_empty() {
        // It was only asked what lies there.
        return ends;
    }
    let head = if engines::reads_as_json(&ends.head) {
        json::scrubbed(&ends.head, removed)
    } else {
        removed.note(Rule::Texts);
        Vec::new()
    };
    Ends { tail_from: head.len() as u64, head, tail: Vec::new(), ..ends }
}

/// Events. They are numbers and names; what else is in one is treated as in any answer.
pub(super) fn events(heard: Heard, removed: &mut Removed) -> Heard {
    let scrubbed =
        |event: serde_json::Value| serde_json::from_slice(&json::scrubbed(event.to_string().as_bytes(), removed)).ok();
    Heard { events: heard.events.into_iter().filter_map(scrubbed).collect(), ..heard }
}
