//! The lab's scripts: each starts something real, says in one line of JSON what it is, and ends it when its input closes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A script that runs; what it started ends when this is dropped.
pub(crate) struct Script {
    child: Child,
    /// The lab's folder.
    pub(crate) folder: PathBuf,
}

/// Exit code of a script where the machine cannot do it; its standard error says why.
const CANNOT: i32 = 75;

impl Script {
    /// Starts one, and gives what it says. None where this machine cannot do it.
    ///
    /// # Panics
    /// When it does not come up.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Option<(Script, Value)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
        let mut child = Command::new("python3")
            .arg("-B")
            .arg(folder.join(name))
            .args(arguments)
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("its line");
        if line.is_empty() {
            let status = child.wait().expect("it ends");
            assert_eq!(status.code(), Some(CANNOT), "{name} did not come up");
            return None;
        }
        let told = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{name}: {error}: {line:?}"));
        Some((Script { child, folder }, told))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
