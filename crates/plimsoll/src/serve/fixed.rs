//! What of the settings is in force from the start until a restart, whatever the file says meanwhile.

use std::hash::{BuildHasher as _, RandomState};
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;

use super::{Settings, page};

/// What was put in force at the start.
pub(super) struct Fixed {
    listen: SocketAddr,
    hosts: Vec<String>,
    history: Option<PathBuf>,
    keep: u64,
    sums: Sums,
    /// By which sums are made: another one in each run.
    seed: RandomState,
}

/// What files held that are read once. Of what is secret only a sum is kept.
#[derive(PartialEq, Eq)]
struct Sums {
    token: Option<u64>,
    tls: Option<u64>,
}

impl Sums {
    fn of(settings: &Settings, seed: &RandomState) -> Result<Sums> {
        let token = page::secret(settings)?;
        let pair = page::pair(settings)?;
        Ok(Sums {
            token: token.map(|token| seed.hash_one(token.reveal().trim())),
            tls: pair.map(|pair| seed.hash_one(pair)),
        })
    }
}

impl Fixed {
    /// Those settings, and what is now in the files that they name.
    pub(super) fn of(settings: &Settings) -> Result<Fixed> {
        let seed = RandomState::new();
        Ok(Fixed {
            listen: settings.listen,
            hosts: settings.hosts.clone(),
            history: settings.history.clone(),
            keep: settings.keep,
            sums: Sums::of(settings, &seed)?,
            seed,
        })
    }

    /// What these settings, and what is in their files by now, would have otherwise: by the names in the configuration.
    pub(super) fn differs(&self, new: &Settings) -> Result<Vec<&'static str>> {
        let sums = Sums::of(new, &self.seed)?;
        let changed = [
            ("listen", self.listen != new.listen),
            ("history", self.history != new.history || self.keep != new.keep),
            ("tls", self.sums.tls != sums.tls),
            ("token", self.sums.token != sums.token),
            ("hosts", self.hosts != new.hosts),
        ];
        Ok(changed.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect())
    }

    /// The settings, with what is in force in the place of what they say of it.
    pub(super) fn over(&self, new: Settings) -> Settings {
        Settings {
            listen: self.listen,
            hosts: self.hosts.clone(),
            history: self.history.clone(),
            keep: self.keep,
            ..new
        }
    }
}
