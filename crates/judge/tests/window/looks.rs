//! Looks at one server, made by hand.

use model::{Rank, RankId, Reading, Readings, Role, Server, Signal, State, Time, Unit};
use testkit::made;

/// When a window begins.
pub(crate) const START: Time = Time(1_000_000.0);
/// Tokens that the pool of a rank holds.
pub(crate) const CAPACITY: f64 = 100_000.0;

/// One look, so many seconds after the first; a server with one rank that reports what it is given.
pub(crate) struct Look {
    pub(crate) at: Time,
    pub(crate) server: Server,
}

impl Look {
    /// A unified server of which this much is in use, with so many running and waiting.
    pub(crate) fn at(seconds: f64, in_use: f64, running: f64, waiting: f64) -> Look {
        let at = START.plus(seconds);
        let (engine, version) = (Some("some".to_owned()), Some("1.0".to_owned()));
        let server = Server { engine, version, ..made::server("http://w:1") };
        Look { at, server }.rank(0, in_use, running, waiting)
    }

    /// With one more rank.
    pub(crate) fn rank(mut self, dp: u32, in_use: f64, running: f64, waiting: f64) -> Look {
        let said = |signal: Signal, value: f64| (signal, self.reading(signal, value));
        let pool = made::pool(Readings::from([
            said(Signal::KV_CAPACITY, CAPACITY),
            said(Signal::KV_USED, in_use * CAPACITY),
            said(Signal::KV_IN_USE, in_use),
        ]));
        let readings = Readings::from([said(Signal::REQ_RUNNING, running), said(Signal::REQ_WAITING, waiting)]);
        let rank = RankId { dp: Some(dp), ..RankId::ZERO };
        self.server.ranks.push(Rank { rank, pools: vec![pool], readings });
        self
    }

    fn reading(&self, signal: Signal, value: f64) -> Reading {
        Reading::reported(value, signal.unit(), format!("http://w:1/metrics {}", signal.row().id), self.at)
            .within(Some(0.0))
    }

    /// Its newest rank says this, too.
    pub(crate) fn says(self, signal: Signal, value: f64) -> Look {
        let reading = self.reading(signal, value);
        self.reads(signal, reading)
    }

    /// The same of a counter that moves when a request ends.
    pub(crate) fn says_at_end(self, signal: Signal, value: f64) -> Look {
        let reading = Reading { at_end: true, ..self.reading(signal, value) };
        self.reads(signal, reading)
    }

    pub(crate) fn reads(mut self, signal: Signal, reading: Reading) -> Look {
        self.server.ranks.last_mut().expect("a rank").readings.insert(signal, reading);
        self
    }

    /// Its newest rank is known by other numbers, too: a tensor-parallel copy.
    pub(crate) fn copied(mut self, tp: u32) -> Look {
        let mut copy = self.server.ranks.last().expect("a rank").clone();
        copy.rank.tp = Some(tp);
        self.server.ranks.push(copy);
        self
    }

    pub(crate) fn role(mut self, role: Role) -> Look {
        self.server.role = role;
        self
    }

    pub(crate) fn pid(mut self, pid: u32) -> Look {
        self.server.pid = Some(pid);
        self
    }

    /// All that it says was said too long ago.
    pub(crate) fn stale(mut self) -> Look {
        for rank in &mut self.server.ranks {
            let pools = rank.pools.iter_mut().flat_map(|pool| pool.readings.values_mut());
            pools.chain(rank.readings.values_mut()).for_each(|reading| reading.state = State::Stale);
        }
        self
    }

    /// A pool whose parts nobody tells.
    pub(crate) fn without_use(mut self) -> Look {
        for pool in self.server.ranks.iter_mut().flat_map(|rank| &mut rank.pools) {
            pool.readings =
                Readings::from([(Signal::KV_IN_USE, Reading::not_reported(Unit::Ratio, "nothing says it"))]);
        }
        self
    }
}

/// The pairs that are judged.
pub(crate) fn pairs(looks: &[Look]) -> Vec<(Time, &Server)> {
    looks.iter().map(|look| (look.at, &look.server)).collect()
}
