//! What one server usually gets done, by the number of requests that run: a memory that a watch keeps.

use std::collections::{BTreeMap, VecDeque};

use model::{Rank, Server, Signal, Time, sum};

use crate::course::{comparable, rise, span};
use crate::limits::{STRAINED, thrashing, usual};

/// Tokens per second by the number of requests that run. It holds some dozens of samples of some dozens of bands at most.
#[derive(Debug, Clone, Default)]
pub struct Paces {
    bands: BTreeMap<u8, VecDeque<(Time, f64)>>,
    /// Of which build.
    of: Option<(Option<String>, Option<String>)>,
    /// The newest look that was learned from.
    until: Option<Time>,
}

impl Paces {
    /// Learns from the looks at one server, the newest last; what it learned from already counts no more. Another process,
    /// or another build, begins anew.
    pub fn learn(&mut self, looks: &[(Time, &Server)]) {
        let Some((_, newest)) = looks.last() else { return };
        let build = (newest.engine.clone(), newest.version.clone());
        let compared = comparable(looks);
        // While a restart lies within the window nothing before it is of this process.
        let broken = crate::detect::window::Window::of(looks).is_some_and(|window| window.broken.is_some());
        let known = newest.version.is_some();
        if broken || known && self.of.as_ref().is_some_and(|of| *of != build) {
            *self = Paces::default();
        }
        if known {
            self.of = Some(build);
        }
        let Some((at, _)) = compared.last() else { return };
        let new = |look: &&(Time, &Server)| self.until.is_none_or(|until| look.0 >= until);
        let fresh: Vec<(Time, &Server)> = compared.iter().filter(new).copied().collect();
        if span(&fresh) < usual::LEAST {
            // Of looks that lie too far apart none is ever learned from, and the next begins with this one.
            if self.until.is_none_or(|until| at.since(until) > usual::MOST || at.since(until) < 0.0) {
                self.until = Some(*at);
            }
            return;
        }
        self.until = Some(*at);
        if span(&fresh) <= usual::MOST
            && is_calm(&fresh)
            && let Some((band, rate)) = sample(&fresh)
        {
            let samples = self.bands.entry(band).or_default();
            if samples.back().is_none_or(|(last, _)| at.since(*last) >= usual::APART) {
                samples.push_back((*at, rate));
            }
            if samples.len() as f64 > usual::KEPT {
                samples.pop_front();
            }
        }
        for samples in self.bands.values_mut() {
            samples.retain(|(learned, _)| (0.0..=usual::FORGET).contains(&at.since(*learned)));
        }
        self.bands.retain(|_, samples| !samples.is_empty());
    }

    /// Tokens per second that it usually generates while so many requests run; none while too little of it was seen.
    pub fn usual(&self, running: f64) -> Option<f64> {
        let samples = self.bands.get(&band(running)?)?;
        let seconds = samples.back()?.0.since(samples.front()?.0);
        if (samples.len() as f64) < usual::SAMPLES || seconds < usual::SPREAD {
            return None;
        }
        let mut rates: Vec<f64> = samples.iter().map(|(_, rate)| *rate).collect();
        rates.sort_by(f64::total_cmp);
        Some(rates[rates.len() / 2])
    }

    /// The clock was set forward by so many seconds, or back where they are negative.
    pub fn clock_set(&mut self, by: f64) {
        let times = self.bands.values_mut().flatten().map(|(time, _)| time);
        times.chain(self.until.as_mut()).for_each(|time| *time = time.plus(by));
    }

    /// What the looks show and what is usual, where it is less than the share of it that is thrashing.
    pub(crate) fn compared(&self, looks: &[(Time, &Server)]) -> Option<(f64, f64)> {
        let (running, rate) = work(looks)?;
        let usual = self.usual(running)?;
        (rate < thrashing::SHARE * usual).then_some((rate, usual))
    }
}

/// Two bands a doubling.
fn band(running: f64) -> Option<u8> {
    (1.0..=1.0e6).contains(&running).then(|| (2.0 * running.log2()).round() as u8)
}

/// The band of a window and tokens per second in it.
fn sample(looks: &[(Time, &Server)]) -> Option<(u8, f64)> {
    let (running, rate) = work(looks)?;
    (rate > 0.0).then_some((band(running)?, rate))
}

/// Requests that run at every look, about as many at each, and tokens per second, where they are counted as they come.
fn work(looks: &[(Time, &Server)]) -> Option<(f64, f64)> {
    let running: Option<Vec<f64>> = looks
        .iter()
        .map(|(_, server)| sum(&server.ranks, Signal::REQ_RUNNING).filter(|running| *running >= 1.0))
        .collect();
    let running = running?;
    let bands: Vec<u8> = running.iter().filter_map(|running| band(*running)).collect();
    let (least, most) = (*bands.iter().min()?, *bands.iter().max()?);
    let as_they_come = |signal| rise(looks, signal, usual::LEAST).filter(|rise| rise.whole && !rise.at_end);
    let rise = as_they_come(Signal::GEN_LIVE_TOTAL).or_else(|| as_they_come(Signal::GEN_TOKENS_TOTAL))?;
    let mean = running.iter().sum::<f64>() / running.len() as f64;
    (most - least <= 1).then(|| (mean, rise.by / rise.seconds))
}

/// Nothing was thrown out, by what counts it, and the cache was not strained at any look.
fn is_calm(looks: &[(Time, &Server)]) -> bool {
    let below = |(_, server): &(Time, &Server)| in_use(server).is_some_and(|in_use| in_use < STRAINED.in_use);
    let none = rise(looks, Signal::REQ_RETRACTED_TOTAL, usual::LEAST).is_some_and(|rise| rise.whole && rise.by == 0.0);
    none && looks.iter().all(below)
}

/// In use of the pool that binds first, on the fullest rank.
pub(crate) fn in_use(server: &Server) -> Option<f64> {
    server.ranks.iter().filter_map(Rank::binding).map(|(_, in_use)| in_use).max_by(f64::total_cmp)
}
