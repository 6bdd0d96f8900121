//! One look at everything: find, ask, understand, join, judge. `status`, `doctor` and `explain` show its result.

mod access;
mod alone;
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
mod plan;
pub(crate) mod progress;
mod remarks;
pub(crate) mod replay;
pub(crate) mod saved;
mod site;
mod together;
mod unit;
pub(crate) mod watch;
mod wrapped;

use std::sync::Arc;

use anyhow::Result;
use engines::Tables;
use engines::table::{Fault, Format};
use model::{Note, Snapshot, Time};
use sense::place::{Recorder, Sought};
use sense::{AllowList, Client, Host, Limits, Place, Target};
use tokio::task::JoinSet;

pub(crate) use candidate::Looked;
pub(crate) use plan::Plan;
pub(crate) use site::{Seen, Site};
pub(crate) use together::UNREACHED;

use self::access::Keys;
use self::guard::Guard;
use self::identity::Atlas;
use crate::cli::LookArgs;

/// The note of workers that a router names, and of which nothing was given.
pub(crate) const NOT_GIVEN: &str = "not-given";

/// The note of a router whose list of workers could not be read.
pub(crate) const UNLISTED: &str = "workers-unread";

/// What a look brought.
pub(crate) struct Look {
    /// The fleet.
    pub(crate) snapshot: Snapshot,
    /// Every server in the snapshot's order, with what stands behind it.
    pub(crate) looked: Vec<Looked>,
    /// Remarks about the look itself: rights, files.
    pub(crate) notes: Vec<Note>,
    /// The places that were looked at; servers name theirs by its number.
    pub(crate) sites: Vec<Site>,
    /// The monitors that were given, with what opens them.
    pub(crate) monitors: Vec<Target>,
    /// How they are asked: from here.
    pub(crate) here: Arc<Eye>,
    /// When the look at each site began and as of when it is judged, by the site's own clock.
    pub(crate) spans: Vec<(Time, Time)>,
    /// Whether anything could be seen of each site.
    pub(crate) reached: Vec<bool>,
    /// What is said first, where it was no look at what is there now.
    pub(crate) origin: Option<String>,
}

/// What every part of a look needs.
pub(crate) struct Eye {
    /// The engines' tables.
    pub(crate) tables: Arc<Tables>,
    /// What it is searched for.
    pub(crate) sought: Arc<Sought>,
    /// The observed side.
    pub(crate) place: Place,
    /// How that is called, where it is not this host.
    pub(crate) via: Option<Arc<str>>,
    /// Which addresses are one place.
    pub(crate) atlas: Arc<Atlas>,
    /// The limits of the look as a whole.
    pub(crate) guard: Guard,
}

impl Eye {
    /// Looks from this host.
    #[cfg(test)]
    pub(crate) fn here(tables: Arc<Tables>) -> Eye {
        Eye::within(tables, Limits::default())
    }

    /// Looks from this host, within these limits of each request.
    pub(crate) fn within(tables: Arc<Tables>, limits: Limits) -> Eye {
        let place = Place::from(Host::new(Client::new(allowed(&tables), limits)));
        Eye::from(tables, place, None)
    }

    /// Looks from a place, which is called so.
    pub(crate) fn from(tables: Arc<Tables>, place: Place, via: Option<String>) -> Eye {
        let mut words = tables.words();
        words.extend(lint::monitors().words());
        let sources = tables.iter().flat_map(|table| &table.sources);
        let slabs = sources.filter(|source| source.format == Format::Slab).map(|source| source.get.clone()).collect();
        let sought = Arc::new(Sought { words, slabs, deep: false });
        let via = via.map(Arc::from);
        Eye { tables, sought, place, via, atlas: Arc::default(), guard: Guard::default() }
    }

    /// The same place, to be looked at anew.
    pub(crate) fn again(&self) -> Eye {
        Eye::from(Arc::clone(&self.tables), self.place.clone(), self.via.as_deref().map(str::to_owned))
    }

    /// The same place as it is known by now, for a look at one server of it that is bounded by itself.
    pub(crate) fn alone(&self) -> Eye {
        Eye {
            tables: Arc::clone(&self.tables),
            sought: Arc::clone(&self.sought),
            place: self.place.clone(),
            via: self.via.clone(),
            atlas: Arc::clone(&self.atlas),
            guard: Guard::patient(watch::TARGET_S),
        }
    }

