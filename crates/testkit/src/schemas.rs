//! Holding JSON against what `schemas/` says of it.

use std::error::Error;
use std::path::Path;

use jsonschema::{Retrieve, Uri};
use serde_json::Value;

/// Where `value` breaks the schema that its own `schema` field names; empty when it holds.
///
/// # Panics
/// When there is no such schema file, or it is no schema.
pub fn schema_faults(value: &Value) -> Vec<String> {
    let name = value["schema"].as_str().expect("a schema field").replace('/', "-");
    faults(&read(&format!("{name}.schema.json")), value)
}

/// Where `value` breaks a schema that the API's description calls so.
///
/// # Panics
/// When it has none of that name.
pub fn api_faults(name: &str, value: &Value) -> Vec<String> {
    described(&format!("#/components/schemas/{name}"), value)
}

/// Where what a frame of the stream carries breaks what the API's description says of that kind of frame.
///
/// # Panics
/// When it says nothing of it.
pub fn event_faults(kind: &str, value: &Value) -> Vec<String> {
    let file = read(API);
    let answer = &file["paths"]["/api/v1/stream"]["get"]["responses"]["200"]["content"]["text/event-stream"];
    let schema = answer["x-events"][kind]["$ref"].as_str();
    described(schema.unwrap_or_else(|| panic!("no frame is called {kind:?}")), value)
}

const API: &str = "plimsoll.openapi.json";

fn described(reference: &str, value: &Value) -> Vec<String> {
    // Of the file only what it calls schemas: the rest is none.
    let mut schema = serde_json::json!({"components": read(API)["components"]});
    assert!(schema.pointer(reference.trim_start_matches('#')).is_some(), "{reference} is not described");
    schema["$ref"] = reference.into();
    faults(&schema, value)
}

fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let options = jsonschema::options().with_base_uri(format!("{FOLDER}schema.json")).with_retriever(Files);
    let validator = options.build(schema).expect("a valid schema");
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Where files that refer to each other are, to each other.
const FOLDER: &str = "plimsoll:///schemas/";

/// The files of `schemas/`.
struct Files;

impl Retrieve for Files {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(read(uri.as_str().strip_prefix(FOLDER).ok_or("a file of another place")?))
    }
}

fn read(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).expect("JSON")
}
