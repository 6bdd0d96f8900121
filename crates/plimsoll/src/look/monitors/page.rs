//! The pages that a scraper should fetch, and whether it does: whatever either of them calls the host.

use std::collections::BTreeSet;

use engines::table::{Need, Table};
use lint::ActiveTarget;
use model::{Finding, FindingState, Note, Readings};
use sense::Target;

use super::super::identity::{Space, Spot};
use super::super::{Eye, Looked};

/// The page of a server that tells its cache, or will once something is mended.
pub(super) struct Page<'a> {
    /// The port that has it.
    pub(super) target: &'a Target,
    /// Its path behind the target's own.
    pub(super) path: &'a str,
    /// The series on it that tell the cache.
    pub(super) series: Vec<String>,
    /// Those that tell how full it is.
    pub(super) telling: Vec<String>,
    /// What must be mended before it tells anything.
    pub(super) first: Option<String>,
    /// The site that it is on.
    pub(super) site: usize,
    /// Where it is, seen from its own site and from others.
    spots: (Vec<Spot>, Vec<Spot>),
}

impl<'a> Page<'a> {
    /// The page of a server; routers too, when their page tells it. None where no scraper would find the cache on it.
    pub(super) fn of(eye: &'a Eye, one: &'a Looked) -> Option<Page<'a>> {
        let (table, need, finding) = fullness(eye, one)?;
        let first = match (finding.state, &finding.fix) {
            _ if tells(need, one) => None,
            (FindingState::Found | FindingState::NotYet, _) => None,
            (FindingState::Off | FindingState::Broken, Some(fix)) => {
                Some(fix.flag.clone().unwrap_or_else(|| fix.place.clone()))
            }
            _ => return None,
        };
        let source = table.sources.iter().find(|known| known.id == need.source)?;
        let target = one.candidate.ports.get(&source.on)?;
        let series = engines::series_of(table, &one.account, &need.id);
        let telling = engines::telling_series_of(table, &one.account, &need.id);
        let telling = if telling.is_empty() { series.clone() } else { telling };
        let path = source.get.split('?').next().unwrap_or_default();
        (!series.is_empty()).then(|| Page { series, telling, first, ..Page::at(eye, one.site, target, path) })
    }

    /// A page that is at `path` of a target on a site.
    pub(super) fn at(eye: &Eye, site: usize, target: &'a Target, path: &'a str) -> Page<'a> {
        let mut whole = target.clone();
        whole.base.prefix += path;
        let outside = eye.atlas.outside(target).into_iter();
        let outside = outside.map(|address| Spot::remote(address, target.base.port, &whole.base.prefix)).collect();
        let spots = (eye.atlas.spots(&whole), outside);
        Page { target, path, series: Vec::new(), telling: Vec::new(), first: None, site, spots }
    }
}

/// The need of a server that is about how full its cache is, for a scraper, and how it stands.
fn fullness<'a>(eye: &'a Eye, one: &'a Looked) -> Option<(&'a Table, &'a Need, &'a Finding)> {
    let table = eye.tables.get(one.account.engine.as_deref()?)?;
    let mut needs = table.needs.iter().filter(|need| !need.fullness.is_empty());
    needs.find_map(|need| Some((table, need, one.findings.iter().find(|finding| finding.id == need.id)?)))
}

/// Whether a page had one of the numbers that suffice, whatever else the need wants.
fn tells(need: &Need, one: &Looked) -> bool {
    let has = |readings: &Readings| {
        need.fullness.iter().any(|signal| readings.get(signal).is_some_and(|reading| reading.value.is_some()))
    };
    let account = &one.account;
    account.sets.iter().any(|set| set.source == need.source && has(&set.readings))
        || account.views.iter().any(|view| view.source == need.source && has(&view.readings))
}

/// That no scraper finds the cache on the page of a server, and why.
pub(super) fn not_worth_it(eye: &Eye, one: &Looked) -> Option<Note> {
    let (_, need, finding) = fullness(eye, one)?;
    if tells(need, one)
        || ![FindingState::NotOffered, FindingState::NotNeeded, FindingState::Dead].contains(&finding.state)
    {
        return None;
    }
    let why = &finding.evidence;
    Some(Note::new("not-worth-scraping", format!("{}: not worth scraping for the cache: {why}", one.candidate.url())))
}

/// What a scraper fetches, as far as it can be one of the pages.
pub(super) struct Scraper<'a> {
    fetched: Vec<(Vec<Spot>, &'a ActiveTarget)>,
    /// The site that it is on.
    site: Option<usize>,
}

impl<'a> Scraper<'a> {
    /// Reads the addresses of `active` as the scraper at `own` means them: its loopback is not ours, unless it runs where
    /// we do.
    pub(super) async fn new(
        eye: &Eye,
        own: &Target,
        (site, space): (Option<usize>, Option<Space>),
        active: &'a [ActiveTarget],
        pages: &[(&Looked, Page<'_>)],
    ) -> Scraper<'a> {
        let ports: BTreeSet<u16> = pages.iter().map(|(_, page)| page.target.base.port).collect();
        let parsed = active.iter().filter_map(|one| Some((address(&one.url)?, one)));
        let mut fetched: Vec<(Target, &ActiveTarget)> =
            parsed.filter(|(target, _)| ports.contains(&target.base.port)).collect();
        for (target, _) in &mut fetched {
            if space.is_none() && target.base.is_loopback() {
                target.base.host.clone_from(&own.base.host);
            }
        }
        eye.atlas.learn_names(&eye.place, fetched.iter().map(|(target, _)| target)).await;
        let space = space.unwrap_or_else(|| eye.atlas.ours());
        let spots = |(target, one): (Target, &'a ActiveTarget)| (eye.atlas.spots_in(&target, space), one);
        Scraper { fetched: fetched.into_iter().map(spots).collect(), site }
    }

    /// Its target that is this page.
    pub(super) fn scrapes(&self, page: &Page<'_>) -> Option<&'a ActiveTarget> {
        let spots = if self.site == Some(page.site) { &page.spots.0 } else { &page.spots.1 };
        let hit = self.fetched.iter().find(|(fetched, _)| fetched.iter().any(|spot| spots.contains(spot)));
        hit.map(|(_, target)| *target)
    }
}

/// The address that is fetched, its parameters left out.
fn address(url: &str) -> Option<Target> {
    url.split('?').next()?.parse().ok()
}
