//! The page: families by name, each once, all its samples together.

use model::{Signal, Snapshot, Unit};

use crate::family::Family;
use crate::fixed::Fixed;
use crate::{Health, name, own, servers};

/// The page of a snapshot and of our own health.
pub fn page(snapshot: &Snapshot, own: &Health) -> String {
    let mut families = Families::default();
    let mut passed_over = servers::add(&mut families, snapshot, own);
    passed_over += own::add(&mut families, own);
    own::add_page(&mut families, snapshot, own, passed_over);
    families.text()
}

/// The families of a page in the making, each in a place of its own: a page has many samples.
#[derive(Default)]
pub(crate) struct Families {
    /// By signal, and there by unit.
    signals: Vec<Vec<Option<Family>>>,
    /// In the order of `fixed::ALL`.
    fixed: Vec<Option<Family>>,
}

impl Families {
    /// Adds a sample of a signal.
    pub(crate) fn signal(&mut self, signal: Signal, unit: Unit, labels: &str, value: f64) {
        let made = || Family::new(name::series_name(signal, unit), signal.row().kind, name::help(signal, unit));
        slot(slot(&mut self.signals, signal.place()), unit as usize).get_or_insert_with(made).sample(labels, value);
    }

    /// Adds a sample of another family.
    pub(crate) fn fixed(&mut self, fixed: Fixed, labels: &str, value: f64) {
        let row = fixed.row();
        let made = || Family::new(row.name.to_owned(), row.kind, row.help.to_owned());
        slot(&mut self.fixed, fixed as usize).get_or_insert_with(made).sample(labels, value);
    }

    fn text(&self) -> String {
        let mut all: Vec<&Family> = self.signals.iter().flatten().chain(&self.fixed).flatten().collect();
        all.sort_by(|one, other| one.name().cmp(other.name()));
        let mut page = String::with_capacity(all.iter().map(|family| family.len()).sum());
        for family in all {
            family.write(&mut page);
        }
        page
    }
}

fn slot<T: Default>(slots: &mut Vec<T>, place: usize) -> &mut T {
    if slots.len() <= place {
        slots.resize_with(place + 1, T::default);
    }
    &mut slots[place]
}
