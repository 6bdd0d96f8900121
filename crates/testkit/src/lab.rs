//! The lab's deployment (lab/README.md) for tests: real servers in a network namespace, and the truth about them that
//! does not come through plimsoll: their log lines and their KV events.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::script::Script;

/// A running deployment; ended when dropped.
pub struct Lab {
    script: Script,
    /// What `deploy.py` says of it: pids, ports, logs.
    pub told: Value,
}

/// One log line that says how many tokens are in use.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// Unix seconds.
    pub at: f64,
    /// Tokens in use.
    pub tokens: f64,
}

impl Lab {
    /// Starts router, prefill, decode and unified server; `deploy.py` follows the unified server's KV events.
    ///
    /// # Panics
    /// When they do not come up.
    pub fn start() -> Lab {
        Lab::with(&["--unified"])
    }

    /// Starts what these arguments of `deploy.py` say.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn with(arguments: &[&str]) -> Lab {
        let (script, told) = Script::start("deploy.py", arguments).expect("this machine can run it");
        Lab { script, told }
    }

    /// A command inside the namespace.
    pub fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.told["netns_pid"].to_string(), "-n", program]);
        command
    }

    /// Starts a load (`load.py`'s arguments, separated by blanks).
    ///
    /// # Panics
    /// When it does not start.
    pub fn load(&self, arguments: &str) -> Child {
        let mut command = self.inside("python3");
        command.arg(self.script.folder.join("load.py")).args(arguments.split(' ')).stdout(Stdio::piped());
        command.spawn().expect("load.py starts")
    }

    /// A server's process.
    ///
    /// # Panics
    /// When there is no such server.
    pub fn pid(&self, server: &str) -> u64 {
        self.told["servers"][server]["pid"].as_u64().unwrap_or_else(|| panic!("no pid of {server}: {}", self.told))
    }

    /// Where the logs are.
    ///
    /// # Panics
    /// When the lab did not say.
    pub fn logs(&self) -> PathBuf {
        PathBuf::from(self.told["logs"].as_str().expect("logs"))
    }

    /// What a server's log says of the tokens in use: every batch line that tells them.
    ///
    /// # Panics
    /// When there is no log.
    pub fn batches(&self, server: &str) -> Vec<Batch> {
        self.log(server).lines().filter_map(batch).collect()
    }

    /// How many requests the log says were retracted.
    pub fn retracted(&self, server: &str) -> f64 {
        let log = self.log(server);
        let lines = log.lines().filter(|line| line.contains("Retract requests"));
        lines.filter_map(|line| number(line, "#retracted_reqs: ")).sum()
    }

    fn log(&self, server: &str) -> String {
        let path = self.logs().join(format!("{server}.log"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What is resident in the unified server's prefix cache by its KV events, stored minus removed.
    ///
    /// # Panics
    /// When there are no events.
    pub fn resident(&self) -> Vec<Batch> {
        let path = self.told["servers"]["unified"]["events_file"].as_str().expect("an events file");
        let text = std::fs::read_to_string(path).expect("events");
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter_map(|line| Some(Batch { at: line["at"].as_f64()?, tokens: line["resident_tokens"].as_f64()? }))
            .collect()
    }
}

/// What a batch line tells: `[2026-11-29 16:15:23.860] Decode batch, #running-req: 3, #token: 4040, …`
pub fn batch(line: &str) -> Option<Batch> {
    let (stamp, rest) = line.strip_prefix('[')?.split_once(']')?;
    if !rest.contains("Decode batch") {
        return None;
    }
    let stamp: String = stamp.split(' ').take(2).collect::<Vec<_>>().join("T").replace(',', ".") + "Z";
    let at: jiff::Timestamp = stamp.parse().ok()?;
    Some(Batch { at: at.as_microsecond() as f64 / 1.0e6, tokens: number(rest, "#token: ")? })
}

pub(crate) fn number(text: &str, behind: &str) -> Option<f64> {
    let rest = text.split(behind).nth(1)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
