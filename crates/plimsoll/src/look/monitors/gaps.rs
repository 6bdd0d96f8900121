//! The gaps that the watchers leave: servers that nobody scrapes, and what to write where so that somebody does.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use lint::{Door, Job, Kind};
use model::{Fix, Gap};
use sense::Credentials;
use sense::http::Scheme;

use super::page::Page;
use super::{Scraped, Watcher};
use crate::look::{Eye, Look, Looked};

/// The gaps: one for each server whose scraping fails, and for each site one for all that nobody scrapes.
pub(crate) fn gaps(watchers: &[Watcher], look: &Look) -> Vec<Gap> {
    let scraping: Vec<&Watcher> = watchers.iter().filter(|watcher| watcher.kind == "scrapes").collect();
    let mut gaps = Vec::new();
    for (at, site) in look.sites.iter().enumerate() {
        if look.monitors.is_empty() && !site.searched() {
            continue;
        }
        let mut missing: Vec<(&Looked, Page)> = Vec::new();
        for one in look.looked.iter().filter(|one| one.site == at) {
            let Some(page) = Page::of(&site.eye, one) else { continue };
            match failed(&scraping, one) {
                Scraping::Well => {}
                Scraping::Fails(watcher, scraped) => gaps.push(failing(watcher, scraped, page.series)),
                Scraping::None => missing.push((one, page)),
            }
        }
        gaps.extend(unscraped(&site.eye, &scraping, &missing));
    }
    gaps
}

/// How it stands with the scraping of one server.
enum Scraping<'a> {
    Well,
    Fails(&'a Watcher, &'a Scraped),
    None,
}

fn failed<'a>(scraping: &[&'a Watcher], one: &Looked) -> Scraping<'a> {
    let url = one.candidate.url();
    let own = |watcher: &&'a Watcher| Some((*watcher, watcher.servers.iter().find(|scraped| scraped.server == url)?));
    let seen: Vec<(&Watcher, &Scraped)> = scraping.iter().filter_map(own).collect();
    if seen.iter().any(|(_, scraped)| ["fresh", "scraped", "not_yet"].contains(&scraped.state)) {
        return Scraping::Well;
    }
    let fails = seen.into_iter().find(|(_, scraped)| scraped.state != "not_scraped");
    fails.map_or(Scraping::None, |(watcher, scraped)| Scraping::Fails(watcher, scraped))
}

fn failing(watcher: &Watcher, scraped: &Scraped, series: Vec<String>) -> Gap {
    Gap {
        id: "not-scraped".to_owned(),
        server: Some(scraped.server.clone()),
        what: "nobody keeps the history of this server's cache".to_owned(),
        evidence: format!("{} at {}: {}", watcher.title, watcher.url, scraped.detail),
        fix: Fix { flag: None, place: configuration(watcher), series },
        price: String::new(),
        meanwhile: "plimsoll shows the moment".to_owned(),
    }
}

