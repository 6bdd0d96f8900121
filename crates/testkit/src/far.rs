//! A host over ssh for tests (lab/far.py): a real sshd in namespaces of its own, with users of every kind, and servers of
//! the lab where they are wanted.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::script::Script;

/// A running host; ended when dropped.
pub struct Far {
    script: Script,
    /// What `far.py` says of it: the configuration for ssh, its users, its servers.
    pub told: Value,
}

impl Far {
    /// Starts it with these arguments of `far.py`. None where this machine cannot do it; standard error has the reason.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start(arguments: &[&str]) -> Option<Far> {
        let (script, told) = Script::start("far.py", arguments)?;
        Some(Far { script, told })
    }

    /// The configuration with which `ssh` knows it by its many names.
    ///
    /// # Panics
    /// When `far.py` did not say.
    pub fn config(&self) -> &str {
        self.told["ssh_config"].as_str().expect("a configuration")
    }

    /// A command on that host, as root.
    ///
    /// # Panics
    /// When `far.py` did not say how.
    pub fn inside(&self, program: &str) -> Command {
        let words =
            self.told["enter"].as_array().expect("the way in").iter().map(|word| word.as_str().expect("a word"));
        let words: Vec<&str> = words.collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(program);
        command
    }

    /// Starts a load there (`load.py`'s arguments, separated by blanks).
    ///
    /// # Panics
    /// When it does not start.
    pub fn load(&self, arguments: &str) -> Child {
        let mut command = self.inside("python3");
        command.arg(self.script.folder.join("load.py")).args(arguments.split(' ')).stdout(Stdio::null());
        command.spawn().expect("load.py starts")
    }

    /// The log of one of its servers, as it is written there.
    ///
    /// # Panics
    /// When there is none.
    pub fn log(&self, server: &str) -> String {
        let path = self.told["deploy"]["servers"][server]["log"].as_str().expect("a log");
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