    /// The same place, of which as much is known from the beginning as `before` knows of it.
    pub(crate) fn knowing(&self, before: &Eye) -> Eye {
        self.place.clock_as(&before.place);
        Eye { atlas: Arc::clone(&before.atlas), ..self.again() }
    }

    /// The same place, with everything that is asked of it kept.
    pub(crate) fn recorded(&self, recorder: Recorder) -> Eye {
        let place = self.place.clone().recorded(recorder);
        Eye::from(Arc::clone(&self.tables), place, self.via.as_deref().map(str::to_owned))
    }
}

/// What may be asked over HTTP: what the tables ask, and nothing else.
fn allowed(tables: &Tables) -> AllowList {
    let mut allowed = tables.allowed();
    allowed.extend(lint::monitors().allowed());
    AllowList::new(allowed)
}

/// Looks once.
pub(crate) async fn look(args: &LookArgs) -> Result<Look> {
    let look = opened(args, &[])?;
    progress::over(look.eyes(), args.json, Box::pin(look.once(false))).await
}

/// Looks once, for a report that reads the servers' installed source and asks these monitors as well.
pub(crate) async fn look_with(args: &LookArgs, monitors: &[String]) -> Result<Look> {
    let look = opened(args, monitors)?;
    progress::over(look.eyes(), args.json, Box::pin(look.once(true))).await
}

/// What can be looked at, again and again.
pub(crate) struct Opened {
    pub(crate) sites: Vec<Site>,
    pub(crate) monitors: Vec<Target>,
    pub(crate) here: Arc<Eye>,
    /// The same as it was before, oldest first: the window in which signs are sought.
    pub(crate) earlier: Vec<Opened>,
    /// Remarks on what it is.
    pub(crate) notes: Vec<Note>,
    /// What is said first, where it is no look at what is there now.
    pub(crate) origin: Option<String>,
}

/// Makes out what is to be watched: each request may take longer than one for which somebody waits. Errors are of usage.
pub(crate) fn opened_for_watch(args: &LookArgs) -> Result<Opened> {
    opened_within(args, &[], Limits { total: watch::REQUEST, ..Limits::default() })
}

/// Makes out what is to be looked at from where. Errors are of usage.
pub(crate) fn opened(args: &LookArgs, monitors: &[String]) -> Result<Opened> {
    opened_within(args, monitors, Limits::default())
}

fn opened_within(args: &LookArgs, monitors: &[String], limits: Limits) -> Result<Opened> {
    let loaded = crate::tables::load(args.engines.as_deref()).map_err(crate::wrong_usage)?;
    let tables = Arc::new(loaded.tables);
    let faults = loaded.faults.iter().map(|fault| Note::new("table-fault", told(fault)));
    let notes = faults.collect();
    if let Some(path) = &args.capture {
        let opened = replay::opened(args, monitors, path, &tables).map_err(crate::wrong_usage)?;
        return Ok(Opened { notes: [notes, opened.notes].concat(), ..opened });
    }
    let keys = Keys::read(&args.access, tables.allowed()).map_err(crate::wrong_usage)?;
    let plans = plan::plans(args, monitors, &keys).map_err(crate::wrong_usage)?;
    let here = Arc::new(Eye::within(Arc::clone(&tables), limits));
    let parsed: Result<Vec<Target>, sense::http::TargetError> = monitors.iter().map(|url| url.parse()).collect();
    let monitors = parsed.map_err(crate::wrong_usage)?;
    let monitors = monitors.into_iter().map(|target| keys.listed(&target).unwrap_or(target)).collect();
    let options = sense::ssh::Options { config: args.ssh_config.clone() };
    let site = |plan: Plan| {
        let keys = keys.on(plan.via.as_ref());
        let eye = match &plan.via {
            None => Arc::clone(&here),
            Some(via) => {
                let place = Place::from(sense::ssh::Ssh::new(via.clone(), &options, allowed(&tables)));
                Arc::new(Eye::from(Arc::clone(&tables), place, Some(via.to_string())))
            }
        };
        // A slip in an address is told before anything is asked.
        if !plan.files {
            keys.targets(&plan.targets).map_err(crate::wrong_usage)?;
        }
        Ok(Site { eye, plan, keys })
    };
    let sites = plans.into_iter().map(site).collect::<Result<_>>()?;
    Ok(Opened { sites, monitors, here, earlier: Vec::new(), notes, origin: None })
}

