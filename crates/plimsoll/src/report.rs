//! Reports as they are printed: status's (`plimsoll.status/1`), doctor's (`plimsoll.doctor/1`) and explain's (`plimsoll.explain/1`).

use std::collections::BTreeMap;

use model::{Finding, Fleet, Gap, HostReport, Note, SelfReport, Server, Sign, Time};
use serde::Serialize;

use crate::commands::drop_in::DropIn;
use crate::look::monitors::Watcher;
use crate::look::{Look, Looked};

/// The snapshot with each server's signs: serialises as `plimsoll.status/1`.
#[derive(Debug, Serialize)]
pub(crate) struct Status<'a> {
    pub(crate) schema: &'static str,
    pub(crate) made_by: &'static str,
    pub(crate) taken_at: Time,
    pub(crate) servers: Vec<Signed<'a>>,
    #[serde(skip_serializing_if = "<[HostReport]>::is_empty")]
    pub(crate) hosts: &'a [HostReport],
    /// Remarks about the look as a whole.
    #[serde(skip_serializing_if = "<[Note]>::is_empty")]
    pub(crate) notes: &'a [Note],
    pub(crate) fleet: &'a Fleet,
    pub(crate) gaps: &'a [Gap],
    #[serde(rename = "self")]
    pub(crate) own: &'a SelfReport,
}

/// One server with its signs.
#[derive(Debug, Serialize)]
pub(crate) struct Signed<'a> {
    #[serde(flatten)]
    pub(crate) server: &'a Server,
    pub(crate) signs: &'a [Sign],
}

impl<'a> Status<'a> {
    /// What a look brought.
    pub(crate) fn of(look: &'a Look) -> Status<'a> {
        let snapshot = &look.snapshot;
        let signed = |(server, one): (&'a Server, &'a Looked)| Signed { server, signs: &one.signs };
        Status {
            schema: snapshot.schema,
            made_by: snapshot.made_by,
            taken_at: snapshot.taken_at,
            servers: snapshot.servers.iter().zip(&look.looked).map(signed).collect(),
            hosts: &snapshot.hosts,
            notes: &look.notes,
            fleet: &snapshot.fleet,
            gaps: &snapshot.gaps,
            own: &snapshot.own,
        }
    }
}

/// Serialises as `plimsoll.doctor/1`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) made_by: &'static str,
    pub(crate) taken_at: Time,
    /// What is said first, where it was no look at what is there now.
    #[serde(skip)]
    pub(crate) origin: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<HostReport>,
    pub(crate) servers: Vec<Examined>,
    pub(crate) monitors: Vec<Watcher>,
    pub(crate) notes: Vec<Note>,
    pub(crate) gaps: Vec<Gap>,
    #[serde(rename = "self")]
    pub(crate) own: SelfReport,
}

/// One server's part of the report.
#[derive(Debug, Serialize)]
pub(crate) struct Examined {
    pub(crate) url: String,
    pub(crate) engine: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) role: model::Role,
    pub(crate) unit: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) unreachable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drop_in: Option<DropIn>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) notes: Vec<Note>,
    pub(crate) gaps: Vec<Gap>,
}

/// The installed source behind a server.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Source {
    pub(crate) package: String,
    pub(crate) version: Option<String>,
    pub(crate) kind: &'static str,
    pub(crate) root: String,
    /// Where an editable installation lies.
    pub(crate) from: Option<String>,
    pub(crate) commit: Option<String>,
    /// Files that define series and are not as they were released.
    pub(crate) patched: Vec<String>,
    /// Series that it defines.
    pub(crate) defined: usize,
    /// Of those that are known of its version, the ones that it calls otherwise.
    pub(crate) renamed: Vec<Rename>,
    /// Of those, the ones that it does not define.
    pub(crate) missing: Vec<String>,
}

/// A series by its usual name and by the one that this build has for it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Rename {
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Source {
    /// What is told of an installation.
    pub(crate) fn of(found: &sense::Installed, offered: &engines::Offered) -> Source {
        let shown = |path: &std::path::Path| path.display().to_string();
        Source {
            package: found.package.clone(),
            version: found.version.clone(),
            kind: found.kind.name(),
            root: shown(&found.root),
            from: match &found.kind {
                sense::installed::Kind::Editable { from } => Some(shown(from)),
                _ => None,
            },
            commit: found.commit.clone(),
            patched: found.patched.iter().map(|path| shown(path)).collect(),
            defined: offered.series.len(),
            renamed: offered
                .renamed
                .iter()
                .map(|renamed| Rename { old: renamed.old.clone(), new: renamed.new.clone() })
                .collect(),
            missing: offered.missing.clone(),
        }
    }
}

