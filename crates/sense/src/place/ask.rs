//! What may be asked of a place and what comes back: the one language that this host, a host over ssh and a capture speak.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Blind, BlindKind, Observation};

use super::{Commands, Content, Ends, Kin, Listing, Pipes, Sieve, SiftedFolder, Wanted};
use crate::command::{Command, Ran};
use crate::event::{Heard, Keep, Publisher};
use crate::http::Target;

/// One question. All of them only read.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Whether one gets there; answered with the seconds by which the clock there is ahead, as text, or with none.
    Enter,
    /// The first `cap` bytes of a file.
    Read {
        /// The file.
        path: PathBuf,
        /// Bytes.
        cap: usize,
    },
    /// The same of a file as a process sees it whose root folder is `root`.
    Under {
        /// That folder, such as `/proc/PID/root`.
        root: PathBuf,
        /// The file, from there.
        path: PathBuf,
        /// Bytes.
        cap: usize,
    },
    /// The lines of a file in which one of these words stands, at most `cap` bytes of them.
    Lines {
        /// The file.
        path: PathBuf,
        /// The words.
        words: Vec<String>,
        /// Bytes.
        cap: usize,
    },
    /// The first `cap` names in a folder.
    List {
        /// The folder.
        path: PathBuf,
        /// Names.
        cap: usize,
    },
    /// Where a symbolic link points.
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Both ends of a file.
    Ends {
        /// The file.
        wanted: Wanted,
        /// Bytes of its beginning.
        head: usize,
        /// Bytes of its end.
        tail: usize,
    },
    /// A folder, sifted.
    Sift {
        /// The root folder that it lies under.
        root: PathBuf,
        /// The folder, from there.
        folder: PathBuf,
        /// What is looked for.
        sieve: Sieve,
    },
    /// The processes in whose command lines one of these words stands; with none, all.
    Commands {
        /// The words.
        words: Vec<String>,
    },
    /// All processes with their parents.
    Kin,
    /// All ends of pipes of all processes.
    Pipes,
    /// What a listed program says.
    Run {
        /// The program.
        command: Command,
        /// How long it may take.
        patience: Duration,
    },
    /// The addresses of a name.
    Resolve {
        /// The name.
        host: String,
    },
    /// What a target answers to a GET.
    Get {
        /// The target.
        target: Box<Target>,
        /// The path, as it is listed.
        path: String,
        /// A parameter `query` beyond it.
        query: Option<String>,
    },
    /// What a process publishes within a while.
    Listen {
        /// Where.
        publisher: Publisher,
        /// The topic.
        topic: String,
        /// What of it is kept.
        keep: Keep,
        /// How long.
        patience: Duration,
    },
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Of [`Ask::Read`], [`Ask::Under`] and [`Ask::Lines`].
    Content(Content),
    /// Of [`Ask::List`].
    Listing(Listing),
    /// Of [`Ask::Link`].
    Link(PathBuf),
    /// Of [`Ask::Ends`].
    Ends(Ends),
    /// Of [`Ask::Sift`].
    Sifted(SiftedFolder),
    /// Of [`Ask::Commands`].
    Commands(Commands),
    /// Of [`Ask::Kin`].
    Kin(Vec<Kin>),
    /// Of [`Ask::Pipes`].
    Pipes(Pipes),
    /// Of [`Ask::Run`].
    Ran(Ran),
    /// Of [`Ask::Resolve`].
    Addresses(Vec<IpAddr>),
    /// Of [`Ask::Get`], also when nothing was answered.
    Seen(Observation),
    /// Of [`Ask::Listen`].
    Heard(Heard),
}

/// An answer, or why there is none.
pub type Answered = Result<Told, Blind>;

/// A question without its limits, as words: what a capture and a prefetch find its answer by. The first says the kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub Vec<String>);

