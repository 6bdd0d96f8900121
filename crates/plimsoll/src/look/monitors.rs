//! The operator's own question: does anything here scrape these servers, and does the cache's fullness arrive?

use lint::{Kind, ScrapeGap, active_targets, freshness, freshness_query};
use model::{Gap, Observation};
use sense::{Target, processes};
use serde::Serialize;

use super::candidate::same;
use super::{Eye, Looked};

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
}

/// What one scraper does with one server.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Scraped {
    /// The server's address.
    pub(crate) server: String,
    /// `fresh`, `not_scraped`, `not_yet`, `down`, `no_series`, `stale` or `unknown`.
    pub(crate) state: &'static str,
    /// What the scraper said.
    pub(crate) detail: String,
}

/// A sample older than this is no longer fresh, in seconds: three of the usual scrape intervals of 15 s.
const FRESH_S: f64 = 45.0;

/// Finds and asks every monitor: those given, or those of this host.
pub(crate) async fn watchers(
    eye: &Eye,
    given: &[Target],
    searched: bool,
    looked: &[Looked],
) -> anyhow::Result<Vec<Watcher>> {
    let mut watchers = Vec::new();
    if given.is_empty() && searched {
        let found = processes(&eye.place, |argv| lint::monitors().recognise(argv).is_some()).await?;
        for process in &found.found {
            let Some(running) = lint::monitors().recognise(&process.argv) else { continue };
            let mut target: Target = running.port.to_string().parse()?;
            if process.same_netns_as_us == Some(false) {
                target.namespace = Some(sense::NetNs(process.pid));
            }
            watchers.push(watcher(eye, running.monitor, target, Some(process.pid), running.config, looked).await);
        }
    }
    // A URL may be any of the programs that speak the Prometheus API.
    let speaks = lint::monitors().iter().find(|monitor| monitor.targets.is_some() && monitor.query.is_some());
    for target in given {
        if let Some(monitor) = speaks {
            watchers.push(watcher(eye, monitor, target.clone(), None, None, looked).await);
        }
    }
    Ok(watchers)
}

