//! Families: which processes descend from which.

use std::collections::{BTreeMap, BTreeSet};

/// Parents and children of all processes.
#[derive(Debug, Default)]
pub(super) struct Family {
    children: BTreeMap<u32, Vec<u32>>,
}

impl Family {
    /// Notes that `child` is one of `parent`.
    pub(super) fn add(&mut self, child: u32, parent: u32) {
        self.children.entry(parent).or_default().push(child);
    }

    /// `pid` and all its descendants, at most `most`, nearest first.
    pub(super) fn of(&self, pid: u32, most: usize) -> Vec<u32> {
        let mut found = vec![pid];
        // pids are reused, so that a list taken over some time can have a ring in it
        let mut known = BTreeSet::from([pid]);
        let mut next = 0;
        while let Some(parent) = found.get(next) {
            for &child in self.children.get(parent).into_iter().flatten() {
                if found.len() < most && known.insert(child) {
                    found.push(child);
                }
            }
            next += 1;
        }
        found
    }
}
