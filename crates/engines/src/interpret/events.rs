//! Events that were listened to: `{"took": seconds, "ranks": how many speak, "events": […]}`.

use model::{Account, Note};
use serde_json::Value;

use super::path;
use crate::table::Source;

/// Why nothing is known, where nothing was heard.
pub(super) fn silence(source: &Source, root: &Value) -> Option<String> {
    let heard = root.get("events").and_then(Value::as_array).map_or(0, Vec::len);
    (heard == 0).then(|| quiet(source, root))
}

/// Notes that some ranks said nothing.
pub(super) fn note(source: &Source, root: &Value, account: &mut Account) {
    let heard = path::find(root, root, "events[*]", usize::MAX).len();
    let ranks = root.get("ranks").and_then(Value::as_u64).and_then(|ranks| usize::try_from(ranks).ok());
    if let Some(ranks) = ranks.filter(|ranks| heard < *ranks) {
        let text = format!("{}: {} of {ranks} ranks said nothing: {}", source.get, ranks - heard, quiet(source, root));
        account.notes.push(Note::new("events-silent", text));
    }
}

fn quiet(source: &Source, root: &Value) -> String {
    let took = root.get("took").and_then(Value::as_f64).unwrap_or_default();
    let means = source.hear.as_ref().map(|hear| format!(": {}", hear.silence)).unwrap_or_default();
    format!("nothing changed while it was listened to ({took:.1} s){means}")
}
