//! What is to be done besides writing the log, a piece at a time.

use std::sync::Arc;

use crate::error::Error;
use crate::ledger::Ledger;

/// So many events go into a segment together.
const MANY_EVENTS: usize = 1024;
/// The time of a target's last look is not known any more so long after it: only a clock that goes back needs it.
const FORGET_MS: u64 = 86_400_000;

impl Ledger {
    /// Does one piece of what is due: a chunk of one target, the thinning of one, freeing the log. `now` is in milliseconds
    /// since 1970. True where something was done and there may be more; to be called while there is nothing else to do.
    /// A piece takes milliseconds for tens of series, and tens of milliseconds for hundreds.
    pub fn tidy(&mut self, now: i64) -> Result<bool, Error> {
        self.stuck = false;
        if self.wal.suspect {
            self.settle()?;
            return Ok(true);
        }
        if let Some(target) = self.due(now) {
            self.store_looks(&target)?;
            return Ok(true);
        }
        if self.shared.now().events.len() >= MANY_EVENTS {
            self.store_events()?;
            return Ok(true);
        }
        // Several files, so that the oldest can go while the others are needed.
        if self.wal.own_bytes() > self.options.log_bytes / 8 {
            self.wal.turn(&self.disk)?;
            return Ok(true);
        }
        if self.wal.bytes() > self.options.log_bytes / 2 && self.relieve()? {
            return Ok(true);
        }
        let view = self.shared.now();
        let span = view.segments.last().and_then(|last| last.span());
        if self.growing && span.is_some_and(|(from, _)| now.saturating_sub(from) > self.options.segment_ms) {
            self.growing = false;
        }
        self.forget_targets(now);
        self.tell_damage()?;
        self.remove_leftovers()?;
        self.thin_some(now)
    }

    /// Forgets targets that have had no look for long: names come and go without end.
    fn forget_targets(&mut self, now: i64) {
        // A second time only when there are many more, since it walks over all.
        if self.newest.len() <= self.targets.saturating_mul(2) {
            return;
        }
        let view = self.shared.now();
        self.newest.retain(|target, time| view.looks.contains_key(target) || now.abs_diff(*time) < FORGET_MS);
        self.newest.shrink_to_fit();
        self.targets = self.newest.len();
    }

    /// A target whose looks are to become a chunk.
    fn due(&self, now: i64) -> Option<Arc<str>> {
        let view = self.shared.now();
        let due = |looks: &Vec<_>| {
            let first: Option<&Arc<crate::look::Look>> = looks.first();
            looks.len() >= self.options.chunk_looks
                || first.is_some_and(|first| now.saturating_sub(first.time) >= self.options.chunk_ms)
        };
        view.looks.iter().find(|(_, looks)| due(looks)).map(|(target, _)| target.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Key, Ledger, Options, Sample};

    #[test]
    fn targets_that_come_and_go_are_forgotten() {
        const DAY: i64 = 86_400_000;
        let folder = tempfile::tempdir().expect("a folder");
        let options = || Options { chunk_looks: 1, thin: vec![], ..Options::default() };
        let (mut ledger, _) = Ledger::open(folder.path(), options()).expect("a ledger");
        // Two hundred new names a day, and one that stays.
        for day in 0..5 {
            for number in 0..201 {
                let target = if number == 0 { "stays".to_owned() } else { format!("pod-{day}-{number}") };
                let shape = ledger.shape(&target, vec![Key::new(["a"])]).expect("a shape");
                ledger.append(&shape, day * DAY, &[Sample::Value(1.0)]).expect("a look");
            }
            while ledger.tidy(day * DAY).expect("tidied") {}
            // Those of two days at most, and as many again before it is looked at.
            assert!(ledger.newest.len() <= 4 * 201, "day {day}: {}", ledger.newest.len());
        }
        assert!(ledger.newest.contains_key("stays"));
        drop(ledger);
        let (mut ledger, _) = Ledger::open(folder.path(), options()).expect("a ledger");
        while ledger.tidy(10 * DAY).expect("tidied") {}
        assert_eq!(ledger.newest.len(), 0);
    }
}
