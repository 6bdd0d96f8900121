//! This host, read directly.

use std::path::{Path, PathBuf};

use model::Blind;

use super::lookout::Lookout;
use super::read::{list_capped, read_capped, read_link, read_under};
use super::{Content, Listing};
use crate::http::Client;

/// The host on which we run; or, for tests and unpacked captures, a folder that has its `proc`, `etc` and so on.
#[derive(Debug, Clone)]
pub struct Host {
    root: PathBuf,
    client: Client,
    lookout: Lookout,
}

impl Host {
    /// This host, its pages fetched by `client`.
    pub fn new(client: Client) -> Host {
        Host::under("/", client)
    }

    /// The host whose files lie below the folder `root`.
    pub fn under(root: impl Into<PathBuf>, client: Client) -> Host {
        Host { root: root.into(), client, lookout: Lookout::default() }
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
        self.lookout.each(self.below(paths), read_link).await
    }

    pub(super) async fn read_under(&self, root: &Path, path: &Path, cap: usize) -> Result<Content, Blind> {
        let path = path.to_path_buf();
        let roots = self.below(vec![root.to_path_buf()]);
        super::only(self.lookout.each(roots, move |root| read_under(root, &path, cap)).await)
    }

    fn below(&self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        if self.root == Path::new("/") {
            return paths;
        }
        paths.iter().map(|path| self.root.join(path.strip_prefix("/").unwrap_or(path))).collect()
    }
}
