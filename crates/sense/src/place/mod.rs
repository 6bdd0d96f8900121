//! The one small interface through which the observed side is reached.
//!
//! It is made for three ways of being there. Reads come in batches because a look at `/proc` reads a thousand small
//! files: on this host that is one helper thread, over ssh it is one round trip, in a capture it is a lookup.

mod ends;
mod host;
mod lookout;
#[cfg(test)]
mod lookout_test;
mod read;
mod sift;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Blind, BlindKind, Observation};

pub use ends::{Ends, Wanted};
pub use host::Host;
pub(crate) use read::{READ, read_capped};
pub use sift::{Budget, Sieve, SiftedFile, SiftedFolder, Stamp, Taken};

use crate::command::{Command, Ran};
use crate::http::Target;

/// A place to look from.
#[derive(Debug, Clone)]
pub enum Place {
    /// The host on which we run, or a tree that looks like one.
    Host(Host),
}

/// What a file held, up to a cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The bytes, at most as many as the cap.
    pub bytes: Vec<u8>,
    /// There was more.
    pub cut: bool,
}

impl Content {
    /// The bytes as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// What a folder held, up to a cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Names of its entries, unsorted.
    pub names: Vec<OsString>,
    /// There were more.
    pub cut: bool,
}

impl Place {
    /// The first `cap` bytes of each file, in the order asked. Only regular files are opened, never pipes, sockets or
    /// devices, also where a link leads to one; files of the kernel only by a path that begins with `/proc` or `/sys`.
    pub async fn read_each(&self, paths: Vec<PathBuf>, cap: usize) -> Vec<Result<Content, Blind>> {
        match self {
            Place::Host(host) => host.read_each(paths, cap).await,
        }
    }

    /// The first `cap` names in each folder, in the order asked.
    pub async fn list_each(&self, dirs: Vec<PathBuf>, cap: usize) -> Vec<Result<Listing, Blind>> {
        match self {
            Place::Host(host) => host.list_each(dirs, cap).await,
        }
    }

    /// Where each symbolic link points, in the order asked.
    pub async fn link_each(&self, paths: Vec<PathBuf>) -> Vec<Result<PathBuf, Blind>> {
        match self {
            Place::Host(host) => host.link_each(paths).await,
        }
    }

    /// The first `cap` bytes of the file.
    pub async fn read(&self, path: impl AsRef<Path>, cap: usize) -> Result<Content, Blind> {
        only(self.read_each(vec![path.as_ref().to_path_buf()], cap).await)
    }

    /// The first `cap` names in the folder.
    pub async fn list(&self, dir: impl AsRef<Path>, cap: usize) -> Result<Listing, Blind> {
        only(self.list_each(vec![dir.as_ref().to_path_buf()], cap).await)
    }

    /// Where the symbolic link points.
    pub async fn link(&self, path: impl AsRef<Path>) -> Result<PathBuf, Blind> {
        only(self.link_each(vec![path.as_ref().to_path_buf()]).await)
    }

    /// The first `cap` bytes of the file `path` under the root folder `root` (such as `/proc/PID/root`): absolute
    /// links inside are followed inside, and nothing leads out.
    pub async fn read_under(&self, root: &Path, path: &Path, cap: usize) -> Result<Content, Blind> {
        match self {
            Place::Host(host) => host.read_under(root, path, cap).await,
        }
    }

    /// The first `head` and the last `tail` bytes of each file, in the order asked, whatever its size. Only regular files
    /// that are stored are opened: never pipes, sockets, devices or files of the kernel, also where a link leads to one.
    /// With both 0 nothing is opened at all: that tells what lies there.
    pub async fn ends_each(&self, wanted: Vec<Wanted>, head: usize, tail: usize) -> Vec<Result<Ends, Blind>> {
        match self {
            Place::Host(host) => host.ends_each(wanted, head, tail).await,
        }
    }

    /// Runs a listed command; it is ended after `patience` ([`crate::command::PATIENCE`] by default). A program that is
    /// not there is [`BlindKind::Gone`], one that may not tell us is [`BlindKind::Denied`].
    pub async fn run(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        match self {
            Place::Host(host) => host.run(command, patience).await,
        }
    }

    /// The addresses of the name `host`, as [`crate::Client::resolve`] finds them.
    pub async fn resolve(&self, host: &str) -> Result<Vec<std::net::IpAddr>, Blind> {
        match self {
            Place::Host(on) => on.client().resolve(host).await,
        }
    }

    /// GETs `path` of `target`, as [`crate::Client::get`] does.
    pub async fn get(&self, target: &Target, path: &str) -> Observation {
        match self {
            Place::Host(host) => host.client().get(target, path).await,
        }
    }

    /// GETs `path` of `target` with `query`, as [`crate::Client::get_query`] does.
    pub async fn get_query(&self, target: &Target, path: &str, query: &str) -> Observation {
        match self {
            Place::Host(host) => host.client().get_query(target, path, query).await,
        }
    }
}

fn only<T>(results: Vec<Result<T, Blind>>) -> Result<T, Blind> {
    results.into_iter().next().unwrap_or_else(|| Err(Blind::new(BlindKind::Gone, "nothing was asked")))
}
