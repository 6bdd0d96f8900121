//! The client: what callers hold.

use std::sync::Arc;
use std::time::Instant;

use model::{Answer, Blind, BlindKind, Observation};
use tokio::time::timeout;

use super::allow::with_query;
use super::counters::Counters;
use super::exchange::{Failure, dial, exchange};
use super::lane::{Kept, Lanes};
use super::names::Names;
use super::stage::Stage;
use super::{AllowList, Counts, Limits, Target};
use crate::clock;
use crate::place::Tunnels;

/// Asks targets, one request at a time each. Clones share connections, lanes and counts.
///
/// Must be used inside a tokio runtime with I/O and time; that of one thread suffices.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    allow: AllowList,
    limits: Limits,
    counters: Counters,
    lanes: Lanes,
    names: Names,
    /// Ways from another host, where that is from where it asks.
    tunnels: Option<Arc<Tunnels>>,
}

impl Client {
    /// A client that asks only for the paths in `allow`.
    pub fn new(allow: AllowList, limits: Limits) -> Client {
        Client::from(allow, limits, None)
    }

    /// The same, over connections that ssh makes from another host.
    pub(crate) fn through(tunnels: Arc<Tunnels>, allow: AllowList) -> Client {
        Client::from(allow, Limits::default(), Some(tunnels))
    }

    fn from(allow: AllowList, limits: Limits, tunnels: Option<Arc<Tunnels>>) -> Client {
        let (counters, lanes, names) = (Counters::default(), Lanes::default(), Names::default());
        Client { inner: Arc::new(Inner { allow, limits, counters, lanes, names, tunnels }) }
    }

    /// Whether `path` may be asked at all.
    pub(crate) fn may(&self, path: &str) -> Result<(), Blind> {
        self.inner.allow.check(path)
    }

    /// GETs `path` of `target`. Every status but a redirect is an answer, an empty body too. Waits while another request
    /// to the same target runs; `took` counts from when that ended.
    ///
    /// Cancel safe: dropping the future closes the connection.
    pub async fn get(&self, target: &Target, path: &str) -> Observation {
        self.observe(target, path, path.to_string()).await
    }

    /// GETs `path`, which must be on the list, with the parameter `query` (a `PromQL` expression, for instance) added.
    pub async fn get_query(&self, target: &Target, path: &str, query: &str) -> Observation {
        self.observe(target, path, with_query(path, query)).await
    }

    /// The addresses of the name `host`, by this host's own means and within the time that a connection may take; an
    /// address is its own.
    pub async fn resolve(&self, host: &str) -> Result<Vec<std::net::IpAddr>, Blind> {
        if let Ok(address) = host.parse() {
            return Ok(vec![address]);
        }
        let limit = self.inner.limits.connect;
        timeout(limit, self.inner.names.find(host)).await.unwrap_or_else(|_| {
            let text = format!("the name {host} did not resolve within {} s", limit.as_secs_f64());
            Err(Blind::new(BlindKind::Deadline, text))
        })
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.inner.counters.counts()
    }

    /// The limits of each request.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    async fn observe(&self, target: &Target, listed: &str, path: String) -> Observation {
        let url = target.base.url(&path);
        let (took, outcome) = match self.inner.allow.check(listed) {
            Err(blind) => (0.0, Err(blind)),
            Ok(()) => self.ask(target, &format!("{}{path}", target.base.prefix)).await,
        };
        let outcome = outcome.map_err(|blind| Blind::new(blind.kind, format!("GET {url}: {}", blind.text)));
        Observation { get: listed.to_string(), url, at: clock::now(), took, outcome }
    }

    /// One request in the target's lane: seconds that it took, and what came of it.
    async fn ask(&self, target: &Target, path: &str) -> (f64, Result<Answer, Blind>) {
        let lane = self.inner.lanes.of(target);
        let mut slot = lane.lock().await;
        let start = Instant::now();
        let stage = Stage::default();
        // taken out, so that it is closed unless the answer was read to its end
        let kept = slot.take().filter(|kept| kept.serves(target));
        let limit = self.inner.limits.total;
        let outcome = match timeout(limit, self.attempt(kept, target, path, &stage)).await {
            Ok(Ok((answer, kept))) => {
                *slot = Some(kept);
                Ok(answer)
            }
            Ok(Err(blind)) => Err(blind),
            Err(_) => {
                let text = format!("given up after {} s: {}", limit.as_secs_f64(), stage.missing());
                Err(Blind::new(stage.kind(), text))
            }
        };
        self.inner.counters.request(outcome.is_err(), stage.body());
        (start.elapsed().as_secs_f64(), outcome)
    }

    async fn attempt(
        &self,
        kept: Option<Kept>,
        target: &Target,
        path: &str,
        stage: &Stage,
    ) -> Result<(Answer, Kept), Blind> {
        let limits = &self.inner.limits;
        let loaded = target.credentials.load()?;
        let scrub = |blind: Blind| Blind::new(blind.kind, loaded.scrub(blind.text));
        if let Some(mut kept) = kept {
            match exchange(&mut kept, target, path, &loaded, limits, stage).await {
                Ok(answer) => return Ok((answer, kept)),
                Err(Failure::Blind(blind)) => return Err(scrub(blind)),
                Err(Failure::Stale) => {}
            }
        }
        let mut kept = dial(target, self.inner.tunnels.as_ref(), &self.inner.names, limits, stage).await?;
        match exchange(&mut kept, target, path, &loaded, limits, stage).await {
            Ok(answer) => Ok((answer, kept)),
            Err(Failure::Blind(blind)) => Err(scrub(blind)),
            Err(Failure::Stale) => {
                Err(Blind::new(BlindKind::Cut, "the server closed the connection without an answer"))
            }
        }
    }
}
