//! The clock of this host may be set. What was said before is as old then as it was.

use model::{Account, Readings, Time};

use super::Watch;
use super::known::Led;
use crate::look::candidate::Looked;

impl Watch {
    /// The clock was set forward by so many seconds, or back where they are negative.
    pub(crate) fn clock_set(&mut self, by: f64) {
        let set = |time: &mut Time| *time = time.plus(by);
        for place in &mut self.places {
            set(&mut place.next);
        }
        for known in self.known.values_mut() {
            set(&mut known.next);
            known.asked.as_mut().map(set);
            known.answered.as_mut().map(set);
            if let Led::Lost(since, _) = &mut known.led {
                set(since);
            }
            known.looked.iter_mut().for_each(|one| moved(one, by));
            // A journal's times are of the clock before; it cannot be read on by them.
            known.kept.beside = None;
            known.kept.observations.iter_mut().for_each(|seen| set(&mut seen.at));
        }
        self.usual.values_mut().for_each(|usual| usual.clock_set(by));
        // Windows of before and after the step cannot be compared.
        self.earlier.clear();
    }
}

fn moved(one: &mut Looked, by: f64) {
    one.again = None;
    if let Some((_, copy)) = &mut one.relayed {
        copy.at = copy.at.plus(by);
    }
    if let Some(relay) = &mut one.relay {
        relay.at = relay.at.plus(by);
        account(&mut relay.own, by);
    }
    account(&mut one.account, by);
}

fn account(account: &mut Account, by: f64) {
    let readings = |readings: &mut Readings| {
        for at in readings.values_mut().filter_map(|reading| reading.at.as_mut()) {
            *at = at.plus(by);
        }
    };
    for set in &mut account.sets {
        set.at = set.at.plus(by);
        readings(&mut set.readings);
    }
    for value in &mut account.values {
        if let Some(at) = &mut value.reading.at {
            *at = at.plus(by);
        }
    }
    account.views.iter_mut().for_each(|view| readings(&mut view.readings));
}
