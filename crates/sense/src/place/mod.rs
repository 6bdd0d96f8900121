//! The one small interface through which the observed side is reached.
//!
//! There are three ways of being there: this host, a host over ssh, a capture. Questions come in batches because a look at
//! `/proc` reads a thousand small files: on this host that is one helper thread, over ssh it is one round trip, in a capture
//! it is a lookup. Everything that is asked can be recorded.

mod ask;
mod capture;
mod ends;
mod host;
mod read;
mod recorder;
mod seen;
mod shelf;
mod sift;
pub mod ssh;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Blind, BlindKind, Observation, Time};
use serde::{Deserialize, Serialize};

pub use ask::{Answered, Ask, Key, Told};
pub use capture::Capture;
pub use ends::{Ends, Wanted};
pub use host::Host;
pub(crate) use host::{CMDLINE, FDS, PROCESSES};
pub use read::A_FOLDER;
pub(crate) use read::{READ, read_capped};
pub use recorder::{Kept, Recorder};
pub use seen::{CommandLine, Commands, Kin, PipeEnd, Pipes};
pub use sift::{Budget, Sieve, SiftedFile, SiftedFolder, Stamp, Taken};

pub(crate) use ssh::{Tunnel, Tunnels};

use self::ssh::Ssh;
use crate::capture::form::{names, not};
use crate::command::{Command, Ran};
use crate::event::{Heard, Keep, Publisher};
use crate::http::{Counts, Target};

/// A place to look from. Clones share everything.
#[derive(Debug, Clone)]
pub struct Place {
    way: Way,
    recorder: Option<Recorder>,
}

/// How one is there.
#[derive(Debug, Clone)]
enum Way {
    Host(Host),
    Ssh(Ssh),
    Capture(Capture),
}

/// What a file held, up to a cap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The bytes, at most as many as the cap.
    #[serde(with = "wire::capture::bytes")]
    pub bytes: Vec<u8>,
    /// There was more.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
}

impl Content {
    /// The bytes as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// What a folder held, up to a cap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Names of its entries, unsorted.
    #[serde(with = "names")]
    pub names: Vec<OsString>,
    /// There were more.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
}

impl From<Host> for Place {
    fn from(host: Host) -> Place {
        Place { way: Way::Host(host), recorder: None }
    }
}

impl From<Ssh> for Place {
    fn from(ssh: Ssh) -> Place {
        Place { way: Way::Ssh(ssh), recorder: None }
    }
}

/// What a look will search a host for.
#[derive(Debug, Clone, Default)]
pub struct Sought {
    /// Words of which one stands in the command line of every process that is of interest.
    pub words: Vec<String>,
    /// Files of shared memory that they may hold, as patterns.
    pub slabs: Vec<String>,
    /// What they run will be looked at as well.
    pub deep: bool,
}

/// A page that will be asked.
#[derive(Debug, Clone)]
pub struct Foreseen {
    /// Its path, as it is listed.
    pub path: String,
    /// It will not be asked where one of these, which stand before it, is there.
    pub unless: Vec<String>,
    /// It will be asked only where this one, which stands before it, is there.
    pub after: Option<String>,
}

impl Place {
    /// Goes there, before a look. Fails where nobody gets there.
    pub async fn enter(&self, sought: &Sought) -> Result<(), Blind> {
        let entered = match &self.way {
            Way::Host(_) => return Ok(()),
            Way::Ssh(ssh) => Box::pin(ssh.enter(sought)).await,
            Way::Capture(capture) => capture.entered(),
        };
        if let Some(recorder) = &self.recorder {
            let ahead = self.clock_ahead().map(|ahead| ahead.to_string()).unwrap_or_default();
            let told = entered.clone().map(|()| Told::Content(Content { bytes: ahead.into_bytes(), cut: false }));
            recorder.keep(vec![Ask::Enter.key()], vec![told], self.now()).await;
        }
        entered
    }

    /// Tells which pages of targets will be asked next and in which order, so that they may be had in one go.
    pub async fn foresee(&self, pages: Vec<(Target, Vec<Foreseen>)>) {
        if let Way::Ssh(ssh) = &self.way {
            ssh.foresee(pages).await;
        }
    }

    /// Whether it is worth telling it what will be asked.
    pub fn is_far(&self) -> bool {
        matches!(self.way, Way::Ssh(_))
    }

    /// Tells that these folders and all below them, but for those of the names `skipped`, will be sifted.
    pub async fn foresee_folders(&self, root: &Path, folders: &[PathBuf], sieve: &Sieve, skipped: &[&str]) {
        if let Way::Ssh(ssh) = &self.way {
            ssh.foresee_folders(root, folders, sieve, skipped).await;
        }
    }

