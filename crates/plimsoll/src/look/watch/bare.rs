//! What is kept of an earlier look: the numbers, and whose they were.

use model::{Pool, Rank, Reading, Readings, RouterView, Server, Verdict};

/// A server without what no sign and no verdict needs of an earlier look: that it gave no number, and all words but whose the
/// numbers were and those that signs compare.
pub(super) fn bare(server: &Server) -> Server {
    let rank = |rank: &Rank| Rank {
        rank: rank.rank,
        pools: rank.pools.iter().map(pool).collect(),
        readings: numbers(&rank.readings),
    };
    let view =
        |view: &RouterView| RouterView { worker: view.worker.clone(), readings: numbers(&view.readings), ..*view };
    Server {
        url: server.url.clone(),
        host: String::new(),
        engine: server.engine.clone(),
        version: server.version.clone(),
        role: server.role,
        model: server.model.clone(),
        unit: None,
        pid: server.pid,
        numa_nodes: None,
        gpus: Vec::new(),
        unreachable: server.unreachable.clone(),
        ranks: server.ranks.iter().map(rank).collect(),
        router_view: server.router_view.iter().map(view).collect(),
        verdict: Verdict { level: server.verdict.level, reason: String::new() },
        notes: server.notes.iter().filter(|note| judge::is_compared(note)).cloned().collect(),
        gaps: Vec::new(),
        troubles: Vec::new(),
    }
}

fn pool(pool: &Pool) -> Pool {
    let (name, tier) = (pool.pool.clone(), pool.tier.clone());
    Pool { pool: name, tier, binds: pool.binds, readings: numbers(&pool.readings) }
}

fn numbers(readings: &Readings) -> Readings {
    let number =
        |reading: &Reading| Reading { source: reading.source.clone(), reason: None, inputs: Vec::new(), ..*reading };
    let told = readings.iter().filter(|(_, reading)| reading.value.is_some());
    told.map(|(signal, reading)| (*signal, number(reading))).collect()
}
