//! A server that was joined before, and of which nothing was heard since: it is as it was, but for the ages of its numbers.

use model::{Account, Reading, Server, State, Time};

use crate::{Moment, complete};

/// A server as it was joined and judged, for as long as time alone changes nothing but ages.
#[derive(Debug, Clone)]
pub struct Again {
    server: Server,
    fresh_s: f64,
    from: Time,
    until: Time,
}

impl Again {
    /// `server`, made of `account` alone as of `moment`. None where something is said of it that hangs on the time: a number
    /// that is stale or cannot be, or what a router says.
    pub fn of(server: &Server, account: &Account, moment: Moment) -> Option<Again> {
        let moves = |reading: &Reading| matches!(reading.state, State::Stale | State::Impossible);
        if server.unreachable.is_some() || !server.router_view.is_empty() || readings(server).any(moves) {
            return None;
        }
        // Also what is not shown: that it is fresh may be why it is spoken of.
        let sets = account.sets.iter().flat_map(|set| set.readings.values().filter_map(|said| said.at).chain([set.at]));
        let times = sets.chain(account.values.iter().filter_map(|value| value.reading.at));
        let turns = times.map(|at| at.plus(moment.fresh_s)).filter(|turn| turn.since(moment.now) >= 0.0);
        let until = turns.min_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(Again { server: server.clone(), fresh_s: moment.fresh_s, from: moment.now, until })
    }

    /// The server as of `moment`; none where more may have changed than ages.
    pub fn server(&self, moment: Moment) -> Option<Server> {
        let holds = moment.now.since(self.from) >= 0.0 && self.until.since(moment.now) >= 0.0;
        if !holds || moment.fresh_s != self.fresh_s {
            return None;
        }
        let mut server = self.server.clone();
        for rank in &mut server.ranks {
            let pools = rank.pools.iter_mut().flat_map(|pool| pool.readings.values_mut());
            pools.chain(rank.readings.values_mut()).for_each(|reading| complete::settle(reading, moment));
        }
        Some(server)
    }
}

fn readings(server: &Server) -> impl Iterator<Item = &Reading> {
    let of_rank = |rank| {
        let rank: &model::Rank = rank;
        rank.pools.iter().flat_map(|pool| pool.readings.values()).chain(rank.readings.values())
    };
    server.ranks.iter().flat_map(of_rank)
}
