//! The lab's Dynamo (lab/dynamo.py) for tests: a real frontend and real mockers, and the truth about them that does not come
//! through plimsoll: what the workers publish on the event plane, and their KV events.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::events::{self, lines};
use crate::script::Script;

/// A running Dynamo; ended when dropped.
pub struct Dynamo {
    script: Script,
    /// What `dynamo.py` says of it: pids, ports, files.
    pub told: Value,
}

/// One number of the truth at one time.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    /// Unix seconds.
    pub at: f64,
    /// Blocks.
    pub blocks: f64,
}

impl Dynamo {
    /// Starts what these arguments of `dynamo.py` say.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn with(arguments: &[&str]) -> Dynamo {
        let (script, told) = Script::start("dynamo.py", arguments).expect("this machine can run it");
        Dynamo { script, told }
    }

    /// A command inside the namespace.
    pub fn inside(&self, program: &str) -> Command {
        events::inside(&self.told, program)
    }

    /// Starts a load (`dynamo_load.py`'s arguments, separated by blanks).
    ///
    /// # Panics
    /// When it does not start.
    pub fn load(&self, arguments: &str) -> Child {
        let mut command = self.inside("python3");
        let port = self.told["servers"]["frontend"]["port"].to_string();
        command.arg(self.script.folder.join("dynamo_load.py")).arg(port);
        command.args(arguments.split(' ').filter(|word| !word.is_empty())).stdout(Stdio::piped());
        command.spawn().expect("dynamo_load.py starts")
    }

    /// A server's process: `frontend`, `worker-0`, …
    ///
    /// # Panics
    /// When there is no such server.
    pub fn pid(&self, server: &str) -> u64 {
        self.told["servers"][server]["pid"].as_u64().unwrap_or_else(|| panic!("no pid of {server}: {}", self.told))
    }

    /// A worker's id, as the frontend spells it in decimal.
    ///
    /// # Panics
    /// When there is no such worker.
    pub fn worker_id(&self, server: &str) -> u64 {
        self.told["servers"][server]["worker_id"].as_str().and_then(|id| id.parse().ok()).expect("an id")
    }

    /// A server's port.
    ///
    /// # Panics
    /// When there is no such server.
    pub fn port(&self, server: &str) -> u64 {
        self.told["servers"][server]["port"].as_u64().unwrap_or_else(|| panic!("no port of {server}: {}", self.told))
    }

    /// The blocks that a worker published as used (`kv_metrics` on the event plane).
    pub fn published(&self, server: &str) -> Vec<Said> {
        self.published_of(server, 0)
    }

    /// The same of one of its data-parallel ranks.
    pub fn published_of(&self, server: &str, rank: u64) -> Vec<Said> {
        let id = self.worker_id(server);
        let own = |line: &Value| line["worker_id"].as_u64() == Some(id) && line["dp_rank"].as_u64() == Some(rank);
        let ours = |line: &Value| own(line) && !line["kv_used_blocks"].is_null();
        let said = |line: Value| Some(Said { at: line["at"].as_f64()?, blocks: line["kv_used_blocks"].as_f64()? });
        lines(&self.told["kv_metrics_file"]).into_iter().filter(ours).filter_map(said).collect()
    }

    /// The blocks that are resident by a worker's KV events, stored less removed, from the very first event on.
    ///
    /// # Panics
    /// When events were lost.
    pub fn resident(&self, server: &str) -> Vec<Said> {
        let size = self.told["servers"][server]["block_size"].as_f64().expect("a block size");
        let resident = events::resident(&self.told["servers"][server]["events_file"]);
        resident.into_iter().map(|said| Said { at: said.at, blocks: said.tokens / size }).collect()
    }

    /// The worker's card in the discovery tree.
    ///
    /// # Panics
    /// When there is no tree.
    pub fn card(&self, server: &str) -> std::path::PathBuf {
        let id = self.worker_id(server);
        let tree = std::path::Path::new(self.told["discovery"].as_str().expect("a tree")).join("v1/mdc");
        let name = format!("dynamo%2Fbackend%2Fgenerate%2F{id:x}");
        tree.join(name)
    }
}
