//! The looks that a detector may compare: those of the process that answers now.

use model::{Pool, Rank, RankId, Readings, Server, Signal, Time};

use super::counters::{Break, breaks};
use super::series::Series;

/// Looks at one server, the newest last.
pub(crate) struct Window<'a> {
    /// All looks.
    pub(super) all: Vec<(Time, &'a Server)>,
    /// What the counters say of the processes that answered.
    pub(crate) broken: Option<Break>,
    /// Of `all`, the first look that may be compared with the newest.
    first: usize,
    newest: &'a Server,
}

impl<'a> Window<'a> {
    /// The window of these looks; none without any.
    pub(crate) fn of(looks: &[(Time, &'a Server)]) -> Option<Window<'a>> {
        let (_, newest) = *looks.last()?;
        let broken = breaks(looks);
        let first = match &broken {
            Some(Break::Restart { first, .. }) => *first,
            // Of several processes no two looks need be of one.
            Some(Break::Several { .. }) => looks.len() - 1,
            None => 0,
        };
        Some(Window { all: looks.to_vec(), broken, first, newest })
    }

    /// The newest look.
    pub(super) fn newest(&self) -> &'a Server {
        self.newest
    }

    /// The looks at the process that answers now.
    pub(crate) fn looks(&self) -> &[(Time, &'a Server)] {
        &self.all[self.first..]
    }

    /// One signal of a rank over the window.
    pub(super) fn of_rank(&self, rank: RankId, signal: Signal) -> Option<Series<'a>> {
        self.series(signal, |server| Some(&find(server, rank)?.readings))
    }

    /// One signal of a pool of a rank over the window.
    pub(super) fn of_pool(&self, rank: RankId, pool: &Pool, signal: Signal) -> Option<Series<'a>> {
        self.series(signal, |server| {
            let pools = &find(server, rank)?.pools;
            let same = |other: &&Pool| other.pool == pool.pool && other.tier == pool.tier;
            pools.iter().find(same).map(|pool| &pool.readings)
        })
    }

    fn series(&self, signal: Signal, place: impl Fn(&'a Server) -> Option<&'a Readings>) -> Option<Series<'a>> {
        let readings = self.looks().iter().map(|(at, server)| (*at, place(server).and_then(|all| all.get(&signal))));
        Series::of(signal, readings)
    }

    /// Where a rank is, where there are several: ` on rank dp 3`.
    pub(super) fn place(&self, rank: RankId) -> String {
        match rank.dp {
            Some(dp) if self.newest.ranks.len() > 1 => format!(" on rank dp {dp}"),
            _ => String::new(),
        }
    }
}

/// The rank of this id.
pub(crate) fn find(server: &Server, id: RankId) -> Option<&Rank> {
    server.ranks.iter().find(|rank| rank.rank == id)
}

/// The pool of full attention on the device, whose use grows with every token.
pub(super) fn full(rank: &Rank) -> Option<&Pool> {
    rank.pools.iter().find(|pool| pool.pool == model::FULL && pool.tier == model::DEVICE)
}