/// A fault of a table in one line. No secret belongs there, but visitors see it.
fn told(fault: &Fault) -> String {
    let text = crate::slip::shown(&fault.text);
    let line = fault.place.as_ref().map_or(String::new(), |(line, _)| format!(":{line}"));
    format!("{}{line}: {text}; the built-in table stays in force (plimsoll engines check shows it)", fault.file)
}

impl Look {
    /// How a server was looked at.
    pub(crate) fn eye_of(&self, one: &Looked) -> &Eye {
        self.sites.get(one.site).map_or(&self.here, |site| &site.eye)
    }

    /// How everything was looked at.
    pub(crate) fn eyes(&self) -> Vec<Arc<Eye>> {
        all(&self.sites, &self.here)
    }

    /// Whether a host was searched, so that what was not found is not there.
    pub(crate) fn searched(&self) -> bool {
        self.sites.iter().any(Site::searched)
    }
}

impl Opened {
    /// The same, to be looked at anew.
    pub(crate) fn again(&self) -> Opened {
        let here = Arc::new(self.here.again());
        let sites = self.sites.iter().map(|site| site.again(&here)).collect();
        let earlier = self.earlier.iter().map(Opened::again).collect();
        let (monitors, notes, origin) = (self.monitors.clone(), self.notes.clone(), self.origin.clone());
        Opened { sites, monitors, here, earlier, notes, origin }
    }

    /// How everything is looked at.
    pub(crate) fn eyes(&self) -> Vec<Arc<Eye>> {
        all(&self.sites, &self.here)
    }

    /// Looks at all sites at once; each has its own time, so that a dead one costs the others nothing.
    pub(crate) async fn once(&self, deep: bool) -> Result<Look> {
        let mut earlier = Vec::new();
        for before in &self.earlier {
            earlier.push(Box::pin(before.once(false)).await?.snapshot);
        }
        let started = sense::clock::now();
        let mut tasks = JoinSet::new();
        for (at, site) in self.sites.iter().cloned().enumerate() {
            tasks.spawn(async move { (at, site::look(&site, deep).await) });
        }
        let mut all: Vec<(usize, Seen)> = Vec::new();
        while let Some(done) = tasks.join_next().await {
            let (at, seen) = done?;
            all.push((at, seen?));
        }
        all.sort_by_key(|(at, _)| *at);
        let seen: Vec<Seen> = all.into_iter().map(|(_, seen)| seen).collect();
        let span = |(site, seen): (&Site, &Seen)| {
            let now = seen.now.unwrap_or(site.eye.place.now());
            (now.plus(-seen.took), now)
        };
        let spans = self.sites.iter().zip(&seen).map(span).collect();
        let reached = seen.iter().map(|seen| seen.failed.is_none()).collect();
        let before = join::Before { earlier: &earlier, ..join::Before::default() };
        let (snapshot, looked, more) = together::joined(&self.sites, &self.here.tables, before, seen, started);
        let (sites, monitors, here) = (self.sites.clone(), self.monitors.clone(), Arc::clone(&self.here));
        let notes = self.notes.iter().cloned().chain(more).collect();
        Ok(Look { snapshot, looked, notes, sites, monitors, here, spans, reached, origin: self.origin.clone() })
    }
}

/// Every way of looking, once.
fn all(sites: &[Site], here: &Arc<Eye>) -> Vec<Arc<Eye>> {
    let away = sites.iter().map(|site| &site.eye).filter(|eye| !Arc::ptr_eq(eye, here));
    away.chain([here]).map(Arc::clone).collect()
}

/// The time of a snapshot for people, in UTC.
pub(crate) fn clock_of(time: Time) -> String {
    let stamp = jiff::Timestamp::from_second(time.0 as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    stamp.to_string()
}
