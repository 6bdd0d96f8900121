//! One look at everything: find, ask, understand, join, judge. `status`, `doctor` and `explain` show its result.

mod access;
mod ask;
mod candidate;
mod discover;
mod follow;
mod join;
pub(crate) mod monitors;

use std::sync::Arc;

use anyhow::Result;
use engines::Tables;
use model::{Note, Snapshot, Time};
use sense::{Host, Place};

pub(crate) use candidate::{Candidate, Looked};

use crate::cli::LookArgs;

/// What a look brought.
pub(crate) struct Look {
    /// The fleet.
    pub(crate) snapshot: Snapshot,
    /// Every server in the snapshot's order, with what stands behind it.
    pub(crate) looked: Vec<Looked>,
    /// Remarks about the look itself: rights, files.
    pub(crate) notes: Vec<Note>,
    /// Whether this host was searched.
    pub(crate) searched: bool,
    /// How it was looked.
    pub(crate) eye: Arc<Eye>,
}

/// What every part of a look needs.
pub(crate) struct Eye {
    /// The engines' tables.
    pub(crate) tables: Tables,
    /// The observed side.
    pub(crate) place: Place,
}

impl Eye {
    /// Looks from this host; may ask what the tables ask, and nothing else.
    pub(crate) fn here() -> Eye {
        let tables = Tables::builtin();
        let mut allowed = tables.allowed();
        allowed.extend(lint::monitors().allowed());
        let client = sense::Client::new(sense::AllowList::new(allowed), sense::Limits::default());
        Eye { tables, place: Place::Host(Host::new(client)) }
    }
}

/// Looks once.
pub(crate) async fn look(args: &LookArgs) -> Result<Look> {
    let started = sense::clock::now();
    let eye = Arc::new(Eye::here());
    let keys = access::Keys::read(&args.access)?;
    let explicit = keys.targets(&args.targets)?;
    let searched = explicit.is_empty();
    let mut notes = Vec::new();
    let mut denied = 0;
    let candidates = if searched {
        let found = discover::this_host(&eye).await?;
        notes.extend(found.notes);
        denied = found.denied;
        found.candidates
    } else {
        for target in &explicit {
            notes.extend(target.notes());
        }
        explicit.into_iter().map(Candidate::given).collect()
    };
    let looked = follow::everything(&eye, candidates, &keys).await;
    let (snapshot, looked) = join::snapshot(&eye, looked, started, denied);
    Ok(Look { snapshot, looked, notes, searched, eye })
}

/// The time of a snapshot for people, in UTC.
pub(crate) fn clock_of(time: Time) -> String {
    let stamp = jiff::Timestamp::from_second(time.0 as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    stamp.to_string()
}
