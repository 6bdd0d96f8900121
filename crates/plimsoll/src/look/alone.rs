//! Workers of which their routers alone tell: those that cannot be asked, or of which only a router's answer was saved.
//! Each is a server of the fleet, by its router's word.

use model::{Role, Time, View};

use super::candidate::{Candidate, Looked};
use super::identity::Spot;
use super::named::Named;
use super::site::{Seen, Site};

/// The workers that were found so far.
#[derive(Default)]
pub(super) struct Alone(Vec<Told>);

/// One worker.
struct Told {
    site: usize,
    /// The router that named it first, and what it calls it.
    router: String,
    shown: String,
    spots: Vec<Spot>,
    looked: Looked,
    views: Vec<(String, View)>,
}

impl Alone {
    /// Takes what `router` says of a worker that is none of the servers that were looked at, where that may stand in.
    pub(super) fn add(&mut self, site: (usize, &Site, &Seen), router: &Looked, named: &Named, view: &View, now: Time) {
        let (at, from, seen) = site;
        let is_router = |one: &Looked| one.account.fact("role") == Some(Role::Router.name());
        // A saved page says nothing of where it is from: it may be this very worker's.
        let may_be_another = from.plan.files && !seen.looked.iter().all(is_router);
        let listed = router.account.workers.iter().find(|worker| named.listed && worker.url == named.shown);
        let Some(worker) = listed.filter(|_| fleet::may_stand(view) && !may_be_another) else { return };
        let url = router.candidate.url();
        let said = (url.clone(), view.clone());
        if let Some(known) = self.0.iter_mut().find(|known| known.is(at, &url, named)) {
            known.views.push(said);
            return;
        }
        let why = named.unread.clone().unwrap_or_else(|| format!("{}: it was not asked itself", named.shown));
        let account = fleet::told_alone(&url, worker, &why, now);
        let candidate = Candidate {
            title: Some(named.url()),
            named_by: Some(url.clone()),
            via: from.eye.via.clone(),
            alone: Some(named.host()),
            ..Candidate::nothing()
        };
        let looked = Looked { site: at, ..Looked::of(candidate, account) };
        let (shown, spots) = (named.shown.clone(), named.spots.clone());
        self.0.push(Told { site: at, router: url, shown, spots, looked, views: vec![said] });
    }

    /// Each of them with what routers say about it.
    pub(super) fn all(self) -> impl Iterator<Item = (Looked, Vec<(String, View)>)> {
        self.0.into_iter().map(|told| (told.looked, told.views))
    }
}

impl Told {
    /// Whether a router at `site` means this one.
    fn is(&self, site: usize, router: &str, named: &Named) -> bool {
        let same_router = self.router == router && self.shown == named.shown;
        let meets = |spot: &&Spot| self.site == site || spot.elsewhere().is_some();
        same_router || self.spots.iter().filter(meets).any(|spot| named.spots.contains(spot))
    }
}
