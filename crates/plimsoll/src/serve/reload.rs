//! Reading the configuration again, on a signal or because something of it changed.

use std::path::PathBuf;

use anyhow::Result;

use super::happened::event;
use super::notify::Manager;
use super::overview::Told;
use super::own::{Stamp, stamp};
use super::{House, Settings, config};
use crate::cli::ServeArgs;
use crate::look::Opened;

impl House<'_> {
    /// Reads the configuration again. One that cannot be used changes nothing but that this is said.
    pub(super) fn reload(&mut self) {
        Manager::reloading();
        self.notes.retain(|note| note.id != "config");
        let (text, value, stays) = match self.read() {
            Ok((opened, settings, after)) => {
                self.watch.reopen(opened, settings.pace);
                self.settings = self.fixed.over(settings);
                let names = after.join(", ");
                let text = format!("{names}: in force after a restart; all else of the configuration is now");
                let all = "the configuration was read again".to_owned();
                (if after.is_empty() { all } else { text }, 1.0, !after.is_empty())
            }
            Err(error) => (format!("the configuration is not in force, the one before is: {error:#}"), 0.0, true),
        };
        let told = event(sense::clock::now(), "", "config", &text, Some(value));
        // What is kept is what is said everywhere else.
        let text = told.text.clone();
        if stays {
            self.notes.push(Told { id: "config".to_owned(), text: text.clone() });
        }
        // Where the service manager keeps what we say. Nobody may read it: that is no fault.
        let _ = crate::print(&format!("{text}\n"));
        self.tell(told);
        Manager::ready(&text);
    }

    /// The settings by now, where they can be used: what is to be watched, and what of them wants a restart.
    fn read(&mut self) -> Result<(Opened, Settings, Vec<&'static str>)> {
        self.sources = self.sources.again();
        let own = Sources::begin(self.args);
        let settings = Settings::read(self.args)?;
        self.sources = own.of(&settings);
        let opened = settings.check()?;
        let after = self.fixed.differs(&settings)?;
        Ok((opened, settings, after))
    }
}

/// The files that a configuration is made of, as they were when they were read: that one of them changed is a reason to read all
/// again.
pub(super) struct Sources {
    read: Vec<(PathBuf, Stamp)>,
    /// As they were at the last look at them.
    last: Vec<Stamp>,
}

impl Sources {
    /// The configuration's own file, before it is read: what changes meanwhile is seen as changed.
    pub(super) fn begin(args: &ServeArgs) -> Sources {
        Sources { read: vec![with_stamp(config::path(args))], last: Vec::new() }
    }

    /// With everything else that these settings, which it says, are made of; before that is read.
    pub(super) fn of(self, settings: &Settings) -> Sources {
        let own = self.read.into_iter().take(1);
        Sources { read: own.chain(settings.files().into_iter().map(with_stamp)).collect(), last: Vec::new() }
    }

    /// Whether one of them is not as it was, and all are as they were when this was last asked: one that is being written, or of
    /// which the other half is still to come, is not read yet.
    pub(super) fn changed(&mut self) -> bool {
        let now: Vec<Stamp> = self.read.iter().map(|(path, _)| stamp(path)).collect();
        let changed = self.read.iter().zip(&now).any(|((_, was), now)| was != now);
        let rests = now == self.last;
        self.last = now;
        changed && rests
    }

    /// As they are now.
    pub(super) fn again(&self) -> Sources {
        Sources { read: self.read.iter().map(|(path, _)| with_stamp(path.clone())).collect(), last: Vec::new() }
    }
}

fn with_stamp(path: PathBuf) -> (PathBuf, Stamp) {
    let now = stamp(&path);
    (path, now)
}