    /// Seconds by which the clock there is ahead of ours, where it is another one and that can be told.
    pub fn clock_ahead(&self) -> Option<f64> {
        match &self.way {
            Way::Host(_) => None,
            Way::Capture(capture) => capture.clock_ahead(),
            Way::Ssh(ssh) => ssh.clock_ahead(),
        }
    }

    /// Takes over what is known of the clock there from one that was the same place: what was seen of it keeps its age before it
    /// is entered again.
    pub fn clock_as(&self, before: &Place) {
        if let (Way::Ssh(ssh), Way::Ssh(before)) = (&self.way, &before.way) {
            ssh.clock_as(before);
        }
    }

    /// Whether it is looked at now, and not in what was kept of it.
    pub fn is_live(&self) -> bool {
        match &self.way {
            Way::Host(_) | Way::Ssh(_) => true,
            Way::Capture(_) => false,
        }
    }

    /// Whether what was learned of its files is worth keeping for the next look: it is this host, and nobody wants to have
    /// all of it recorded.
    pub fn keeps_stamps(&self) -> bool {
        matches!(self.way, Way::Host(_)) && self.recorder.is_none()
    }
}

impl From<Capture> for Place {
    fn from(capture: Capture) -> Place {
        Place { way: Way::Capture(capture), recorder: None }
    }
}

impl Place {
    /// The same place; what is asked of it from now on is kept by `recorder`.
    #[must_use]
    pub fn recorded(self, recorder: Recorder) -> Place {
        Place { recorder: Some(recorder), ..self }
    }

    /// The first `cap` bytes of each file, in the order asked. Only regular files are opened, never pipes, sockets or
    /// devices, also where a link leads to one; files of the kernel only by a path that begins with `/proc` or `/sys`.
    pub async fn read_each(&self, paths: Vec<PathBuf>, cap: usize) -> Vec<Result<Content, Blind>> {
        let asks = paths.into_iter().map(|path| Ask::Read { path, cap }).collect();
        self.each(asks).await.into_iter().map(Told::content).collect()
    }

    /// The first `cap` names in each folder, in the order asked.
    pub async fn list_each(&self, dirs: Vec<PathBuf>, cap: usize) -> Vec<Result<Listing, Blind>> {
        let asks = dirs.into_iter().map(|path| Ask::List { path, cap }).collect();
        self.each(asks).await.into_iter().map(Told::listing).collect()
    }

    /// Where each symbolic link points, in the order asked.
    pub async fn link_each(&self, paths: Vec<PathBuf>) -> Vec<Result<PathBuf, Blind>> {
        let asks = paths.into_iter().map(|path| Ask::Link { path }).collect();
        self.each(asks).await.into_iter().map(Told::link).collect()
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
        only(self.read_each_under(root, vec![path.to_path_buf()], cap).await)
    }

    /// The first `cap` bytes of each of these files, as [`Place::read_under`] reads one.
    pub async fn read_each_under(&self, root: &Path, paths: Vec<PathBuf>, cap: usize) -> Vec<Result<Content, Blind>> {
        let asks = paths.into_iter().map(|path| Ask::Under { root: root.to_path_buf(), path, cap }).collect();
        self.each(asks).await.into_iter().map(Told::content).collect()
    }

