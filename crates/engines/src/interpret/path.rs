//! The small path language of tables: `a.b.c`, `loads[*].dp_rank`, `$.version`.

use std::str::Split;

use serde_json::Value;

use crate::table::wanted::{ROOT, step};

/// The values that `path` leads to from `from`; `$.` starts at `root` instead. `[*]` goes through every element of a
/// list or an object, at most `cap` of them in all; `[3]` is the fourth, `[last]` the last.
pub(crate) fn find<'a>(root: &'a Value, from: &'a Value, path: &str, cap: usize) -> Vec<&'a Value> {
    let (start, path) = match path.strip_prefix(ROOT) {
        Some(rest) => (root, rest),
        None => (from, path),
    };
    let mut found = vec![start];
    for text in path.split('.') {
        let (key, which) = step(text);
        let mut next = Vec::new();
        for value in found {
            let Some(value) = (if key.is_empty() { Some(value) } else { value.get(key) }) else { continue };
            match (which, value) {
                (None, value) => next.push(value),
                (Some("*"), Value::Array(items)) => next.extend(items.iter().take(cap.saturating_sub(next.len()))),
                (Some("*"), Value::Object(items)) => next.extend(items.values().take(cap.saturating_sub(next.len()))),
                (Some("last"), Value::Array(items)) => next.extend(items.last()),
                (Some(index), Value::Array(items)) => {
                    next.extend(index.parse::<usize>().ok().and_then(|index| items.get(index)));
                }
                (Some(_), _) => {}
            }
        }
        found = next;
    }
    found
}

/// The first value that `path` leads to.
pub(crate) fn first<'a>(root: &'a Value, from: &'a Value, path: &str) -> Option<&'a Value> {
    let (start, path) = match path.strip_prefix(ROOT) {
        Some(rest) => (root, rest),
        None => (from, path),
    };
    follow(start, path.split('.'))
}

/// The first value that the steps lead to, each way to its end before the next.
fn follow<'a>(mut at: &'a Value, mut steps: Split<'_, char>) -> Option<&'a Value> {
    while let Some(text) = steps.next() {
        let (key, which) = step(text);
        at = if key.is_empty() { at } else { at.get(key)? };
        at = match (which, at) {
            (None, value) => value,
            (Some("*"), Value::Array(items)) => return items.iter().find_map(|item| follow(item, steps.clone())),
            (Some("*"), Value::Object(items)) => return items.values().find_map(|item| follow(item, steps.clone())),
            (Some("last"), Value::Array(items)) => items.last()?,
            (Some(index), Value::Array(items)) => items.get(index.parse::<usize>().ok()?)?,
            (Some(_), _) => return None,
        };
    }
    Some(at)
}

/// A JSON scalar as the text of a fact; `null` is text too (`"null"`), because tables map it.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(true) => Some("on".to_owned()),
        Value::Bool(false) => Some("off".to_owned()),
        Value::Number(number) => match number.as_f64() {
            // 2.0 is 2: some writers know no whole numbers.
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() < 1.0e15 => {
                Some(format!("{whole:.0}"))
            }
            _ => Some(number.to_string()),
        },
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
