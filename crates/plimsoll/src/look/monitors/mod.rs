//! The operator's own question: does anything here scrape these servers, and does the cache's fullness arrive?

mod gaps;
mod page;
#[cfg(test)]
mod page_test;

use std::net::{Ipv4Addr, SocketAddr};

use lint::{ActiveTarget, Kind, Monitor, Running, ScrapeGap, active_targets, freshness, freshness_query};
use model::{Note, Observation};
use sense::http::Scheme;
use sense::{NetNs, Process, Target, processes};
use serde::Serialize;

pub(crate) use gaps::gaps;

use self::page::{Page, Scraper};
use super::candidate::beyond;
use super::identity::Space;
use super::{Eye, Look, Looked, discover};

/// One monitor and what it does with these servers; part of `plimsoll.doctor/1`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Watcher {
    /// Which program.
    pub(crate) name: String,
    /// Its name for people.
    #[serde(skip)]
    pub(crate) title: String,
    /// `scrapes`, `alerts` or `draws`.
    pub(crate) kind: &'static str,
    /// Where it answers.
    pub(crate) url: String,
    /// Its process on this host.
    pub(crate) pid: Option<u32>,
    /// The file that lists what it scrapes.
    pub(crate) config: Option<String>,
    /// Why it could not be asked.
    pub(crate) unreachable: Option<String>,
    /// What it does with each server that has a page to scrape.
    pub(crate) servers: Vec<Scraped>,
    /// The namespace in which it runs, where that can be seen from here.
    #[serde(skip)]
    pub(crate) space: Option<Space>,
}

/// What one scraper does with one server.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Scraped {
    /// The server's address.
    pub(crate) server: String,
    /// `fresh`, `scraped`, `not_scraped`, `not_yet`, `down`, `no_series`, `stale` or `unknown`.
    pub(crate) state: &'static str,
    /// What the scraper said.
    pub(crate) detail: String,
}

/// Listening sockets of a monitor whose port no flag tells; more are not tried.
const MOST_PORTS: usize = 4;

/// Finds and asks every monitor: those given, or those of the hosts that were searched.
pub(crate) async fn watchers(look: &Look) -> anyhow::Result<Vec<Watcher>> {
    let page = |one| Some((one, Page::of(look.eye_of(one), one)?));
    let pages: Vec<(&Looked, Page)> = look.looked.iter().filter_map(page).collect();
    let mut watchers = Vec::new();
    if look.monitors.is_empty() {
        let reached = |at: &usize| look.reached.get(*at).copied().unwrap_or(true);
        for (at, site) in look.sites.iter().enumerate().filter(|(at, site)| site.searched() && reached(at)) {
            watchers.extend(found(at, &site.eye, &pages).await?);
        }
    }
    // A URL may be any of the programs that speak the Prometheus API.
    let speaks = lint::monitors().iter().find(|monitor| monitor.targets.is_some() && monitor.query.is_some());
    let here = look.sites.iter().position(|site| site.eye.via.is_none());
    look.here.atlas.learn_names(&look.here.place, look.monitors.iter()).await;
    for target in &look.monitors {
        if let Some(monitor) = speaks {
            let space = look.here.atlas.home(target);
            watchers.push(watcher(&look.here, monitor, target.clone(), (here, space), &pages).await);
        }
    }
    Ok(watchers)
}

/// The servers whose pages no scraper needs, each with its reason.
pub(crate) fn not_worth_scraping(look: &Look) -> Vec<Note> {
    look.looked.iter().filter_map(|one| page::not_worth_it(look.eye_of(one), one)).collect()
}

