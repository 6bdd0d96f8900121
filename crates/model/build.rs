//! Turns `signals.toml` into the table that `signal.rs` includes, so that a wrong row fails the build.
use std::fmt::Write as _;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    signal: Vec<Row>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    json: String,
    unit: String,
    kind: String,
    scope: String,
    #[serde(default)]
    always: bool,
    title: String,
    help: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = "../../signals.toml";
    println!("cargo::rerun-if-changed={path}");
    let file: File = toml::from_str(&std::fs::read_to_string(path)?)?;
    let mut table =
        String::from("/// Every row of `signals.toml`, in its order.\npub(crate) static ROWS: &[Row] = &[\n");
    let mut names = String::new();
    for (index, row) in file.signal.iter().enumerate() {
        if file.signal[..index].iter().any(|earlier| earlier.id == row.id || earlier.json == row.json) {
            return Err(format!("{path}: signal {} stands twice", row.id).into());
        }
        writeln!(
            table,
            "    Row {{ id: {:?}, json: {:?}, unit: Unit::{}, kind: Kind::{}, scope: Scope::{}, always: {}, title: {:?}, help: {:?} }},",
            row.id,
            row.json,
            camel(&row.unit),
            camel(&row.kind),
            camel(&row.scope),
            row.always,
            row.title,
            row.help
        )?;
        let name = row.id.replace('.', "_").to_uppercase();
        writeln!(names, "    /// `{}`: {}\n    pub const {name}: Signal = Signal({index});", row.id, row.help)?;
    }
    table.push_str("];\n\nimpl Signal {\n");
    table.push_str(&names);
    table.push_str("}\n");
    std::fs::write(std::path::Path::new(&std::env::var("OUT_DIR")?).join("signals.rs"), table)?;
    Ok(())
}

fn camel(snake: &str) -> String {
    snake.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
