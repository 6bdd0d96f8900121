//! What may stand on the page.

use model::{Kind, Scope, Signal, Unit};

use crate::{family, fixed, name};

/// The version of the schema: it changes where a name, a label or a meaning does, and not where a family is added.
pub const SCHEMA: &str = "1";

/// Units in which engines count what the vocabulary counts in tokens.
const OTHERS: [Unit; 4] = [Unit::Blocks, Unit::Bytes, Unit::States, Unit::Requests];

/// A family that the page may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Names that it has where the number counts something else.
    pub others: Vec<String>,
    /// `gauge` or `counter`.
    pub kind: &'static str,
    /// Its labels.
    pub labels: Vec<&'static str>,
    /// Its help.
    pub help: String,
    /// It is a signal: what servers say.
    pub said: bool,
}

/// All families that the page may hold, by name.
pub fn schema() -> Vec<Described> {
    let signals = Signal::all().map(|signal| {
        let row = signal.row();
        let others = OTHERS.into_iter().filter(|_| row.unit == Unit::Tokens);
        Described {
            name: name::series_name(signal, row.unit),
            others: others.map(|unit| name::series_name(signal, unit)).collect(),
            kind: family::kind(row.kind),
            labels: match row.scope {
                Scope::Pool => vec!["server", "rank", "pool", "tier"],
                Scope::Rank => vec!["server", "rank"],
            },
            help: name::help(signal, row.unit),
            said: true,
        }
    });
    let fixed = fixed::ALL.iter().map(|fixed| Described {
        name: fixed.name.to_owned(),
        others: Vec::new(),
        kind: family::kind(fixed.kind),
        labels: fixed.labels.to_vec(),
        help: fixed.help.to_owned(),
        said: false,
    });
    let mut all: Vec<Described> = signals.chain(fixed).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    debug_assert!(all.iter().all(|one| one.kind != family::kind(Kind::Counter) || one.name.ends_with("_total")));
    all
}
