//! Configuration files that `--config` names: YAML whose top level holds the flags.

use saphyr::{LoadableYamlNode, Scalar, Yaml};

/// The scalar settings at the top level of a YAML text, as spelled; an error says why the text is none.
pub fn settings(text: &str) -> Result<Vec<(String, String)>, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    let Some(Yaml::Mapping(mapping)) = documents.first() else {
        return Err("its top level is no mapping".to_owned());
    };
    Ok(mapping.iter().filter_map(|(key, value)| Some((key.as_str()?.to_owned(), scalar(value)?))).collect())
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
