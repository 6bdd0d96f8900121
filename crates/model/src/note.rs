//! Notes: what a reader of outside input wants said, beside the values it could still give.

use serde::Serialize;

/// One remark. Notes never replace a value and are never an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// A stable word for scripts, e.g. `sets-disagree`.
    pub id: &'static str,
    /// The sentence for people.
    pub text: String,
}

impl Note {
    /// A note `id` that says `text`, in one line.
    pub fn new(id: &'static str, text: impl Into<String>) -> Note {
        Note { id, text: crate::text::visible(text) }
    }
}
