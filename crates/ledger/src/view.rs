//! What readers see: one state, which the writer replaces as a whole.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::events::Numbered;
use crate::look::Look;
use crate::segment::Segment;

/// Everything that is kept, at one moment.
#[derive(Clone, Default)]
pub(crate) struct View {
    /// In the order of arrival.
    pub(crate) segments: Vec<Arc<Segment>>,
    /// Looks that are in no chunk yet, by target, in the order of arrival.
    pub(crate) looks: BTreeMap<Arc<str>, Arc<Vec<Arc<Look>>>>,
    /// Events that are in no segment yet.
    pub(crate) events: Arc<Vec<Arc<Numbered>>>,
}

/// The state, shared between the one writer and its readers.
#[derive(Default)]
pub(crate) struct Shared(Mutex<Arc<View>>);

impl Shared {
    pub(crate) fn now(&self) -> Arc<View> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the state; readers see all of the change or nothing.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut View) -> T) -> T {
        change(Arc::make_mut(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
