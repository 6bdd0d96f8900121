//! Workers that routers name: they come, and go, as their routers say.

use std::collections::BTreeSet;

use model::Time;

use super::Watch;
use super::known::{Known, Led};
use crate::look::candidate::Looked;
use crate::look::{Eye, follow};

impl Watch {
    /// Follows the router `number` to its workers.
    pub(super) fn follow(&mut self, number: usize) {
        let Some(router) = self.known.get(&number) else { return };
        let (site, depth) = (router.site, router.depth);
        let eye = std::sync::Arc::clone(&self.places[site].site.eye);
        let keys = self.places[site].site.keys.clone();
        // All servers of the site, the router's last: it alone is new.
        let mut looked: Vec<Looked> = Vec::new();
        for (other, known) in &mut self.known {
            if known.site == site && *other != number {
                looked.extend(known.looked.drain(..).map(|one| Looked { known: *other, ..one }));
                // One that was not asked yet is known all the same.
                if known.asked.is_none() && known.whole == 0 && known.looked.is_empty() {
                    let waiting = Looked::of(known.found.clone(), model::Account::default());
                    looked.push(Looked { known: usize::MAX, ..waiting });
                }
            }
        }
        let first_new = looked.len();
        if let Some(router) = self.known.get_mut(&number) {
            looked.extend(router.looked.drain(..).map(|one| Looked { known: number, ..one }));
        }
        let wave = follow::workers(&eye, &mut looked, first_new, &keys);
        let listed: BTreeSet<_> = looked[first_new..]
            .iter()
            .flat_map(|one| one.named.iter().filter(|named| named.listed))
            .flat_map(|named| named.spots.iter().cloned())
            .collect();
        let readable = looked[first_new..].iter().all(|one| one.account.silent().is_none() && !one.named.is_empty());
        let url = looked.get(first_new).map(|one| one.candidate.url());
        for one in looked {
            if let Some(known) = self.known.get_mut(&one.known) {
                known.looked.push(one);
            }
        }
        let now = sense::clock::now();
        if readable && let Some(url) = url {
            self.unnamed(&url, &eye, &listed, now);
        }
        if depth + 1 < follow::DEPTH {
            for candidate in wave {
                self.known.insert(self.next_number, Known::new(site, candidate, depth + 1));
                self.next_number += 1;
            }
        }
    }

    /// Marks the workers that only this router named, and that it names no more; and those that it names again.
    fn unnamed(&mut self, router: &str, eye: &Eye, listed: &BTreeSet<crate::look::identity::Spot>, now: Time) {
        for known in self.known.values_mut() {
            if known.depth == 0 || known.found.named_by.as_deref() != Some(router) {
                continue;
            }
            if known.found.spots(&eye.atlas).iter().any(|spot| listed.contains(spot)) {
                known.led = Led::There;
            } else {
                known.led.lose(now, &format!("its router {router} names it no more"));
            }
        }
    }
}
