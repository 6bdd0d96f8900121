//! One look at everything: find, ask, understand, join, judge. `status`, `doctor` and `explain` show its result.

mod access;
mod ask;
mod beside;
mod build;
mod candidate;
mod discover;
mod follow;
mod given_logs;
mod guard;
#[cfg(test)]
mod guard_test;
mod identity;
#[cfg(test)]
mod identity_test;
mod join;
mod kept;
pub(crate) mod monitors;
mod named;
mod nodes;
pub(crate) mod progress;
pub(crate) mod saved;
mod unit;

use std::sync::Arc;

use anyhow::Result;
use engines::Tables;
use model::{Note, Snapshot, Time};
use sense::{Host, Place, Target};

pub(crate) use candidate::{Candidate, Looked};

use self::discover::Found;
use self::guard::Guard;
use self::identity::Atlas;
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
    /// The monitors that were given, with what opens them.
    pub(crate) monitors: Vec<Target>,
    /// How it was looked.
    pub(crate) eye: Arc<Eye>,
}

/// What every part of a look needs.
pub(crate) struct Eye {
    /// The engines' tables.
    pub(crate) tables: Tables,
    /// The observed side.
    pub(crate) place: Place,
    /// Which addresses are one place.
    pub(crate) atlas: Atlas,
    /// The limits of the look as a whole.
    pub(crate) guard: Guard,
}

impl Eye {
    /// Looks from this host; may ask what the tables ask, and nothing else.
    pub(crate) fn here() -> Eye {
        let tables = Tables::builtin();
        let mut allowed = tables.allowed();
        allowed.extend(lint::monitors().allowed());
        let client = sense::Client::new(sense::AllowList::new(allowed), sense::Limits::default());
        Eye { tables, place: Place::from(Host::new(client)), atlas: Atlas::default(), guard: Guard::default() }
    }
}

/// Looks once.
pub(crate) async fn look(args: &LookArgs) -> Result<Look> {
    let eye = Arc::new(Eye::here());
    progress::over(&eye, args.json, Box::pin(once(&eye, args, None))).await
}

/// Looks once, for a report that reads the servers' installed source and asks these monitors as well.
pub(crate) async fn look_with(args: &LookArgs, monitors: &[String]) -> Result<Look> {
    let eye = Arc::new(Eye::here());
    progress::over(&eye, args.json, Box::pin(once(&eye, args, Some(monitors)))).await
}

/// With `monitors`, if only an empty list, it is a deep look.
async fn once(eye: &Arc<Eye>, args: &LookArgs, monitors: Option<&[String]>) -> Result<Look> {
    let files = saved::files(args, monitors.unwrap_or_default()).map_err(crate::wrong_usage)?;
    if files.is_empty() { servers(eye, args, monitors).await } else { of_files(eye, &files).await }
}

/// Reads what was saved.
async fn of_files(eye: &Arc<Eye>, files: &[String]) -> Result<Look> {
    let started = sense::clock::now();
    let saved = saved::look(eye, files).await?;
    let (snapshot, looked) = join::snapshot(eye, saved.looked, started, saved.now, 0);
    let eye = Arc::clone(eye);
    Ok(Look { snapshot, looked, notes: saved.notes, searched: false, monitors: Vec::new(), eye })
}

/// Asks servers: those given, else those of this host.
async fn servers(eye: &Arc<Eye>, args: &LookArgs, monitors: Option<&[String]>) -> Result<Look> {
    let started = sense::clock::now();
    let keys = access::Keys::read(&args.access, eye.tables.allowed()).map_err(crate::wrong_usage)?;
    let deep = monitors.is_some();
    let monitors: Vec<Target> = monitors
        .unwrap_or_default()
        .iter()
        .map(|url| url.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: sense::http::TargetError| crate::wrong_usage(error))?;
    let explicit = keys.targets(&args.targets, &monitors).map_err(crate::wrong_usage)?;
    let monitors = monitors.into_iter().map(|target| keys.listed(&target).unwrap_or(target)).collect();
    eye.atlas.learn_ours(&eye.place).await;
    let searched = explicit.is_empty();
    let found = if searched { discover::this_host(eye, &keys).await? } else { given(eye, explicit).await };
    let Found { mut candidates, mut notes, denied, elsewhere } = found;
    notes.extend(given_logs::place(eye, &args.log, &mut candidates).await?);
    let processes = beside::prepare(eye, &mut candidates).await;
    let (mut looked, hardware) =
        tokio::join!(follow::everything(eye, candidates, &keys), beside::hardware(eye, &processes));
    for one in &mut looked {
        let own = processes.iter().position(|process| Some(process.pid) == one.candidate.place.pid);
        one.candidate.hardware = own.and_then(|at| hardware.get(at).cloned()).unwrap_or_default();
    }
    if deep {
        build::read(eye, &mut looked).await;
    }
    let (mut snapshot, looked) = join::snapshot(eye, looked, started, sense::clock::now(), denied);
    snapshot.gaps.extend(elsewhere);
    Ok(Look { snapshot, looked, notes, searched, monitors, eye: Arc::clone(eye) })
}

/// The targets that were given, each place once.
async fn given(eye: &Eye, explicit: Vec<Target>) -> Found {
    let notes = explicit.iter().flat_map(Target::notes).collect();
    eye.atlas.learn_names(&eye.place, explicit.iter()).await;
    let mut unique: Vec<Target> = Vec::new();
    for target in explicit {
        if !unique.iter().any(|known| eye.atlas.same(known, &target)) {
            unique.push(target);
        }
    }
    let candidates = unique.into_iter().map(Candidate::given).collect();
    Found { candidates, notes, ..Found::default() }
}

/// The time of a snapshot for people, in UTC.
pub(crate) fn clock_of(time: Time) -> String {
    let stamp = jiff::Timestamp::from_second(time.0 as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    stamp.to_string()
}
