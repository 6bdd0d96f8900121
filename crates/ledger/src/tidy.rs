//! What is to be done besides writing the log, a piece at a time.

use std::sync::Arc;

use crate::error::Error;
use crate::ledger::Ledger;

/// So many events go into a segment together.
const MANY_EVENTS: usize = 1024;

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
        self.tell_damage()?;
        self.remove_leftovers()?;
        self.thin_some(now)
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
