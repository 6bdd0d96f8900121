//! One place that is looked at: this host, a host over ssh, or a capture of either; or files.

use std::sync::Arc;

use anyhow::Result;
use model::{Blind, Gap, Note, Time};
use sense::Target;
use sense::capture::Site as Recorded;
use sense::place::Sought;

use super::access::Keys;
use super::candidate::{Candidate, Looked};
use super::discover::Found;
use super::plan::Plan;
use super::{Eye, beside, build, discover, follow, given_logs, saved};

/// A place, how it is looked at, and what opens what there.
#[derive(Clone)]
pub(crate) struct Site {
    /// How it is looked at.
    pub(crate) eye: Arc<Eye>,
    /// What is to be looked at.
    pub(crate) plan: Plan,
    /// What opens it.
    pub(crate) keys: Keys,
}

/// What was seen at one site.
#[derive(Default)]
pub(crate) struct Seen {
    /// Its servers.
    pub(crate) looked: Vec<Looked>,
    /// Remarks.
    pub(crate) notes: Vec<Note>,
    /// Processes that could not be seen into.
    pub(crate) denied: u64,
    /// Ranks of servers whose API is on another node.
    pub(crate) elsewhere: Vec<Gap>,
    /// The time as of which all of it is judged, by the site's own clock.
    pub(crate) now: Option<Time>,
    /// Why nothing could be seen.
    pub(crate) failed: Option<Blind>,
    /// Seconds that it took.
    pub(crate) took: f64,
}

impl Site {
    /// Whether the host was searched, so that what is not found there is not there.
    pub(crate) fn searched(&self) -> bool {
        self.plan.targets.is_empty() && !self.plan.files
    }

    /// The same, to be looked at anew; `here` is how this host is looked at.
    pub(crate) fn again(&self, here: &Arc<Eye>) -> Site {
        let eye = if self.eye.via.is_none() { Arc::clone(here) } else { Arc::new(self.eye.again()) };
        Site { eye, plan: self.plan.clone(), keys: self.keys.clone() }
    }

    /// What a capture says of it; `monitors` are asked from it.
    pub(crate) fn recorded(&self, monitors: &[String]) -> Recorded {
        Recorded {
            via: self.name(),
            targets: if self.plan.files {
                self.plan.targets.iter().map(|file| whole(file)).collect()
            } else {
                self.plan.targets.iter().map(|target| shown(target)).collect()
            },
            files: self.plan.files,
            logs: self.plan.logs.iter().map(|file| whole(file)).collect(),
            monitors: monitors.to_vec(),
            listed: self.keys.addresses(),
        }
    }

    /// How it is called where it is not this host.
    pub(crate) fn name(&self) -> Option<String> {
        self.eye.via.as_deref().map(str::to_owned)
    }
}

/// Looks once; `deep`: also at the installed source. What stands in the way of a whole host over ssh is told in what was
/// seen; an error is one of usage.
pub(crate) async fn look(site: &Site, deep: bool) -> Result<Seen> {
    let started = sense::clock::now();
    if site.plan.files {
        let saved = saved::look(&site.eye, &site.plan.targets).await?;
        return Ok(Seen { looked: saved.looked, notes: saved.notes, now: Some(saved.now), ..Seen::default() });
    }
    let sought = if site.searched() { Sought { deep, ..Sought::clone(&site.eye.sought) } } else { Sought::default() };
    if let Err(blind) = site.eye.place.enter(&sought).await {
        let (now, took) = (site.eye.place.now(), sense::clock::now().since(started));
        return Ok(Seen { failed: Some(blind), now: Some(now), took, ..Seen::default() });
    }
    let mut seen = servers(site, deep).await?;
    // How long it took is by our clock: theirs may be set, and is only known once one is there.
    (seen.now, seen.took) = (Some(site.eye.place.now()), sense::clock::now().since(started));
    if let Some(via) = site.name() {
        for note in &mut seen.notes {
            note.text = format!("{via}: {}", note.text);
        }
    }
    Ok(seen)
}

/// Asks servers: those given, else those of the host.
async fn servers(site: &Site, deep: bool) -> Result<Seen> {
    let (eye, keys) = (&site.eye, &site.keys);
    let explicit = keys.targets(&site.plan.targets).map_err(crate::wrong_usage)?;
    eye.atlas.learn_ours(&eye.place).await;
    let found = if site.searched() { discover::this_host(eye, keys).await } else { Ok(given(eye, explicit).await) };
    let found = match found {
        Ok(found) => found,
        // Of another host that cannot be searched the others' answers do not depend.
        Err(error) if eye.via.is_some() => {
            let failed = Blind::new(model::BlindKind::Gone, format!("{error:#}"));
            return Ok(Seen { failed: Some(failed), ..Seen::default() });
        }
        Err(error) => return Err(error),
    };
    let Found { mut candidates, mut notes, denied, elsewhere } = found;
    for candidate in &mut candidates {
        candidate.via.clone_from(&eye.via);
    }
    notes.extend(given_logs::place(eye, &site.plan.logs, &mut candidates).await?);
    let processes = beside::prepare(eye, &mut candidates).await;
    let (mut looked, hardware) =
        tokio::join!(follow::everything(eye, candidates, keys), beside::hardware(eye, &processes));
    for one in &mut looked {
        let own = processes.iter().position(|process| Some(process.pid) == one.candidate.place.pid);
        one.candidate.hardware = own.and_then(|at| hardware.get(at).cloned()).unwrap_or_default();
    }
    if deep {
        build::read(eye, &mut looked).await;
    }
    Ok(Seen { looked, notes, denied, elsewhere, ..Seen::default() })
}

/// The whole path of a file: a capture may be looked at in another folder.
fn whole(file: &str) -> String {
    std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// A target without what opens it.
fn shown(target: &str) -> String {
    target.parse::<Target>().map_or_else(|_| target.to_owned(), |target| target.to_string())
}

/// The targets that were given, each place once.
pub(super) async fn given(eye: &Eye, explicit: Vec<Target>) -> Found {
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
