//! What was taken apart at one look, for the next one that goes on from the same answers.

use std::sync::Arc;

use model::{Observation, Time};
use serde_json::Value;

use super::{Asked, Body};
use crate::table::{Format, Table, Wanted};

/// Answers in JSON as trees. An answer is known again by where and when it was given, and only by the table that took it apart:
/// what another one reads may have been left out.
#[derive(Debug, Clone, Default)]
pub struct Trees {
    of: Option<Arc<[Wanted]>>,
    known: Vec<Tree>,
}

#[derive(Debug, Clone)]
struct Tree {
    source: usize,
    url: String,
    at: Time,
    length: usize,
    root: Arc<Value>,
}

impl Tree {
    /// A body that was given up has no length.
    fn is_of(&self, observation: &Observation) -> bool {
        let length = observation.outcome.as_ref().map_or(0, |answer| answer.body.len());
        self.at == observation.at && (self.length == length || length == 0) && self.url == observation.url
    }
}

impl Trees {
    /// What this observation was for the source at that place.
    pub(super) fn find(&self, table: &Table, source: usize, observation: &Observation) -> Option<Arc<Value>> {
        self.of.as_ref().filter(|of| Arc::ptr_eq(of, table.all_wanted()))?;
        let known = self.known.iter().find(|tree| tree.source == source && tree.is_of(observation));
        known.map(|tree| Arc::clone(&tree.root))
    }

    /// The trees of what was asked by this table, and no others.
    pub(super) fn of(table: &Table, asked: &[Asked]) -> Trees {
        let tree = |one: &Asked| {
            let Body::Json(root) = &one.body else { return None };
            let answer = one.observation.outcome.as_ref().ok().filter(|_| one.source.format == Format::Json)?;
            Some(Tree {
                source: usize::from(one.trust),
                url: one.observation.url.clone(),
                at: one.observation.at,
                length: answer.body.len(),
                root: Arc::clone(root),
            })
        };
        Trees { of: Some(Arc::clone(table.all_wanted())), known: asked.iter().filter_map(tree).collect() }
    }

    /// Drops those of other observations than these, of which the bodies are given up that all sources of `table` know as
    /// trees: of a thousand servers there would be a thousand.
    pub fn keep(&mut self, table: Option<&Table>, observations: &mut [Observation]) {
        self.known.retain(|tree| observations.iter().any(|seen| tree.is_of(seen)));
        let Some(table) = table else { return };
        for seen in observations {
            let mut readers = table.sources.iter().enumerate().filter(|(_, source)| source.get == seen.get);
            if readers.all(|(source, _)| self.find(table, source, seen).is_some())
                && let Ok(answer) = &mut seen.outcome
            {
                answer.body = Vec::new();
            }
        }
    }

    /// Drops the observations whose bodies were given up for trees that are not of `table`: they are to be asked again.
    pub fn drop_strange(&self, table: Option<&Table>, observations: &mut Vec<Observation>) {
        let own = |of: &Arc<[Wanted]>| table.is_some_and(|table| Arc::ptr_eq(of, table.all_wanted()));
        if self.of.as_ref().is_some_and(|of| !own(of)) {
            let given_up = |seen: &Observation| seen.outcome.as_ref().is_ok_and(|answer| answer.body.is_empty());
            observations.retain(|seen| !given_up(seen) || !self.known.iter().any(|tree| tree.is_of(seen)));
        }
    }
}
