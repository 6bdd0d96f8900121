//! This host, read directly.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Blind, BlindKind};

use super::ends::{Found, ends};
use super::lookout::Lookout;
use super::read::{list_capped, read_capped, read_link, read_under};
use super::{Content, Ends, Listing, Wanted};
use crate::command::{Command, Ran, Runner};
use crate::http::Client;

/// The host on which we run; or, for tests and unpacked captures, a folder that has its `proc`, `etc` and so on.
#[derive(Debug, Clone)]
pub struct Host {
    root: PathBuf,
    client: Client,
    pub(super) lookout: Lookout,
    runner: Runner,
}

impl Host {
    /// This host, its pages fetched by `client`.
    pub fn new(client: Client) -> Host {
        Host::under("/", client)
    }

    /// The host whose files lie below the folder `root`.
    pub fn under(root: impl Into<PathBuf>, client: Client) -> Host {
        Host { root: root.into(), client, lookout: Lookout::default(), runner: Runner::default() }
    }

    /// The HTTP client of this host.
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(super) async fn read_each(&self, paths: Vec<PathBuf>, cap: usize) -> Vec<Result<Content, Blind>> {
        self.lookout.each(self.below(paths), move |path| read_capped(path, cap)).await
    }

    pub(super) async fn list_each(&self, dirs: Vec<PathBuf>, cap: usize) -> Vec<Result<Listing, Blind>> {
        self.lookout.each(self.below(dirs), move |path| list_capped(path, cap)).await
    }

    pub(super) async fn link_each(&self, paths: Vec<PathBuf>) -> Vec<Result<PathBuf, Blind>> {
        self.lookout.each(self.below(paths), |path| read_link(path)).await
    }

    pub(super) async fn read_under(&self, root: &Path, path: &Path, cap: usize) -> Result<Content, Blind> {
        let path = path.to_path_buf();
        let roots = self.below(vec![root.to_path_buf()]);
        super::only(self.lookout.each(roots, move |root| read_under(root, &path, cap)).await)
    }

    pub(super) async fn ends_each(&self, wanted: Vec<Wanted>, head: usize, tail: usize) -> Vec<Result<Ends, Blind>> {
        let found = wanted.into_iter().map(|wanted| self.find(wanted)).collect();
        self.lookout.each(found, move |found| ends(found, head, tail)).await
    }

    pub(super) async fn run(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        // the programs of this host know nothing of another one's files
        if self.root != Path::new("/") {
            let text = format!("{} is not run for {}", command.program(), self.root.display());
            return Err(Blind::new(BlindKind::Gone, text));
        }
        self.runner.run(command, patience).await
    }

    fn find(&self, wanted: Wanted) -> Found {
        match wanted {
            Wanted::File(path) => Found::Path(self.at(&path)),
            Wanted::Below { folder, path } => Found::Under(self.at(&folder), path),
            Wanted::Inside { pid, path } => Found::Under(self.at(Path::new(&format!("/proc/{pid}/root"))), path),
            Wanted::Descriptor { pid, fd } => Found::Path(self.at(Path::new(&format!("/proc/{pid}/fd/{fd}")))),
        }
    }

    fn at(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// These paths of the host as paths of ours.
    pub(super) fn below(&self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        if self.root == Path::new("/") {
            return paths;
        }
        paths.iter().map(|path| self.at(path)).collect()
    }
}
