//! What servers were when they last answered: one that is silent is shown as that, and as old as it is.

use std::collections::{BTreeMap, BTreeSet};

use model::{Rank, Reading, Readings, Role, Server, Snapshot, State, Time};

use crate::look::watch::Health;

/// Of each server the newest that it said, or its router of it, by its address.
#[derive(Default)]
pub(crate) struct Last {
    servers: BTreeMap<String, Spoken>,
}

/// What a server said of itself, or its router of it.
struct Spoken {
    role: Role,
    engine: Option<String>,
    version: Option<String>,
    model: Option<String>,
    unit: Option<String>,
    ranks: Vec<Rank>,
}

impl Spoken {
    fn of(server: &Server) -> Spoken {
        Spoken {
            role: server.role,
            engine: server.engine.clone(),
            version: server.version.clone(),
            model: server.model.clone(),
            unit: server.unit.clone(),
            ranks: server.ranks.clone(),
        }
    }
}

impl Last {
    /// Keeps what is new, and fills in what those were that do not answer now. Nothing is judged or summed from it.
    pub(crate) fn recall(&mut self, snapshot: &mut Snapshot, health: &[Health]) {
        let there: BTreeSet<&str> = snapshot.servers.iter().map(|server| server.url.as_str()).collect();
        self.servers.retain(|url, _| there.contains(url.as_str()));
        let now = snapshot.taken_at;
        for (server, health) in snapshot.servers.iter_mut().zip(health) {
            if server.unreachable.is_some() {
                if let Some(last) = self.servers.get(&server.url) {
                    fill(server, last, now);
                }
                // Its router may be the next that is silent.
                if server.is_told_by_router() {
                    self.servers.insert(server.url.clone(), Spoken::of(server));
                }
            } else if health.fresh {
                self.servers.insert(server.url.clone(), Spoken::of(server));
            }
        }
    }
}

fn fill(server: &mut Server, last: &Spoken, now: Time) {
    server.role = last.role;
    server.engine.clone_from(&last.engine);
    server.version.clone_from(&last.version);
    server.model.clone_from(&last.model);
    server.unit = server.unit.take().or_else(|| last.unit.clone());
    // What its router says of it now is newer than what it said itself.
    if server.is_told_by_router() {
        return;
    }
    let why = server.unreachable.clone().unwrap_or_default();
    server.ranks.clone_from(&last.ranks);
    for rank in &mut server.ranks {
        age(&mut rank.readings, &why, now);
        for pool in &mut rank.pools {
            age(&mut pool.readings, &why, now);
        }
    }
}

/// What had a value is stale; of the rest it is unknown by now whether it would be told.
fn age(readings: &mut Readings, why: &str, now: Time) {
    for reading in readings.values_mut() {
        if reading.value.is_none() {
            *reading = Reading::unreachable(reading.unit, why);
            continue;
        }
        reading.state = State::Stale;
        reading.age_s = reading.at.map(|at| now.since(at).max(0.0));
        reading.reason = Some(why.to_owned());
    }
}
