//! What was seen from several places becomes one fleet: a server that two of them see is one server, and a router on one
//! host speaks of workers on another.

use std::collections::BTreeMap;
use std::net::IpAddr;

use engines::Tables;
use model::{Gap, HostReport, Note, SelfReport, Snapshot, Time, View};

use super::alone::Alone;
use super::candidate::Looked;
use super::join::Before;
use super::site::{Seen, Site};
use super::{follow, join};

/// The gap of a host that is not reached.
pub(crate) const UNREACHED: &str = "host-unreached";

/// The snapshot with the servers' material in its order, and all remarks. `before`: what was seen of the same before it.
pub(super) fn joined(
    sites: &[Site],
    tables: &Tables,
    before: Before<'_>,
    mut seen: Vec<Seen>,
    started: Time,
) -> (Snapshot, Vec<Looked>, Vec<Note>) {
    let abroad = Abroad::of(sites, &seen);
    let mut notes = Vec::new();
    for (at, (site, own)) in sites.iter().zip(&mut seen).enumerate() {
        own.looked.retain(|one| match abroad.better(at, site, one) {
            Some(better) => {
                let text = format!("{} is {better}: it is shown as what is seen there", one.candidate.url());
                notes.push(Note::new("same-server", text));
                false
            }
            None => true,
        });
        notes.append(&mut own.notes);
    }
    let (mut views, alone) = views(sites, &seen, &abroad);
    let hosts = sites.iter().zip(&seen).filter_map(|(site, own)| report(site, own)).collect::<Vec<HostReport>>();
    let mut gaps: Vec<Gap> = hosts.iter().filter_map(unreached).collect();
    gaps.extend(seen.iter_mut().flat_map(|own| own.elsewhere.drain(..)));
    let now = sense::clock::now();
    let mut own = SelfReport { took_s: now.since(started), ..SelfReport::default() };
    for (site, seen) in sites.iter().zip(&seen) {
        let counts = site.eye.place.counts();
        own.requests += counts.requests;
        own.failed += counts.failed;
        own.bytes += counts.bytes;
        own.denied += seen.denied;
    }
    let nows: Vec<Time> = seen.iter().map(|own| own.now.unwrap_or(now)).collect();
    let live = sites.iter().any(|site| site.eye.place.is_live());
    let newest = nows
        .iter()
        .copied()
        .fold(None, |newest: Option<Time>, time| Some(newest.filter(|newest| *newest > time).unwrap_or(time)));
    // Clocks of several live hosts differ: ours tells when they were looked at.
    let taken_at = if live && sites.len() > 1 { now } else { newest.unwrap_or(now) };
    let mut looked = Vec::new();
    for (at, own) in seen.into_iter().enumerate() {
        looked.extend(own.looked.into_iter().map(|one| Looked { site: at, ..one }));
    }
    for (one, told) in alone.all() {
        looked.push(one);
        views.push(told);
    }
    let (mut snapshot, looked) = join::snapshot(tables, before, looked, views, &nows, taken_at, own);
    snapshot.gaps.extend(gaps);
    snapshot.hosts = hosts;
    (snapshot, looked, notes)
}

/// What is told of a host that is not this one.
fn report(site: &Site, seen: &Seen) -> Option<HostReport> {
    Some(HostReport {
        via: site.name()?,
        unreachable: seen.failed.as_ref().map(|blind| blind.text.clone()),
        clock_ahead_s: site.eye.place.clock_ahead(),
        took_s: seen.took,
    })
}

fn unreached(host: &HostReport) -> Option<Gap> {
    Some(Gap {
        id: UNREACHED.to_owned(),
        server: None,
        what: format!("nothing is seen of {}", host.via),
        evidence: host.unreachable.clone()?,
        fix: model::Fix { flag: None, place: "the way there: see the evidence".to_owned(), series: Vec::new() },
        price: String::new(),
        meanwhile: String::new(),
    })
}

/// Servers of one site by the addresses that they have for the others.
struct Abroad(BTreeMap<(IpAddr, u16), Vec<(usize, String)>>);

