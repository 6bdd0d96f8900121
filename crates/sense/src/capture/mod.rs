//! Captures of what places answered: written while one looks, read back later and offline; `docs/capture.md` has the form.
//!
//! A [`crate::Recorder`] on a place keeps what was asked and told, a [`Writer`] puts that into a file look by look, and a
//! [`Recording`] gives each look back as a [`Capture`], which is a [`crate::Place`] like any other.

mod answers;
pub(crate) mod form;
mod recording;
mod told;
mod writer;

pub use recording::{Recording, Take};
pub use wire::capture::{Head, Site, Unreadable};
pub use writer::Writer;

pub use crate::place::Capture;
