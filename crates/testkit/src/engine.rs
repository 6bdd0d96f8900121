//! One more engine of the lab (lab/engine.py) for tests, and the truth about it that does not come through plimsoll: what it
//! logs, its KV events, its own pages.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use serde_json::Value;

use crate::events;
pub use crate::events::Resident;
use crate::script::Script;

/// A running engine; ended when dropped.
pub struct Engine {
    _script: Script,
    name: String,
    /// What `engine.py` says of it: pids, ports, files.
    pub told: Value,
}

/// A running load; ended when dropped.
pub struct Load {
    child: Child,
}

/// What a line of vLLM's figures says.
#[derive(Debug, Clone, Copy)]
pub struct Logged {
    /// Unix seconds, whole ones.
    pub at: f64,
    /// Blocks in use, of all that can be had.
    pub usage: f64,
}

/// What LMCache says to be stored, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Stored {
    /// By `/status`.
    pub status: f64,
    /// By its metrics page; none before the first was stored.
    pub page: Option<f64>,
}

impl Engine {
    /// Starts an engine with these arguments of `engine.py`.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start(name: &str, arguments: &[&str]) -> Engine {
        let (script, told) =
            Script::start("engine.py", &[&[name], arguments].concat()).expect("this machine can run it");
        Engine { _script: script, name: name.to_owned(), told }
    }

    fn server(&self) -> &Value {
        &self.told["servers"][&self.name]
    }

    /// Its process.
    ///
    /// # Panics
    /// When it was not told.
    pub fn pid(&self) -> u64 {
        self.server()["pid"].as_u64().expect("a pid")
    }

    /// Its port, in digits.
    pub fn port(&self) -> String {
        self.server()["port"].to_string()
    }

    /// A command inside the namespace.
    pub fn inside(&self, program: &str) -> Command {
        events::inside(&self.told, program)
    }

    /// Starts the load that `engine.py` names for it, with these arguments behind it (separated by blanks).
    ///
    /// # Panics
    /// When it does not start.
    pub fn load(&self, arguments: &str) -> Load {
        let words: Vec<&str> =
            self.server()["load"].as_array().expect("a load").iter().filter_map(Value::as_str).collect();
        let mut command = self.inside(words[0]);
        command.args(&words[1..]).args(arguments.split_whitespace());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Load { child: child.expect("the load starts") }
    }

    /// What it logged until now.
    ///
    /// # Panics
    /// When there is no log.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.server()["log"].as_str().expect("a log")).expect("its log");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What is resident in a data-parallel rank of vLLM by its KV events, from the very first event on.
    ///
    /// # Panics
    /// When events were lost.
    pub fn resident(&self, rank: usize) -> Vec<Resident> {
        events::resident(&self.server()["ranks"][rank]["events_file"])
    }

    /// vLLM's lines of figures of its first rank. They are in UTC, and of this year.
    ///
    /// # Panics
    /// When one of them cannot be read.
    pub fn vllm_log(&self) -> Vec<Logged> {
        // (APIServer pid=31155) INFO 11-30 01:37:12 [loggers.py:335] Engine 000: … CPU KV cache usage: 99.2%, …
        let now = Timestamp::now().to_string();
        let (year, _) = now.split_once('-').expect("a year");
        let log = self.log();
        let lines = log.lines().filter_map(|line| {
            let (before, after) = line.split_once(" Engine 000: ")?;
            let usage = after.split_once("KV cache usage: ")?.1.split_once('%')?.0;
            let mut words = before.split_once("INFO ")?.1.split(' ');
            let at = format!("{year}-{}T{}Z", words.next()?, words.next()?);
            let at = at.parse::<Timestamp>().unwrap_or_else(|error| panic!("{error}: {line}"));
            let usage: f64 = usage.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
            Some(Logged { at: at.as_second() as f64, usage: usage / 100.0 })
        });
        lines.collect()
    }

    /// Tokens that each idle slot of llama-server holds, by the last line of its release.
    ///
    /// A slot whose request ended in an error for want of room holds nothing. In a unified pool every launch clears the slots
    /// that are idle then, without a line (`--cache-idle-slots`, on by default).
    ///
    /// # Panics
    /// When there is no log.
    pub fn llamacpp_releases(&self) -> BTreeMap<u64, f64> {
        // 0.01.250.517 I slot launch_slot_: id  1 | task 1425 | processing task, is_child = 0
        // 0.00.914.827 E srv    send_error: task id = 186, error: Context size has been exceeded.
        // 0.01.293.007 I slot      release: id  3 | task 1292 | stop processing: n_tokens = 664, truncated = 0
        let unified = self.server()["argv"].as_array().is_some_and(|argv| argv.iter().any(|word| word == "-kvu"));
        let (mut held, mut failed) = (BTreeMap::new(), BTreeSet::new());
        for line in self.log().lines() {
            if let Some(slot) = number(line, "launch_slot_: id ") {
                if unified {
                    held.clear();
                }
                held.remove(&slot);
            } else if let Some(task) = number(line, "send_error: task id = ") {
                failed.insert(task);
            } else if let (Some(slot), Some(task), Some(tokens)) =
                (number(line, " release: id "), number(line, "| task "), number(line, "n_tokens = "))
            {
                held.insert(slot, if failed.contains(&task) { 0.0 } else { tokens as f64 });
            }
        }
        held
    }

    /// What it answers to a GET.
    ///
    /// # Panics
    /// When it does not answer 200.
    pub fn get(&self, path: &str) -> String {
        let url = format!("http://127.0.0.1:{}{path}", self.port());
        let script =
            "import sys, urllib.request as r; sys.stdout.buffer.write(r.urlopen(sys.argv[1], timeout=20).read())";
        let output = self.inside("python3").args(["-I", "-S", "-c", script, &url]).output().expect("python3 runs");
        assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The sum of a series of its metrics page over all of its labels; none where it has none.
    ///
    /// # Panics
    /// When the page does not answer 200.
    pub fn series(&self, name: &str) -> Option<f64> {
        let page = self.get("/metrics");
        let sample = |line: &str| {
            let rest = line.strip_prefix(name)?;
            if !rest.starts_with(['{', ' ']) {
                return None;
            }
            rest.rsplit(' ').next()?.parse::<f64>().ok()
        };
        page.lines().filter_map(sample).reduce(|sum, one| sum + one)
    }

    /// What LMCache says to be stored.
    ///
    /// # Panics
    /// When one of the two does not answer 200, or its status does not say it.
    pub fn lmcache_stored(&self) -> Stored {
        let status: Value = serde_json::from_str(&self.get("/status")).expect("JSON");
        let tier = &status["storage_manager"]["l1_managers"]["_default"];
        let status = tier["memory_used_bytes"].as_f64().unwrap_or_else(|| panic!("no bytes: {status}"));
        Stored { status, page: self.series("lmcache_mp_l1_memory_usage_bytes") }
    }
}

impl Load {
    /// Whether it has ended.
    ///
    /// # Panics
    /// When that cannot be known.
    pub fn ended(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_some()
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// When that cannot be known, or it did not end well.
    pub fn wait(&mut self) {
        let status = self.child.wait().expect("its state");
        assert!(status.success(), "the load: {status}");
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The digits behind `before`, of which blanks may come first.
fn number(line: &str, before: &str) -> Option<u64> {
    let rest = line.split_once(before)?.1.trim_start();
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}
