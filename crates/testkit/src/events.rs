//! What the lab's scripts say of servers in a network namespace: how to get in, and what is resident by their KV events.

use std::process::Command;

use serde_json::Value;

/// Tokens that are resident at a time, by the KV events: stored less removed.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    /// Unix seconds.
    pub at: f64,
    /// Tokens.
    pub tokens: f64,
}

/// A command inside the namespace of what a script told.
pub(crate) fn inside(told: &Value, program: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.args(["-t", &told["netns_pid"].to_string(), "-n", program]);
    command
}

/// The JSON lines of a file that a script told.
///
/// # Panics
/// When it told none.
pub(crate) fn lines(file: &Value) -> Vec<Value> {
    let text = std::fs::read_to_string(file.as_str().expect("a file")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// What is resident by a file of KV events (`truth.py events`), from the very first event on.
///
/// # Panics
/// When events were lost.
pub(crate) fn resident(file: &Value) -> Vec<Resident> {
    let lines = lines(file);
    let whole = |line: &Value| line["first_seq"] == 0 && line["lost_batches"] == 0 && line["unknown_removed"] == 0;
    assert!(lines.iter().all(whole), "events were lost, so their sum is nothing");
    let said = |line: &Value| Some(Resident { at: line["at"].as_f64()?, tokens: line["resident_tokens"].as_f64()? });
    lines.iter().filter_map(said).collect()
}
