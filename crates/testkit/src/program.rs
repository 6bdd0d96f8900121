//! Running the real binary.

use std::process::Command;

use serde_json::Value;

/// The variable of the program's own environment that holds a canary.
pub const OWN: &str = "CANARY";

/// What a run of the binary gave.
#[derive(Debug)]
pub struct Output {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub text: String,
    /// Standard error.
    pub errors: String,
}

impl Output {
    /// Standard output as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

/// Runs `program` (a test's `CARGO_BIN_EXE_plimsoll`) with arguments, as talkative as an environment can make it, and
/// checks what it says for canaries.
///
/// # Panics
/// When it cannot be started, or tells a canary.
pub fn plimsoll(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("NO_COLOR", "1").env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
    command.env(OWN, crate::canary::planted_in("own-environment"));
    let output = crate::canary::run(&mut command);
    Output {
        code: output.status.code().unwrap_or(-1),
        text: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
