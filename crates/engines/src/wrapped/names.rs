//! What the names on a page mean.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wire::exposition::{Limits, scan};

use crate::Tables;
use crate::table::{Alias, Format, Read, Table, WrapperFile};
use model::{Kind, Scope, Signal, Unit};

/// The names on a page that mean a series of an engine.
pub(super) struct Names<'t>(BTreeMap<String, Word<'t>>);

/// A name that means something.
pub(super) struct Word<'t> {
    /// The wrapper that has changed it, by its place in the file.
    pub(super) by: Option<usize>,
    /// What it means.
    pub(super) meant: Meant<'t>,
    /// How its number moves.
    pub(super) moves: Moves,
}

/// How a number moves between two looks at one server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moves {
    /// It is known to stay: a capacity.
    Stays,
    /// A share of a pool, of which this is the whole.
    Share(f64),
    /// A part of a pool.
    Part,
    /// It only grows.
    Up,
    /// Nobody knows.
    Other,
}

impl Moves {
    /// How that of a row moves.
    fn of(row: &Read) -> Moves {
        let signal = row.signal.row();
        match (signal.kind, signal.scope) {
            _ if row.name.ends_with("_total") => Moves::Up,
            (Kind::Counter, _) if row.over.is_none() => Moves::Up,
            (Kind::Gauge, Scope::Pool) if row.over.is_none() => match row.unit.unwrap_or(signal.unit) {
                // One name of several numbers, told apart by a label.
                _ if !row.with.is_empty() => Moves::Part,
                // That it is there says it; its labels are what does not change.
                _ if row.label.is_some() => Moves::Stays,
                _ if row.signal == Signal::KV_CAPACITY => Moves::Stays,
                Unit::Ratio => Moves::Share(if row.percent { 100.0 } else { 1.0 }),
                _ => Moves::Part,
            },
            _ => Moves::Other,
        }
    }
}

/// What a name means.
pub(super) enum Meant<'t> {
    /// A series of an engine.
    Series(Series<'t>),
    /// A series that depends on the engine.
    Alias(&'t Alias),
}

/// A series of an engine's table.
pub(super) struct Series<'t> {
    /// Its name with one of the engine's own prefixes.
    pub(super) name: String,
    /// Without.
    pub(super) bare: String,
    /// The engines that have it.
    pub(super) tables: Vec<&'t Table>,
    /// It goes up and down.
    pub(super) gauge: bool,
}

impl<'t> Names<'t> {
    /// Those on a page.
    pub(super) fn on(tables: &'t Tables, body: &[u8]) -> Names<'t> {
        let lexicon = Lexicon::of(tables);
        let mut names = BTreeMap::new();
        // Nothing is wanted: the walk that asks for each name is all that is needed.
        let asked = |name: &str| {
            if !names.contains_key(name)
                && let Some(word) = lexicon.named(name)
            {
                names.insert(name.to_owned(), word);
            }
            false
        };
        scan(body, &Limits::whole(), asked, |_| {});
        Names(names)
    }

    /// What a name means.
    pub(super) fn get(&self, name: &str) -> Option<&Word<'t>> {
        self.0.get(name)
    }

    /// Whether a name means something.
    pub(super) fn know(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Series<'_> {
    /// Whether the tables that have it read this label of it themselves.
    pub(super) fn reads(&self, label: &str) -> bool {
        self.tables.iter().any(|table| labels(table).any(|read| read == label))
    }
}

/// The labels that a table reads.
fn labels(table: &Table) -> impl Iterator<Item = &str> {
    table.sources.iter().filter(|source| source.format == Format::Prometheus).flat_map(|source| {
        let placed = source.rank.values().chain(&source.parts).chain(&source.worker).chain(&source.relay);
        let told = source.facts.keys().map(|label| label.rsplit('.').next().unwrap_or(label));
        let of_rows = source.read.iter().flat_map(|row| row.label.iter().chain(row.with.keys()));
        placed.chain(of_rows).map(String::as_str).chain(told)
    })
}

/// The series that a table reads, whether each goes up and down, and how far.
pub(super) fn series(table: &Table) -> impl Iterator<Item = (&str, (bool, Moves))> {
    table.sources.iter().filter(|source| source.format == Format::Prometheus).flat_map(|source| {
        let gauge = |row: &Read| row.signal.row().kind == Kind::Gauge && row.over.is_none();
        let rows = source.read.iter().map(move |row| (row.name.as_str(), (gauge(row), Moves::of(row))));
        let divisors = source.read.iter().filter_map(|row| row.over.as_deref());
        let facts = source.facts.keys().filter_map(|label| label.split_once('.')).map(|(name, _)| name);
        let divisors = divisors.chain(facts).map(|name| (name, (false, plain(name))));
        rows.chain(divisors)
    })
}

/// How a number moves of which nothing but its name is known.
fn plain(name: &str) -> Moves {
    if name.ends_with("_total") { Moves::Up } else { Moves::Other }
}

/// The series of a table: whether each goes up and down, and how far.
type Known<'t> = HashMap<&'t str, (bool, Moves)>;

/// Everything that tables and wrappers know of names.
struct Lexicon<'t> {
    tables: Vec<(&'t Table, Known<'t>)>,
    wrappers: &'t WrapperFile,
}