/// The one gap for all servers that nobody scrapes.
fn unscraped(eye: &Eye, scraping: &[&Watcher], missing: &[(&Looked, Page<'_>)]) -> Option<Gap> {
    let urls: Vec<String> = missing.iter().map(|(one, _)| one.candidate.url()).collect();
    let (first, others) = urls.split_first()?;
    let whose =
        if others.is_empty() { "this server's cache".to_owned() } else { format!("the caches of {}", urls.join(", ")) };
    let (asked, unasked): (Vec<&Watcher>, Vec<&Watcher>) =
        scraping.iter().copied().partition(|watcher| watcher.unreachable.is_none());
    let mut evidence: Vec<String> = asked
        .iter()
        .map(|watcher| format!("{} at {}: not among its active targets", watcher.title, watcher.url))
        .chain(unasked.iter().map(|watcher| {
            let why = watcher.unreachable.as_deref().unwrap_or_default();
            format!("{} at {} could not be asked: {why}", watcher.title, watcher.url)
        }))
        .collect();
    let mut series: Vec<String> = missing.iter().flat_map(|(_, page)| page.series.iter().cloned()).collect();
    let mut known = BTreeSet::new();
    series.retain(|name| known.insert(name.clone()));
    let gap = |what: String, evidence: &[String], fix: Fix, price: &str| Gap {
        id: "not-scraped".to_owned(),
        server: others.is_empty().then(|| first.clone()),
        what,
        evidence: evidence.join("; "),
        fix,
        price: price.to_owned(),
        meanwhile: "plimsoll shows the moment".to_owned(),
    };
    if let (true, Some(watcher)) = (asked.is_empty(), unasked.first()) {
        let place = format!("the way to {} at {}: see the evidence", watcher.title, watcher.url);
        let what = format!("whether anybody keeps the history of {whose} could not be asked");
        return Some(gap(what, &evidence, Fix { flag: None, place, series }, ""));
    }
    let unready = missing.iter().filter_map(|(one, page)| Some((one.candidate.url(), page.first.as_ref()?)));
    evidence.extend(
        unready.map(|(url, first)| format!("{url}: before that its page has nothing of the cache, so first {first}")),
    );
    let scraper = asked.first().copied();
    let jobs = jobs(eye, scraper, missing, &mut evidence);
    let place = if let Some(watcher) = scraper {
        configuration(watcher)
    } else {
        let scrapers = lint::monitors().titles(Some(Kind::Scrapes), "or");
        evidence.push(format!("no {scrapers} was found"));
        format!("{scrapers}, to be set up on this host")
    };
    let place = format!(
        "{place} (a whole configuration as it stands; where scrape_configs is there already, the lines below the first \
         are items for it)"
    );
    let what = format!("nobody keeps the history of {whose}");
    let fix = Fix { flag: Some(lint::scrape_configs(&jobs).join("\n")), place, series };
    Some(gap(what, &evidence, fix, "a reload of the scraper; the server is not touched"))
}

fn configuration(watcher: &Watcher) -> String {
    watcher.config.clone().unwrap_or_else(|| format!("the configuration of {}", watcher.title))
}

/// One job for all pages that are fetched alike.
fn jobs(
    eye: &Eye,
    scraper: Option<&Watcher>,
    missing: &[(&Looked, Page<'_>)],
    evidence: &mut Vec<String>,
) -> Vec<(Job, Vec<String>)> {
    let mut jobs: BTreeMap<Job, Vec<String>> = BTreeMap::new();
    for (one, page) in missing {
        let target = page.target;
        let job = Job {
            name: format!("plimsoll-{}", one.account.engine.as_deref().unwrap_or("llm")),
            https: target.base.scheme == Scheme::Https,
            own_ca: target.tls.ca.is_some() || target.tls.pin.is_some(),
            path: format!("{}{}", target.base.prefix, page.path),
            door: match target.credentials {
                Credentials::None => Door::Open,
                Credentials::Bearer(_) => Door::Bearer,
                Credentials::Basic { .. } => Door::Basic,
            },
        };
        jobs.entry(job).or_default().push(host(eye, scraper, page, evidence));
    }
    let mut names = BTreeMap::new();
    jobs.into_iter()
        .map(|(mut job, hosts)| {
            let count: &mut usize = names.entry(job.name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                job.name = format!("{}-{count}", job.name);
            }
            (job, hosts)
        })
        .collect()
}

/// A page's host and port as the scraper sees them.
fn host(eye: &Eye, scraper: Option<&Watcher>, page: &Page<'_>, evidence: &mut Vec<String>) -> String {
    let base = &page.target.base;
    let spelled = match base.host.parse() {
        Ok(address) => SocketAddr::new(address, base.port).to_string(),
        Err(_) => format!("{}:{}", base.host, base.port),
    };
    let home = eye.atlas.home(page.target);
    // One that is still to be set up is set up here.
    let from = scraper.map_or(Some(eye.atlas.ours()), |watcher| watcher.space);
    let Some(home) = home.filter(|home| base.is_loopback() && Some(*home) != from) else { return spelled };
    match eye.atlas.outside_address(home, base.port) {
        Ok(Some(address)) => SocketAddr::new(address, base.port).to_string(),
        Ok(None) => format!("<address of this host>:{}", base.port),
        Err(()) => {
            evidence.push(format!("{} listens on loopback only, where this scraper does not reach it", page.target));
            format!("<address of this host>:{}", base.port)
        }
    }
}
