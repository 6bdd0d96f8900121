//! Reading the configuration again, on a signal or because something of it changed.

use std::path::PathBuf;

use super::Settings;
use super::config;
use super::own::{Stamp, stamp};
use crate::cli::ServeArgs;

/// The files that a configuration is made of, as they were when they were read: that one of them changed is a reason to read all
/// again.
pub(super) struct Sources(Vec<(PathBuf, Stamp)>);

impl Sources {
    /// The configuration's own file, before it is read: what changes meanwhile is seen as changed.
    pub(super) fn begin(args: &ServeArgs) -> Sources {
        Sources(vec![with_stamp(config::path(args))])
    }

    /// With everything else that these settings, which it says, are made of; before that is read.
    pub(super) fn of(self, settings: &Settings) -> Sources {
        let own = self.0.into_iter().take(1);
        Sources(own.chain(settings.files().into_iter().map(with_stamp)).collect())
    }

    /// Whether one of them is not as it was.
    pub(super) fn changed(&self) -> bool {
        self.0.iter().any(|(path, was)| stamp(path) != *was)
    }

    /// As they are now.
    pub(super) fn again(&self) -> Sources {
        Sources(self.0.iter().map(|(path, _)| with_stamp(path.clone())).collect())
    }
}

fn with_stamp(path: PathBuf) -> (PathBuf, Stamp) {
    let now = stamp(&path);
    (path, now)
}
