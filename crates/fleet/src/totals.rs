//! Figures over the whole fleet.

use model::{Fleet, Reading, Server, Signal, Unit};

/// The fullest pool that binds, and the capacity-weighted mean of the full pools. Copies (tensor and pipeline ranks) count once.
pub fn totals(servers: &[Server]) -> Fleet {
    let pools = || {
        servers.iter().flat_map(|server| {
            server.ranks.iter().flat_map(move |rank| rank.pools.iter().map(move |pool| (server, rank, pool)))
        })
    };
    let fullest = pools()
        .filter(|(_, _, pool)| pool.binds)
        .filter_map(|(server, _, pool)| {
            Some((server, pool, pool.get(Signal::KV_IN_USE)?, pool.fresh(Signal::KV_IN_USE)?))
        })
        .max_by(|a, b| a.3.total_cmp(&b.3));
    let in_use_max = match fullest {
        Some((server, pool, reading, value)) => {
            let mut max = Reading::derived(value, Unit::Ratio, &[reading], &["in_use"]).within(reading.precision);
            max.inputs = vec![format!("in_use of pool {} of {}{}", pool.name(), server.url, by_router(server))];
            max.age_s = reading.age_s;
            max
        }
        None => nothing(servers),
    };

    let mut used = 0.0;
    let mut capacity = 0.0;
    let mut parts = Vec::new();
    // As old as the oldest; of one whose age nothing tells, none is told of all.
    let mut oldest: Option<f64> = Some(0.0);
    for server in servers {
        let mut seen = Vec::new();
        for rank in &server.ranks {
            let Some(pool) = rank.pools.first() else { continue };
            let (Some(part), Some(whole)) = (pool.fresh(Signal::KV_USED), pool.fresh(Signal::KV_CAPACITY)) else {
                continue;
            };
            // Blocks of unknown size and bytes do not add up with tokens.
            if pool.get(Signal::KV_CAPACITY).is_none_or(|capacity| capacity.unit != Unit::Tokens) {
                continue;
            }
            if seen.contains(&rank.rank.dp) {
                continue;
            }
            seen.push(rank.rank.dp);
            used += part;
            capacity += whole;
            let age = pool.get(Signal::KV_USED).and_then(|reading| reading.age_s);
            oldest = oldest.zip(age).map(|(oldest, age)| oldest.max(age));
        }
        if !seen.is_empty() {
            parts.push(format!("used and capacity of {}{}", server.url, by_router(server)));
        }
    }
    let in_use_weighted = if capacity > 0.0 {
        let mut weighted = Reading::derived(used / capacity, Unit::Ratio, &[], &[]);
        weighted.inputs = parts;
        weighted.age_s = oldest;
        weighted
    } else {
        nothing(servers)
    };
    Fleet { in_use_max, in_use_weighted }
}

/// The mark of what is a router's word.
fn by_router(server: &Server) -> &'static str {
    if server.is_told_by_router() { ", by its router's word" } else { "" }
}

fn nothing(servers: &[Server]) -> Reading {
    let reached = servers.iter().any(|server| server.unreachable.is_none());
    if servers.is_empty() {
        Reading::not_reported(Unit::Ratio, "no server was found")
    } else if reached {
        Reading::not_reported(Unit::Ratio, "no server says how full it is")
    } else {
        Reading::unreachable(Unit::Ratio, "no server could be reached")
    }
}
