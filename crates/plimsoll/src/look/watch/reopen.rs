//! Something else is to be watched from now on, or with other keys: what is known already is taken along.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sense::Target;
use sense::http::Base;

use super::known::Led;
use super::{Pace, Watch, Watched};
use crate::look::site::Site;
use crate::look::{Looked, Opened};

impl Watch {
    /// Watches something else from now on. What is watched already keeps its numbers.
    pub(crate) fn reopen(&mut self, opened: Opened, pace: Pace) {
        let mut before = std::mem::replace(self, Watch::new(opened, pace));
        self.next_number = before.next_number;
        self.counts = before.counts;
        self.earlier = before.earlier;
        self.usual = before.usual;
        self.moves = before.moves;
        // Until it is searched anew, what is known of its addresses stands: else no router would know its workers.
        for place in &mut self.places {
            let Some(old) = before.places.iter_mut().find(|old| same_place(old, place)) else { continue };
            place.site.eye = Arc::new(place.site.eye.knowing(&old.site.eye));
            // A host that is looked at as a whole is as it was seen last.
            if place.site.eye.via.is_some() {
                place.seen = std::mem::take(&mut old.seen);
            }
        }
        let doors: Vec<Doors<'_>> = self.places.iter().map(|place| Doors::of(&place.site)).collect();
        for mut known in before.known.into_values() {
            let Some(old) = before.places.get(known.site) else { continue };
            let Some(site) = self.places.iter().position(|place| same_place(old, place)) else { continue };
            known.site = site;
            for one in &mut known.looked {
                // Other tables may make something else of what it said.
                (one.site, one.again) = (site, None);
            }
            known.busy = false;
            if known.whole > 0 {
                known.whole = site + 1;
                if old.site.plan.targets != self.places[site].site.plan.targets {
                    doors[site].keep(&mut known.looked);
                }
            } else {
                known.keep_pace(&self.pace);
                let named = known.depth > 0;
                known.open_anew(|target| doors[site].opened(target, named));
                // What is no longer given goes when the site was searched; workers go with their routers.
                if !named {
                    known.led = Led::Unconfirmed;
                }
            }
            let number = self.next_number;
            self.next_number += 1;
            known.looked.iter_mut().for_each(|one| one.known = number);
            self.known.insert(number, known);
        }
    }
}

fn same_place(old: &Watched, new: &Watched) -> bool {
    old.site.eye.via == new.site.eye.via && old.site.plan.via == new.site.plan.via
}

/// What opens what at a site.
struct Doors<'a> {
    site: &'a Site,
    given: BTreeMap<Base, Target>,
}

impl<'a> Doors<'a> {
    fn of(site: &'a Site) -> Doors<'a> {
        // That they are targets was found out when it was opened; of two for one place the first counts.
        let given = site.keys.targets(&site.plan.targets).unwrap_or_default();
        Doors { site, given: given.into_iter().rev().map(|target| (target.base.clone(), target)).collect() }
    }

    /// A target that was opened by something before; `named`: a router alone leads to it. Nothing of before is left.
    fn opened(&self, target: &Target, named: bool) -> Target {
        let bare = Target { namespace: target.namespace, ..Target::new(target.base.clone()) };
        if let Some(given) = self.given.get(&bare.base).filter(|_| !named) {
            return given.clone();
        }
        if self.site.searched() && !named {
            return self.site.keys.for_own(bare);
        }
        self.site.keys.listed(&bare).unwrap_or(bare)
    }

    /// Keeps, of the servers of a host that is looked at as a whole, those that are given, and their workers.
    fn keep(&self, looked: &mut Vec<Looked>) {
        if self.site.searched() {
            return;
        }
        let given = |one: &Looked| one.candidate.targets().any(|target| self.given.contains_key(&target.base));
        let urls: BTreeSet<String> = looked.iter().filter(|one| given(one)).map(|one| one.candidate.url()).collect();
        looked.retain(|one| given(one) || one.candidate.named_by.as_ref().is_some_and(|router| urls.contains(router)));
    }
}