/// The monitors that run on one site.
async fn found(at: usize, eye: &Eye, pages: &[(&Looked, Page<'_>)]) -> anyhow::Result<Vec<Watcher>> {
    let known = lint::monitors();
    let found = match processes(&eye.place, &eye.sought.words, |argv| known.recognise(argv).is_some()).await {
        Ok(found) => found.found,
        // What another host hides is told with its servers.
        Err(_) if eye.via.is_some() => Vec::new(),
        Err(blind) => return Err(blind.into()),
    };
    let mut watchers = Vec::new();
    for process in &found {
        let Some(running) = known.recognise(&process.argv) else { continue };
        eye.atlas.learn_process(&eye.place, process).await;
        let mut target = Target::new(sense::http::Base {
            scheme: Scheme::Http,
            host: Ipv4Addr::LOCALHOST.to_string(),
            port: running.port,
            prefix: running.prefix.clone(),
        });
        target.namespace = Some(NetNs(process.pid));
        let space = eye.atlas.space(&target);
        target = door(eye, &running, process).await;
        let mut watcher = watcher(eye, running.monitor, target, (Some(at), Some(space)), pages).await;
        watcher.pid = Some(process.pid);
        watcher.config = running.config;
        watchers.push(watcher);
    }
    Ok(watchers)
}

/// Where a monitor's process answers: where it listens on the port that it was told or has by default; where it was told
/// none (its configuration may say one), the first of its own sockets that answers as it does.
async fn door(eye: &Eye, running: &Running, process: &Process) -> Target {
    let at = |address: SocketAddr| {
        let mut target = discover::target(address, Scheme::Http, process);
        target.base.prefix.clone_from(&running.prefix);
        target
    };
    let mut listening = process.listening.iter().chain(&process.maybe_listening);
    if let Some(address) = listening.find(|address| address.port() == running.port) {
        return at(*address);
    }
    let own = if running.told { &[][..] } else { &process.listening_itself };
    let path = running.monitor.targets.as_ref().or(running.monitor.alive.as_ref());
    for address in own.iter().take(MOST_PORTS) {
        let target = at(*address);
        let Some(path) = path else { break };
        if body(&eye.get(&target, path, eye.until_alone()).await).is_ok() {
            return target;
        }
    }
    at(SocketAddr::new(running.address.unwrap_or(Ipv4Addr::LOCALHOST.into()), running.port))
}

async fn watcher(
    eye: &Eye,
    monitor: &'static Monitor,
    target: Target,
    (site, space): (Option<usize>, Option<Space>),
    pages: &[(&Looked, Page<'_>)],
) -> Watcher {
    let mut watcher = Watcher {
        name: monitor.name.clone(),
        title: monitor.title.clone(),
        kind: match monitor.kind {
            Kind::Scrapes => "scrapes",
            Kind::Alerts => "alerts",
            Kind::Draws => "draws",
        },
        url: eye.via.as_ref().map_or_else(|| target.to_string(), |via| beyond(via, &target)),
        pid: None,
        config: None,
        unreachable: None,
        servers: Vec::new(),
        space,
    };
    let until = eye.until_alone();
    let Some(path) = monitor.targets.as_ref().or(monitor.alive.as_ref()) else { return watcher };
    let observation = eye.get(&target, path, until).await;
    let body = match body(&observation) {
        Ok(body) => body,
        Err(why) => {
            watcher.unreachable = Some(why);
            return watcher;
        }
    };
    if monitor.targets.is_none() {
        return watcher;
    }
    let active = match active_targets(body) {
        Ok(active) => active,
        Err(why) => {
            watcher.unreachable = Some(why);
            return watcher;
        }
    };
    let fetches = Scraper::new(eye, &target, (site, space), &active, pages).await;
    for (one, page) in pages {
        let gap = match fetches.scrapes(page) {
            None => ScrapeGap::NotScraped,
            Some(target) if target.up.is_none() => ScrapeGap::NotYet,
            Some(target) if target.up == Some(false) => ScrapeGap::Down(target.error.clone()),
            Some(scraped) => match &monitor.query {
                None => ScrapeGap::Scraped,
                Some(query) => {
                    let asked = freshness_query(&page.telling, &scraped.instance);
                    stored(&eye.place.get_query(&target, query, &asked).await, scraped)
                }
            },
        };
        watcher.servers.push(describe(one, &gap));
    }
    watcher
}

fn body(observation: &Observation) -> Result<&[u8], String> {
    match &observation.outcome {
        Ok(answer) if answer.status == 200 => Ok(&answer.body),
        Ok(answer) => Err(format!("GET {} answered {}", observation.get, answer.status)),
        Err(blind) => Err(blind.text.clone()),
    }
}

/// Seconds by which a monitor's clock may be ahead of ours.
const AHEAD_S: f64 = 60.0;

/// Whether the newest sample of a series that tells how full the cache is is fresh: one such series suffices, since used
/// and in use tell each other; a capacity alone never does.
fn stored(observation: &Observation, scraped: &ActiveTarget) -> ScrapeGap {
    // A scraper that stores nothing knows no queries.
    if observation.outcome.as_ref().is_ok_and(|answer| [400, 404, 405, 501].contains(&answer.status)) {
        return ScrapeGap::Scraped;
    }
    let body = match body(observation) {
        Ok(body) => body,
        Err(why) => return ScrapeGap::Unknown(why),
    };
    let newest = match freshness(body) {
        Ok(Some(newest)) => newest,
        Ok(None) => return ScrapeGap::NoSeries,
        Err(why) => return ScrapeGap::Unknown(why.to_owned()),
    };
    let age = observation.at.since(newest);
    if age < -AHEAD_S {
        return ScrapeGap::Unknown(format!("its newest sample is {} s ahead of this host's clock", -age as u64));
    }
    if age > scraped.fresh_for() { ScrapeGap::Stale(age as u64) } else { ScrapeGap::None }
}

fn describe(one: &Looked, gap: &ScrapeGap) -> Scraped {
    let (state, detail) = match gap {
        ScrapeGap::None => ("fresh", "scraped, and the series is there and fresh".to_owned()),
        ScrapeGap::Scraped => (
            "scraped",
            "scraped; it answers no queries, so whether the series arrive in its storage was not asked".to_owned(),
        ),
        ScrapeGap::NotScraped => ("not_scraped", "not among its active targets".to_owned()),
        ScrapeGap::NotYet => ("not_yet", "among its active targets, but not fetched yet".to_owned()),
        ScrapeGap::Down(error) => ("down", format!("scraped, but the scrape fails: {error}")),
        ScrapeGap::Unknown(why) => ("unknown", format!("scraped, but whether it is stored could not be asked: {why}")),
        ScrapeGap::NoSeries => ("no_series", "scraped, but no series about the cache is stored".to_owned()),
        ScrapeGap::Stale(age) => ("stale", format!("scraped, but the newest sample is {age} s old")),
    };
    Scraped { server: one.candidate.url(), state, detail }
}
