//! Variables that a script sets and uses itself.

use crate::launch::limits;

/// More variables than this are no start script's.
const MOST: usize = 512;

/// What is set up to here; the last assignment counts, whatever conditions stand around it.
#[derive(Default)]
pub(super) struct Variables {
    set: Vec<(String, Vec<String>)>,
    /// Bytes put in so far: `A=$A$A` over and over must end.
    spent: usize,
}

/// What a `$…` stands for.
#[derive(Default)]
pub(super) struct Found {
    /// The words; none where the text itself does not say them.
    pub(super) values: Option<Vec<String>>,
    /// Whether they are an array, each element a word.
    pub(super) array: bool,
    /// Bytes of the `$…` itself.
    pub(super) length: usize,
    /// The name, where its default was taken.
    pub(super) defaulted: Option<String>,
}

/// Whether `name` can be a variable's.
pub(in crate::launch) fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

fn name_length(text: &str) -> usize {
    text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(text.len())
}

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.store(name, vec![value.to_owned()]);
    }

    /// An array begins: `NAME=(`; with `NAME+=(` it grows.
    pub(super) fn clear_array(&mut self, name: &str) {
        if !name.ends_with('+') {
            self.store(name, Vec::new());
        }
    }

    pub(super) fn push(&mut self, name: &str, value: String) {
        match self.set.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) if values.len() < limits::WORDS => values.push(value),
            Some(_) => {}
            None => self.store(name, vec![value]),
        }
    }

    fn store(&mut self, name: &str, values: Vec<String>) {
        if let Some((_, known)) = self.set.iter_mut().find(|(known, _)| known == name) {
            *known = values;
        } else if self.set.len() < MOST {
            self.set.push((name.to_owned(), values));
        }
    }

    /// What stands at the beginning of `text`, which begins with a dollar.
    pub(super) fn at(&mut self, text: &str) -> Found {
        let Some(braced) = text.strip_prefix("${") else {
            let length = name_length(&text[1..]);
            let values = is_name(&text[1..=length]).then(|| self.get(&text[1..=length])).flatten();
            return Found { values, length: length + 1, ..Found::default() };
        };
        let Some(inside) = limits::up_to(braced, b'}') else { return Found { length: 2, ..Found::default() } };
        let length = inside.len() + 3;
        let (name, rest) = inside.split_at(name_length(inside));
        let array = matches!(rest, "[@]" | "[*]");
        let plain = array || rest.is_empty() || rest.starts_with(":-") || rest.starts_with('-');
        let known = if plain && is_name(name) { self.get(name) } else { None };
        let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
        // A default that is itself put together from variables is left as it stands.
        let default = default.filter(|default| is_name(name) && !default.contains(['$', '`', '"', '\'']));
        match (known, default) {
            (Some(values), _) => Found { values: Some(values), array, length, defaulted: None },
            (None, Some(default)) => {
                let values = Some(vec![default.to_owned()]);
                Found { values, array: false, length, defaulted: Some(name.to_owned()) }
            }
            (None, None) => Found { length, ..Found::default() },
        }
    }

    fn get(&mut self, name: &str) -> Option<Vec<String>> {
        let values = self.set.iter().find(|(known, _)| known == name).map(|(_, values)| values)?;
        self.spent += values.iter().map(|value| value.len() + 1).sum::<usize>();
        (self.spent <= limits::TEXT).then(|| values.clone())
    }
}