    /// The lines of each file in which one of `words` stands, at most `cap` bytes of them: of long files whose other lines
    /// nobody wants. As [`Place::read_each`] else.
    pub async fn lines_each(&self, paths: Vec<PathBuf>, words: &[&str], cap: usize) -> Vec<Result<Content, Blind>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let asks = paths.into_iter().map(|path| Ask::Lines { path, words: words.clone(), cap }).collect();
        self.each(asks).await.into_iter().map(Told::content).collect()
    }

    /// The first `head` and the last `tail` bytes of each file, in the order asked, whatever its size. Only regular files
    /// that are stored are opened: never pipes, sockets, devices or files of the kernel, also where a link leads to one.
    /// With both 0 nothing is opened at all: that tells what lies there.
    pub async fn ends_each(&self, wanted: Vec<Wanted>, head: usize, tail: usize) -> Vec<Result<Ends, Blind>> {
        let asks = wanted.into_iter().map(|wanted| Ask::Ends { wanted, head, tail }).collect();
        self.each(asks).await.into_iter().map(Told::ends).collect()
    }

    /// Sifts each of `folders` as a process sees them whose root is `root`, in the order asked.
    pub async fn sift_each(
        &self,
        root: &Path,
        folders: Vec<PathBuf>,
        sieve: &Sieve,
    ) -> Vec<Result<SiftedFolder, Blind>> {
        let ask = |folder| Ask::Sift { root: root.to_path_buf(), folder, sieve: sieve.clone() };
        self.each(folders.into_iter().map(ask).collect()).await.into_iter().map(Told::sifted).collect()
    }

    /// The processes in whose command lines one of `words` stands; with none, all. Fails only when `/proc` itself cannot be
    /// listed.
    pub async fn commands(&self, words: &[String]) -> Result<Commands, Blind> {
        Told::commands(self.one(Ask::Commands { words: words.to_vec() }).await)
    }

    /// All processes with their parents.
    pub async fn kin(&self) -> Result<Vec<Kin>, Blind> {
        Told::kin(self.one(Ask::Kin).await)
    }

    /// All ends of pipes that any process has open: costs some milliseconds for every hundred processes.
    pub async fn pipes(&self) -> Result<Pipes, Blind> {
        Told::pipes(self.one(Ask::Pipes).await)
    }

    /// Runs a listed command; it is ended after `patience` ([`crate::command::PATIENCE`] by default). A program that is
    /// not there is [`BlindKind::Gone`], one that may not tell us is [`BlindKind::Denied`].
    pub async fn run(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        Told::ran(self.one(Ask::Run { command: command.clone(), patience }).await)
    }

    /// The addresses of the name `host`, as [`crate::Client::resolve`] finds them.
    pub async fn resolve(&self, host: &str) -> Result<Vec<std::net::IpAddr>, Blind> {
        Told::addresses(self.one(Ask::Resolve { host: host.to_owned() }).await)
    }

    /// GETs `path` of `target`, as [`crate::Client::get`] does.
    pub async fn get(&self, target: &Target, path: &str) -> Observation {
        self.observe(target, path, None).await
    }

    /// GETs `path` of `target` with `query`, as [`crate::Client::get_query`] does.
    pub async fn get_query(&self, target: &Target, path: &str, query: &str) -> Observation {
        self.observe(target, path, Some(query.to_owned())).await
    }

    /// What `publisher` sends of `topic` within `patience`, of which this is kept. Over ssh nothing is listened to.
    pub async fn listen(
        &self,
        publisher: &Publisher,
        topic: &str,
        keep: &Keep,
        patience: Duration,
    ) -> Result<Heard, Blind> {
        let (topic, keep) = (topic.to_owned(), keep.clone());
        Told::heard(self.one(Ask::Listen { publisher: *publisher, topic, keep, patience }).await)
    }

    /// What time it is there.
    pub fn now(&self) -> Time {
        match &self.way {
            Way::Host(_) => crate::clock::now(),
            Way::Ssh(ssh) => ssh.now(),
            Way::Capture(capture) => capture.now(),
        }
    }

    /// What was asked over HTTP so far.
    pub fn counts(&self) -> Counts {
        match &self.way {
            Way::Host(host) => host.client().counts(),
            Way::Ssh(ssh) => ssh.counts(),
            Way::Capture(capture) => capture.counts(),
        }
    }

    async fn observe(&self, target: &Target, path: &str, query: Option<String>) -> Observation {
        let ask = Ask::Get { target: Box::new(target.clone()), path: path.to_owned(), query };
        match Told::seen(self.one(ask).await) {
            Ok(observation) => observation,
            Err(blind) => Observation {
                get: path.to_owned(),
                url: target.base.url(path),
                at: self.now(),
                took: 0.0,
                outcome: Err(blind),
            },
        }
    }

    async fn one(&self, ask: Ask) -> Answered {
        only(self.each(vec![ask]).await)
    }

    /// Asks all of these, and tells in their order.
    async fn each(&self, asks: Vec<Ask>) -> Vec<Answered> {
        let kept = self.recorder.as_ref().map(|recorder| (recorder, asks.iter().map(Ask::key).collect::<Vec<Key>>()));
        // Boxed, as below: every look would be as large as the largest way of asking.
        let told = match &self.way {
            Way::Host(host) => Box::pin(host.each(asks)).await,
            Way::Ssh(ssh) => Box::pin(ssh.each(asks)).await,
            Way::Capture(capture) => asks.iter().map(|ask| capture.answer(ask)).collect(),
        };
        match kept {
            Some((recorder, keys)) => Box::pin(recorder.keep(keys, told, self.now())).await,
            None => told,
        }
    }
}

fn only<T>(results: Vec<Result<T, Blind>>) -> Result<T, Blind> {
    results.into_iter().next().unwrap_or_else(|| Err(Blind::new(BlindKind::Gone, "nothing was asked")))
}
