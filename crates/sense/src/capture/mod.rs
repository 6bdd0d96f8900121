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

use std::path::Path;

use model::Blind;

pub use crate::place::Capture;
use crate::place::read_capped;

/// The capture at `path`, as it is stored: a regular file of the operator's.
pub fn file(path: &Path) -> Result<Vec<u8>, Blind> {
    Ok(read_capped(path, Recording::LONGEST + 1)?.bytes)
}
