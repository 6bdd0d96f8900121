//! Any command line and any configuration file: recognised or not, without a panic, and no flag outlives its process.

use engines::Tables;
use engines::process::{from_arguments, from_config, recognise, settings};

/// Words are separated by NUL, as in `/proc`; what follows two NULs is a configuration file.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (line, file) = text.split_once("\0\0").unwrap_or((&text, ""));
    let argv: Vec<String> = line.split('\0').map(str::to_owned).collect();
    let tables = Tables::builtin();
    let config = settings(file).unwrap_or_default();
    let _ = lint::monitors().recognise(&argv);
    if let Some(found) = recognise(&tables, &argv) {
        let table = tables.get(&found.engine).expect("an engine that was recognised has a table");
        let mut flags = from_arguments(table, &found.arguments.unwrap_or_default(), "command line");
        from_config(table, &mut flags, &config, "file");
        assert!(flags.values().all(|fact| !fact.value.contains('\u{1b}')), "{flags:?}");
    }
}
