//! Pages that were heard before: of the next one with the same lines only the numbers are read anew. What comes of it is
//! what hearing it whole gives (`pages_test.rs`).

use std::sync::{Arc, Mutex, PoisonError};

use wire::exposition::{Limits, Skeleton};

use super::hear::{Heard, hear};
use crate::table::{Source, Table, Wanted};

/// Pages that are kept: replicas of one server say the same but for their numbers, and a fleet has a few kinds of servers.
const MOST: usize = 16;
/// Bytes of all of them.
const MOST_BYTES: usize = 2 << 20;
/// One is given up for another when so many pages, one after the other, were none of those that are kept.
const PATIENCE: u32 = 256;

/// The pages that a fleet's servers gave last, without their numbers; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// The one that was met last comes first.
    pages: Vec<Page>,
    /// Pages that were none of these since one was.
    strange: u32,
}

/// One page, to one source of one table, with the rows that count there.
#[derive(Debug)]
struct Page {
    of: Arc<[Wanted]>,
    source: u16,
    count: Vec<bool>,
    skeleton: Skeleton,
    heard: Arc<Heard>,
}

impl Pages {
    /// What hearing `page` within `limits` gives, for the source at place `at` of the table's.
    pub(super) fn hear(
        &self,
        table: &Table,
        at: u16,
        source: &Source,
        count: &[bool],
        page: &[u8],
        limits: &Limits,
    ) -> (Arc<Heard>, Vec<f64>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.find(table, at, count, page) {
            return found;
        }
        let (heard, numbers) = hear(table, source, count, page, limits, None);
        let heard = Arc::new(heard);
        if let Some(skeleton) =
            kept.room(page).then(|| Skeleton::of(page, limits, &heard.summary, &heard.lines)).flatten()
        {
            let (of, count) = (Arc::clone(table.all_wanted()), count.to_vec());
            kept.add(Page { of, source: at, count, skeleton, heard: Arc::clone(&heard) });
        }
        (heard, numbers)
    }
}

impl Kept {
    fn find(&mut self, table: &Table, at: u16, count: &[bool], page: &[u8]) -> Option<(Arc<Heard>, Vec<f64>)> {
        let own =
            |known: &Page| known.source == at && known.count == count && Arc::ptr_eq(&known.of, table.all_wanted());
        let known = |(index, known): (usize, &Page)| Some((index, known.skeleton.numbers(page)?));
        let found = self.pages.iter().enumerate().filter(|(_, known)| own(known)).find_map(known);
        let Some((index, numbers)) = found else {
            self.strange = self.strange.saturating_add(1);
            return None;
        };
        self.strange = 0;
        self.pages[..=index].rotate_right(1);
        Some((Arc::clone(&self.pages[0].heard), numbers))
    }

    /// Whether another page is worth its room: where there is some, or those that are there are of no use.
    fn room(&self, page: &[u8]) -> bool {
        let bytes: usize = self.pages.iter().map(|page| page.skeleton.size()).sum();
        self.pages.len() < MOST && bytes + 2 * page.len() <= MOST_BYTES
            || self.strange >= PATIENCE && page.len() <= MOST_BYTES / 4
    }

    fn add(&mut self, page: Page) {
        self.pages.insert(0, page);
        let mut bytes = 0;
        self.pages.retain(|page| {
            bytes += page.skeleton.size();
            bytes <= MOST_BYTES
        });
        self.pages.truncate(MOST);
    }
}
