//! Families of our own health.

use std::collections::BTreeSet;

use model::{Reading, Snapshot};

use crate::fixed::Fixed;
use crate::label::{describe, with};
use crate::pages::Families;
use crate::{Health, SCHEMA, Target};

/// Adds how the looks at each target go, and the history. Gives the number of targets that were passed over.
pub(crate) fn add(families: &mut Families, own: &Health) -> usize {
    let mut targets: Vec<&Target> = own.targets.iter().collect();
    targets.sort_by(|one, other| one.url.cmp(&other.url));
    let mut passed_over = 0;
    let mut seen = BTreeSet::new();
    for target in targets {
        let labels = with("", "server", &target.url);
        if !seen.insert(labels.clone()) {
            passed_over += 1;
            continue;
        }
        let told = [
            (Fixed::ScrapeAge, target.age_s),
            // No answer takes no time: a look that was given up has none.
            (Fixed::ScrapeDuration, target.took_s.filter(|took| *took > 0.0)),
            (Fixed::ScrapeInterval, Some(target.every_s)),
            (Fixed::ScrapeDuty, target.duty.filter(|duty| *duty > 0.0)),
            (Fixed::Looks, Some(target.looks as f64)),
            (Fixed::LooksFailed, Some(target.failed as f64)),
            (Fixed::LooksDropped, Some(target.dropped as f64)),
        ];
        for (family, value) in told {
            if let Some(value) = value {
                families.fixed(family, &labels, value);
            }
        }
    }
    if let Some(history) = own.history {
        families.fixed(Fixed::HistoryBytes, "", history.bytes as f64);
        families.fixed(Fixed::HistoryLimit, "", history.limit_bytes as f64);
        families.fixed(Fixed::HistoryLost, "", history.lost_looks as f64);
        families.fixed(Fixed::HistoryUp, "", f64::from(u8::from(history.works)));
    }
    passed_over
}

/// Adds what is said once a page.
pub(crate) fn add_page(families: &mut Families, snapshot: &Snapshot, own: &Health, passed_over: usize) {
    let fleet = &snapshot.fleet;
    for (family, reading) in
        [(Fixed::FleetInUseMax, &fleet.in_use_max), (Fixed::FleetInUseWeighted, &fleet.in_use_weighted)]
    {
        if let Some(value) = Reading::fresh(reading) {
            families.fixed(family, "", value);
        }
    }
    let of_hosts = snapshot.gaps.iter().filter(|gap| gap.server.is_none()).count();
    families.fixed(Fixed::HostGaps, "", of_hosts as f64);
    families.fixed(Fixed::SnapshotTime, "", snapshot.taken_at.0);
    if let Some(started) = own.started_at {
        families.fixed(Fixed::StartTime, "", started.0);
    }
    families.fixed(Fixed::PassedOver, "", passed_over as f64);
    let mut labels = String::new();
    describe(&mut labels, "version", Some(&own.version));
    families.fixed(Fixed::BuildInfo, &with(&labels, "schema", SCHEMA), 1.0);
}