/// Serialises as `plimsoll.explain/1`.
#[derive(Debug, Serialize)]
pub(crate) struct Explanation<'a> {
    pub(crate) schema: &'static str,
    pub(crate) made_by: &'static str,
    pub(crate) taken_at: Time,
    #[serde(skip_serializing_if = "<[HostReport]>::is_empty")]
    pub(crate) hosts: &'a [HostReport],
    pub(crate) servers: Vec<Explained<'a>>,
    #[serde(rename = "self")]
    pub(crate) own: &'a SelfReport,
}

/// Where one server's numbers come from.
#[derive(Debug, Serialize)]
pub(crate) struct Explained<'a> {
    pub(crate) url: &'a str,
    pub(crate) asked: Vec<Asked<'a>>,
    pub(crate) pools: Vec<Choosing<'a>>,
    pub(crate) ranks: &'a [model::Rank],
    pub(crate) facts: BTreeMap<&'a str, Said<'a>>,
    pub(crate) notes: &'a [Note],
}

/// What became of one path.
#[derive(Debug, Serialize)]
pub(crate) struct Asked<'a> {
    pub(crate) get: &'a str,
    pub(crate) took_s: f64,
    pub(crate) outcome: &'a str,
}

/// The sets of numbers for one pool, the one that is shown first.
#[derive(Debug, Serialize)]
pub(crate) struct Choosing<'a> {
    pub(crate) rank: model::RankId,
    pub(crate) pool: &'a str,
    pub(crate) tier: &'a str,
    pub(crate) sets: Vec<Set<'a>>,
}

/// One set, and why it is not shown if it is not.
#[derive(Debug, Serialize)]
pub(crate) struct Set<'a> {
    pub(crate) source: &'a str,
    /// Null where a saved file does not say when its numbers were taken.
    pub(crate) age_s: Option<f64>,
    pub(crate) values: BTreeMap<&'static str, Option<f64>>,
    pub(crate) not_taken: Option<&'a str>,
}

/// A fact and who said it.
#[derive(Debug, Serialize)]
pub(crate) struct Said<'a> {
    pub(crate) value: &'a str,
    pub(crate) source: &'a str,
}

impl<'a> Explanation<'a> {
    /// The explanation of a look.
    pub(crate) fn of(look: &'a Look) -> Explanation<'a> {
        let snapshot = &look.snapshot;
        Explanation {
            schema: "plimsoll.explain/1",
            made_by: crate::MADE_BY,
            taken_at: snapshot.taken_at,
            hosts: &snapshot.hosts,
            servers: snapshot
                .servers
                .iter()
                .zip(&look.looked)
                .map(|(server, one)| Explained::of(server, one))
                .collect(),
            own: &snapshot.own,
        }
    }
}

impl<'a> Explained<'a> {
    fn of(server: &'a model::Server, one: &'a Looked) -> Explained<'a> {
        let sources = one.account.sources.iter();
        let asked =
            sources.map(|status| Asked { get: &status.get, took_s: status.took, outcome: status.outcome.text() });
        let facts = one.account.facts.iter();
        let said = |(name, fact): (&'a String, &'a model::Fact)| {
            (name.as_str(), Said { value: &fact.value, source: &fact.source })
        };
        Explained {
            url: &server.url,
            asked: asked.collect(),
            pools: one.choices.iter().map(Choosing::of).collect(),
            ranks: &server.ranks,
            facts: facts.map(said).collect(),
            notes: &server.notes,
        }
    }
}

impl<'a> Choosing<'a> {
    fn of(choice: &'a fleet::Choice) -> Choosing<'a> {
        let set = |contender: &'a fleet::Contender| Set {
            source: &contender.set.source,
            age_s: contender.known_age(),
            values: contender.set.readings.iter().map(|(signal, reading)| (signal.row().json, reading.value)).collect(),
            not_taken: contender.lost.as_deref(),
        };
        Choosing {
            rank: choice.rank,
            pool: &choice.pool,
            tier: &choice.tier,
            sets: choice.contenders.iter().map(set).collect(),
        }
    }
}