impl<'t> Lexicon<'t> {
    fn of(tables: &'t Tables) -> Lexicon<'t> {
        let known = |table: &'t Table| {
            let mut known = Known::new();
            // A series that tells engines of one prefix apart is one, too.
            let telling = table
                .engine
                .answer
                .iter()
                .flat_map(|rule| &rule.series)
                .map(|name| (name.as_str(), (false, plain(name))));
            for (name, (gauge, moves)) in series(table).chain(telling) {
                let (is_gauge, first) = known.entry(name).or_insert((gauge, moves));
                *is_gauge |= gauge;
                if *first == Moves::Other {
                    *first = moves;
                }
            }
            (table, known)
        };
        Lexicon { tables: tables.iter().map(known).collect(), wrappers: tables.wrappers() }
    }

    fn named(&self, name: &str) -> Option<Word<'t>> {
        if let Some((series, moves)) = self.series(name) {
            return Some(Word { by: None, meant: Meant::Series(series), moves });
        }
        let wrapped = self.wrappers.wrapper.iter().enumerate().find_map(|(by, wrapper)| {
            let fronts = wrapper.prefix.iter().filter_map(|prefix| name.strip_prefix(prefix.as_str()));
            let inner = fronts.chain([name]).find_map(|rest| {
                let backs = wrapper.suffix.iter().filter_map(move |suffix| rest.strip_suffix(suffix.as_str()));
                backs.chain([rest]).find_map(|inner| self.series(inner))
            });
            let inner = inner.or_else(|| wrapper.before_colon.then(|| self.behind_a_name(name)).flatten());
            inner.map(|(series, moves)| Word { by: Some(by), meant: Meant::Series(series), moves })
        });
        wrapped.or_else(|| {
            let alias = self.wrappers.alias.iter().find(|alias| alias.name == name)?;
            let by = self.wrappers.wrapper.iter().position(|wrapper| wrapper.id == alias.wrapper);
            let of = |(table, known): &(&Table, Known<'_>)| {
                Some(known.get(alias.engines.get(&table.engine.name)?.as_str())?.1)
            };
            let moves = self.tables.iter().find_map(of).unwrap_or(Moves::Other);
            Some(Word { by, meant: Meant::Alias(alias), moves })
        })
    }

    /// The series that a name is as it stands.
    fn series(&self, name: &str) -> Option<(Series<'t>, Moves)> {
        let (mut tables, mut bare, mut gauge, mut moves) = (Vec::new(), None, false, Moves::Other);
        for (table, known) in &self.tables {
            let mut own = table.engine.prefixes.iter().filter_map(|prefix| name.strip_prefix(prefix.as_str()));
            if let Some((own, (is_gauge, as_there))) = own.find_map(|own| Some((own, known.get(own)?))) {
                tables.push(*table);
                bare.get_or_insert(own);
                gauge |= is_gauge;
                if moves == Moves::Other {
                    moves = *as_there;
                }
            }
        }
        Some((Series { name: name.to_owned(), bare: bare?.to_owned(), tables, gauge }, moves))
    }

    /// The series behind something that ends in `_`, where its own prefix has a colon.
    fn behind_a_name(&self, name: &str) -> Option<(Series<'t>, Moves)> {
        let (front, _) = name.split_once(':')?;
        let prefixes: BTreeSet<&str> =
            self.tables.iter().flat_map(|(table, _)| &table.engine.prefixes).map(String::as_str).collect();
        let ends = prefixes.into_iter().filter_map(|prefix| {
            let before = front.strip_suffix(prefix.strip_suffix(':')?)?;
            before.ends_with('_').then_some(before.len())
        });
        ends.filter_map(|at| name.get(at..)).find_map(|inner| self.series(inner))
    }
}