async fn watcher(
    eye: &Eye,
    monitor: &'static lint::Monitor,
    target: Target,
    pid: Option<u32>,
    config: Option<String>,
    looked: &[Looked],
) -> Watcher {
    let mut watcher = Watcher {
        name: monitor.name.clone(),
        title: monitor.title.clone(),
        kind: match monitor.kind {
            Kind::Scrapes => "scrapes",
            Kind::Alerts => "alerts",
            Kind::Draws => "draws",
        },
        url: target.to_string(),
        pid,
        config,
        unreachable: None,
        servers: Vec::new(),
    };
    let Some(path) = monitor.targets.as_ref().or(monitor.alive.as_ref()) else { return watcher };
    let observation = eye.place.get(&target, path).await;
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
    for one in looked {
        let Some((page, series)) = page(eye, one) else { continue };
        let scraped = active.iter().find(|target| target.url.parse::<Target>().is_ok_and(|url| same_page(&url, page)));
        let gap = match scraped {
            None => ScrapeGap::NotScraped,
            Some(target) if target.up.is_none() => ScrapeGap::NotYet,
            Some(target) if target.up == Some(false) => ScrapeGap::Down(target.error.clone()),
            Some(scraped) => match &monitor.query {
                None => ScrapeGap::None,
                Some(query) => {
                    stored(&eye.place.get_query(&target, query, &freshness_query(&series, &scraped.instance)).await)
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

/// The page of a server that a scraper should fetch, and the series on it that tell the cache; routers too, when their
/// page tells it.
fn page<'a>(eye: &Eye, one: &'a Looked) -> Option<(&'a Target, Vec<String>)> {
    let table = eye.tables.get(one.account.engine.as_deref()?)?;
    let need = one.findings.iter().find(|finding| finding.id.ends_with("kv-series") || finding.id == "router-kv")?;
    let source = table.needs.iter().find(|known| known.id == need.id).map(|known| &known.source)?;
    let source = table.sources.iter().find(|known| known.id == *source)?;
    let target = one.candidate.ports.get(&source.on)?;
    let series = engines::series_of(table, &one.account, &need.id);
    (!series.is_empty()).then_some((target, series))
}

fn same_page(scraped: &Target, page: &Target) -> bool {
    let mut scraped = scraped.clone();
    scraped.base.prefix = scraped.base.prefix.strip_suffix("/metrics").unwrap_or(&scraped.base.prefix).to_owned();
    scraped.namespace.clone_from(&page.namespace);
    same(&scraped, page)
}

fn stored(observation: &Observation) -> ScrapeGap {
    let body = match body(observation) {
        Ok(body) => body,
        Err(why) => return ScrapeGap::Unknown(why),
    };
    let Some(newest) = freshness(body) else { return ScrapeGap::NoSeries };
    let age = observation.at.since(newest);
    if age > FRESH_S { ScrapeGap::Stale(age as u64) } else { ScrapeGap::None }
}

fn describe(one: &Looked, gap: &ScrapeGap) -> Scraped {
    let (state, detail) = match gap {
        ScrapeGap::None => ("fresh", "scraped, and the series is there and fresh".to_owned()),
        ScrapeGap::NotScraped => ("not_scraped", "not among its active targets".to_owned()),
        ScrapeGap::NotYet => ("not_yet", "among its active targets, but not fetched yet".to_owned()),
        ScrapeGap::Down(error) => ("down", format!("scraped, but the scrape fails: {error}")),
        ScrapeGap::Unknown(why) => ("unknown", format!("scraped, but whether it is stored could not be asked: {why}")),
        ScrapeGap::NoSeries => ("no_series", "scraped, but no series about the cache is stored".to_owned()),
        ScrapeGap::Stale(age) => ("stale", format!("scraped, but the newest sample is {age} s old")),
    };
    Scraped { server: one.candidate.url(), state, detail }
}

/// The gaps that the watchers leave: servers that nobody scrapes.
pub(crate) fn gaps(watchers: &[Watcher], looked: &[Looked], eye: &Eye) -> Vec<Gap> {
    let scrapers = lint::monitors().titles(Some(Kind::Scrapes), "or");
    let scraping: Vec<&Watcher> = watchers.iter().filter(|watcher| watcher.kind == "scrapes").collect();
    let mut gaps = Vec::new();
    for one in looked {
        let Some((page, series)) = page(eye, one) else { continue };
        let url = one.candidate.url();
        let seen: Vec<(&Watcher, &Scraped)> = scraping
            .iter()
            .filter_map(|watcher| Some((*watcher, watcher.servers.iter().find(|scraped| scraped.server == url)?)))
            .collect();
        if seen.iter().any(|(_, scraped)| scraped.state == "fresh" || scraped.state == "not_yet") {
            continue;
        }
        let host = format!("{}:{}", page.base.host, page.base.port);
        let job = lint::job(one.account.engine.as_deref().unwrap_or("llm"), &[host]);
        let best = seen.iter().find(|(_, scraped)| scraped.state != "not_scraped").or_else(|| seen.first());
        let (evidence, place) = match best {
            Some((watcher, scraped)) => (
                format!("{} at {}: {}", watcher.title, watcher.url, scraped.detail),
                watcher.config.clone().unwrap_or_else(|| format!("the configuration of {}", watcher.title)),
            ),
            None => (format!("no {scrapers} was found"), format!("{scrapers}, to be set up")),
        };
        let only_missing = best.is_none_or(|(_, scraped)| scraped.state == "not_scraped");
        gaps.push(Gap {
            id: "not-scraped".to_owned(),
            server: Some(url),
            what: "nobody keeps the history of this server's cache".to_owned(),
            evidence,
            fix: model::Fix { flag: only_missing.then(|| job.join("\n")), place, series },
            price: if only_missing {
                "a reload of the scraper; the server is not touched".to_owned()
            } else {
                String::new()
            },
            meanwhile: "plimsoll shows the moment".to_owned(),
        });
    }
    gaps
}
