//! The first pass: facts from labels, from server-info answers and from statuses.

use model::{Account, Role, SourceOutcome};
use serde_json::Value;

use super::{Body, path};
use crate::table::{Empty, Line, Source, Table, word_behind};

/// A server's own word outweighs its command line.
pub(super) const SAID: u8 = 2;

pub(super) fn learn(table: &Table, source: &Source, body: &Body, account: &mut Account) {
    match body {
        Body::Json(root) => {
            if source.knobs {
                knobs(table, source, root, account);
            }
            for (from, fact) in &source.facts {
                if let Some(value) = path::first(root, root, from).and_then(path::text) {
                    said(source, fact, &value, from, account);
                }
            }
        }
        Body::Page(page, told) => {
            for ((label, fact), value) in source.facts.iter().zip(&told.labels) {
                if let Some(value) = value {
                    said(source, fact, value, &format!("label {label}"), account);
                }
            }
            // A page may answer and still hold nothing of the engine; only one with the engine's series proves them on.
            if told.own {
                account.learn(&source.id, "on", format!("GET {} answered with its series", source.get), SAID + 1);
            } else if super::prometheus::declares_own(table, source, page) {
                account.learn(&source.id, "on", format!("GET {} declares its series", source.get), SAID + 1);
            } else if source.empty == Some(Empty::Off) {
                account.learn(&source.id, "off", format!("GET {} answered without its series", source.get), SAID + 1);
            }
        }
        // The status is about the path; what the server or its command line says of the flag outweighs it.
        Body::Nothing(SourceOutcome::Off(text)) => account.learn(&source.id, "off", text.clone(), 0),
        Body::Nothing(_) => {}
    }
}

fn said(source: &Source, fact: &str, value: &str, from: &str, account: &mut Account) {
    let unbelieved = source.believe.get(fact).is_some_and(|words| words.iter().all(|word| word != value));
    if unbelieved || value.is_empty() || value == "null" || (fact == "role" && Role::from_name(value) == Role::Unknown)
    {
        return;
    }
    let stripped = source.strip.get(fact).and_then(|front| value.strip_prefix(front.as_str())).unwrap_or(value);
    account.learn(fact, model::without_secrets(stripped), format!("{} {from}", source.get), SAID);
}

fn knobs(table: &Table, source: &Source, root: &Value, account: &mut Account) {
    for knob in &table.knobs {
        let Some(key) = &knob.info else { continue };
        let Some(value) = root.get(key).and_then(path::text) else { continue };
        if let Some(value) = knob.value(&value) {
            account.learn(&knob.fact, value, format!("{} {key}", source.get), SAID);
        }
    }
}

/// Facts from the arguments that a starting server writes into its log.
pub(crate) fn dump(table: &Table, message: &str, place: &str, account: &mut Account) {
    let Some(dump) = wire::launch::dump(message) else { return };
    for knob in &table.knobs {
        let Some(key) = &knob.info else { continue };
        let Some((_, value)) = dump.fields.iter().find(|(name, _)| name == key) else { continue };
        // As JSON spells it, which knobs.toml maps.
        let spelled = match value {
            wire::launch::Value::Text(text) => text.clone(),
            wire::launch::Value::Scalar(word) => match word.as_str() {
                "True" => "on".to_owned(),
                "False" => "off".to_owned(),
                "None" => "null".to_owned(),
                number => number.to_owned(),
            },
            wire::launch::Value::Other(_) => continue,
        };
        if let Some(value) = knob.value(&spelled) {
            account.learn(&knob.fact, value, format!("{place} {key}"), SAID);
        }
    }
}

/// Facts that a line of a log tells.
pub(crate) fn of_line(
    table: &Table,
    row: &Line,
    message: &str,
    pairs: &[super::log::Number],
    place: &str,
    account: &mut Account,
) {
    if row.dump {
        dump(table, message, place, account);
    }
    let mut learn = |fact: &str, value: &str, by: &str| {
        account.learn(fact, model::without_secrets(value), format!("{place} {}", by.trim()), SAID);
    };
    for (key, told) in &row.tells {
        if let (Some((fact, value)), true) = (told.split_once('='), pairs.iter().any(|number| number.key == *key)) {
            learn(fact, value, key);
        }
    }
    for (text, told) in row.says.iter().filter(|(text, _)| message.contains(text.as_str())) {
        if let Some((fact, value)) = told.split_once('=') {
            learn(fact, value, text);
        }
    }
    for (text, fact) in &row.words {
        if let Some((_, word)) = word_behind(message, text) {
            learn(fact, word, text);
        }
    }
    for (key, fact) in &row.facts {
        if let Some(number) = pairs.iter().find(|number| number.key == *key) {
            learn(fact, &number.value.to_string(), key);
        }
    }
}
