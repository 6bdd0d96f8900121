//! Turns `verdicts.toml` and `signs.toml` into constants.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdicts {
    tight: Limit,
    strained: Limit,
    window: BTreeMap<String, f64>,
    stuck: BTreeMap<String, f64>,
    thrashing: BTreeMap<String, f64>,
    usual: BTreeMap<String, f64>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    in_use: f64,
    in_use_while_waiting: f64,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Signs {
    sign: Vec<Sign>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Sign {
    id: String,
    means: String,
    evidence: String,
    next: String,
    limits: BTreeMap<String, f64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::var("OUT_DIR")?;
    let write = |name: &str, text: String| std::fs::write(Path::new(&out).join(name), text);
    write("verdicts.rs", verdicts(&toml::from_str(&read("verdicts.toml")?)?))?;
    write("signs.rs", signs(&toml::from_str(&read("signs.toml")?)?)?)?;
    Ok(())
}

fn read(name: &str) -> std::io::Result<String> {
    println!("cargo::rerun-if-changed={name}");
    std::fs::read_to_string(name)
}

fn verdicts(file: &Verdicts) -> String {
    let row = |name: &str, row: &Limit| {
        format!(
            "pub(crate) const {name}: Limit = Limit {{ in_use: {:?}, while_waiting: {:?} }};\n",
            row.in_use, row.in_use_while_waiting
        )
    };
    let part = |name: &str, part: &BTreeMap<String, f64>| {
        let limits = part
            .iter()
            .map(|(limit, value)| format!("    pub(crate) const {}: f64 = {value:?};\n", limit.to_uppercase()));
        format!("pub(crate) mod {name} {{\n{}}}\n", limits.collect::<String>())
    };
    let limits = row("TIGHT", &file.tight) + &row("STRAINED", &file.strained);
    let window = part("window", &file.window) + &part("stuck", &file.stuck);
    limits + &window + &part("thrashing", &file.thrashing) + &part("usual", &file.usual)
}

/// The rows in their order, and a module of limits for each sign.
fn signs(file: &Signs) -> Result<String, std::fmt::Error> {
    let mut text = String::from("/// Every row of `signs.toml`, worst first.\npub static SIGNS: &[Row] = &[\n");
    for Sign { id, means, evidence, next, .. } in &file.sign {
        writeln!(text, "    Row {{ id: {id:?}, means: {means:?}, evidence: {evidence:?}, next: {next:?} }},")?;
    }
    text.push_str("];\n\n/// Limits of the detectors, by sign.\nmod limits {\n");
    for sign in file.sign.iter().filter(|sign| !sign.limits.is_empty()) {
        writeln!(text, "    pub(super) mod {} {{", sign.id.replace('-', "_"))?;
        for (name, limit) in &sign.limits {
            writeln!(text, "        pub(in super::super) const {}: f64 = {limit:?};", name.to_uppercase())?;
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    Ok(text)
}
