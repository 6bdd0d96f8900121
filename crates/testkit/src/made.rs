//! Servers made by hand, of which a test says only what matters to it.

use model::{DEVICE, FULL, Level, Pool, Readings, Role, Server, Verdict};

/// A unified server at `url` of which nothing is known.
pub fn server(url: &str) -> Server {
    let host = url.rsplit('/').next().unwrap_or_default();
    Server {
        url: url.to_owned(),
        host: host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned(),
        engine: None,
        version: None,
        role: Role::Unified,
        model: None,
        unit: None,
        pid: None,
        numa_nodes: None,
        gpus: Vec::new(),
        unreachable: None,
        ranks: Vec::new(),
        router_view: Vec::new(),
        verdict: Verdict { level: Level::Unknown, reason: String::new() },
        notes: Vec::new(),
        gaps: Vec::new(),
        troubles: Vec::new(),
    }
}

/// The full pool of a device, of which this was said.
pub fn pool(readings: Readings) -> Pool {
    Pool { pool: FULL.to_owned(), tier: DEVICE.to_owned(), binds: true, readings }
}
