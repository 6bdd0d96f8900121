//! This host, read directly.

mod lookout;
#[cfg(test)]
mod lookout_test;
mod processes;

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Blind, BlindKind};

use self::lookout::Lookout;
pub(crate) use self::processes::{CMDLINE, FDS, PROCESSES};
use super::ask::{Answered, Ask, Told};
use super::ends::{Found, Wanted, ends};
use super::read::{lines_capped, list_capped, read_capped, read_link, read_under};
use super::sift::sift;
use crate::command::{Command, Ran, Runner};
use crate::event::listen;
use crate::http::Client;

/// The host on which we run; or, for tests, a folder that has its `proc`, `etc` and so on.
#[derive(Debug, Clone)]
pub struct Host {
    root: PathBuf,
    client: Client,
    lookout: Lookout,
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

    /// Files one after the other on a helper thread; everything else by itself.
    pub(super) async fn each(&self, asks: Vec<Ask>) -> Vec<Answered> {
        let of_files = asks.iter().all(|ask| {
            !matches!(
                ask,
                Ask::Commands { .. }
                    | Ask::Kin
                    | Ask::Pipes
                    | Ask::Run { .. }
                    | Ask::Resolve { .. }
                    | Ask::Get { .. }
                    | Ask::Listen { .. }
            )
        });
        if of_files {
            return self.files(asks).await;
        }
        let mut told = Vec::with_capacity(asks.len());
        for ask in asks {
            told.push(self.other(&ask).await);
        }
        told
    }

    async fn files(&self, asks: Vec<Ask>) -> Vec<Answered> {
        let root = self.root.clone();
        self.lookout.each(asks, move |ask| look(&root, ask)).await
    }

    async fn other(&self, ask: &Ask) -> Answered {
        match ask {
            Ask::Commands { words } => processes::commands(self, words).await.map(Told::Commands),
            Ask::Kin => processes::kin(self).await.map(Told::Kin),
            Ask::Pipes => processes::pipes(self).await.map(Told::Pipes),
            Ask::Run { command, patience } => self.run(command, *patience).await.map(Told::Ran),
            Ask::Resolve { host } => self.client.resolve(host).await.map(Told::Addresses),
            Ask::Get { target, path, query } => Ok(Told::Seen(match query {
                Some(query) => self.client.get_query(target, path, query).await,
                None => self.client.get(target, path).await,
            })),
            Ask::Listen { publisher, topic, keep, patience } => {
                listen(publisher, topic, keep, *patience).await.map(Told::Heard)
            }
            file => look(&self.root, file),
        }
    }

    async fn run(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        // the programs of this host know nothing of another one's files
        if self.root != Path::new("/") {
            let text = format!("{} is not run for {}", command.program(), self.root.display());
            return Err(Blind::new(BlindKind::Gone, text));
        }
        self.runner.run(command, patience).await
    }
}

/// Answers a question about one file. Blocks.
fn look(root: &Path, ask: &Ask) -> Answered {
    let at = |path: &Path| at(root, path);
    match ask {
        Ask::Read { path, cap } => read_capped(&at(path), *cap).map(Told::Content),
        Ask::Under { root, path, cap } => read_under(&at(root), path, *cap).map(Told::Content),
        Ask::Lines { path, words, cap } => lines_capped(&at(path), words, *cap).map(Told::Content),
        Ask::List { path, cap } => list_capped(&at(path), *cap).map(Told::Listing),
        Ask::Link { path } => read_link(&at(path)).map(Told::Link),
        Ask::Ends { wanted, head, tail } => ends(&find(root, wanted), *head, *tail).map(Told::Ends),
        Ask::Sift { root, folder, sieve } => sift(&at(root), folder, sieve).map(Told::Sifted),
        _ => Err(Blind::new(BlindKind::Gone, "this is no question about a file")),
    }
}

fn find(root: &Path, wanted: &Wanted) -> Found {
    match wanted {
        Wanted::File(path) => Found::Path(at(root, path)),
        Wanted::Below { folder, path } => Found::Under(at(root, folder), path.clone()),
        Wanted::Inside { pid, path } => Found::Under(at(root, Path::new(&format!("/proc/{pid}/root"))), path.clone()),
        Wanted::Descriptor { pid, fd } => Found::Path(at(root, Path::new(&format!("/proc/{pid}/fd/{fd}")))),
    }
}

/// A path of the host as one of ours.
fn at(root: &Path, path: &Path) -> PathBuf {
    if root == Path::new("/") {
        return path.to_path_buf();
    }
    root.join(path.strip_prefix("/").unwrap_or(path))
}
