//! Turns `verdicts.toml` into constants.

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tight: Row,
    strained: Row,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    in_use: f64,
    in_use_while_waiting: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=verdicts.toml");
    let file: File = toml::from_str(&std::fs::read_to_string("verdicts.toml")?)?;
    let row = |name: &str, row: &Row| {
        format!(
            "const {name}: Limit = Limit {{ in_use: {:?}, while_waiting: {:?} }};\n",
            row.in_use, row.in_use_while_waiting
        )
    };
    let text = row("TIGHT", &file.tight) + &row("STRAINED", &file.strained);
    std::fs::write(std::path::Path::new(&std::env::var("OUT_DIR")?).join("verdicts.rs"), text)?;
    Ok(())
}