impl Ask {
    /// The question without its limits.
    pub fn key(&self) -> Key {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let words = match self {
            Ask::Enter => vec!["enter".to_owned()],
            Ask::Read { path, .. } => vec!["read".to_owned(), text(path)],
            Ask::Under { root, path, .. } => vec!["under".to_owned(), text(root), text(path)],
            Ask::Lines { path, words, .. } => {
                let mut key = vec!["lines".to_owned(), text(path)];
                key.extend(words.iter().cloned());
                key
            }
            Ask::List { path, .. } => vec!["list".to_owned(), text(path)],
            Ask::Link { path } => vec!["link".to_owned(), text(path)],
            Ask::Ends { wanted, head, tail } => {
                let mut key = vec!["ends".to_owned()];
                match wanted {
                    Wanted::File(path) => key.extend(["file".to_owned(), text(path)]),
                    Wanted::Below { folder, path } => key.extend(["below".to_owned(), text(folder), text(path)]),
                    Wanted::Inside { pid, path } => key.extend(["inside".to_owned(), pid.to_string(), text(path)]),
                    Wanted::Descriptor { pid, fd } => {
                        key.extend(["descriptor".to_owned(), pid.to_string(), fd.to_string()]);
                    }
                }
                key.extend([head.to_string(), tail.to_string()]);
                key
            }
            Ask::Sift { root, folder, sieve } => {
                vec!["sift".to_owned(), text(root), text(folder), sieve.ending.clone()]
            }
            Ask::Commands { words } => std::iter::once("commands".to_owned()).chain(words.iter().cloned()).collect(),
            Ask::Kin => vec!["kin".to_owned()],
            Ask::Pipes => vec!["pipes".to_owned()],
            Ask::Run { command, .. } => command.key(),
            Ask::Resolve { host } => vec!["resolve".to_owned(), host.clone()],
            Ask::Get { target, path, query } => {
                let inside = target.namespace.map_or_else(String::new, |namespace| namespace.0.to_string());
                let mut key = vec!["get".to_owned(), inside, target.base.url(path)];
                key.extend(query.clone());
                key
            }
            Ask::Listen { publisher, topic, .. } => {
                let inside = publisher.inside().map_or_else(String::new, |pid| pid.to_string());
                vec!["listen".to_owned(), inside, publisher.url(), topic.clone()]
            }
        };
        Key(words)
    }
}

impl AsRef<Path> for Ask {
    /// The file that it is about, for people.
    fn as_ref(&self) -> &Path {
        match self {
            Ask::Read { path, .. }
            | Ask::Under { path, .. }
            | Ask::Lines { path, .. }
            | Ask::List { path, .. }
            | Ask::Link { path } => path,
            Ask::Ends { wanted, .. } => wanted.as_ref(),
            Ask::Sift { folder, .. } => folder,
            Ask::Commands { .. } | Ask::Kin | Ask::Pipes => Path::new("/proc"),
            Ask::Enter => Path::new("the host"),
            Ask::Run { command, .. } => Path::new(command.program()),
            Ask::Resolve { host } => Path::new(host),
            Ask::Get { path, .. } => Path::new(path),
            Ask::Listen { topic, .. } => Path::new(topic),
        }
    }
}

/// Takes one kind of answer out; another kind is none, and cannot come from this program's own places.
macro_rules! only {
    ($name:ident, $kind:ident, $type:ty) => {
        impl Told {
            pub(super) fn $name(answered: Answered) -> Result<$type, Blind> {
                match answered? {
                    Told::$kind(told) => Ok(told),
                    _ => Err(Blind::new(BlindKind::Gone, "an answer to another question")),
                }
            }
        }
    };
}

only!(content, Content, Content);
only!(listing, Listing, Listing);
only!(link, Link, PathBuf);
only!(ends, Ends, Ends);
only!(sifted, Sifted, SiftedFolder);
only!(commands, Commands, Commands);
only!(kin, Kin, Vec<Kin>);
only!(pipes, Pipes, Pipes);
only!(ran, Ran, Ran);
only!(addresses, Addresses, Vec<IpAddr>);
only!(seen, Seen, Observation);
only!(heard, Heard, Heard);