impl Abroad {
    fn of(sites: &[Site], seen: &[Seen]) -> Abroad {
        let mut map: BTreeMap<(IpAddr, u16), Vec<(usize, String)>> = BTreeMap::new();
        if sites.len() > 1 {
            for (at, (site, own)) in sites.iter().zip(seen).enumerate() {
                // Addresses of containers' networks are the same on every host; a host's own are its own.
                let own_namespace = |one: &&Looked| {
                    one.candidate.process.as_ref().is_some_and(|own| own.same_netns_as_us == Some(true))
                };
                for one in own.looked.iter().filter(own_namespace) {
                    for target in one.candidate.targets() {
                        for address in site.eye.atlas.outside(target) {
                            map.entry((address, target.base.port)).or_default().push((at, one.candidate.url()));
                        }
                    }
                }
            }
        }
        Abroad(map)
    }

    /// The server at an address; none where several hosts have it: networks of containers are numbered alike everywhere.
    fn at(&self, address: (IpAddr, u16)) -> Option<&(usize, String)> {
        match self.0.get(&address)?.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The server of another site, seen from within there, that one which was asked from afar is.
    fn better(&self, site: usize, from: &Site, one: &Looked) -> Option<&str> {
        if one.candidate.part.is_some() || one.candidate.process.is_some() {
            return None;
        }
        if one.candidate.face().is_some_and(|face| !face.base.prefix.is_empty()) {
            return None;
        }
        let spots = one.candidate.spots(&from.eye.atlas);
        let homes = spots.iter().filter_map(|spot| self.at(spot.elsewhere()?));
        homes.into_iter().find(|(home, _)| *home != site).map(|(_, url)| url.as_str())
    }
}

/// Whether two spellings are one id: the same text, or one number in decimal and in hexadecimal digits.
fn is_same_id(one: &str, other: &str) -> bool {
    let same = |decimal: &str, hexadecimal: &str| {
        let number = |text, radix| u64::from_str_radix(text, radix).ok().filter(|_| text.len() > 5);
        number(decimal, 10).is_some_and(|number_of| number(hexadecimal, 16) == Some(number_of))
    };
    one == other || same(one, other) || same(other, one)
}

/// What the routers of all sites say about each server, site by site, and about workers that are none of them.
fn views(sites: &[Site], seen: &[Seen], abroad: &Abroad) -> (Vec<Vec<(String, View)>>, Alone) {
    let all = seen.iter().flat_map(|own| &own.looked);
    let urls: BTreeMap<String, usize> = all.enumerate().map(|(at, one)| (one.candidate.url(), at)).collect();
    let mut views = vec![Vec::new(); seen.iter().map(|own| own.looked.len()).sum()];
    let mut first = 0;
    let mut alone = Alone::default();
    for (number, (site, own)) in sites.iter().zip(seen).enumerate() {
        let index = follow::index(&site.eye, &own.looked);
        for router in &own.looked {
            let place = |named: &super::named::Named| {
                let here = index.of(named).map(|at| first + at);
                let mut there = named.spots.iter().filter_map(|spot| abroad.at(spot.elsewhere()?));
                here.or_else(|| urls.get(&there.next()?.1).copied())
            };
            let places: BTreeMap<&str, usize> =
                router.named.iter().filter_map(|named| Some((named.shown.as_str(), place(named)?))).collect();
            // A name that is no address is known among the servers of the router's own site alone.
            let calls_itself = |fact: &str, name: &str| {
                let named = |one: &Looked| one.account.fact(fact).is_some_and(|own| is_same_id(own, name));
                own.looked.iter().position(named).map(|at| first + at)
            };
            for view in &router.account.views {
                let place = match &view.by_fact {
                    Some(fact) => calls_itself(fact, &view.worker),
                    None => places.get(view.worker.as_str()).copied(),
                };
                if let Some(place) = place {
                    views[place].push((router.candidate.url(), view.clone()));
                } else if let Some(named) = router.named.iter().find(|named| named.shown == view.worker) {
                    let now = own.now.unwrap_or(site.eye.place.now());
                    alone.add((number, site, own), router, named, view, now);
                }
            }
        }
        first += own.looked.len();
    }
    (views, alone)
}
