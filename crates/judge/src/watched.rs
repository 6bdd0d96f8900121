//! What a window of looks at one server shows: whether it gets on, and whether requests were thrown out.

use model::number::count;
use model::{Rank, Role, Server, Signal, Time, sum};

use crate::course::{Rise, comparable, rise, span};
use crate::limits::{stuck, window};
use crate::pace::{Paces, in_use};
use crate::verdict::is_partly_told;

/// A window that is long enough.
pub(crate) struct Watched<'a> {
    looks: Vec<(Time, &'a Server)>,
    newest: &'a Server,
    /// Tokens generated, of requests that ended where nothing else is told.
    generated: Option<Rise>,
    /// Prompt tokens computed.
    computed: Option<Rise>,
    thrown_out: Option<Rise>,
}

/// What is known of its work.
pub(crate) enum Progress {
    /// It got on.
    Made,
    /// Nothing was produced in so many seconds: of what.
    None(&'static str, f64),
    /// Nothing tells; with the reason.
    NotJudged(&'static str),
}

impl<'a> Watched<'a> {
    /// What the looks show together; none where they are no window.
    pub(crate) fn of(looks: &[(Time, &'a Server)]) -> Option<Watched<'a>> {
        let looks = comparable(looks);
        if span(&looks) < window::SECONDS {
            return None;
        }
        let (_, newest) = *looks.last()?;
        let all_told = !is_partly_told(newest);
        let rise = |signal| {
            let rise = rise(&looks, signal, window::SECONDS)?;
            Some(Rise { whole: rise.whole && all_told, ..rise })
        };
        let live = rise(Signal::GEN_LIVE_TOTAL);
        let all = rise(Signal::GEN_TOKENS_TOTAL);
        // Live tokens are those of requests that ended, too; what is not told live of every rank may still be told so.
        let generated = match (live, all) {
            (Some(live), Some(all)) if !live.whole && all.whole => Some(all),
            (Some(live), _) => Some(live),
            (None, all) => all,
        };
        let computed = rise(Signal::PROMPT_LIVE_TOTAL);
        let thrown_out = rise(Signal::REQ_RETRACTED_TOTAL);
        Some(Watched { looks, newest, generated, computed, thrown_out })
    }

    /// Requests thrown out in the window, where that is counted.
    pub(crate) fn thrown_out(&self) -> Option<f64> {
        self.thrown_out.filter(|rise| rise.by >= 1.0).map(|rise| rise.by)
    }

    /// Seconds that are watched.
    pub(crate) fn seconds(&self) -> f64 {
        span(&self.looks)
    }

    /// Whether it is stuck, with the rule that is met: there was work at every look, and nothing of it was done.
    pub(crate) fn stuck(&self) -> Option<String> {
        if !self.looks.iter().all(|(_, server)| has_work(server)) {
            return None;
        }
        match self.progress() {
            Progress::None(what, seconds) if seconds >= stuck::SECONDS => {
                Some(format!("since no {what} in {seconds:.0} s"))
            }
            _ => None,
        }
    }

    /// Whether it thrashes, with the rule that is met: requests were thrown out, and it does less than it usually does.
    pub(crate) fn thrashing(&self, usual: Option<&Paces>) -> Option<String> {
        let thrown_out = self.thrown_out()?;
        let (now, usual) = usual?.compared(&self.looks)?;
        Some(format!(
            "since {} were thrown out in {:.0} s, and {} tokens/s are generated where {} are usual with so many running",
            several("request", thrown_out),
            self.seconds(),
            count(now.round()),
            count(usual.round())
        ))
    }

    /// What was seen, for the end of a reason; `by_log` where the log tells what is thrown out.
    pub(crate) fn told(&self, by_log: Option<f64>) -> String {
        let prefill = self.newest.role == Role::Prefill;
        let mut seen = Vec::new();
        let mut unknown = Vec::new();
        match self.progress() {
            Progress::NotJudged(why) => unknown.push(format!("progress is not judged: {why}")),
            Progress::None(what, _) => seen.push(format!("no {what}")),
            Progress::Made => seen.push(self.made()),
        }
        match (self.thrown_out, by_log) {
            (Some(rise), _) if rise.by >= 1.0 => seen.push(format!("{} thrown out", several("request", rise.by))),
            (Some(rise), _) if rise.whole => seen.push("no request thrown out".to_owned()),
            (_, Some(0.0)) => seen.push("no request thrown out by its log".to_owned()),
            // It is said where the level is.
            (_, Some(_)) => {}
            // It generates nothing that could be thrown out.
            _ if prefill => {}
            (Some(_), None) => unknown.push("retractions are not judged: not every rank counts them".to_owned()),
            (None, None) => unknown.push("retractions are not judged: nothing counts them".to_owned()),
        }
        seen.extend(unknown);
        format!("{}{:.0} s: {}", crate::WATCHED, self.seconds(), seen.join(", "))
    }

    fn made(&self) -> String {
        let some = |rise: Option<Rise>| rise.filter(|rise| rise.by > 0.0);
        let what = |rise: Rise| if rise.at_end { "of requests that ended" } else { "generated" };
        let generated = some(self.generated).map(|rise| format!("{} {}", several("token", rise.by), what(rise)));
        let computed = some(self.computed).map(|rise| format!("{} computed", several("prompt token", rise.by)));
        let told = if self.newest.role == Role::Prefill { computed.or(generated) } else { generated.or(computed) };
        told.unwrap_or_else(|| "its use grew".to_owned())
    }

    /// What is known of its work.
    pub(crate) fn progress(&self) -> Progress {
        let prefill = self.newest.role == Role::Prefill;
        // A prefill server generates nothing, or one token a request: that moves as it may.
        let generated = self.generated.filter(|rise| !prefill || rise.by > 0.0);
        let moved = |rise: Option<Rise>| rise.is_some_and(|rise| rise.by > 0.0);
        if moved(generated) || moved(self.computed) || self.use_grew() {
            return Progress::Made;
        }
        let told = if prefill { self.computed } else { generated };
        match told {
            Some(rise) if !rise.whole => Progress::NotJudged("not every rank counts its tokens"),
            Some(rise) if prefill => Progress::None("prompt token was computed", rise.seconds),
            Some(rise) if !rise.at_end || self.nothing_ran() || self.use_stands() => {
                Progress::None("token was generated", rise.seconds)
            }
            Some(_) => Progress::NotJudged("it counts tokens when a request ends, and none ended"),
            None if prefill => Progress::NotJudged("nothing counts the prompts that it computes"),
            None => Progress::NotJudged("nothing counts its tokens"),
        }
    }

    /// Whether nothing ran at any look, as all of them say.
    fn nothing_ran(&self) -> bool {
        self.looks.iter().all(|(_, server)| sum(&server.ranks, Signal::REQ_RUNNING) == Some(0.0))
    }

    /// Whether the use of a pool that binds grew from one look to the next: a prompt is computed, of which nothing is
    /// generated yet.
    fn use_grew(&self) -> bool {
        self.uses()
            .any(|(uses, small)| uses.windows(2).any(|pair| pair[1].0 - pair[0].0 > small + pair[1].1 + pair[0].1))
    }

    /// Whether the use of every pool that binds is the same at many looks, and known to the token.
    fn use_stands(&self) -> bool {
        let same = |(uses, _): (Vec<(f64, f64)>, f64)| {
            uses.len() as f64 >= stuck::LOOKS && uses.iter().all(|(used, off)| *off == 0.0 && *used == uses[0].0)
        };
        self.uses().count() > 0 && self.uses().all(same)
    }

    /// What is used of each pool that binds, look by look, with how far off it may be; and what growth of it is none.
    fn uses(&self) -> impl Iterator<Item = (Vec<(f64, f64)>, f64)> + '_ {
        let binds = |rank: &'a Rank| rank.pools.iter().filter(|pool| pool.binds).map(move |pool| (rank.rank, pool));
        self.newest.ranks.iter().flat_map(binds).filter_map(|(id, newest)| {
            let now = newest.get(Signal::KV_USED)?;
            let used = |(_, server): &(Time, &'a Server)| {
                let rank = crate::detect::window::find(server, id)?;
                let pool = rank.pools.iter().find(|pool| pool.pool == newest.pool && pool.tier == newest.tier)?;
                let used = pool.get(Signal::KV_USED).filter(|used| used.source == now.source)?;
                Some((used.fresh()?, used.precision.unwrap_or(0.0)))
            };
            let capacity = newest.fresh(Signal::KV_CAPACITY)?;
            Some((self.looks.iter().filter_map(used).collect(), stuck::GROWS * capacity))
        })
    }
}

/// Queues of requests that wait for another server: what that one does not do is not this one's fault.
const ELSEWHERE: [Signal; 3] = [Signal::PD_BOOTSTRAP, Signal::PD_INFLIGHT, Signal::PD_TRANSFER];

/// Whether a look shows work: requests wait, or run in a full cache. Without work it is idle, whatever stays in its cache.
fn has_work(server: &Server) -> bool {
    let sum = |signal| sum(&server.ranks, signal).unwrap_or(0.0);
    let waiting = sum(Signal::REQ_WAITING) - ELSEWHERE.into_iter().map(sum).sum::<f64>();
    let full = in_use(server).is_some_and(|in_use| in_use >= stuck::IN_USE);
    waiting > 0.0 || sum(Signal::REQ_RETRACTED_QUEUE) > 0.0 || full && sum(Signal::REQ_RUNNING) > 0.0
}

/// So many of something.
fn several(what: &str, number: f64) -> String {
    format!("{} {what}{}", count(number), if number > 1.0 { "s" } else { "" })
}
