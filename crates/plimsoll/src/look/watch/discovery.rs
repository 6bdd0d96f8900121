//! What is on a host, searched again and again: servers that came, restarted, moved or went.

use std::collections::BTreeSet;

use anyhow::Result;
use model::{Gap, Note, Time};
use sense::Target;

use super::known::{Known, Led};
use super::{AGAIN_S, Move, Watch};
use crate::look::candidate::Candidate;
use crate::look::discover::{self, Found};
use crate::look::site::{self, Site};
use crate::look::{beside, given_logs};

/// What was found.
pub(super) struct Discovered {
    candidates: Vec<Candidate>,
    notes: Vec<Note>,
    denied: u64,
    elsewhere: Vec<Gap>,
    took: f64,
}

/// Searches a site, or takes what was given there; `hardware`: also what accelerators hold. Names of the `known` are
/// resolved anew.
pub(super) async fn of(site: &Site, hardware: bool, known: &[Target]) -> Result<Discovered> {
    let started = sense::clock::now();
    let eye = &site.eye;
    eye.atlas.learn_ours(&eye.place).await;
    let explicit = site.keys.targets(&site.plan.targets).map_err(crate::wrong_usage)?;
    let found =
        if site.searched() { discover::this_host(eye, &site.keys).await? } else { site::given(eye, explicit).await };
    let Found { mut candidates, mut notes, denied, elsewhere } = found;
    notes.extend(given_logs::place(eye, &site.plan.logs, &mut candidates).await?);
    let processes = beside::prepare(eye, &mut candidates).await;
    if hardware && !processes.is_empty() {
        let held = beside::hardware(eye, &processes).await;
        for candidate in &mut candidates {
            let own = processes.iter().position(|process| Some(process.pid) == candidate.place.pid);
            candidate.hardware = own.and_then(|at| held.get(at).cloned()).unwrap_or_default();
        }
    }
    eye.atlas.learn_names(&eye.place, known.iter()).await;
    Ok(Discovered { candidates, notes, denied, elsewhere, took: sense::clock::now().since(started) })
}

impl Watch {
    /// A search of the site `at` came back.
    pub(super) fn found(&mut self, at: usize, now: Time, found: Result<Discovered>) {
        let place = &mut self.places[at];
        place.busy = false;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                place.next = now.plus(AGAIN_S);
                place.seen.notes = vec![Note::new("search-failed", format!("{error:#}"))];
                place.seen.now = Some(now);
                return;
            }
        };
        place.next = now.plus(self.pace.search.max(found.took / super::pace::DUTY));
        (place.seen.notes, place.seen.denied) = (found.notes, found.denied);
        (place.seen.elsewhere, place.seen.now, place.seen.took) = (found.elsewhere, Some(now), found.took);
        let mut there: Vec<usize> = Vec::new();
        for candidate in found.candidates {
            there.push(self.met(at, candidate));
        }
        for (number, known) in &mut self.known {
            if known.site != at || known.whole > 0 || known.depth > 0 || there.contains(number) {
                continue;
            }
            if known.led != Led::Unconfirmed {
                known.lose(now, "its process is gone");
            }
        }
        self.forget(now);
    }

    /// Puts what was found to what is known: the number.
    fn met(&mut self, at: usize, mut candidate: Candidate) -> usize {
        let atlas = &self.places[at].site.eye.atlas;
        let spots = candidate.spots(atlas);
        let same = |known: &Known| {
            let one_process = candidate.place.pid.is_some() && known.found.place.pid == candidate.place.pid;
            one_process || known.found.spots(atlas).iter().any(|spot| spots.contains(spot))
        };
        let of_site = |known: &&mut Known| known.site == at && known.whole == 0;
        if let Some((number, known)) =
            self.known.iter_mut().filter(|(_, known)| of_site(known)).find(|(_, known)| same(known))
        {
            if candidate.hardware.gpus.is_empty() && candidate.place.pid == known.found.place.pid {
                candidate.hardware = std::mem::take(&mut known.found.hardware);
            }
            let restarted = differs(&known.found, &candidate);
            let url = candidate.url();
            known.led = Led::There;
            // Found on its own now, whoever named it before.
            known.depth = 0;
            if let Some(pid) = restarted {
                self.moves.push(Move::Restarted(url, pid));
                known.begin_anew(candidate);
            } else {
                known.refound(candidate);
            }
            return *number;
        }
        // A unit that came back on another port is the same server.
        let unit = candidate.place.unit.clone();
        let gone =
            |known: &Known| matches!(known.led, Led::Lost(..)) && unit.is_some() && known.found.place.unit == unit;
        let before = self.known.iter().filter(|(_, known)| known.site == at).find(|(_, known)| gone(known));
        if let Some((number, known)) = before {
            let (number, old) = (*number, known.found.url());
            self.moves.push(Move::Moved(old, candidate.url()));
            self.known.remove(&number);
        }
        let number = self.next_number;
        self.next_number += 1;
        self.known.insert(number, Known::new(at, candidate, 0));
        number
    }

    /// Lets go of what led nowhere for long.
    pub(super) fn forget(&mut self, now: Time) {
        let forget_s = self.pace.forget;
        let mut gone = Vec::new();
        let urls: BTreeSet<String> = self.known.values().flat_map(Known::urls).collect();
        for known in self.known.values_mut().filter(|known| known.depth > 0) {
            if known.found.named_by.as_ref().is_some_and(|router| !urls.contains(router)) {
                known.led = Led::Unconfirmed;
            }
        }
        self.known.retain(|_, known| {
            let (over, why) = match &known.led {
                Led::There => return true,
                // What was taken from the list goes at once.
                Led::Unconfirmed => (!known.busy, "it is no longer to be watched"),
                Led::Lost(since, why) => {
                    // What still answers is still there, whoever stopped naming it.
                    let answers = known.failed == 0 && known.answered.is_some_and(|at| at.since(*since) > 0.0);
                    (now.since(*since) > forget_s && !answers, why.as_str())
                }
            };
            if over {
                gone.extend(known.urls().into_iter().map(|url| Move::Gone(url, why.to_owned())));
            }
            !over
        });
        self.moves.extend(gone);
    }
}

/// The new process, where it is another one than before.
fn differs(before: &Candidate, now: &Candidate) -> Option<u32> {
    let (old, new) = (before.process.as_ref()?, now.process.as_ref()?);
    (!old.is(new)).then_some(new.pid)
}

impl Known {
    /// The same was found again: what it holds of its host is new.
    fn refound(&mut self, candidate: Candidate) {
        let (hardware, logs, writes) = (candidate.hardware.clone(), candidate.logs.clone(), candidate.writes.clone());
        self.found = candidate;
        self.refresh(|settled| {
            (settled.hardware, settled.logs, settled.writes) = (hardware, logs, writes);
        });
    }
}
