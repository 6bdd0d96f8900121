//! Configuration files that `--config` names: YAML whose top level holds the flags.

use saphyr::{LoadableYamlNode, Scalar, Yaml};

/// Longer files are no configuration.
const LONGEST: usize = 256 << 10;
/// Settings in one file; the rest is not read.
const MOST: usize = 2000;
/// Indicators in a row (`- - -`, `? ?`), each of which nests one level deeper.
const DEEPEST: usize = 8;

/// The scalar settings at the top level of a YAML text, as spelled; an error says why the text is none. Texts that grow or
/// nest beyond what any configuration needs are refused before they are parsed.
pub fn settings(text: &str) -> Result<Vec<(String, String)>, String> {
    refuse(text)?;
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    let Some(Yaml::Mapping(mapping)) = documents.first() else {
        return Err("its top level is no mapping".to_owned());
    };
    Ok(mapping.iter().take(MOST).filter_map(|(key, value)| Some((key.as_str()?.to_owned(), scalar(value)?))).collect())
}

fn scalar(value: &Yaml) -> Option<String> {
    match value {
        Yaml::Value(Scalar::Boolean(value)) => Some(value.to_string()),
        Yaml::Value(Scalar::Integer(value)) => Some(value.to_string()),
        Yaml::Value(Scalar::FloatingPoint(value)) => Some(value.to_string()),
        Yaml::Value(Scalar::String(value)) => Some(value.to_string()),
        Yaml::Sequence(items) => items.iter().map(scalar).collect::<Option<Vec<_>>>().map(|items| items.join(" ")),
        _ => None,
    }
}

fn refuse(text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {} KiB", LONGEST >> 10));
    }
    for line in text.lines() {
        let indicators = line.split_whitespace().take_while(|word| matches!(*word, "-" | "?" | ":")).count();
        if indicators > DEEPEST || line.len() - line.trim_start().len() > 40 * DEEPEST {
            return Err("it nests too deep".to_owned());
        }
        // An alias makes much of little; flags need none.
        let word = line.split([':', '-', ',', '[', '{']).map(str::trim_start);
        if word.into_iter().any(|word| word.starts_with('*') || word.starts_with('&')) {
            return Err("it has anchors or aliases, which are not followed".to_owned());
        }
    }
    Ok(())
}
